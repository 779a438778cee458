"""Notebooks as plain data: read without nbformat, so that a broken file costs its author points and nobody else.

A *master* marks its cells as nbgrader does, by `metadata.nbgrader` (`grade_id`, `grade`, `solution`, `locked`,
`points`) and by the lines ### BEGIN SOLUTION, ### END SOLUTION, ### BEGIN HIDDEN TESTS, ### END HIDDEN TESTS.
The part of a `grade_id` before its first underscore is the question: `q2_small` earns points for `q2`.
"""

from __future__ import annotations

import ast
import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

MAX_FILE = 20_000_000  # bytes; a notebook with a few hundred pictures
MAX_CELLS = 2000
MAX_TEXT = 400_000  # characters in all cells; this book's longest chapter has a tenth

BEGIN_SOLUTION, END_SOLUTION = "### BEGIN SOLUTION", "### END SOLUTION"
BEGIN_HIDDEN, END_HIDDEN = "### BEGIN HIDDEN TESTS", "### END HIDDEN TESTS"
_ALMOST_A_MARKER = re.compile(r"(begin|end)[\s_-]*(solution|hidden)", re.IGNORECASE)


class NotebookError(ValueError):
    """A file that is not a notebook, or a master whose marks do not add up."""


def read(path: Path) -> dict[str, Any]:
    """The notebook at `path`; raises `NotebookError` with the reason if it is none."""
    if path.is_symlink() or not path.is_file():
        raise NotebookError("not an ordinary file (links are not followed)")
    if path.stat().st_size > MAX_FILE:
        raise NotebookError(f"larger than {MAX_FILE / 1e6:.0f} MB")
    try:
        notebook = json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        raise NotebookError("not a notebook (damaged or not JSON)") from None
    except OSError as error:
        raise NotebookError(f"cannot be read: {error.strerror}") from None
    cells = notebook.get("cells") if isinstance(notebook, dict) else None
    if not isinstance(cells, list) or not all(isinstance(cell, dict) for cell in cells):
        raise NotebookError("not a notebook of format 4: it has no list of cells")
    if len(cells) > MAX_CELLS:
        raise NotebookError(f"more than {MAX_CELLS} cells")
    if sum(len(source(cell)) for cell in cells) > MAX_TEXT:
        raise NotebookError(f"more than {MAX_TEXT / 1e3:.0f} kB of text and code")
    return notebook


def source(cell: dict[str, Any]) -> str:
    """Text of a cell, which a notebook may hold as one string or as a list of lines."""
    text = cell.get("source", "")
    if isinstance(text, list):
        text = "".join(line for line in text if isinstance(line, str))
    return text if isinstance(text, str) else ""


def code_cells(notebook: dict[str, Any]) -> list[tuple[int, str]]:
    """Number (counted from 1, all cells) and text of the code cells, without cells of tests."""
    cells = enumerate(notebook["cells"], start=1)
    code = [(k, cell) for k, cell in cells if cell.get("cell_type") == "code"]
    return [(k, source(cell)) for k, cell in code if mark(cell).get("grade") is not True]


def assignment_of(notebook: dict[str, Any]) -> str | None:
    """The assignment that a released notebook carries in its metadata."""
    metadata = notebook.get("metadata")
    ours = metadata.get("lielab") if isinstance(metadata, dict) else None
    name = ours.get("assignment") if isinstance(ours, dict) else None
    return name if isinstance(name, str) else None


@dataclass(frozen=True)
class Part:
    """One cell of hidden tests: all its points or none."""

    name: str
    points: float
    source: str

    @property
    def question(self) -> str:
        return self.name.split("_")[0]


@dataclass
class Master:
    """A master notebook, taken apart."""

    name: str
    path: Path
    notebook: dict[str, Any]
    forbid: tuple[str, ...] = ()
    solutions: dict[str, str] = field(default_factory=dict)  # grade_id -> text, with the solution
    parts: list[Part] = field(default_factory=list)
    drivers: list[Part] = field(default_factory=list)
    functions: set[str] = field(default_factory=set)  # what the student, or a driver, defines
    values: set[str] = field(default_factory=set)

    @property
    def questions(self) -> dict[str, float]:
        """Question -> points, in the order of the notebook."""
        total: dict[str, float] = {}
        for part in self.parts:
            if part.points:
                total[part.question] = total.get(part.question, 0.0) + part.points
        return total


def mark(cell: dict[str, Any]) -> dict[str, Any]:
    """nbgrader's metadata of a cell, empty if it has none."""
    metadata = cell.get("metadata")
    found = metadata.get("nbgrader") if isinstance(metadata, dict) else None
    return found if isinstance(found, dict) else {}


def is_read_only(cell: dict[str, Any]) -> bool:
    """A cell that nbgrader shows to students as it is: locked, no grade, no solution."""
    found = mark(cell)
    return (
        found.get("locked") is True
        and found.get("grade") is False
        and found.get("solution") is False
    )


def regions(text: str, begin: str, end: str, where: str) -> list[tuple[bool, str]]:
    """Lines of `text`, each with whether it lies between `begin` and `end`; the marker lines are dropped.

    Raises `NotebookError` on a marker that is not closed, not opened or misspelt: better no release than a leak.
    """
    found, inside = [], False
    for line in text.split("\n"):
        word = line.strip()
        if word in (begin, end):
            if inside is (word == begin):
                raise NotebookError(f"{where}: {word!r} has no partner")
            inside = not inside
            if inside:
                found.append((True, line))
            continue
        if not inside and _ALMOST_A_MARKER.search(line):
            raise NotebookError(
                f"{where}: {word!r} looks like a marker, but is not one expected here"
            )
        found.append((inside, line))
    if inside:
        raise NotebookError(f"{where}: {begin!r} has no partner")
    return found


def _defined(text: str, where: str) -> tuple[set[str], set[str]]:
    """Functions (or classes) and plain variables that a cell defines at its top level."""
    try:
        body = ast.parse(text).body
    except SyntaxError as error:
        raise NotebookError(f"{where}: {error}") from None
    functions, values = set(), set()
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            functions.add(node.name)
        elif isinstance(node, ast.Assign):
            values |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    return functions, values


def read_master(path: Path) -> Master:
    """Take a master apart; raises `NotebookError` where its marks do not add up."""
    notebook = read(path)
    ours = notebook.get("metadata", {}).get("lielab", {})
    master = Master(path.stem, path, notebook, tuple(ours.get("forbid", ())))
    seen: set[str] = set()
    for number, cell in enumerate(notebook["cells"], start=1):
        found, text, where = mark(cell), source(cell), f"{path.name}, cell {number}"
        name = found.get("grade_id")
        if name in seen:
            raise NotebookError(f"{where}: the grade_id {name!r} is used twice")
        if name:
            seen.add(name)
        if found.get("grade") and found.get("solution"):
            raise NotebookError(
                f"{where}: cells graded by hand are not supported; split solution and tests"
            )
        if found.get("grade"):
            if not isinstance(found.get("points"), (int, float)):
                raise NotebookError(f"{where}: a graded cell needs points")
            part = Part(str(name), float(found["points"]), text)
            if part.name.endswith("_driver"):
                master.drivers.append(part)
                master.functions |= _defined(text, where)[0]
            else:
                master.parts.append(part)
        elif found.get("solution"):
            master.solutions[str(name)] = text
            functions, values = _defined(text, where)
            master.functions |= functions
            master.values |= values
    if not master.questions:
        raise NotebookError(f"{path.name}: no cell carries points")
    return master


def default_masters() -> Path:
    """The folder `exercises` of the current directory, or else of the repository the package was imported from."""
    for base in (Path.cwd(), Path(__file__).resolve().parents[2]):
        if (base / "exercises").is_dir():
            return base / "exercises"
    raise ValueError(
        "no folder `exercises` here; pass --masters PATH (the masters are in the book's repository)"
    )


def find_masters(folder: Path | None = None) -> dict[str, Path]:
    """Assignment -> master: the notebooks `NN_name/NN_name.ipynb` (or `NN_name.ipynb`) of a folder."""
    folder = Path(folder) if folder is not None else default_masters()
    if not folder.is_dir():
        raise ValueError(
            f"masters={str(folder)!r} is not a folder; pass the one that holds NN_name/NN_name.ipynb"
        )
    paths = [path for path in folder.glob("*/*.ipynb") if path.stem == path.parent.name] + list(
        folder.glob("*.ipynb")
    )
    masters = {
        path.stem: path
        for path in sorted(paths, key=lambda path: path.stem)
        if path.stem[:1].isdigit()
    }
    if not masters:
        raise ValueError(f"masters={str(folder)!r} holds no notebook NN_name/NN_name.ipynb")
    return masters
