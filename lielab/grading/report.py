"""What a grading run leaves beside its table: a page for each student, and what was left out.

Everything that comes from a submission is data here: indented as code in Markdown, and no formula in a spreadsheet.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from .session import printable
from .store import cell, number, table, write

if TYPE_CHECKING:
    from .result import Result


def line(result: Result) -> str:
    """One line for the terminal; the points possible are unknown where the assignment is."""
    points = f"{number(result.earned)}/{number(result.possible) if result.parts else '?'}"
    what = "; ".join(result.notes).splitlines()[:1]
    return f"{printable(result.student, 80)}: {points}" + (
        f"  ({printable(what[0], 100)})" if what else ""
    )


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
        f"**{number(result.earned)} of {number(result.possible) if result.parts else '?'} points**.",
        "",
    ]
    if result.questions:
        rows += ["| question | points |", "|---|---|"]
        rows += [
            f"| {_plain(name)} | {number(e)} of {number(p)} |"
            for name, (e, p) in result.questions.items()
        ] + [""]
    for score in result.parts:
        if score.message:
            rows += [
                f"`{score.part.name}` ({number(score.earned)} of {number(score.part.points)}):",
                *_code(score.message),
            ]
    if result.days_late:
        days = "a day" if result.days_late == 1 else f"{result.days_late} days"
        rows += [f"Handed in {days} late: {number(result.penalty)} points less.", ""]
    for note in result.notes:
        rows += ["Note:", *_code(note)]
    for k, complaint in sorted(result.complaints.items()):
        rows += [
            f"Cell {k} of the notebook:" if k > 0 else "A cell that was given:",
            *_code(complaint),
        ]
    if result.log.strip():
        rows += ["Printed while it ran (the beginning):", *_code(result.log)]
    rows += [f"Random inputs from seed {seed}."]
    if lapses:
        rows += ["Graded without bubblewrap, so without its guarantees."]
    write(out / "reports" / result.report, "\n".join(rows) + "\n")


def write_skipped(
    out: Path, skipped: Sequence[tuple[str, str]], same: Sequence[tuple[str, str]]
) -> None:
    """`skipped.csv`: what of the last run was left out or is doubtful, and why."""
    rows = [(cell(what[:300]), cell(why[:300])) for what, why in (*skipped, *same)]
    write(out / "skipped.csv", table([("what", "why"), *rows]))
