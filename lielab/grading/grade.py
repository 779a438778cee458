"""Grading a folder of submissions.

The cells of a master's hidden tests run here, in the grader's process, with a `Proxy` in place of each function that
the student was to write. What comes back are plain numbers, so nothing that a submission patches reaches the tests.
"""

from __future__ import annotations

import datetime
import hashlib
import queue
import re
import secrets
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from . import report
from .collect import (
    Collection,
    Deadline,
    Roster,
    Submission,
    collect,
    read_deadlines,
    read_times,
    refuse_unknown,
)
from .notebook import (
    MAX_FILE,
    OWN_CHECKS,
    Master,
    NotebookError,
    Part,
    assignment_of,
    find_masters,
    read,
    read_master,
)
from .result import PartScore, Result
from .sandbox import Limits, Sandbox, clear_away, workplace
from .session import CannotStart, Proxy, Session, StudentError, printable
from .store import Store
from .student import own_checks
from .testing import Failed, context


def _judge(part: Part, space: dict[str, Any], seed: int, name: str) -> str:
    """Run the hidden tests of one cell; empty, or the sentence that says what does not hold."""
    try:
        with context(seed, f"{name} {part.name}"):
            exec(compile(part.source, f"<hidden tests {part.name}>", "exec"), space)
    except Failed as error:
        return printable(error) + (f" ({error.hint})" if error.hint else "")
    except StudentError as error:
        return printable(error)
    except AssertionError as error:
        return printable(error) or "a hidden test does not hold"
    except CannotStart:
        raise
    except Exception as error:
        return printable(f"the answer cannot be used: {type(error).__name__}: {error}")
    return ""


def _uses(name: str, text: str) -> bool:
    """Whether the name stands in it beside its definition, which may be missing."""
    return bool(re.search(rf"(?<!def )\b{re.escape(name)}\b", text))


class _Helpers:
    """Right functions of earlier questions, from the master's own solution in a child of its own.

    The student's code meets them in a second child: what it remembers of wrong ones stays in the first.
    """

    def __init__(self, master: Master, session: Session, folder: Path) -> None:
        self.master, self.session, self.question = master, session, ""
        self.right = Session(session.sandbox, folder / "right", master.cells(), master.allow)
        self.helped = Session(session.sandbox, folder / "helped", session.cells, master.allow)

    def of(self, part: Part) -> dict[str, Proxy]:
        """Those that the student's code mentions beside their definition, or that the tests of this part call."""
        code = "\n".join(text for _, text, _ in self.session.cells)
        tests = "\n".join(p.source for p in self.master.parts if p is part or not p.points)
        names = self.master.earlier(part.question)
        used = [n for n in names if _uses(n, code) or _uses(n, tests)]
        return {name: Proxy(self.right, name) for name in sorted(used)}

    def judge(self, part: Part, space: dict[str, Any], seed: int) -> str:
        """The tests once more with right functions of the earlier questions in place of the student's."""
        helpers = self.of(part)
        if not helpers:
            return "no other question to blame"
        if part.question != self.question:
            self.helped.close()
        self.question = part.question
        self.helped.helpers = helpers
        self.helped.leave_out(self.session)
        own = {name: space[name] for name in self.master.functions}
        space.update({name: Proxy(self.helped, name) for name in own} | helpers)
        try:  # in the same namespace: what earlier cells of tests define looks names up there
            return _judge(part, space, seed, self.master.name)
        finally:
            space.update(own)
            self.session.leave_out(self.helped)

    def close(self) -> None:
        self.right.close()
        self.helped.close()


def _run_parts(
    master: Master, session: Session, folder: Path, seed: int, notes: list[str]
) -> list[PartScore]:
    """The hidden tests, in the order of the notebook and in one namespace, as in a notebook."""
    space: dict[str, Any] = {"np": np} | {name: Proxy(session, name) for name in master.functions}
    own = master.path.parent / OWN_CHECKS
    if own.is_file() and master.path.parent.name == master.name:
        space["checks"] = own_checks(own)
    helpers = _Helpers(master, session, folder)
    scores, leaned = [], []
    try:
        for part in master.parts:
            if part.by_hand:
                scores.append(PartScore(part, message="graded by hand"))
                continue
            for name in master.values - set(master.functions):
                try:
                    space[name] = session.get(name)
                except StudentError:
                    space[name] = None
            message = _judge(part, space, seed, master.name)
            if message and part.points and not helpers.judge(part, space, seed):
                message = ""
                leaned.append(part.name)
            scores.append(PartScore(part, 0.0 if message else part.points, message))
            if part.points:
                session.settle()
    finally:
        helpers.close()
    if leaned:
        notes.append(
            f"{', '.join(leaned)} hold with right functions of the earlier questions in place of yours"
        )
    return scores


def identify(
    path: Path, masters: dict[str, Master], only: Master | None = None, origin: str = ""
) -> tuple[dict | None, Master | None, str]:
    """The notebook (None if it is none), its master (None if unknown), and what is wrong.

    `only` is the master of a class that has a single assignment, for files that do not say which they are.
    """
    if only is None and len(masters) == 1:
        only = next(iter(masters.values()))
    last = "/".join((origin or path.as_posix()).split("/")[-2:])
    in_name = [m for name, m in masters.items() if name in last]
    guess = in_name[0] if in_name else only
    try:
        notebook = read(path)
    except NotebookError as error:
        return None, guess, printable(error)
    master = masters.get(assignment_of(notebook) or "") or guess
    trouble = "it does not say which assignment it is, neither in its metadata nor in its name"
    return notebook, master, "" if master else trouble


def grade_notebook(
    path: Path,
    student: str,
    masters: dict[str, Master],
    sandbox: Sandbox,
    seed: int,
    only: Master | None = None,
    origin: str = "",
) -> Result:
    """Grade one file. What the file holds or does costs points and raises nothing."""
    result, started = Result(student, path), time.monotonic()
    notebook, master, trouble = identify(path, masters, only, origin)
    if trouble:
        result.notes.append(trouble)
    if master is None:
        return result
    result.assignment = master.name
    if notebook is None:
        result.parts = [PartScore(part, message="not run") for part in master.parts]
        return result
    with workplace() as folder:
        session = Session(sandbox, folder / "own", master.cells(notebook), master.allow)
        try:
            result.parts = _run_parts(master, session, folder, seed, result.notes)
        finally:
            session.close()
        if restored := master.restored(notebook):
            result.notes.append(f"read-only cells put back as they were: {', '.join(restored)}")
        if session.changed:
            names = ", ".join(sorted(session.changed))
            result.notes.append(
                f"these change their arguments, which callers do not expect: {printable(names, 300)}"
            )
        reasons = dict.fromkeys(printable(reason) for reason in session.deaths)
        result.notes += [f"its process ended: {reason}" for reason in reasons]
        result.complaints = dict(session.complaints)
        log = session.log.decode(errors="replace")
        result.log = printable(log, session.limits.log_bytes)
    result.seconds = time.monotonic() - started
    return result


def _must_be_right(master: Master, sandbox: Sandbox, seed: int) -> None:
    """Grade the master itself: a test that its own solution fails would cost the whole class points."""
    result = grade_notebook(master.path, master.name, {master.name: master}, sandbox, seed)
    lost = [
        f"{s.part.name}: {s.message}"
        for s in result.parts
        if not s.part.by_hand and (s.message or s.earned < s.part.points)
    ]
    if lost:
        raise ValueError(
            f"the master {master.path} does not earn full points itself, so nothing was graded: "
            + "; ".join(lost)
        )


# ---------------------------------------------------------------- a class


@dataclass(frozen=True)
class Task:
    """One submission to grade, with all that a process elsewhere needs for it."""

    submission: Submission
    assignment: str  # as far as it is known
    masters: tuple[tuple[str, Path], ...]
    only: str
    seed: int
    sandbox: str
    limits: Limits
    protect: tuple[Path, ...]


@lru_cache(maxsize=4)
def _box(kind: str, limits: Limits, protect: tuple[Path, ...]) -> Sandbox:
    return Sandbox(kind, limits, protect)


@lru_cache(maxsize=4)
def _known(masters: tuple[tuple[str, Path], ...]) -> dict[str, Master]:
    return {name: read_master(path) for name, path in masters}


def grade_task(task: Task) -> Result | None:
    """Grade one submission, in this process or any other; None where the run was stopped. Raises nothing."""
    item = task.submission
    known: dict[str, Master] = {}
    try:  # one broken submission never stops the class
        known, box = _known(task.masters), _box(task.sandbox, task.limits, task.protect)
        only = known.get(task.only)
        result = grade_notebook(item.path, item.student, known, box, task.seed, only, item.origin)
        return None if box.stopped else result  # what was interrupted is not a grade
    except Exception as error:
        trouble = f"the grader failed on it: {type(error).__name__}: {printable(error)}"
        result = Result(item.student, item.path, notes=[trouble], failed=True)
        if master := known.get(task.assignment):
            result.assignment = master.name
            result.parts = [PartScore(part, message="not run") for part in master.parts]
        return result


def _check(folder: Path, out: Path, seed: int | None, jobs: int) -> None:
    if not folder.is_dir():
        raise ValueError(
            f"folder={str(folder)!r} is not a folder; pass the one that holds the submissions"
        )
    if folder.resolve() in [out.resolve(), *out.resolve().parents]:
        raise ValueError(
            f"out={str(out)!r} is inside the folder of the submissions; choose another"
        )
    if seed is not None and (
        isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0
    ):
        raise ValueError(f"seed must be a whole number of at least 0, got {seed!r}")
    if isinstance(jobs, bool) or not isinstance(jobs, int) or jobs < 1:
        raise ValueError(f"jobs must be a whole number of at least 1, got {jobs!r}")


def _newest(found: Collection, named: dict[Path, Master | None]) -> list[Submission]:
    """One file a student and assignment: the newest; the others are among what was skipped."""
    best: dict[tuple[str, str], Submission] = {}
    early = datetime.datetime.min
    for item in found.submissions:
        master = named[item.path]
        key = (item.student, master.name if master else item.origin)
        other = best.get(key)
        if other is None:
            best[key] = item
            continue
        newer = (item.submitted or early) >= (other.submitted or early)
        best[key], old = (item, other) if newer else (other, item)
        found.skipped.append((old.origin, f"{item.student} has a newer file, {best[key].origin}"))
    return list(best.values())


def grade(
    folder: Path,
    masters: Path | None = None,
    out: Path | None = None,
    *,
    seed: int | None = None,
    sandbox: str = "auto",
    limits: Limits | None = None,
    jobs: int = 2,
    assignment: str | None = None,
    roster: Path | None = None,
    deadlines: Path | None = None,
    times: Path | None = None,
    students: Sequence[str] = (),
    again: bool = False,
    executor: Executor | None = None,
    say: Any = print,
) -> list[Result]:
    """Grade what is below `folder`, add it to the table in `out`, write `grades.csv`, `grades.json` and reports.

    The submissions are read and never written. What was graded before, and whose file, tests and seed are the same, is
    not graded once more, unless `again` is true; `students` chooses some of the class. A seed makes the random inputs
    of the hidden tests the same again; without one an assignment keeps the seed of its first run, which is fresh.
    `executor` is any of `concurrent.futures` or of dask; by default `jobs` submissions run at a time. Returns the
    results of the submissions in `folder`. Raises `ValueError` for folders and files that do not fit and
    `sandbox.Unavailable` on a system that cannot run submissions.
    """
    folder, out = Path(folder), Path(out) if out is not None else Path("grades")
    _check(folder, out, seed, jobs)
    paths = find_masters(masters)
    due, when, people = read_deadlines(deadlines), read_times(times), Roster(roster)
    refuse_unknown(due, when, paths, people)
    if assignment is not None:
        if assignment not in paths:
            raise ValueError(
                f"assignment={assignment!r} has no master; there are: {', '.join(paths)}"
            )
        paths = {assignment: paths[assignment]}
    course = tuple((name, path.resolve()) for name, path in paths.items())
    known = {name: read_master(path) for name, path in paths.items()}
    homes = {
        path.resolve().parents[1] if path.stem == path.parent.name else path.resolve().parent
        for path in paths.values()
    }
    clear_away()
    with workplace() as unpacked:
        found = collect(folder, unpacked, list(paths), people)
        if not found.submissions:
            raise ValueError(
                f"folder={str(folder)!r} holds no notebook; put the submissions there as .ipynb files or zip files, "
                "in any subfolders"
            )
        named = {}
        for x in found.submissions:
            notebook, named[x.path], _ = identify(x.path, known, None, x.origin)
            said = assignment_of(notebook or {})
            if said and said not in known and assignment is None:
                found.skipped.append(
                    (x.origin, f"it says that it is {said!r}, which has no master")
                )
        names = {master.name for master in named.values() if master}
        only = known[names.pop()] if len(names) == 1 else None
        named = {path: master or only for path, master in named.items()}
        items = _newest(found, named)
        if students:
            items = [item for item in items if item.student in students]
            if missing := set(students) - {item.student for item in items}:
                raise ValueError(
                    f"students={sorted(missing)!r} handed in nothing below {str(folder)!r}"
                )
        limits = limits or Limits()
        protect = tuple(Path(p).resolve() for p in (*sorted(homes), folder, out))
        box = _box(sandbox, limits, protect)
        if not box.walls:
            say(f"warning: submissions run without bubblewrap ({box.why_not}). Not guaranteed:")
            for lapse in box.lapses:
                say(f"  - {lapse}")
        box.stopped = False
        for what, why in found.skipped:
            say(f"skipped: {printable(what, 80)}: {printable(why, 200)}")
        results: list[Result] = []
        with Store(out) as store:
            fresh = secrets.randbits(32) if seed is None else int(seed)
            tasks, contents = [], {}
            for item in items:
                master = named[item.path]
                name = master.name if master else ""
                used = store.seed(name, fresh, seed is not None)
                content = _digest(item.path)
                contents[item.path] = (content, master.digest if master else "", used)
                item.submitted = when.get((item.student, name), item.submitted)
                line = None if again else store.kept(item.student, name, *contents[item.path])
                if line is not None:
                    old, lapses = line
                    _add_penalty(old, item, due)
                    store.put(old, *contents[item.path], lapses)
                    with suppress(OSError):
                        report.write_student(out, old, used, lapses)
                    results.append(old)
                    continue
                tasks.append(
                    Task(
                        item,
                        name,
                        course,
                        only.name if only else "",
                        used,
                        sandbox,
                        limits,
                        protect,
                    )
                )
            if results:
                many = f"{len(results)} are in the table as they are"
                say("1 is in the table as it is" if len(results) == 1 else many)
            for name in sorted({task.assignment for task in tasks} - {""}):
                used = next(task.seed for task in tasks if task.assignment == name)
                _must_be_right(known[name], box, used)
            try:
                for task, result in _as_done(tasks, jobs, executor, box):
                    _add_penalty(result, task.submission, due)
                    store.put(result, *contents[task.submission.path], box.lapses)
                    results.append(result)
                    with suppress(OSError):
                        report.write_student(out, result, task.seed, box.lapses)
                    with suppress(OSError):  # a closed terminal is no reason to stop
                        say(report.line(result))
            finally:
                store.write_tables()
                report.write_skipped(out, found.skipped, store.same())
    order = {item.student: k for k, item in enumerate(items)}
    return sorted(results, key=lambda result: order[result.student])


def _digest(path: Path) -> str:
    """A mark of a file's content; of nothing where it cannot be read."""
    try:
        ordinary = path.is_file() and not path.is_symlink() and path.stat().st_size <= MAX_FILE
        return hashlib.sha256(path.read_bytes()).hexdigest() if ordinary else ""
    except OSError:
        return ""


def _add_penalty(result: Result, item: Submission, due: dict[str, Deadline]) -> None:
    result.submitted = item.submitted.isoformat(timespec="seconds") if item.submitted else ""
    deadline = due.get(result.assignment)
    result.days_late = deadline.days(item.submitted) if deadline else 0
    result.penalty = deadline.penalty(item.submitted, result.possible) if deadline else 0.0


def _as_done(
    tasks: Sequence[Task], jobs: int, executor: Executor | None, box: Sandbox
) -> Iterator[tuple[Task, Result]]:
    """Each task with its result as soon as it is there, whatever the kind of executor."""
    pool = executor or ThreadPoolExecutor(jobs)
    done: queue.SimpleQueue = queue.SimpleQueue()
    waiting: list[tuple[Task, Any]] = []
    try:
        for task in tasks:
            waiting.append((task, pool.submit(grade_task, task)))
        for task, future in waiting:
            future.add_done_callback(lambda future, task=task: done.put((task, future)))
        for _ in waiting:
            task, future = done.get()
            if (result := future.result()) is not None:
                yield task, result
    except BaseException:  # Ctrl-C: end what runs now, keep what was graded
        box.stopped = True
        for _, future in waiting:  # an executor of the caller's would go on with the class
            future.cancel()
        if executor is None:
            pool.shutdown(cancel_futures=True)
        raise
    if executor is None:
        pool.shutdown()
