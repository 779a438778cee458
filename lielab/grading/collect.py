"""What was handed in: which files, whose they are, when they came, and what is left out with the reason why.

A folder of submissions may hold notebooks in any subfolders, zip files of notebooks, and the downloads of Canvas,
Moodle and Gradescope as they are. Who a file belongs to follows from its path, or from a roster: a CSV file with a
column `student` (the name used everywhere) and any others (e-mail, number, name as in the download) to find them by.
"""

from __future__ import annotations

import datetime
import math
import os
import re
import zipfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from .notebook import MAX_FILE
from .store import decimal, read_rows

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
    if found := _by_download(PurePosixPath(origin))[0]:
        return found
    name = whole = re.sub(r"\.ipynb$", "", origin, flags=re.IGNORECASE)
    for assignment in assignments:
        here = re.search(rf"(?:^|[/_\s-]){re.escape(assignment)}(?=$|[/_\s-])", name)
        if here:
            name = (name[: here.start()] + name[here.end() :]).strip("/_- ")
    return name or whole


def _by_download(path: PurePosixPath) -> tuple[str, str]:
    """Whose it is by the names that a download gives, and the folder of Gradescope's that says so.

    The outermost name decides: those further in, also in a zip file, were chosen by a student, who could choose
    another's.
    """
    for k, part in enumerate(path.parts):
        is_file = k == len(path.parts) - 1
        canvas = re.match(r"([^_/]+)(?:_LATE)?_(\d{2,})_(\d{2,})_", part, re.IGNORECASE)
        if canvas and is_file:
            return f"{canvas[1]}_{canvas[2]}", ""
        if moodle := re.fullmatch(r"(.+_\d+)_assignsubmission_file_?.*", part):
            return moodle[1], ""
        if not is_file and re.fullmatch(r"submission_\d+", part):
            return part, "/".join(path.parts[: k + 1])
    return "", ""


def _spellings(name: str) -> set[str]:
    """A name as the systems write it: Jane Doe; Doe, Jane; doejane."""
    last, comma, first = name.partition(",")
    if not comma:
        first, _, last = name.rpartition(" ")
    last, first = last.strip(), first.strip()
    if not first or not last:
        return set()
    squeezed = "".join(c for c in last + first if c.isalnum())
    return {f"{first} {last}", f"{last}, {first}", squeezed}


class Roster:
    """Who is in the class. Every value of a line finds its student, and so does a `name` as the systems write it."""

    def __init__(self, path: Path | None) -> None:
        self.students: list[str] = []
        self.lines: dict[str, dict[str, str]] = {}
        self._found: dict[str, str] = {}
        if path is None:
            return
        for row in read_rows(path, "roster", ("student",)):
            student = row["student"].strip()
            if not student or student in self.lines:
                raise ValueError(f"roster={str(path)!r}: {student!r} is empty or there twice")
            self.students.append(student)
            self.lines[student] = {k: v.strip() for k, v in row.items() if k}
            line = self.lines[student]
            for value in {*line.values(), *_spellings(line.get("name", ""))}:
                key = value.casefold()
                if key and self._found.setdefault(key, student) != student:
                    self._found[key] = ""  # two have it: it identifies nobody

    def knows(self, key: str) -> bool:
        """Whether it is a value of exactly one line."""
        return bool(self._found.get(key.strip().casefold()))

    def student(self, key: str) -> str | None:
        """The student for a name, a number, an address, or `name_number`; None where name and number disagree."""
        for parts in ((key,), (key, *key.rsplit("_", 1)), key.split("/")):
            found = {self._found.get(part.strip().casefold()) for part in parts} - {None, ""}
            if len(found) == 1:
                return found.pop()
            if found:
                return None
        return None


_METADATA = "submission_metadata.yml"  # beside the folders of a Gradescope export


def _gradescope(text: str, place: str) -> dict[str, str]:
    """Folder -> address, number or name of its first submitter, from the text of the metadata in `place`."""
    found: dict[str, dict[str, str]] = {}
    submission: dict[str, str] = {}
    for line in text.splitlines():
        if head := re.match(r"(submission_\d+):", line):
            submission = found[f"{place}/{head[1]}".lstrip("/")] = {}
        if value := re.match(r"\s*-?\s*:(email|sid|name):\s*(\S.*)", line):
            submission.setdefault(value[1], value[2].strip("\"' "))
    return {
        folder: who.get("email") or who.get("sid") or who["name"]
        for folder, who in found.items()
        if who
    }


def _unpack(
    path: Path, origin: str, into: Path, found: Collection, submitters: dict[str, str]
) -> Iterable[tuple[Path, str, float]]:
    """The notebooks of a zip file, copied into a folder, and never more than the limits; who is in its metadata."""
    room, inside = MAX_UNPACKED, origin[: -len(".zip")]
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
                if parts[-1] == _METADATA and member.file_size < MAX_FILE:
                    with archive.open(member) as source:
                        text = source.read(MAX_FILE).decode(errors="replace")
                    submitters |= _gradescope(text, "/".join((inside, *parts[:-1])))
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
                yield target, f"{inside}/{member.filename}", _time(member)
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
    if name.lower().endswith(".zip"):
        return "a zip file inside another one, or a link: unpack it, or hand in the file itself"
    return "not a notebook (.ipynb) and not a zip file"


def collect(
    folder: Path, into: Path, assignments: Sequence[str] = (), roster: Roster | None = None
) -> Collection:
    """Everything below `folder`; zip files are unpacked `into` another one. Links are not followed, and said."""
    found, roster = Collection(), roster or Roster(None)
    submitters: dict[str, str] = {}
    for base, folders, files in os.walk(folder):
        for name in sorted(folders):
            if Path(base, name).is_symlink():
                origin = Path(base, name).relative_to(folder).as_posix()
                found.skipped.append((origin, "a link to a folder: links are not followed"))
        folders[:] = sorted(n for n in folders if not n.startswith((".", "__MACOSX")))
        for name in sorted(files):
            path = Path(base) / name
            origin = path.relative_to(folder).as_posix()
            if name.startswith("."):
                continue
            ending, zipped = path.suffix.lower(), ""
            if name == _METADATA and not path.is_symlink() and path.stat().st_size < MAX_FILE:
                text = path.read_text(encoding="utf-8", errors="replace")
                submitters |= _gradescope(text, origin.rpartition("/")[0])
                continue
            if ending == ".zip" and not path.is_symlink():
                new, zipped = list(_unpack(path, origin, into, found, submitters)), origin
            elif ending == ".ipynb":
                new = [(path, origin, path.lstat().st_mtime)]
            else:
                found.skipped.append((origin, _why(name)))
                continue
            for path, origin, seconds in new:
                whose = _whose(origin, zipped, submitters, roster) or owner(origin, assignments)
                student = roster.student(whose)
                if not set(PurePosixPath(whose).parts) - set(assignments):
                    doubt = "has no student's name in its path; put it into a folder of that name"
                    found.skipped.append((origin, f"{doubt}. Graded as of {whose!r}"))
                elif roster.students and student is None:
                    doubt = "is not in the roster or fits two of its lines; graded under this name"
                    found.skipped.append((origin, f"{whose!r} {doubt}"))
                time = datetime.datetime.fromtimestamp(seconds) if seconds else None
                found.submissions.append(Submission(student or whose, path, origin, time))
    return found


def _whose(origin: str, zipped: str, submitters: dict[str, str], roster: Roster) -> str:
    """Whose it is by the name of its zip file, by a folder that is a student's, or by a download; else empty."""
    key, place = _by_download(PurePosixPath(zipped))
    if not key:
        path = PurePosixPath(origin)
        key = next((part for part in path.parts[:-1] if roster.knows(part)), "")
        key, place = (key, "") if key else _by_download(path)
    return submitters.get(place, key)


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
    lines = read_rows(path, "deadlines", ("assignment", "due", "per_day")) if path else []
    for row in lines:
        share, most = decimal(row["per_day"]), decimal(row.get("most") or "1")
        if share is None or most is None or not 0 <= share <= 1 or not 0 <= most <= 1:
            raise ValueError(
                f"deadlines={str(path)!r}: per_day and most are shares from 0 to 1, got "
                f"{row['per_day']!r} and {row.get('most', '')!r}"
            )
        due = _moment(row["due"], f"deadlines={str(path)!r}")
        found[row["assignment"].strip()] = Deadline(due, share, most)
    return found


def read_times(path: Path | None) -> dict[tuple[str, str], datetime.datetime]:
    """(student, assignment) -> when it was handed in, from CSV with the columns student, assignment, time."""
    lines = read_rows(path, "times", ("student", "assignment", "time")) if path else []
    where = f"times={str(path)!r}"
    return {
        (row["student"].strip(), row["assignment"].strip()): _moment(row["time"], where)
        for row in lines
    }


def refuse_unknown(
    deadlines: Iterable[str], times: Iterable[tuple[str, str]], names: Iterable[str], roster: Roster
) -> None:
    """ValueError for an assignment or a student that does not exist: a slip in a name would cost points in silence."""
    names = list(names)
    for what, given in (("deadlines", list(deadlines)), ("times", [name for _, name in times])):
        for name in given:
            if name not in names:
                raise ValueError(
                    f"{what}: assignment={name!r} has no master; there are: {', '.join(names)}"
                )
    for student, _ in times:
        if roster.students and student not in roster.students:
            raise ValueError(f"times: student={student!r} is not in the roster")
