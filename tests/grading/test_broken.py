"""Submissions that cannot be read, folders that hold none, and what the grader prints about them."""

import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from lielab import grading
from lielab.grading import checks, report, sandbox
from lielab.grading import grade as grading_run
from lielab.grading.__main__ import main
from lielab.grading.session import Session
from lielab.grading.student import assignments
from tests.grading.util import EXERCISES, full, submission

NAME = "01_rotations"


def hand_in(folder: Path, **files) -> Path:
    folder.mkdir()
    for name, content in files.items():
        text = json.dumps(content) if isinstance(content, dict) else content
        (folder / f"{name}.ipynb").write_text(text)
    return folder


def table(out: Path) -> dict[str, dict[str, str]]:
    with open(out / "grades.csv", newline="") as file:
        return {row["student"]: row for row in csv.DictReader(file)}


def graded(folder: Path, out: Path) -> tuple[dict[str, dict[str, str]], list[str]]:
    said: list[str] = []
    grading_run.grade(folder, EXERCISES, out, seed=1, say=said.append)
    return table(out), said


def test_a_broken_file_earns_none_of_the_points_of_its_class(tmp_path):
    """All exercises are masters here; what the others handed in says which one it is."""
    folder = hand_in(tmp_path / "class", ann=submission(NAME), bob="hello", eve='{"cells": 3}')
    rows, said = graded(folder, tmp_path / "out")
    total = f"{sum(full(NAME).values()):g}"
    assert [row["points"] for row in rows.values()] == [total, "0", "0"]
    assert [row["possible"] for row in rows.values()] == [total] * 3
    assert rows["bob"]["q1"] == "0"
    assert rows["bob"]["notes"] == "not a notebook (damaged or not JSON)"
    assert f"bob: 0/{total}  (not a notebook (damaged or not JSON))" in said
    page = (tmp_path / "out" / "reports" / rows["bob"]["report"]).read_text()
    assert f"**0 of {total} points**" in page


def test_where_the_assignment_cannot_be_told_no_total_is_made_up(tmp_path):
    folder = hand_in(tmp_path / "class", bob="hello")
    rows, said = graded(folder, tmp_path / "out")
    assert rows["bob"]["possible"] == ""
    assert any(text.startswith("bob: 0/?") for text in said)


def test_a_failure_of_the_grader_leaves_the_points_possible(tmp_path, monkeypatch):
    def fails(*args):
        if args[1] == "ann":  # the master itself is graded first
            raise OSError("no space")
        return real(*args)

    real = grading_run.grade_notebook
    monkeypatch.setattr(grading_run, "grade_notebook", fails)
    rows, _ = graded(hand_in(tmp_path / "class", ann=submission(NAME)), tmp_path / "out")
    assert rows["ann"]["possible"] == f"{sum(full(NAME).values()):g}"
    assert "the grader failed on it: OSError: no space" in rows["ann"]["notes"]


def test_a_limit_broken_by_a_cell_is_not_blamed_on_another_one():
    """The second cell makes too many files and is gone before anybody looks."""
    many = "import os\nfor k in range(250):\n    os.mkdir(f'd{k}')"
    cells = [(1, "x = 3.0", True), (2, many, True), (3, "def f(): return x", False)]
    with sandbox.workplace() as folder:
        session = Session(
            sandbox.Sandbox("auto", sandbox.Limits(files=200)), folder, cells, ("numpy",)
        )
        try:
            assert session.call("f") == (3.0, [])
        finally:
            session.close()
    assert list(session.complaints) == [2]
    assert "more than 200 files" in session.complaints[2]


def test_an_empty_folder_gets_a_hint_and_nothing_else(tmp_path, capsys):
    (tmp_path / "class").mkdir()
    (tmp_path / "class" / "notes.txt").write_text("no notebook")
    out = tmp_path / "out"
    assert main(["grade", str(tmp_path / "class"), "--out", str(out)]) == 2
    printed = capsys.readouterr()
    assert "holds no notebook; put the submissions there as .ipynb files" in printed.err
    assert printed.out == ""  # no notice in front of an error
    assert not out.exists()


def test_notices_come_after_what_was_asked_for(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(EXERCISES.parent)
    folder = hand_in(tmp_path / "class", ann=submission(NAME))
    assert main(["grade", str(folder), "--out", str(tmp_path / "out")]) == 0
    printed = capsys.readouterr().out
    assert printed.index("ann: 10/10") < printed.index("1 submission;") < printed.index("public")


def test_assignments_are_listed_by_their_full_names():
    folders = sorted(path.parent.name for path in EXERCISES.glob("*/*.ipynb"))
    assert assignments() == folders
    assert len(set(checks.NUMBERS.values())) == len(checks.NUMBERS)
    for name in folders:
        assert grading.load(name).assignment == name
    with pytest.raises(ValueError, match=f"there are: {', '.join(folders)};"):
        grading.load("rotation")


def test_what_checks_and_reports_print_shows_on_any_terminal():
    """Plain letters only: a terminal without Unicode would show escapes such as \\xd7 in their place."""
    sources = Path(report.__file__).parent.rglob("*.py")
    assert [path.name for path in sources if not path.read_text(encoding="utf-8").isascii()] == []


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("--seed=-1", "seed must be a whole number of at least 0, got -1"),
        ("--jobs=0", "jobs must be a whole number of at least 1, got 0"),
        ("--time=0", "total_seconds must be a positive number"),
        ("--time=nan", "total_seconds must be a positive number"),
        ("--time=inf", "total_seconds must be a positive number"),
        ("--call-time=-1", "call_seconds must be a positive number"),
        ("--memory=0", "memory_mb must be a positive number"),
        ("--memory=99999999999999", "memory_mb must be a positive number of at most 1e"),
        ("--tasks=-1", "tasks must be a positive number"),
    ],
)
def test_limits_that_are_none_are_named_before_anything_runs(option, message, tmp_path, capsys):
    folder = hand_in(tmp_path / "class", ann="x")
    assert main(["grade", str(folder), "--out", str(tmp_path / "out"), option]) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_two_files_of_one_student_are_one_student_and_the_newer_one_counts(tmp_path):
    folder = hand_in(tmp_path / "class", ann=submission(NAME, q1=None))
    os.utime(folder / "ann.ipynb", (1.6e9, 1.6e9))
    (folder / "ann.IPYNB").write_text(json.dumps(submission(NAME)))
    rows, said = graded(folder, tmp_path / "out")
    assert [(name, row["points"]) for name, row in rows.items()] == [("ann", "10")]
    assert "skipped: ann.ipynb: ann has a newer file, ann.IPYNB" in said


def test_changed_metadata_neither_costs_points_nor_stops_the_class(tmp_path):
    """Duplicated ids, deleted test cells, another kernel, cells twice, odd metadata."""
    made = {name: submission(NAME) for name in ("ids", "tests", "kernel", "twice", "cells", "none")}
    for cell in made["ids"]["cells"]:
        cell["id"] = "same"
    cells = made["tests"]["cells"]
    cells[:] = [c for c in cells if not c.get("metadata", {}).get("nbgrader", {}).get("grade")]
    made["kernel"]["metadata"]["kernelspec"] = {"name": "ir", "language": "R"}
    made["twice"]["cells"] *= 2
    for cell in made["cells"]["cells"]:
        cell["metadata"] = 3
    made["none"]["metadata"] = None
    rows, _ = graded(hand_in(tmp_path / "class", **made), tmp_path / "out")
    total = f"{sum(full(NAME).values()):g}"
    assert {row["points"] for row in rows.values()} == {total}


def grader(folder: Path, out: Path, ready: str) -> subprocess.Popen:
    """A grading run in a process of its own, once it has printed a line that begins with `ready`."""
    command = [sys.executable, "-u", "-m", "lielab.grading", "grade", str(folder)]
    command += ["--masters", str(EXERCISES), "--out", str(out), "--jobs", "1"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    for row in process.stdout:
        if row.startswith(ready):
            break
    return process


@pytest.mark.skipif(os.name != "posix", reason="grade is for Linux and macOS")
def test_a_killed_run_keeps_its_lines_and_two_do_not_mix(tmp_path):
    folder = hand_in(
        tmp_path / "class", a=submission(NAME), b=submission(NAME, "import time; time.sleep(60)")
    )
    out = tmp_path / "out"
    process = grader(folder, out, "a: 10/10")
    try:
        with pytest.raises(ValueError, match="is being written by another run; wait for it"):
            grading_run.grade(folder, EXERCISES, out, say=lambda _: None)
    finally:
        process.kill()
        process.communicate()
    (folder / "b.ipynb").write_text(json.dumps(submission(NAME)))
    said: list[str] = []
    grading_run.grade(folder, EXERCISES, out, say=said.append)  # the lock went with its owner
    assert [row["points"] for row in table(out).values()] == ["10", "10"]
    assert "1 is in the table as it is" in said
    assert not any(text.startswith("a:") for text in said)
