"""The class's table: a file of SQLite that is only ever added to, and the tables that are written from it.

A line belongs to a student and an assignment. Grading a submission again replaces its line; nothing else removes one:
not a late student, not a second assignment, not a run that is killed (each line is on the disk before the next one is
graded). What a teacher writes into the columns `override`, `comment` and those of hand-graded answers of `grades.csv`
is read back before the table is written again.
"""

from __future__ import annotations

import csv
import io
import json
import math
import os
import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from .result import PartScore, Result

_TABLES = """
CREATE TABLE IF NOT EXISTS results (
    student TEXT, assignment TEXT, content TEXT, digest TEXT, seed TEXT, lapses TEXT, result TEXT,
    PRIMARY KEY (student, assignment));
CREATE TABLE IF NOT EXISTS hand (
    student TEXT, assignment TEXT, field TEXT, value TEXT, PRIMARY KEY (student, assignment, field));
CREATE TABLE IF NOT EXISTS seeds (assignment TEXT PRIMARY KEY, seed TEXT);
"""
_FORMULA = ("=", "+", "-", "@", "\t")  # what a spreadsheet takes for the beginning of one
HAND = ("override", "comment")  # columns for the teacher, beside those of hand-graded answers


def write(path: Path, text: str) -> None:
    """Write the whole file or nothing: a run that is interrupted leaves no half table."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".part-")
    with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace", newline="") as file:
        file.write(text)
    os.chmod(name, 0o644)
    os.replace(name, path)


def table(rows: Sequence[Sequence[Any]]) -> str:
    """Rows as CSV."""
    text = io.StringIO(newline="")
    csv.writer(text).writerows(rows)
    return text.getvalue()


def number(value: float) -> str:
    return f"{value:.6g}"


class Store:
    """The table in a folder of results. Use it as `with Store(out) as store`: one run at a time writes there."""

    def __init__(self, out: Path) -> None:
        self.out = out

    def __enter__(self) -> Store:
        self._lock = _alone(self.out)
        self._lock.__enter__()
        try:
            self.base = sqlite3.connect(self.out / "grades.sqlite")
            self.base.executescript(_TABLES)
            self.read_hand()
        except BaseException:
            self._lock.__exit__(None, None, None)
            raise
        return self

    def __exit__(self, *what: object) -> None:
        self.base.close()
        self._lock.__exit__(*what)

    # ------------------------------------------------------------ lines

    def seed(self, assignment: str, fresh: int, given: bool) -> int:
        """The seed of an assignment: the one that is given, or that of its earlier runs, or `fresh`."""
        with self.base as base:
            keep = "OR REPLACE" if given else "OR IGNORE"
            base.execute(f"INSERT {keep} INTO seeds VALUES (?, ?)", (assignment, str(fresh)))
            found = base.execute("SELECT seed FROM seeds WHERE assignment = ?", (assignment,))
            return int(found.fetchone()[0])

    def put(
        self, result: Result, content: str, digest: str, seed: int, lapses: Sequence[str]
    ) -> None:
        """Add a line, in place of an earlier one of the same student and assignment."""
        key = (text(result.student), result.assignment, content, digest, str(seed))
        line = json.dumps(asdict(result), default=str)
        with self.base as base:
            base.execute(
                "INSERT OR REPLACE INTO results VALUES (?, ?, ?, ?, ?, ?, ?)",
                (*key, json.dumps(list(lapses)), line),
            )
            if result.assignment:  # now it is known which one it was
                base.execute("DELETE FROM results WHERE student = ? AND assignment = ''", key[:1])

    def kept(
        self, student: str, assignment: str, content: str, digest: str, seed: int
    ) -> tuple[Result, list[str]] | None:
        """The line of a submission and what was not guaranteed for it, if file, tests and seed are what they were.

        None where the grader failed on it.
        """
        found = self.base.execute(
            "SELECT result, lapses FROM results WHERE student = ? AND assignment = ? AND content = ? "
            "AND digest = ? AND seed = ?",
            (text(student), assignment, content, digest, str(seed)),
        ).fetchone()
        result = found and _result(found[0])
        return (result, json.loads(found[1])) if result and not result.failed else None

    def same(self) -> list[tuple[str, str]]:
        """Students whose files are the same, byte by byte, in this run or an earlier one."""
        found = self.base.execute(
            "SELECT student, content FROM results WHERE content != '' ORDER BY student"
        )
        groups: dict[str, list[str]] = {}
        for student, content in found:
            groups.setdefault(content, []).append(student)
        names = [list(dict.fromkeys(group)) for group in groups.values()]
        return [(", ".join(n), "handed in the same file") for n in names if len(n) > 1]

    def lines(self) -> list[tuple[Result, str, list[str]]]:
        """All results with their seeds and lapses, sorted by student and assignment; hand-graded points are in them."""
        found = self.base.execute(
            "SELECT result, seed, lapses FROM results ORDER BY student, assignment"
        ).fetchall()
        lines = [(_result(line), seed, json.loads(lapses)) for line, seed, lapses in found]
        for result, _, _ in lines:
            hand = self.hand(result)
            for score in result.parts:
                points = decimal(hand.get(score.part.name, "")) if score.part.by_hand else None
                if points is not None:
                    score.earned, score.message = points, ""
            result.override = decimal(hand.get("override", ""))
            result.comment = hand.get("comment", "")
        return lines

    # ------------------------------------------------------------ what was written by hand

    def hand(self, result: Result) -> dict[str, str]:
        """Column -> what the teacher wrote into it."""
        key = (text(result.student), result.assignment)
        found = self.base.execute(
            "SELECT field, value FROM hand WHERE student = ? AND assignment = ?", key
        )
        return dict(found.fetchall())

    def read_hand(self) -> None:
        """Read the teacher's columns of `grades.csv`; an emptied field is forgotten, a missing line is not.

        Raises `ValueError` for what would be lost otherwise: the file is written anew after this.
        """
        path = self.out / "grades.csv"
        if not path.exists():
            return
        names = {(cell(r.student), r.assignment): r for r, _, _ in self.lines()}
        read = {s.part.name for r in names.values() for s in r.parts if s.part.by_hand}
        with self.base as base:
            for row in read_rows(path, "grades", ("student", "assignment", *HAND)):
                who = row["student"], row["assignment"]
                result = names.get(who)
                written = [field for field in (*HAND, *sorted(read)) if row.get(field, "").strip()]
                if result is None and written:
                    raise ValueError(
                        f"{path}: {written[0]}={row[written[0]]!r} stands in a line of student={who[0]!r}, "
                        f"assignment={who[1]!r}, which is not in the table; put the names back as they were"
                    )
                if result is None:
                    continue
                numbers = ["override", *(s.part.name for s in result.parts if s.part.by_hand)]
                for field in (*numbers, "comment"):
                    if field in row:
                        value = row[field].strip()
                        if field in numbers and value and decimal(value) is None:
                            raise ValueError(
                                f"{path}: {field}={value!r} of {who[0]!r} is no number; write one, or nothing"
                            )
                        self._write_hand(base, result, field, _plain(value))

    def _write_hand(self, base: sqlite3.Connection, result: Result, field: str, value: str) -> None:
        key = (text(result.student), result.assignment, field)
        base.execute("DELETE FROM hand WHERE student=? AND assignment=? AND field=?", key)
        if value:
            base.execute("INSERT INTO hand VALUES (?, ?, ?, ?)", (*key, value))

    # ------------------------------------------------------------ the tables

    def write_tables(self) -> None:
        """`grades.csv` and `grades.json`, from all lines."""
        lines = self.lines()
        results = [result for result, _, _ in lines]
        columns = sorted({(r.assignment, name) for r in results for name in r.questions})
        by_hand = sorted({s.part.name for r in results for s in r.parts if s.part.by_hand})
        several = len({assignment for assignment, _ in columns}) > 1
        heads = {key: f"{key[0]} {key[1]}" if several else key[1] for key in columns}
        rows = [["student", "assignment", *heads.values(), "points", "possible", "penalty", "final",
                 "override", "comment", *by_hand, "report", "notes"]]  # fmt: skip
        for r in results:
            points = [
                number(r.questions[name][0]) if a == r.assignment and name in r.questions else ""
                for a, name in heads
            ]
            hand = self.hand(r)
            total = [number(r.earned), number(r.possible) if r.parts else "", number(r.penalty)]
            mine = [cell(hand.get(field, "")) for field in (*HAND, *by_hand)]
            notes = cell(" ".join("; ".join(r.notes).split()))
            rows.append([cell(r.student), r.assignment, *points, *total, number(r.final), *mine,
                         r.report, notes])  # fmt: skip
        write(self.out / "grades.csv", table(rows))
        entries = [_entry(r, seed, lapses) for r, seed, lapses in lines]
        write(self.out / "grades.json", json.dumps({"results": entries}, indent=1) + "\n")


def _entry(r: Result, seed: str, lapses: Sequence[str]) -> dict[str, Any]:
    return {
        "student": r.student,
        "assignment": r.assignment,
        "points": r.earned,
        "possible": r.possible,
        "penalty": r.penalty,
        "final": r.final,
        "comment": r.comment,
        "questions": {name: {"points": e, "possible": p} for name, (e, p) in r.questions.items()},
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
        "seed": int(seed),
        "lapses": list(lapses),
    }


def _result(line: str) -> Result:
    found = json.loads(line)
    parts = [PartScore.of(**score) for score in found.pop("parts")]
    complaints = {int(k): text for k, text in found.pop("complaints").items()}
    return Result(**{**found, "path": Path(found["path"])}, parts=parts, complaints=complaints)


def decimal(value: str) -> float | None:
    """A number that a teacher wrote, also with a decimal comma; None for anything else."""
    with suppress(ValueError):
        points = float(value.replace(",", "."))
        return points if math.isfinite(points) else None
    return None


def read_rows(path: Path, what: str, columns: Sequence[str]) -> list[dict[str, str]]:
    """The lines of a CSV file as a spreadsheet left it: with commas, semicolons or tabs, in UTF-8 or as Windows.

    Raises `ValueError` that names the argument `what` if it cannot be read or lacks one of `columns`.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ValueError(f"{what}={str(path)!r} cannot be read: {error.strerror}") from None
    try:
        content = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        content = data.decode("cp1252", errors="replace")
    head = content.split("\n", 1)[0]
    between = max(",;\t", key=head.count)
    rows = csv.DictReader(io.StringIO(content, newline=""), delimiter=between)
    if not set(columns) <= set(rows.fieldnames or ()):
        names = f"the columns {', '.join(columns)}" if columns[1:] else f"a column `{columns[0]}`"
        raise ValueError(f"{what}={str(path)!r} needs a first line with {names}; save it as CSV")
    return [{k: v or "" for k, v in row.items() if isinstance(k, str)} for row in rows]


def text(name: str) -> str:
    """A name that SQLite takes: file names may hold bytes that are no text."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def cell(value: str) -> str:
    """Spreadsheets take a text that begins with one of these for a formula; numbers stay as they are."""
    from .session import printable

    value = printable(value)
    with suppress(ValueError):
        float(value)
        return value
    return "'" + value if value[:1] in _FORMULA else value


def _plain(value: str) -> str:
    """What stood in a cell before `cell` wrote it."""
    return value[1:] if value[:1] == "'" and value[1:2] in _FORMULA else value


@contextmanager
def _alone(out: Path) -> Iterator[None]:
    """One run at a time writes to `out`: two would mix pages of one with the table of the other."""
    import fcntl  # not on Windows, where nothing is graded

    out.mkdir(parents=True, exist_ok=True)
    with open(
        out / ".lock", "w", encoding="utf-8"
    ) as file:  # whatever ends this process opens it again
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ValueError(
                f"out={str(out)!r} is being written by another run; wait for it, or choose another"
            ) from None
        except OSError:  # a file system without locks
            pass
        yield
