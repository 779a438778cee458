"""The house: names, versions, the two commands, the one address, what is kept in git."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

import address
import lielab

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


@pytest.fixture(scope="module")
def project(root: Path) -> dict:
    return tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def tracked(root: Path) -> list[str]:
    """The files in git; the whole test is void outside a checkout, so it says so by failing."""
    command = ["git", "-c", "safe.directory=*", "ls-files", "-z"]
    listing = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout
    return [name for name in listing.split("\0") if name]


def copy_of_texts(root: Path, target: Path) -> Path:
    for path in address.files(root):
        new = target / path.relative_to(root)
        new.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, new)
    return target


# --- names and versions ----------------------------------------------------------------------------


def test_one_name_and_one_version(root: Path, project: dict) -> None:
    citation = yaml.safe_load((root / "CITATION.cff").read_text(encoding="utf-8"))
    assert project["name"] == "lielab-book"
    assert project["version"] == lielab.__version__ == citation["version"]
    assert f"## {project['version']}" in (root / "CHANGELOG.md").read_text(encoding="utf-8")


def test_this_checkout_is_what_is_tested(root: Path) -> None:
    assert Path(lielab.__file__).resolve().parent == root / "lielab"


def test_nobody_is_told_to_install_the_namesake(root: Path) -> None:
    wrong = re.compile(r"pip3? install (-\S+ )*[\"']?lielab\b(?!-book)")
    texts = [
        root / name for name in tracked(root) if name.endswith((".md", ".ipynb", ".py", ".yml"))
    ]
    assert [
        p.name for p in texts if p.is_file() and wrong.search(p.read_text(encoding="utf-8"))
    ] == []
    first_screen = (root / "README.md").read_text(encoding="utf-8")[:2500]
    assert "another project" in first_screen


def test_python_versions_agree(root: Path, project: dict) -> None:
    workflow = yaml.safe_load((root / ".github/workflows/tests.yml").read_text(encoding="utf-8"))
    matrix = workflow["jobs"]["test"]["strategy"]["matrix"]["python"]
    prefix = "Programming Language :: Python :: "
    assert matrix == [
        c.removeprefix(prefix) for c in project["classifiers"] if c.startswith(prefix)
    ]
    assert project["requires-python"] == f">={matrix[0]}"


def test_every_dependency_is_bounded_below_and_the_book_tool_is_pinned(project: dict) -> None:
    extras = project["optional-dependencies"]
    everything = project["dependencies"] + [line for extra in extras.values() for line in extra]
    assert [line for line in everything if not re.search(r">=|==", line)] == []
    assert "jupyter-book==1.0.4.post1" in extras["book"]


def test_binder_has_every_runtime_dependency(root: Path, project: dict) -> None:
    environment = yaml.safe_load((root / "binder/environment.yml").read_text(encoding="utf-8"))
    there = {
        re.split("[=<>]", name)[0].removesuffix("-base") for name in environment["dependencies"]
    }
    needed = {re.split("[=<>]", name)[0] for name in project["dependencies"]}
    assert needed <= there  # postBuild installs the package with --no-deps
    # What chapters show of libraries that the package does not need; the tests have them at the same bounds.
    extras = project["optional-dependencies"]
    for name in ("pandas", "xarray"):
        bounds = {line for extra in ("book", "test") for line in extras[extra] if name in line}
        assert len(bounds) == 1
        assert name in there
        assert bounds <= set(extras["book"])


# --- README and Makefile ---------------------------------------------------------------------------


def test_the_lines_of_the_readme_run(root: Path, capsys: pytest.CaptureFixture) -> None:
    text = (root / "README.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    assert len([line for line in code.splitlines() if line.strip()]) <= 5
    exec(compile(code, "README.md", "exec"), {})
    assert capsys.readouterr().out.startswith("10.0 ")


def test_help_and_readme_know_the_targets(root: Path) -> None:
    makefile = (root / "Makefile").read_text(encoding="utf-8")
    targets = set(re.search(r"^\.PHONY: (.*)$", makefile, flags=re.MULTILINE)[1].split())
    shown = subprocess.run(["make"], cwd=root, capture_output=True, text=True, check=True).stdout
    assert targets - {"help", "setup"} <= set(re.findall(r"make (\w+)", shown))
    readme = (root / "README.md").read_text(encoding="utf-8")
    named = set(re.findall(r"^(?:make (\w+))|`make (\w+)", readme, flags=re.MULTILINE))
    assert {a or b for a, b in named} <= targets
    assert all(re.search(rf"^{target}:", makefile, flags=re.MULTILINE) for target in targets)


def test_make_names_a_missing_python_and_bears_spaces(root: Path, tmp_path: Path) -> None:
    folder = tmp_path / "a folder with spaces"
    folder.mkdir()
    for name in ("Makefile", "pyproject.toml"):
        shutil.copy(root / name, folder)
    command = ["make", "lint", "PYTHON=no-such-python"]
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert run.returncode != 0
    assert "Python 3.10 or newer" in run.stdout
    assert "python3-venv" in run.stdout
    assert "No rule" not in run.stderr


def test_grade_and_address_say_how_they_are_used(root: Path, tmp_path: Path) -> None:
    shutil.copy(root / "Makefile", tmp_path)
    run = subprocess.run(["make", "grade"], cwd=tmp_path, capture_output=True, text=True)
    assert run.returncode != 0
    assert "usage: make grade FOLDER=" in run.stdout
    command = ["make", "-n", "address", "--assume-old=.venv/.lielab-installed"]
    shown = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True).stdout
    (line,) = [line for line in shown.splitlines() if "usage" in line]
    ran = subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=True).stdout
    assert ran.strip() == "usage: make address URL=https://github.com/you/your-fork"


@pytest.mark.parametrize(
    ("there", "said"), [("npm", "no Chromium or Chrome found"), ("chromium", "no npm found")]
)
def test_make_browser_passes_without_a_browser_or_npm_and_says_so(
    root: Path, tmp_path: Path, there: str, said: str
) -> None:
    """The target alone, the pages as they are, on a machine that has one of the two."""
    scripts = {f"bin/{there}": "", "env/bin/python": f'exec "{sys.executable}" "$@"'}
    for name, line in scripts.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True)
        file.write_text(f"#!/bin/sh\n{line}\n")
        file.chmod(0o755)
    command = ["make", "browser", f"VENV={tmp_path}/env", "--assume-old=pages"]
    outside = ("LIELAB_CHROMIUM", "MAKEFLAGS", "MAKELEVEL")  # this may run inside of `make test`
    env = {k: v for k, v in os.environ.items() if k not in outside} | {"PATH": f"{tmp_path}/bin"}
    command[0] = shutil.which("make")
    run = subprocess.run(command, cwd=root, env=env, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr
    assert said in run.stdout
    told = [sys.executable, "tests/browser/served.py"]
    last = subprocess.run(told, cwd=root, env=env, capture_output=True, text=True, check=True)
    assert re.fullmatch(f"not tried here, the pages in a browser: {said}.*\n", last.stdout)


@pytest.mark.parametrize("ours", [True, False])
def test_distclean_removes_only_a_venv_that_was_made_here(
    root: Path, tmp_path: Path, ours: bool
) -> None:
    shutil.copy(root / "Makefile", tmp_path)
    venv = tmp_path / "my env"
    venv.mkdir()
    for name in ("pyvenv.cfg", "precious.txt", ".lielab-installed", *[".lielab-made"] * ours):
        (venv / name).touch()
    command = ["make", "distclean", "VENV=my env"]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert (venv / "precious.txt").exists() is not ours
    assert ("left alone" in run.stdout) is not ours
    assert (tmp_path / "Makefile").exists()


# --- the one address -------------------------------------------------------------------------------


def test_the_address_is_the_same_everywhere(root: Path) -> None:
    assert address.strays(root) == []


def test_the_address_goes_there_and_back(root: Path, tmp_path: Path) -> None:
    old, new = address.current(root), "https://github.com/some-body/a.fork_2"
    copy = copy_of_texts(root, tmp_path)
    before = {path: path.read_bytes() for path in address.files(copy)}

    changed = address.change(new, copy)
    assert {p.relative_to(copy).as_posix() for p in changed} >= set(address.REQUIRED)
    assert address.current(copy) == new
    assert address.strays(copy) == []
    owner, name = old.split("/")[-2:]
    for path in address.files(copy):
        text = path.read_text(encoding="utf-8")
        assert f"{owner}/{name}" not in text, path
        assert f"{owner}.github.io" not in text, path
    readme = (copy / "README.md").read_text(encoding="utf-8")
    for part in ("mybinder.org/v2/gh/", "colab.research.google.com/github/", "https://github.com/"):
        assert f"{part}some-body/a.fork_2" in readme
    assert "https://some-body.github.io/a.fork_2/" in readme
    assert "git clone https://github.com/some-body/a.fork_2 lielab-book\ncd lielab-book\n" in readme

    address.change(old, copy)
    assert {path: path.read_bytes() for path in address.files(copy)} == before


def test_a_file_that_disagrees_is_found(root: Path, tmp_path: Path) -> None:
    copy = copy_of_texts(root, tmp_path)
    readme = copy / "README.md"
    slug = "/".join(address.current(root).split("/")[-2:])
    text = readme.read_text(encoding="utf-8")
    readme.write_text(text.replace(f"gh/{slug}", "gh/somebody/lielab-book"), encoding="utf-8")
    assert any("somebody/lielab-book" in line for line in address.strays(copy))


def test_the_pages_may_have_a_domain_of_their_own(root: Path, tmp_path: Path) -> None:
    copy, fork = copy_of_texts(root, tmp_path), "https://github.com/some-body/lie"
    before = {path: path.read_bytes() for path in address.files(copy)}
    old = address.current(copy)
    address.change(fork, copy, pages="https://book.example.net/")
    assert address.site(copy) == "https://book.example.net"
    assert address.strays(copy) == []
    config = yaml.safe_load((copy / "_config.yml").read_text(encoding="utf-8"))
    assert config["html"]["baseurl"] == "https://book.example.net/"
    assert "https://book.example.net/book/own_system.html" in (copy / "README.md").read_text(
        "utf-8"
    )
    assert not any("github.io" in p.read_text("utf-8") for p in address.files(copy))
    address.change(old, copy)
    assert {path: path.read_bytes() for path in address.files(copy)} == before
    with pytest.raises(
        ValueError, match="the site is 'book.example.net'; it must look like https://"
    ):
        address.change(fork, copy, pages="book.example.net")


def test_nothing_is_published_untested_or_under_the_placeholder(root: Path) -> None:
    flow = yaml.safe_load((root / ".github/workflows/publish.yml").read_text(encoding="utf-8"))
    jobs = flow["jobs"]
    assert jobs["tests"]["uses"] == "./.github/workflows/tests.yml"
    assert jobs["build"]["needs"] == "tests"
    assert jobs["deploy"]["needs"] == "build"
    steps = [step.get("run", "") for step in jobs["build"]["steps"]]
    (check,) = [n for n, run in enumerate(steps) if "address.py --public" in run]
    assert check < steps.index("make book")
    command = [sys.executable, "book/_tools/address.py", "--public"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True)
    assert (done.returncode != 0) == (address.current(root) == address.PLACEHOLDER), done.stderr
    tests = yaml.safe_load((root / ".github/workflows/tests.yml").read_text(encoding="utf-8"))
    assert {"test", "plain", "dependencies"} <= set(tests["jobs"])
    systems = tests["jobs"]["plain"]["strategy"]["matrix"]["system"]
    assert systems == ["macos-latest", "windows-latest"]


@pytest.mark.parametrize(
    "wrong",
    [
        "github.com/a/b",
        "https://gitlab.com/a/b",
        "https://github.com/a",
        "https://github.com/a/b.git/",
    ],
)
def test_a_wrong_address_is_refused_and_nothing_written(
    root: Path, tmp_path: Path, wrong: str
) -> None:
    copy = copy_of_texts(root, tmp_path)
    before = (copy / "README.md").read_bytes()
    with pytest.raises(ValueError, match="must look like https://github.com/OWNER/NAME"):
        address.change(wrong, copy)
    assert (copy / "README.md").read_bytes() == before


# --- what is kept ----------------------------------------------------------------------------------


def test_nothing_generated_is_kept_in_git(root: Path) -> None:
    generated = re.compile(
        r"(^|/)(_build|\.venv|\.cache|__pycache__|\.ipynb_checkpoints|released|grades)/|\.pyc$|\.egg-info/"
    )
    assert [name for name in tracked(root) if generated.search(name)] == []


def test_workflows_ask_for_little_and_call_the_same_commands(root: Path) -> None:
    for name, command in (("tests.yml", ".ci/run"), ("publish.yml", "make book")):
        text = (root / ".github/workflows" / name).read_text(encoding="utf-8")
        workflow = yaml.safe_load(text)
        assert workflow["permissions"] == {"contents": "read"}
        assert command in text
        assert re.findall(r"uses: (?!actions/[\w-]+@v\d+|\./\.github/)\S+", text) == []
    assert "make test" in (root / ".ci/run").read_text(encoding="utf-8")
