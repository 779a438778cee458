"""What was handed in: which files, whose they are, when they came, and what is left out with the reason why.

A folder of submissions may hold notebooks in any subfolders, zip files of notebooks, and the downloads of Canvas,
Moodle and Gradescope as they are. Who a file belongs to follows from its path, or from a roster: a CSV file with a
column `student` (the name used everywhere) and any others (e-mail, number, name as in the download) to find them by.
"""

from __future__ import annotations

import csv
import datetime
import math
import os
import re
import zipfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from .notebook import MAX_FILE

MAX_MEMBERS = 20_000  # of a zip file
MAX_UNPACKED = 2_000_000_000  # bytes of all notebooks in one
LATE = re.compile(r"_LATE(?=_)", re.IGNORECASE)


@dataclass
class Submission:
    """One file: `path` can be read, `origin` is what the teacher knows it by."""

    student: str
    path: Path
    origin: str
    submitted: datetime.datetime | None = None


@dataclass
class Collection:
    """All that a folder holds."""

    submissions: list[Submission] = field(default_factory=list)
    skipped: list[tuple[str, str]] = field(default_factory=list)  # what, and why


def owner(origin: str, assignments: Iterable[str] = ()) -> str:
    """Whose file it is, by the rules of the download formats; else its path without ending and assignment.

    >>> owner("doejane_LATE_4711_89_01_rotations-2.ipynb"), owner("Jane Doe_4711_assignsubmission_file_/a.ipynb")
    ('doejane_4711', 'Jane Doe_4711')
    >>> owner("submission_4711/a.ipynb"), owner("ann/01_rotations.ipynb", ["01_rotations"])
    ('submission_4711', 'ann')
    """
    path = PurePosixPath(origin)
    for part in path.parts:
        if found := re.fullmatch(r"(.+_\d+)_assignsubmission_file_?.*", part):  # Moodle
            return found[1]
        if found := re.fullmatch(r"submission_\d+", part):  # Gradescope
            return part
    if found := re.match(
        r"([^_/]+)(?:_LATE)?_(\d{2,})_(\d{2,})_", path.name, re.IGNORECASE
    ):  # Canvas
        return f"{found[1]}_{found[2]}"
    name = whole = re.sub(r"\.ipynb$", "", origin, flags=re.IGNORECASE)
    for assignment in assignments:
        here = re.search(rf"(?:^|[/_\s-]){re.escape(assignment)}(?=$|[/_\s-])", name)
        if here:
            name = (name[: here.start()] + name[here.end() :]).strip("/_- ")
    return name or whole


class Roster:
    """Who is in the class. Every value of a line finds its student."""

    def __init__(self, path: Path | None) -> None:
        self.students: list[str] = []
        self.lines: dict[str, dict[str, str]] = {}
        self._found: dict[str, str] = {}
        if path is None:
            return
        with open(path, newline="", encoding="utf-8-sig") as file:
            rows = list(csv.DictReader(file))
        if not rows or "student" not in rows[0]:
            raise ValueError(f"roster={str(path)!r} needs a first line with a column `student`")
        for row in rows:
            student = (row["student"] or "").strip()
            if not student or student in self.lines:
                raise ValueError(f"roster={str(path)!r}: {student!r} is empty or there twice")
            self.students.append(student)
            self.lines[student] = {k: (v or "").strip() for k, v in row.items() if k}
            for value in self.lines[student].values():
                key = value.casefold()
                if key and self._found.setdefault(key, student) != student:
                    self._found[key] = ""  # two have it: it identifies nobody

    def student(self, key: str) -> str | None:
        """The student for a name, a number or an address; parts of `name_number` count on their own."""
        for part in (key, *key.rsplit("_", 1), *key.split("/")):
            if found := self._found.get(part.strip().casefold()):
                return found
        return None


def _gradescope(path: Path) -> dict[str, str]:
    """Folder -> address or name of its first submitter, from Gradescope's `submission_metadata.yml`."""
    found: dict[str, str] = {}
    folder = ""
    if path.is_file() and not path.is_symlink() and path.stat().st_size < MAX_FILE:
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
            if head := re.match(r"(submission_\d+):", line):
                folder = head[1]
            value = re.match(r"\s*-?\s*:(email|sid|name):\s*(\S.*)", line)
            if value and folder and (folder not in found or value[1] == "email"):
                found[folder] = value[2].strip("\"' ")
    return found


def _unpack(
    path: Path, origin: str, into: Path, found: Collection
) -> Iterable[tuple[Path, str, float]]:
    """The notebooks of a zip file, copied into a folder; nothing else of it, and never more than the limits."""
    room = MAX_UNPACKED
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
            if len(members) > MAX_MEMBERS:
                found.skipped.append((origin, f"a zip file of more than {MAX_MEMBERS} files"))
                return
            for k, member in enumerate(members):
                name = f"{origin}/{member.filename}"
                parts = PurePosixPath(member.filename).parts
                if ".." in parts:
                    found.skipped.append((name, "its name leads out of the zip file"))
                    continue
                if member.is_dir() or any(part.startswith((".", "__MACOSX")) for part in parts):
                    continue
                if not member.filename.lower().endswith(".ipynb"):
                    found.skipped.append((name, _why(member.filename)))
                    continue
                with archive.open(member) as source:
                    data = source.read(min(MAX_FILE, room) + 1)
                if len(data) > min(MAX_FILE, room):
                    found.skipped.append((name, "too large"))
                    continue
                room -= len(data)
                target = into / f"{len(os.listdir(into))}-{k}.ipynb"
                target.write_bytes(data)
                yield target, f"{origin[: -len('.zip')]}/{member.filename}", _time(member)
    except (OSError, zipfile.BadZipFile, RuntimeError, NotImplementedError, ValueError) as error:
        found.skipped.append((origin, f"not a zip file that can be read ({error})"))


def _time(member: zipfile.ZipInfo) -> float:
    try:
        return datetime.datetime(*member.date_time).timestamp()
    except (ValueError, OverflowError):
        return 0.0


def _why(name: str) -> str:
    if name.lower().endswith(".py"):
        return "a Python file: hand in the notebook"
    return "not a notebook (.ipynb) and not a zip file"


def collect(
    folder: Path, into: Path, assignments: Sequence[str] = (), roster: Roster | None = None
) -> Collection:
    """Everything below `folder`; zip files are unpacked `into` another one. Links are not followed, and said."""
    found, roster = Collection(), roster or Roster(None)
    addresses: dict[str, str] = {}
    for base, folders, files in os.walk(folder):
        for name in sorted(folders):
            if Path(base, name).is_symlink():
                origin = Path(base, name).relative_to(folder).as_posix()
                found.skipped.append((origin, "a link to a folder: links are not followed"))
        folders[:] = sorted(n for n in folders if not n.startswith((".", "__MACOSX")))
        addresses |= _gradescope(Path(base, "submission_metadata.yml"))
        for name in sorted(files):
            path = Path(base) / name
            origin = path.relative_to(folder).as_posix()
            if name.startswith(".") or name == "submission_metadata.yml":
                continue
            ending = path.suffix.lower()
            if ending == ".zip" and not path.is_symlink():
                new = list(_unpack(path, origin, into, found))
            elif ending == ".ipynb":
                new = [(path, origin, path.lstat().st_mtime)]
            else:
                found.skipped.append((origin, _why(name)))
                continue
            for path, origin, seconds in new:
                whose = owner(origin, assignments)
                whose = addresses.get(whose, whose)
                student = roster.student(whose)
                if roster.students and student is None:
                    found.skipped.append(
                        (origin, f"{whose!r} is not in the roster; graded under this name")
                    )
                time = datetime.datetime.fromtimestamp(seconds) if seconds else None
                found.submissions.append(Submission(student or whose, path, origin, time))
    return found


# ---------------------------------------------------------------- when it was due


@dataclass(frozen=True)
class Deadline:
    """A date, and the share of the possible points that each day begun after it costs, up to `most`."""

    due: datetime.datetime
    per_day: float
    most: float = 1.0

    def days(self, submitted: datetime.datetime | None) -> int:
        """Days late, each day begun counts; 0 where the time is not known."""
        late = (submitted - self.due).total_seconds() if submitted else 0.0
        return max(0, math.ceil(late / 86400))

    def penalty(self, submitted: datetime.datetime | None, possible: float) -> float:
        """Points taken away."""
        return possible * min(self.most, self.per_day * self.days(submitted))


def _moment(text: str, where: str) -> datetime.datetime:
    """A time, in the teacher's own zone where none is given; a date alone means its end."""
    try:
        time = datetime.datetime.fromisoformat(text.strip().replace("Z", "+00:00"))
    except ValueError:
        raise ValueError(f"{where}: {text!r} is no time; write 2027-03-01T23:59") from None
    if re.fullmatch(r"\d{4}-\d\d-\d\d", text.strip()):
        time += datetime.timedelta(days=1)
    return time.astimezone().replace(tzinfo=None) if time.tzinfo else time


def read_deadlines(path: Path | None) -> dict[str, Deadline]:
    """Assignment -> deadline, from CSV with the columns assignment, due, per_day and, if wanted, most."""
    found: dict[str, Deadline] = {}
    if path is not None:
        with open(path, newline="", encoding="utf-8-sig") as file:
            for row in csv.DictReader(file):
                try:
                    share, most = float(row["per_day"]), float(row.get("most") or 1.0)
                    found[row["assignment"].strip()] = Deadline(
                        _moment(row["due"], str(path)), share, most
                    )
                except (KeyError, TypeError, AttributeError):
                    raise ValueError(
                        f"deadlines={str(path)!r} needs the columns assignment, due, per_day"
                    ) from None
                if not 0 <= share <= 1 or not 0 <= most <= 1:
                    raise ValueError(
                        f"deadlines={str(path)!r}: per_day and most are shares from 0 to 1"
                    )
    return found


def read_times(path: Path | None) -> dict[tuple[str, str], datetime.datetime]:
    """(student, assignment) -> when it was handed in, from CSV with the columns student, assignment, time."""
    found = {}
    if path is not None:
        with open(path, newline="", encoding="utf-8-sig") as file:
            for row in csv.DictReader(file):
                try:
                    key = row["student"].strip(), row["assignment"].strip()
                    found[key] = _moment(row["time"], str(path))
                except (KeyError, AttributeError):
                    raise ValueError(
                        f"times={str(path)!r} needs the columns student, assignment, time"
                    ) from None
    return found
