"""Student copies of the masters.

A copy is *built*, cell by cell, from a list of what may go out; it is not a master with things removed. What may go
out: the text of cells marked read-only, the lines of solution cells (those graded by hand as well) outside the
solution, the lines of test cells outside the hidden tests. Everything else stays behind: unmarked cells, outputs,
attachments, metadata.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .notebook import (
    BEGIN_HIDDEN,
    BEGIN_SOLUTION,
    END_HIDDEN,
    END_SOLUTION,
    OWN_CHECKS,
    Master,
    NotebookError,
    find_masters,
    is_read_only,
    mark,
    read_master,
    regions,
    source,
)

_KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
_SAFE_NAME = set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")


def _stub(text: str, question: str, where: str, code: bool = True) -> str:
    """A solution cell with each solution replaced by a line that says what is missing."""
    lines, was_inside = [], False
    found = regions(text, BEGIN_SOLUTION, END_SOLUTION, where)
    if not any(inside for inside, _ in found):
        raise NotebookError(f"{where}: a solution cell without {BEGIN_SOLUTION!r}")
    for inside, line in found:
        if inside and not was_inside:
            indent = line[: len(line) - len(line.lstrip())]
            missing = f"{question}: still to be written"
            lines.append(
                f'{indent}raise NotImplementedError("{missing}")' if code else f"*{missing}*"
            )
        elif not inside:
            lines.append(line)
        was_inside = inside
    return "\n".join(lines)


def _released_text(cell: dict[str, Any], where: str) -> str | None:
    """What of a cell goes out, None for nothing."""
    found, text = mark(cell), source(cell)
    if is_read_only(cell):
        if cell.get("attachments"):
            raise NotebookError(f"{where}: attachments are not released; link a file instead")
        for begin, end in ((BEGIN_SOLUTION, END_SOLUTION), (BEGIN_HIDDEN, END_HIDDEN)):
            if len(regions(text, begin, end, where)) != text.count("\n") + 1:
                raise NotebookError(
                    f"{where}: a read-only cell holds a marker; its metadata should say what it is"
                )
        return text
    code = cell.get("cell_type") == "code"
    if found.get("solution") is True and (code or found.get("grade") is True):
        return _stub(text, str(found.get("grade_id")).split("_")[0], where, code)
    if not code:
        return None
    if found.get("grade") is True and found.get("solution") is False:
        shown = [
            line for inside, line in regions(text, BEGIN_HIDDEN, END_HIDDEN, where) if not inside
        ]
        return "\n".join(shown).strip("\n") or None
    return None


def student_copy(master: Master) -> tuple[dict[str, Any], list[str]]:
    """The notebook for students, and a line for each cell that stays behind without a mark."""
    cells, left = [], []
    for number, cell in enumerate(master.notebook["cells"], start=1):
        where = f"{master.path.name}, cell {number}"
        text = _released_text(cell, where)
        if text is None:
            if not mark(cell):
                left.append(
                    f"{where}: not released, because nothing marks it as read-only, solution or test"
                )
            continue
        found, name = mark(cell), str(mark(cell).get("grade_id"))
        if not name or not set(name) <= _SAFE_NAME:
            raise NotebookError(
                f"{where}: the grade_id {name!r} should be made of letters, digits, - and _"
            )
        marks: dict[str, Any] = {
            "grade": found.get("grade") is True,
            "grade_id": name,
            "locked": found.get("locked") is True,
            "schema_version": 3,
            "solution": found.get("solution") is True,
            "task": False,
        }
        if marks["grade"]:
            marks["points"] = float(found["points"])
        new = {"cell_type": "code" if cell["cell_type"] == "code" else "markdown", "id": name[:64]}
        new |= {"metadata": {"nbgrader": marks}, "source": text}
        if new["cell_type"] == "code":
            new |= {"execution_count": None, "outputs": []}
        cells.append(new)
    metadata = {
        "kernelspec": _KERNEL,
        "language_info": {"name": "python"},
        "lielab": {"assignment": master.name},
    }
    return {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}, left


@dataclass(frozen=True)
class Released:
    """What became of one assignment: `written`, `unchanged` (already there), or `kept` (a student's work is there)."""

    name: str
    path: Path
    state: str
    notes: tuple[str, ...] = ()


def release(masters: Path | None = None, out: Path | None = None) -> list[Released]:
    """Write `out/NN_name/NN_name.ipynb` for every master; a file that is already there is never touched."""
    out = Path(out) if out is not None else Path("released")
    results = []
    found = find_masters(masters)
    if any(
        out.resolve() == path.resolve().parents[depth]
        for path in found.values()
        for depth in (0, 1)
    ):
        raise ValueError(f"out={str(out)!r} is the folder of the masters; choose another")
    files = []  # all of them, or none is written
    for name, path in found.items():
        master = read_master(path)
        notebook, notes = student_copy(master)
        text = json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True) + "\n"
        files.append((name, f"{name}.ipynb", text, notes))
        own = path.parent / OWN_CHECKS
        if path.stem == path.parent.name and own.is_file():  # an assignment that is not the book's
            allow = (
                f"\nALLOW = {master.allow!r}  # as the master says: what a solution may import\n"
            )
            files.append((name, OWN_CHECKS, own.read_text(encoding="utf-8") + allow, []))
    for name, file_name, text, notes in files:
        target = out / name / file_name
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            # O_EXCL: created now or not at all, whatever else writes here at the same time
            with os.fdopen(
                os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644), "w", encoding="utf-8"
            ) as file:
                file.write(text)
            state = "written"
        except FileExistsError:
            same = target.is_file() and target.read_bytes() == text.encode()
            state = "unchanged" if same else "kept"
        results.append(Released(name, target, state, tuple(notes)))
    return results
