"""Execute the chapters into ignored copies that keep their widgets' state.

    python book/_tools/stage.py [NAME ...]       default: every chapter of _toc.yml

`_build/executed/NAME.ipynb` holds the last good run of a chapter together with a key: the hash of
its code cells, of the package's sources and of the versions in use. A chapter whose key still fits
is not run again, so a change of the prose costs nothing and a change of `lielab` runs everything.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

from chapters import ROOT, chapters, digest, surroundings

EXECUTED = Path("_build") / "executed"
AT_ONCE = 2  # kernels; the machines of readers and of continuous integration have two cores
TARGET = 30.0  # seconds a chapter may take; a slower one is reported, not failed (machines differ)
CELL_LIMIT = 600  # seconds; only a hang takes that long
KEY = "lielab_key"

# The metadata of a chapter, the same in every checkout.
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python", "pygments_lexer": "ipython3"},
}


@dataclass
class Run:
    """What became of one chapter: its seconds (None: not run again) and its error, if any."""

    path: Path
    seconds: float | None = None
    error: str = ""


def environment(root: Path = ROOT) -> dict[str, str]:
    """The kernels' environment: this checkout's `lielab` first, one BLAS thread a kernel."""
    env = dict(os.environ)
    env["PYTHONPATH"] = os.pathsep.join(filter(None, [str(root), env.get("PYTHONPATH")]))
    env.pop("NUMBA_DISABLE_JIT", None)  # a chapter interpreted would run for an hour
    # On a busy machine the notice of a compilation would be stored as output.
    env["LIELAB_QUIET"] = "1"
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        env.setdefault(name, "1")
    return env


def code_cells(notebook: nbformat.NotebookNode) -> list[nbformat.NotebookNode]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def key_of(notebook: nbformat.NotebookNode, around: str) -> str:
    """The key under which a run of these code cells is kept."""
    parts = [around]
    for cell in code_cells(notebook):
        parts += [cell.source, *sorted(cell.metadata.get("tags", []))]
    return digest(parts)


def executed_path(chapter: Path, root: Path = ROOT) -> Path:
    return root / EXECUTED / chapter.name


def kept_run(chapter: Path, around: str, root: Path = ROOT) -> nbformat.NotebookNode | None:
    """The executed copy of a chapter if it still fits, else None."""
    copy = executed_path(chapter, root)
    if not copy.is_file():
        return None
    try:
        executed = nbformat.read(copy, as_version=4)
    except Exception:  # a half-written copy is as good as none
        return None
    wanted = key_of(nbformat.read(chapter, as_version=4), around)
    return executed if executed.metadata.get(KEY) == wanted else None


def merge(chapter: Path, executed: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Today's prose of a chapter with the outputs and widgets of its executed copy."""
    notebook = nbformat.read(chapter, as_version=4)
    for cell, run in zip(code_cells(notebook), code_cells(executed), strict=True):
        cell.outputs = run.outputs
        cell.execution_count = run.execution_count
    notebook.metadata = nbformat.from_dict(METADATA)
    if "widgets" in executed.metadata:
        notebook.metadata["widgets"] = executed.metadata["widgets"]
    return notebook


def warm(root: Path = ROOT) -> None:
    """Fill the compile cache once, in one process, so that the kernels only read it."""
    code = "import lielab; getattr(lielab, 'warm', lambda: None)()"
    began = time.perf_counter()
    print(
        "compiling what this machine has not compiled yet (the first time two minutes)", flush=True
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=root, env=environment(root))
    if done.returncode:
        sys.exit("warming the compile cache failed (see above): is the package broken?")
    print(f"compile cache warm after {time.perf_counter() - began:.1f} s", flush=True)


def failing_lines(failure: CellExecutionError, source: str) -> list[str]:
    """The lines around the one of the cell that raised, marked by an arrow."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", failure.traceback)
    arrows = re.findall(r"^-+> (\d+) ", text, flags=re.MULTILINE)
    lines = source.splitlines()
    at = int(arrows[0]) - 1 if arrows else 0
    first, last = max(0, at - 3), min(len(lines), at + 4)
    return [f"    {'->' if n == at else '  '} {lines[n]}" for n in range(first, last)]


def explain(client: NotebookClient, failure: Exception) -> str:
    """One failing chapter in a few lines: which cell, what it says, what went wrong."""
    cells = code_cells(client.nb)
    begun = [n for n, cell in enumerate(cells) if cell.execution_count or cell.outputs]
    number = begun[-1] if begun else 0
    source = cells[number].source if cells else ""
    shown = ["       " + line for line in source.splitlines()[:8]]
    if isinstance(failure, CellExecutionError):
        what = f"{failure.ename}: {failure.evalue}"
        shown = failing_lines(failure, source)
    elif isinstance(failure, CellTimeoutError):
        what = f"no end after {CELL_LIMIT} s"
    elif isinstance(failure, DeadKernelError):
        what = "the kernel died (out of memory, or a crash in compiled code)"
    else:
        what = f"{type(failure).__name__}: {failure}"
    return "\n".join([f"code cell {number + 1} of {len(cells)}:", *shown, f"    {what}"])


async def execute(chapter: Path, around: str, root: Path, limit: asyncio.Semaphore) -> Run:
    """Run one chapter in a kernel of its own and keep the result."""
    notebook = nbformat.read(chapter, as_version=4)
    key = key_of(notebook, around)
    target = executed_path(chapter, root)
    notebook.metadata = nbformat.from_dict(METADATA)
    for cell in code_cells(notebook):
        cell.outputs, cell.execution_count = [], None
    client = NotebookClient(
        notebook,
        timeout=CELL_LIMIT,
        kernel_name="python3",
        store_widget_state=True,
        coalesce_streams=True,
        record_timing=False,
        extra_arguments=["--log-level=40"],  # errors only: kernels chat about transport encryption
        resources={"metadata": {"path": str(chapter.parent)}},
    )
    run = Run(chapter)
    async with limit:
        began = time.perf_counter()
        try:
            await client.async_execute(env=environment(root))
        except Exception as failure:
            run.error = explain(client, failure)
        run.seconds = time.perf_counter() - began
    if run.error:
        target = target.with_suffix(".failed.ipynb")
    else:
        notebook.metadata[KEY] = key
        target.with_suffix(".failed.ipynb").unlink(missing_ok=True)
    partial = target.with_suffix(".tmp")
    nbformat.write(notebook, partial)
    partial.replace(target)
    print(f"  {run.seconds:6.1f} s  {chapter.stem}" + ("  FAILED" if run.error else ""), flush=True)
    return run


def stage(names: list[str] | None = None, root: Path = ROOT, fresh: bool = False) -> list[Run]:
    """Execute what needs it among the named chapters (default: all), two at a time.

    `fresh=True` runs them even if a copy fits. A failing chapter does not stop the others.
    """
    wanted = chapters(root)
    if names:
        stems = {chapter.stem: chapter for chapter in wanted}
        unknown = [name for name in names if Path(name).stem not in stems]
        if unknown:
            sys.exit(
                f"no such chapter in _toc.yml: {', '.join(unknown)}; there are: {', '.join(stems)}"
            )
        wanted = [stems[Path(name).stem] for name in names]
    around = surroundings(root)
    runs = [Run(path) for path in wanted if not fresh and kept_run(path, around, root) is not None]
    kept = {run.path for run in runs}
    todo = [path for path in wanted if path not in kept]
    print(f"chapters: {len(todo)} to execute, {len(runs)} unchanged", flush=True)
    if not todo:
        return runs
    (root / EXECUTED).mkdir(parents=True, exist_ok=True)
    warm(root)

    async def everything() -> list[Run]:
        limit = asyncio.Semaphore(AT_ONCE)
        return await asyncio.gather(*(execute(path, around, root, limit) for path in todo))

    return runs + asyncio.run(everything())


def report(runs: list[Run]) -> bool:
    """Say what failed and what was slow; True when every chapter ran."""
    for run in runs:
        if run.seconds is not None and run.seconds > TARGET:
            print(
                f"{run.path.stem} took {run.seconds:.0f} s; on two quiet cores the aim is {TARGET:.0f} s"
            )
    failed = [run for run in runs if run.error]
    for run in failed:
        print(f"\nFAILED: {run.path.name}, {run.error}", file=sys.stderr)
    if failed:
        print(
            f"\n{len(failed)} of {len(runs)} chapters failed; what they got to is in {EXECUTED}/*.failed.ipynb",
            file=sys.stderr,
        )
    return not failed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="chapters to execute (default: all)")
    parser.add_argument("--fresh", action="store_true", help="run them even if nothing changed")
    parser.add_argument("--warm-only", action="store_true", help="only fill the compile cache")
    options = parser.parse_args()
    if options.warm_only:
        return warm()
    sys.exit(0 if report(stage(options.names, fresh=options.fresh)) else 1)


if __name__ == "__main__":
    main()
