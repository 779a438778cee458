"""Notebooks as plain data: read without nbformat, so that a broken file costs its author points and nobody else.

A *master* marks its cells as nbgrader does, by `metadata.nbgrader` (`grade_id`, `grade`, `solution`, `locked`,
`points`) and by the lines ### BEGIN SOLUTION, ### END SOLUTION, ### BEGIN HIDDEN TESTS, ### END HIDDEN TESTS.
The part of a `grade_id` before its first underscore is the question: `q2_small` earns points for `q2`.
"""

from __future__ import annotations

import ast
import hashlib
import json
import re
import threading
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


def assignment_of(notebook: dict[str, Any]) -> str | None:
    """The assignment that a released notebook carries in its metadata."""
    metadata = notebook.get("metadata")
    ours = metadata.get("lielab") if isinstance(metadata, dict) else None
    name = ours.get("assignment") if isinstance(ours, dict) else None
    return name if isinstance(name, str) else None


@dataclass(frozen=True)
class Part:
    """One cell that earns points: hidden tests (all its points or none), or an answer that is graded by hand."""

    name: str
    points: float
    source: str
    by_hand: bool = False

    @property
    def question(self) -> str:
        return self.name.split("_")[0]


OWN_CHECKS = "checks.py"  # public checks beside a master, for an assignment that is not the book's
# What a solution may import, beside Python's own library, where the master says nothing else.
ALLOW = ("numpy", "matplotlib")


@dataclass
class Master:
    """A master notebook, taken apart."""

    name: str
    path: Path
    notebook: dict[str, Any]
    allow: tuple[str, ...] = ALLOW
    solutions: dict[str, str] = field(default_factory=dict)  # grade_id -> text, with the solution
    parts: list[Part] = field(default_factory=list)
    functions: dict[str, str] = field(default_factory=dict)  # what the student defines -> question
    values: set[str] = field(default_factory=set)

    @property
    def questions(self) -> dict[str, float]:
        """Question -> points, in the order of the notebook."""
        total: dict[str, float] = {}
        for part in self.parts:
            if part.points:
                total[part.question] = total.get(part.question, 0.0) + part.points
        return total

    @property
    def digest(self) -> str:
        """A mark of the tests and of what they run with: another one asks for new grades."""
        cells = [[source(c), mark(c)] for c in self.notebook["cells"]]
        checks = [path.read_text(encoding="utf-8") for path in self.checks if path.is_file()]
        text = json.dumps([*cells, self.allow, *checks])
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    @property
    def checks(self) -> list[Path]:
        """Where its public checks may be: beside it, and in the package. Hidden tests take tolerances from there."""
        own = [self.path.with_name(OWN_CHECKS)] if self.path.parent.name == self.name else []
        return [*own, Path(__file__).parent / "checks" / f"{self.name.partition('_')[2]}.py"]

    def earlier(self, question: str) -> set[str]:
        """The functions of the questions before this one: right ones may stand in for the student's."""
        order = list(dict.fromkeys(part.question for part in self.parts))
        before = order[: order.index(question)]
        return {name for name, owner in self.functions.items() if owner in before}

    def cells(self, notebook: dict[str, Any] | None = None) -> list[tuple[int, str, bool]]:
        """Number, text and whether it is the student's own, of the code cells to run for a submission.

        Read-only cells run as the master has them: changed ones are restored, missing ones are put where they belong
        and have numbers below zero. Without a notebook, the cells of the master itself.
        """
        mine = [c for c in self.notebook["cells"] if c.get("cell_type") == "code"]
        order = [str(mark(c).get("grade_id")) for c in mine]
        given = {n: source(c) for n, c in zip(order, mine, strict=True) if is_read_only(c)}
        cells = (notebook or self.notebook)["cells"]
        there = {str(mark(c).get("grade_id")) for c in cells}
        waiting = [name for name in given if name not in there]
        found: list[tuple[int, str, bool]] = []

        def restore(before: int) -> None:
            while waiting and order.index(waiting[0]) < before:
                found.append((-1 - order.index(waiting[0]), given[waiting.pop(0)], False))

        restore(order.index("setup") + 1 if "setup" in order else 0)
        for number, cell in enumerate(cells, start=1):
            name = str(mark(cell).get("grade_id"))
            if cell.get("cell_type") != "code" or is_test(cell):
                continue
            if name in order:
                restore(order.index(name))
            own = name not in given and name not in self.solutions
            found.append((number, given.get(name, source(cell)), own))
        restore(len(order))
        return found

    def restored(self, notebook: dict[str, Any]) -> list[str]:
        """The read-only code cells that a submission changed or lost."""
        there = {str(mark(c).get("grade_id")): source(c).strip() for c in notebook["cells"]}
        mine = [
            c for c in self.notebook["cells"] if c.get("cell_type") == "code" and is_read_only(c)
        ]
        names = [(str(mark(c).get("grade_id")), source(c).strip()) for c in mine]
        return [n for n, text in names if there.get(n) != text and not n.endswith("_check")]


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


def is_test(cell: dict[str, Any]) -> bool:
    """A cell of hidden tests: it earns points and is no answer."""
    return mark(cell).get("grade") is True and mark(cell).get("solution") is not True


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


# Submissions are graded by threads, and two trees made at once can fail: SystemError, "AST constructor recursion depth
# mismatch" (CPython issue 106905).
_PARSING = threading.Lock()


def _defined(text: str, where: str) -> tuple[set[str], set[str]]:
    """Functions (or classes) and plain variables that a cell defines at its top level."""
    try:
        with _PARSING:
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


def _allowed(notebook: dict[str, Any], where: str) -> tuple[str, ...]:
    """The packages that `metadata.lielab` allows; `forbid` takes some away."""
    ours = notebook.get("metadata", {}).get("lielab", {})
    allow, forbid = ours.get("allow", ALLOW), ours.get("forbid", ())
    for names in (allow, forbid):
        if isinstance(names, str) or not all(isinstance(name, str) for name in names):
            raise NotebookError(f"{where}: metadata.lielab.allow is a list of names of packages")
    return tuple(name for name in allow if name not in forbid)


def read_master(path: Path) -> Master:
    """Take a master apart; raises `NotebookError` where its marks do not add up."""
    notebook = read(path)
    master = Master(path.stem, path, notebook, _allowed(notebook, path.name))
    seen: set[str] = set()
    for number, cell in enumerate(notebook["cells"], start=1):
        found, text, where = mark(cell), source(cell), f"{path.name}, cell {number}"
        name = found.get("grade_id")
        if name in seen:
            raise NotebookError(f"{where}: the grade_id {name!r} is used twice")
        if name:
            seen.add(name)
        if found.get("grade"):
            if not isinstance(found.get("points"), (int, float)):
                raise NotebookError(f"{where}: a graded cell needs points")
            if str(name).endswith("_driver"):
                raise NotebookError(
                    f"{where}: tests pass functions themselves; no driver is needed"
                )
            by_hand = bool(found.get("solution"))
            master.parts.append(Part(str(name), float(found["points"]), text, by_hand))
        if found.get("solution"):
            master.solutions[str(name)] = text
            if cell.get("cell_type") == "code":
                functions, values = _defined(text, where)
                question = str(name).split("_")[0]
                master.functions |= dict.fromkeys(functions, question)
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
