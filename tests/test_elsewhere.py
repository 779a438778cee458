"""What a machine like this cannot try: Windows, macOS, Colab, Binder. What would break there is looked for here.

The workflow runs the real ones (`plain`, `dependencies` and `colab` in `.github/workflows/tests.yml`); a downloaded
notebook in VS Code is in `test_widgets.py`.
"""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.test_house import tracked

# --- Windows and macOS -------------------------------------------------------------------------------

POSIX_ONLY = ("fcntl", "grp", "posix", "pwd", "resource", "termios")
RESERVED = re.compile(r'[<>:"|?*\\]|[. ]$|^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)', re.IGNORECASE)


def test_the_package_needs_no_module_of_posix(root: Path) -> None:
    """Every module is imported in a process that has none of them; grading says there that it needs Linux."""
    code = f"""
import importlib, pkgutil, sys
import numpy, scipy.integrate, matplotlib.pyplot, ipywidgets, tqdm, numba  # theirs may look for them
for name in {POSIX_ONLY!r}:
    sys.modules[name] = None
import lielab
for found in pkgutil.walk_packages(lielab.__path__, "lielab."):
    if not found.name.endswith(("__main__", ".child")):
        importlib.import_module(found.name)
assert lielab.solve(lielab.systems.FreeRigidBody(), (0, 1), method="RKMK4", h=0.1).success
"""
    env = os.environ | {"PYTHONPATH": str(root), "MPLBACKEND": "agg"}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]


def test_names_of_files_are_allowed_everywhere(root: Path) -> None:
    names = tracked(root)
    assert [name for name in names if any(RESERVED.search(part) for part in name.split("/"))] == []
    assert len({name.lower() for name in names}) == len(names)  # macOS and Windows ignore the case
    assert max(map(len, names)) < 120  # Windows: 260 with the folder of the checkout


def unsaid(source: str) -> list[int]:
    """Lines that read or write text without saying in which encoding: on Windows it is not UTF-8."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        said = any(k.arg in ("encoding", None) for k in node.keywords)
        given = len(node.args) - (name == "write_text")
        if (name in ("read_text", "write_text") and not (said or given > 0)) or (
            name == "open"
            and isinstance(node.func, ast.Name)
            and not said
            and not any(isinstance(a, ast.Constant) and "b" in str(a.value) for a in node.args[1:2])
        ):
            found.append(node.lineno)
    return found


def test_text_is_read_and_written_in_one_encoding(root: Path) -> None:
    assert unsaid("p.read_text()\np.write_text(x)\nopen(p)\nopen(p, 'w')") == [1, 2, 3, 4]
    assert unsaid("p.read_text('utf-8')\np.write_text(x, encoding='utf-8')\nopen(p, 'rb')") == []
    linux = ("lielab/grading/sandbox.py", "lielab/grading/watch.py")  # they read /proc
    files = [n for n in tracked(root) if re.match(r"(?:lielab|book|benchmarks)/.*\.py$", n)]
    wrong = {n: unsaid((root / n).read_text("utf-8")) for n in files if n not in linux}
    assert {name: lines for name, lines in wrong.items() if lines} == {}


def test_the_steps_without_make_are_those_that_are_tried(root: Path) -> None:
    """README's lines and the job on macOS and Windows do the same."""
    readme = (root / "README.md").read_text("utf-8").split("## Without make")[1]
    jobs = workflow(root, "tests.yml")["jobs"]
    tried = [step.get("run", "").split("activate && ")[-1] for step in jobs["plain"]["steps"]]
    for step in ("python -m venv .venv", "python book/_tools/build.py"):
        assert step in readme
        assert step in tried
    assert 'pip install -e ".[book,test]"' in readme
    assert 'pip install -e ".[book,test]"' in tried


# --- the workflows: nothing said twice, the oldest dependencies, Colab's widgets --------------------------


class Strict(yaml.SafeLoader):
    """A key that stands twice is an error, as on GitHub; PyYAML takes the last and says nothing."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict:
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        if twice := {key for key in keys if keys.count(key) > 1}:
            raise ValueError(f"twice: {twice}")
        return super().construct_mapping(node, deep)


def workflow(root: Path, name: str) -> dict:
    return yaml.load((root / ".github/workflows" / name).read_text("utf-8"), Strict)


@pytest.mark.parametrize("name", ["tests.yml", "publish.yml"])
def test_nothing_stands_twice_in_a_workflow(root: Path, name: str) -> None:
    with pytest.raises(ValueError, match="twice: {'a'}"):
        yaml.load("a: 1\nb: {c: 2}\na: 3", Strict)
    assert workflow(root, name)["jobs"]


def test_the_oldest_dependencies_meet_all_tests_but_the_browsers(root: Path) -> None:
    """With those of the book, so that the widgets' tests are among them and not skipped."""
    job = workflow(root, "tests.yml")["jobs"]["dependencies"]
    rows = job["strategy"]["matrix"]["include"]
    assert {"python": "3.10", "resolution": "lowest-direct"} in rows
    steps = [step.get("run", "") for step in job["steps"]]
    assert any('--resolution "$RESOLUTION"' in s and '".[book,test]"' in s for s in steps)
    assert steps[-1].endswith(" tests --ignore=tests/browser")
    for name in ("test_widgets.py", "show/test_explore.py"):
        assert (root / "tests" / name).is_file()


def test_colab_keeps_its_widgets_and_is_tried_with_them(root: Path) -> None:
    """Its ipywidgets 7.7 is allowed, so that the first cell of a chapter replaces nothing."""
    text = (root / "pyproject.toml").read_text("utf-8")
    assert '"ipywidgets>=7.7,<9"' in text
    steps = [step.get("run", "") for step in workflow(root, "tests.yml")["jobs"]["colab"]["steps"]]
    assert any('"ipywidgets==7.7.*"' in step for step in steps)
    cell = (root / "book/_tools/colab_cell.txt").read_text("utf-8")
    assert "ipywidgets" not in cell
    assert "--no-deps" not in cell


# --- Binder ----------------------------------------------------------------------------------------------


def test_binder_can_build(root: Path) -> None:
    script = root / "binder/postBuild"
    assert os.access(script, os.X_OK) or sys.platform == "win32"
    lines = script.read_text("utf-8")
    assert lines.startswith("#!/usr/bin/env bash\n")
    assert "\r" not in lines
    if sys.platform != "win32":
        subprocess.run(["bash", "-n", script], check=True)
    for module in re.findall(r"python -m (lielab[\w.]*)", lines):
        assert (root / module.replace(".", "/") / "__main__.py").is_file()
    assert "lielab.warm()" in lines
    listed = yaml.safe_load((root / "binder/environment.yml").read_text("utf-8"))["dependencies"]
    assert "ipywidgets=8" in listed
    assert any(name.startswith("jupyterlab") for name in listed)
