"""Grading a folder of submissions.

The cells of a master's hidden tests run here, in the grader's process, with a `Proxy` in place of each function that
the student was to write. What comes back are plain numbers, so nothing that a submission patches reaches the tests.
"""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from . import report
from .notebook import (
    Master,
    NotebookError,
    Part,
    assignment_of,
    code_cells,
    find_masters,
    read,
    read_master,
)
from .sandbox import Limits, Sandbox, workplace
from .session import CannotStart, Proxy, Session, StudentError, printable
from .testing import Failed, context

_SAVE_SECONDS = 5.0  # between two writings of the table


@dataclass
class PartScore:
    """One cell of hidden tests: the points earned, and the sentence that says why not all."""

    part: Part
    earned: float = 0.0
    message: str = ""


@dataclass
class Result:
    """What one submission earned."""

    student: str
    path: Path
    assignment: str = ""
    parts: list[PartScore] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)  # what happened to the submission as a whole
    complaints: dict[int, str] = field(default_factory=dict)  # cell -> error
    log: str = ""
    seconds: float = 0.0
    failed: bool = False  # the grader itself failed on it: look at it by hand

    @property
    def questions(self) -> dict[str, tuple[float, float]]:
        """Question -> points earned, points possible."""
        total: dict[str, tuple[float, float]] = {}
        for score in self.parts:
            if score.part.points:
                earned, possible = total.get(score.part.question, (0.0, 0.0))
                total[score.part.question] = (earned + score.earned, possible + score.part.points)
        return total

    @property
    def earned(self) -> float:
        return sum(score.earned for score in self.parts)

    @property
    def possible(self) -> float:
        return sum(score.part.points for score in self.parts)


def _run_parts(master: Master, session: Session, seed: int) -> list[PartScore]:
    """The hidden tests, in the order of the notebook and in one namespace, as in a notebook."""
    space: dict[str, Any] = {"np": np} | {name: Proxy(session, name) for name in master.functions}
    for driver in master.drivers:
        session.drive(driver.source)
    scores = []
    for part in master.parts:
        score = PartScore(part)
        try:
            for name in master.values - master.functions:
                try:
                    space[name] = session.get(name)
                except StudentError:
                    space[name] = None
            with context(seed, f"{master.name} {part.name}"):
                exec(compile(part.source, f"<hidden tests {part.name}>", "exec"), space)
            score.earned = part.points
        except Failed as error:
            score.message = printable(error) + (f" ({error.hint})" if error.hint else "")
        except StudentError as error:
            score.message = printable(error)
        except AssertionError as error:
            score.message = printable(error) or "a hidden test does not hold"
        except CannotStart:
            raise
        except Exception as error:
            score.message = printable(f"the answer cannot be used: {type(error).__name__}: {error}")
        if part.points:
            session.settle()
        scores.append(score)
    return scores


def identify(
    path: Path, masters: dict[str, Master], only: Master | None = None
) -> tuple[dict | None, Master | None, str]:
    """The notebook (None if it is none), its master (None if unknown), and what is wrong.

    `only` is the master of a class that has a single assignment, for files that do not say which they are.
    """
    if only is None and len(masters) == 1:
        only = next(iter(masters.values()))
    in_name = [m for name, m in masters.items() if name in path.name or name in path.parent.name]
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
) -> Result:
    """Grade one file. What the file holds or does costs points and raises nothing."""
    result, started = Result(student, path), time.monotonic()
    notebook, master, trouble = identify(path, masters, only)
    if trouble:
        result.notes.append(trouble)
    if master is None:
        return result
    result.assignment = master.name
    if notebook is None:
        result.parts = [PartScore(part, message="not run") for part in master.parts]
        return result
    with workplace() as folder:
        session = Session(sandbox, folder, code_cells(notebook), master.forbid)
        try:
            result.parts = _run_parts(master, session, seed)
        finally:
            session.close()
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
        f"{s.part.name}: {s.message}" for s in result.parts if s.message or s.earned < s.part.points
    ]
    if lost:
        raise ValueError(
            f"the master {master.path} does not earn full points itself, so nothing was graded: "
            + "; ".join(lost)
        )


def find_submissions(folder: Path) -> Iterable[tuple[str, Path]]:
    """Student (the path without its ending) and file, for every `.ipynb` below `folder`; links are not followed."""
    for base, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):  # some systems write the ending in capitals
            if name.lower().endswith(".ipynb") and not name.startswith("."):
                path = Path(base) / name
                yield path.relative_to(folder).as_posix().removesuffix(".ipynb"), path


@contextmanager
def _alone(out: Path) -> Iterator[None]:
    """One run at a time writes to `out`: two would mix pages of one with the table of the other."""
    import fcntl  # not on Windows, where nothing is graded

    out.mkdir(parents=True, exist_ok=True)
    with open(out / ".lock", "w") as file:  # whatever ends this process opens it again
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ValueError(
                f"out={str(out)!r} is being written by another run; wait for it, or choose another"
            ) from None
        except OSError:  # a file system without locks
            pass
        yield


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
    say: Any = print,
) -> list[Result]:
    """Grade every notebook below `folder`; write `grades.csv`, `grades.json` and a report for each student to `out`.

    The submissions are read and never written. A seed makes the random inputs of the hidden tests the same again;
    without one they are fresh, and the seed is in the results. Raises `ValueError` for folders that do not fit and
    `sandbox.Unavailable` on a system that cannot run submissions.
    """
    folder, out = Path(folder), Path(out) if out is not None else Path("grades")
    if not folder.is_dir():
        raise ValueError(
            f"folder={str(folder)!r} is not a folder; pass the one that holds the submissions"
        )
    if folder.resolve() in [out.resolve(), *out.resolve().parents]:
        raise ValueError(
            f"out={str(out)!r} is inside the folder of the submissions; choose another"
        )
    paths = find_masters(masters)
    if assignment is not None:
        if assignment not in paths:
            raise ValueError(
                f"assignment={assignment!r} has no master; there are: {', '.join(paths)}"
            )
        paths = {assignment: paths[assignment]}
    known = {name: read_master(path) for name, path in paths.items()}
    submissions = list(find_submissions(folder))
    if not submissions:
        raise ValueError(
            f"folder={str(folder)!r} holds no notebook; put the submissions there as .ipynb files, in any subfolders"
        )
    named = {path: identify(path, known)[1] for _, path in submissions}
    found = {master.name for master in named.values() if master}
    only = known[found.pop()] if len(found) == 1 else None
    named = {path: master or only for path, master in named.items()}
    seed = secrets.randbits(32) if seed is None else seed
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0:
        raise ValueError(f"seed must be a whole number of at least 0, got {seed!r}")
    if isinstance(jobs, bool) or not isinstance(jobs, int) or jobs < 1:
        raise ValueError(f"jobs must be a whole number of at least 1, got {jobs!r}")
    homes = {
        path.resolve().parents[1] if path.stem == path.parent.name else path.resolve().parent
        for path in paths.values()
    }
    box = Sandbox(sandbox, limits, protect=[*homes, folder, out])
    if not box.walls:
        say(f"warning: submissions run without bubblewrap ({box.why_not}). Not guaranteed:")
        for lapse in box.lapses:
            say(f"  - {lapse}")

    def one(item: tuple[str, Path]) -> Result | None:
        student, path = item
        try:  # one broken submission never stops the class
            result = grade_notebook(path, student, known, box, seed, only)
            if box.stopped:  # what was interrupted is not a grade
                return None
            report.write_student(out, result, seed, box.lapses)
        except Exception as error:
            trouble = f"the grader failed on it: {type(error).__name__}: {printable(error)}"
            result = Result(student, path, notes=[trouble], failed=True)
            if master := named.get(path):
                result.assignment = master.name
                result.parts = [PartScore(part, message="not run") for part in master.parts]
            with suppress(OSError):
                report.write_student(out, result, seed, box.lapses)
        with suppress(OSError):  # a closed terminal is no reason to stop
            say(report.line(result))
        return result

    for name in sorted({master.name for master in named.values() if master}):
        _must_be_right(known[name], box, seed)
    with _alone(out), ThreadPoolExecutor(jobs) as pool:
        waiting = [pool.submit(one, item) for item in submissions]

        def write_table() -> float:
            done = [f for f in waiting if f.done() and not f.cancelled() and not f.exception()]
            results[:] = [result for f in done if (result := f.result())]
            report.write_table(out, results, seed, box.lapses)
            return time.monotonic()

        results: list[Result] = []
        written = 0.0
        try:
            for future in waiting:
                future.result()
                if time.monotonic() - written > _SAVE_SECONDS:  # a killed run keeps its table
                    written = write_table()
        except BaseException:  # Ctrl-C: end what runs now, keep what was graded
            box.stopped = True
            pool.shutdown(cancel_futures=True)
            raise
        finally:
            write_table()
    return results
