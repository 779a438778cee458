"""Submissions that cheat, break or attack: what they earn, with bubblewrap's walls and without.

`LAPSES` are the attacks that succeed without walls; the test says so, as the grader's warning does. Each kind of
sandbox is one test, because all submissions are graded in one run (parallel test workers would each repeat it).
"""

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

import pytest

from lielab.grading import sandbox, watch
from tests.grading.hostile import (
    CASES,
    FULL,
    LAPSES,
    NAME,
    ONLY_WITH_WALLS,
    SAME,
    WRITTEN,
    without,
)
from tests.grading.util import EXERCISES, has_bubblewrap, results, submission
from tests.pace import pace

WORDS = {  # in the report of a submission
    "fork bomb": "processes and threads",
    "thread bomb": "thread",  # the limit, or Python's own error about the address space
    "memory of many": "MB of memory",
    "memory files": "Operation not permitted",
    "uses the network": "Operation not permitted",
    "many files": "200 files",
    "deep folder": "200 files",
    "mounts in a world of its own": "No such file",
    "keys that are tuples": "neither strings nor integers",
    "endless loop": "stopped",
    "syntax error": "SyntaxError",
    "not a notebook": "not a notebook",
    "equals anything": "a Magic, not a number",
    "odd values 1": "NaN",
    "odd values 2": "a generator",
    "odd values 3": "too large",
}


def cases(kind):
    if kind == "bubblewrap":
        return CASES | SAME | ONLY_WITH_WALLS
    return CASES if not has_bubblewrap() else CASES | SAME


def points(result):
    return {name: earned for name, (earned, _) in result.questions.items()}


def text(result):
    messages = [score.message for score in result.parts]
    return " ".join([*result.notes, *result.complaints.values(), *messages, result.log])


def grade_all(kind, folder, monkeypatch):
    monkeypatch.setenv("LIELAB_TEST_SECRET", "environment-of-the-grader")
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    batch = {name: content for name, (content, _) in cases(kind).items()} | LAPSES
    batch["shows its environment"] = submission(NAME, "import os; print(dict(os.environ))")
    try:
        return results(batch, sandbox=kind)
    finally:
        WRITTEN.unlink(missing_ok=True)


def check_points(kind, graded):
    """Every submission earns what it should; without walls the attacks of `LAPSES` succeed."""
    expected = {name: earned for name, (_, earned) in cases(kind).items()}
    expected |= dict.fromkeys(LAPSES, without("q2") if kind == "bubblewrap" else FULL)
    if kind == "none":  # SciPy's last digits may cost one of the two points
        got = points(graded["removes the import hook"])
        assert got["q2"] > 0
        expected["removes the import hook"] = {**FULL, "q2": got["q2"]}
    got = {name: points(graded[name]) for name in expected}
    wrong = {n: (got[n], text(graded[n])) for n in expected if got[n] != expected[n]}
    assert wrong == {}
    assert not any(result.failed for result in graded.values())


def check_reports(graded):
    """They say why, in bounded text that cannot drive a terminal."""
    assert re.search("MB of files|No space left", text(graded["large folder"]))
    for name, words in WORDS.items():
        if name in graded:
            assert words in text(graded[name]), name
    for result in graded.values():
        assert all(c in "\n\t" or c.isprintable() for c in text(result))
        assert len(text(result)) < 60_000


def check_nothing_is_left(graded, folder):
    time.sleep(0.2)
    assert watch.marked(watch.mark_of_this_run()) == []
    assert [path.name for path in folder.iterdir()] == []
    assert "environment-of-the-grader" not in graded["shows its environment"].log
    assert watch.mark_of_this_run() in graded["shows its environment"].log


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["bubblewrap", "none"])
def test_hostile_submissions(kind, tmp_path, monkeypatch):
    if kind == "bubblewrap" and has_bubblewrap():
        pytest.skip(f"no walls to test: {has_bubblewrap()}")
    graded = grade_all(kind, tmp_path, monkeypatch)
    check_points(kind, graded)
    check_reports(graded)
    check_nothing_is_left(graded, tmp_path)
    lapses = sandbox.Sandbox(kind).lapses
    assert lapses == [] if kind == "bubblewrap" else set(sandbox.WITHOUT_WALLS) <= set(lapses)


@pytest.mark.skipif(os.name != "posix", reason="grade is for Linux and macOS")
def test_an_interrupted_run_keeps_what_was_graded(tmp_path):
    for name, extra in (("a", "import time; time.sleep(60)"), ("b", "")):
        (tmp_path / "class").mkdir(exist_ok=True)
        (tmp_path / "class" / f"{name}.ipynb").write_text(json.dumps(submission(NAME, extra)))
    command = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
    command += "import sys; from lielab.grading.__main__ import main; sys.exit(main(sys.argv[1:]))"
    out = tmp_path / "out"
    arguments = [
        "grade",
        str(tmp_path / "class"),
        "--masters",
        str(EXERCISES),
        "--out",
        str(out),
    ]
    process = subprocess.Popen(
        [sys.executable, "-u", "-c", command, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    for row in process.stdout:
        if row.startswith("b: 10/10"):
            break
    started = time.monotonic()
    process.send_signal(signal.SIGINT)
    assert "stopped" in process.communicate(timeout=30)[1]
    assert process.returncode == 130
    assert time.monotonic() - started < 200.0 * pace()
    rows = (out / "grades.csv").read_text().splitlines()
    assert [row.split(",")[0] for row in rows] == ["student", "b"]
    assert watch.marked(f"LIELAB_GRADE_{process.pid}_") == []
