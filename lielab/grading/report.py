"""What a grading run leaves: a table as CSV and JSON, and a page for each student.

Everything that comes from a submission is data here: indented as code in Markdown, and no formula in a spreadsheet.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from .session import printable

if TYPE_CHECKING:
    from .grade import Result


def _number(value: float) -> str:
    return f"{value:g}"


def line(result: Result) -> str:
    """One line for the terminal; the points possible are unknown where the assignment is."""
    points = f"{_number(result.earned)}/{_number(result.possible) if result.parts else '?'}"
    what = "; ".join(result.notes).splitlines()[:1]
    return f"{printable(result.student, 80)}: {points}" + (
        f"  ({printable(what[0], 100)})" if what else ""
    )


def file_name(student: str) -> str:
    """A name that any file system takes, different for different students."""
    plain = "".join(
        c if c.isascii() and (c.isalnum() or c in "-_") else "_" for c in student
    ).strip("-_")[:60]
    return f"{plain or 'student'}-{hashlib.sha256(student.encode('utf-8', 'surrogatepass')).hexdigest()[:8]}.md"


def _write(path: Path, text: str) -> None:
    """Write the whole file or nothing: a run that is interrupted leaves no half table."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".part-")
    with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace", newline="") as file:
        file.write(text)
    os.chmod(name, 0o644)
    os.replace(name, path)


def _code(text: str) -> list[str]:
    """Indented by four spaces: Markdown shows it as it is, whatever it holds."""
    return ["", *(f"    {row}" for row in text.splitlines()), ""]


def _plain(text: str) -> str:
    """One line of text in which Markdown finds nothing to interpret."""
    row = " ".join(printable(text).split())
    for character in "\\`*_[]<>|#":
        row = row.replace(character, "\\" + character)
    return row


def write_student(out: Path, result: Result, seed: int, lapses: Sequence[str]) -> None:
    """The page of one student: points, what did not hold, and errors of cells."""
    rows = [
        f"# {_plain(result.student)}",
        "",
        f"Assignment {_plain(result.assignment or 'unknown')}: "
        f"**{_number(result.earned)} of {_number(result.possible) if result.parts else '?'} points**.",
        "",
    ]
    if result.questions:
        rows += ["| question | points |", "|---|---|"]
        rows += [
            f"| {_plain(name)} | {_number(e)} of {_number(p)} |"
            for name, (e, p) in result.questions.items()
        ] + [""]
    for score in result.parts:
        if score.message:
            rows += [
                f"`{score.part.name}` ({_number(score.earned)} of {_number(score.part.points)}):",
                *_code(score.message),
            ]
    for note in result.notes:
        rows += ["Note:", *_code(note)]
    for number, complaint in sorted(result.complaints.items()):
        rows += [f"Cell {number} of the notebook:", *_code(complaint)]
    if result.log.strip():
        rows += ["Printed while it ran (the beginning):", *_code(result.log)]
    rows += [f"Random inputs from seed {seed}."]
    if lapses:
        rows += ["Graded without bubblewrap, so without its guarantees."]
    _write(out / "reports" / file_name(result.student), "\n".join(rows) + "\n")


def _cell(text: str) -> str:
    """Spreadsheets take a text that begins with one of these for a formula."""
    text = printable(text)
    return "'" + text if text[:1] in ("=", "+", "-", "@", "\t") else text


def write_table(out: Path, results: Sequence[Result], seed: int, lapses: Sequence[str]) -> None:
    """`grades.csv` and `grades.json`."""
    questions = sorted({(r.assignment, name) for r in results for name in r.questions})
    several = len({assignment for assignment, _ in questions}) > 1
    heads = {key: f"{key[0]} {key[1]}" if several else key[1] for key in questions}
    rows = [["student", "assignment", *heads.values(), "points", "possible", "report", "notes"]]
    for r in results:
        points = [
            _number(r.questions[name][0]) if a == r.assignment and name in r.questions else ""
            for a, name in heads
        ]
        total = [_number(r.earned), _number(r.possible) if r.parts else ""]
        notes = " ".join("; ".join(r.notes).split())
        rows.append(
            [_cell(r.student), r.assignment, *points, *total, file_name(r.student), _cell(notes)]
        )
    text = io.StringIO(newline="")
    csv.writer(text).writerows(rows)
    _write(out / "grades.csv", text.getvalue())
    table = {
        "seed": seed,
        "lapses": list(lapses),
        "results": [
            {
                "student": r.student,
                "assignment": r.assignment,
                "points": r.earned,
                "possible": r.possible,
                "questions": {
                    name: {"points": e, "possible": p} for name, (e, p) in r.questions.items()
                },
                "parts": [
                    {
                        "name": s.part.name,
                        "points": s.earned,
                        "possible": s.part.points,
                        "message": s.message,
                    }
                    for s in r.parts
                ],
                "notes": r.notes,
                "cells": {str(number): text for number, text in r.complaints.items()},
                "seconds": round(r.seconds, 2),
                "grader_failed": r.failed,
            }
            for r in results
        ],
    }
    _write(out / "grades.json", json.dumps(table, indent=1) + "\n")
