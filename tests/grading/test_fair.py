"""What an honest student may rely on: time counted apart, given cells put back, allowed imports; a small grader."""

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from lielab.grading import sandbox, watch
from lielab.grading.notebook import mark, read_master, source
from tests.grading.util import EXERCISES, full, results, submission

NAME = "01_rotations"


def points(result):
    return {name: earned for name, (earned, _) in result.questions.items()}


def test_slow_cells_of_ones_own_cost_no_points_and_are_said():
    slow = [f"import time\ntime.sleep({2 + k})" for k in range(4)]
    found = results({"ann": submission(NAME, *slow)}, cell_seconds=1.0, scratch_seconds=2.5)["ann"]
    assert points(found) == full(NAME)
    text = " ".join(found.complaints.values())
    assert "took longer than 1 s" in text
    assert "left out: the cells before it used up the time" in text


def test_given_cells_are_put_back():
    lost, changed = submission("05_rkmk"), submission("05_rkmk")
    lost["cells"] = [c for c in lost["cells"] if mark(c).get("grade_id") != "setup"]
    for cell in changed["cells"]:
        if mark(cell).get("grade_id") == "setup":
            cell["source"] = source(cell).replace("hat(u) / 2", "hat(u)")
    for result in results({"lost": lost, "changed": changed}).values():
        assert points(result) == full("05_rkmk")
        assert "read-only cells put back as they were: setup" in result.notes


def test_what_changes_its_arguments_is_said_and_costs_nothing():
    change = (
        "def vee(X):\n    x = np.array([X[2, 1], X[0, 2], X[1, 0]])\n    X[:] = 0\n    return x\n"
    )
    hat = read_master(EXERCISES / NAME / f"{NAME}.ipynb").solutions["q1"].split("def vee")[0]
    found = results({"ann": submission(NAME, q1=hat + change)})["ann"]
    assert points(found) == full(NAME)
    assert any("change their arguments, which callers do not expect: vee" in n for n in found.notes)


def test_a_function_that_is_not_there_costs_nothing_elsewhere():
    """Also where it is called in one place only, as `vee` is in `log`."""
    found = results({"ann": submission(NAME, q1="x = 1")}, call_seconds=8.0, total_seconds=120.0)[
        "ann"
    ]
    assert points(found) == {**full(NAME), "q1": 0.0}


def test_plots_may_be_drawn():
    plot = "import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.savefig('a.png')\nprint('drawn')"
    found = results({"ann": submission(NAME, plot)}, memory_mb=800, cell_seconds=15.0)["ann"]
    assert points(found) == full(NAME)
    assert found.complaints == {}
    assert "drawn" in found.log


def test_the_grader_itself_stays_small():
    """Large and odd answers of many kinds: what they weigh is theirs."""
    answers = (
        "['x' * 1900] + [''] * 90_000",
        "np.zeros(2_000_000)",
        "[[0.0] * 1000 for _ in range(99)]",
        "[np.zeros((0, 10**9))] * 1000",
        "{str(k): ['y' * 100] * 9 for k in range(9000)}",
    )
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    batch = {
        f"s{k}": submission(NAME, q2=f"def exp(x): return {text}") for k, text in enumerate(answers)
    }
    for result in results(batch).values():
        assert points(result) == {**full(NAME), "q2": 0.0}
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 170_000  # kB, with four at a time


def test_folders_of_killed_runs_are_cleared_away(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    program = (
        "import sys\nfrom lielab.grading.sandbox import workplace\n"
        "with workplace() as folder:\n    print(folder, flush=True)\n    sys.stdin.read()\n"
    )
    run = [sys.executable, "-c", program]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    with (
        subprocess.Popen(run, env=environment, **pipes) as killed,
        subprocess.Popen(run, env=environment, **pipes) as running,
    ):
        dead, alive = (Path(process.stdout.readline().strip()) for process in (killed, running))
        killed.kill()
        killed.wait()
        assert dead.is_dir()
        sandbox.clear_away()
        assert not dead.exists()
        assert alive.is_dir()
    assert list(tmp_path.iterdir()) == []


def test_memory_that_was_swapped_out_counts(tmp_path, monkeypatch):
    table = tmp_path / "swaps"
    table.write_text("Filename Type Size Used Priority\n")
    assert not watch.has_swap(str(table))
    table.write_text(table.read_text() + "/dev/vdb partition 1048572 0 -2\n")
    assert watch.has_swap(str(table))
    [before] = watch.tree(os.getpid(), 1)
    monkeypatch.setattr(watch, "_SWAP", True)
    monkeypatch.setattr(watch, "swapped", lambda pid: 1 << 40)
    [after] = watch.tree(os.getpid(), 1)
    assert after.memory - before.memory > 1 << 39
    monkeypatch.undo()
    assert watch.swapped(os.getpid()) >= 0
    assert watch.swapped(2**30) == 0  # it ended meanwhile


def test_names_that_may_be_imported_come_with_what_they_need():
    found = sandbox.packages(("numpy", "matplotlib"))
    assert {"numpy", "matplotlib", "mpl_toolkits", "PIL"} <= set(found)
    assert not {"scipy", "mpmath", "lielab", "numba", "sympy"} & set(found)
    assert {"lielab", "numba", "scipy"} <= set(sandbox.packages(("lielab",)))


def test_the_machines_own_shared_memory_is_not_a_submissions():
    """Before its walls stand a process sees the machine's /dev/shm; what others left there is no fault of it."""
    left = Path(f"/dev/shm/lielab-{os.getpid()}")
    if not left.parent.is_dir():
        pytest.skip("no /dev/shm here")
    try:
        left.write_bytes(bytes(1 << 20))
        assert watch.mounted_size(os.getpid()) == (0, 0)
    finally:
        left.unlink()
