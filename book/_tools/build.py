"""Build the HTML book from executed copies of the chapters, warnings being errors.

    python book/_tools/build.py

The sources and the executed chapters are put together in `_build/staged`; Jupyter Book builds from
there with execution off, into `_build/html`. When nothing changed since the last good build, nothing
is done.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from pathlib import Path

import nbformat
import yaml

from chapters import ROOT, chapters, digest, surroundings, tree_digest
from stage import environment, executed_path, merge, report, stage

STAGED = Path("_build") / "staged"
HTML = Path("_build") / "html"
STAMP = Path("_build") / "html.key"
SKIP = ("_tools", "__pycache__", ".ipynb_checkpoints")


def put_together(root: Path = ROOT) -> Path:
    """Lay out `_build/staged`: the book's files, its settings with execution off, executed chapters."""
    staged = root / STAGED
    shutil.rmtree(staged, ignore_errors=True)
    shutil.copytree(root / "book", staged / "book", ignore=shutil.ignore_patterns(*SKIP))
    shutil.copy2(root / "_toc.yml", staged)
    settings = yaml.safe_load((root / "_config.yml").read_text(encoding="utf-8"))
    settings["execute"] = {**settings.get("execute", {}), "execute_notebooks": "off"}
    (staged / "_config.yml").write_text(yaml.safe_dump(settings, sort_keys=False), encoding="utf-8")
    for chapter in chapters(root):
        executed = nbformat.read(executed_path(chapter, root), as_version=4)
        nbformat.write(merge(chapter, executed), staged / chapter.relative_to(root))
    return staged


def jupyter_book(source: Path, output: Path, root: Path = ROOT) -> int:
    """Run a strict Jupyter Book build of `source` into `output/_build/html`; its exit code."""
    command = [sys.executable, "-c", "from jupyter_book.cli.main import main; main()"]
    command += ["build", str(source), "--path-output", str(output)]
    command += ["--all", "-W", "-n", "--keep-going", "-q"]
    return subprocess.run(command, cwd=root, env=environment(root)).returncode


def release(output: Path, root: Path = ROOT) -> None:
    """Put fresh student copies of the assignments beside the pages, for download."""
    shutil.rmtree(output, ignore_errors=True)  # `release` itself never overwrites a file
    command = [sys.executable, "-m", "lielab.grading", "release", "--out", str(output)]
    done = subprocess.run(command, cwd=root, env=environment(root), capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"the assignments could not be released:\n{done.stdout}{done.stderr}")


def usable(index: Path, since: float) -> str:
    """Where pages can be read although the build failed; empty where there are none."""
    if not index.is_file():
        return ""
    new = index.stat().st_mtime >= since
    which = (
        "the pages were written all the same" if new else "the pages of an earlier build are there"
    )
    return f"\n{which}; open\n  {index.as_uri()}"


def main() -> None:
    began, today = time.perf_counter(), time.time()
    stamp, index = ROOT / STAMP, ROOT / HTML / "index.html"
    if not report(stage()):
        sys.exit("the book was not built, because a chapter failed" + usable(index, today))
    staged = put_together()
    key = digest([tree_digest(staged), tree_digest(ROOT / "exercises"), surroundings()])

    def mark() -> str:  # a build by other means leaves an index of another time
        return f"{key} {index.stat().st_mtime_ns}"

    if index.is_file() and stamp.is_file() and stamp.read_text(encoding="utf-8") == mark():
        print("pages: unchanged")
    else:
        stamp.unlink(missing_ok=True)
        if jupyter_book(staged, ROOT):
            what = "the pages have warnings, which count as errors: see the lines above"
            sys.exit(what + usable(index, today))
        release(ROOT / HTML / "exercises")
        stamp.write_text(mark(), encoding="utf-8")
    print(f"the book is ready after {time.perf_counter() - began:.0f} s; open\n  {index.as_uri()}")


if __name__ == "__main__":
    main()
