"""Command line: `python -m lielab.grading release`, `grade FOLDER`, `export`, `similar FOLDER`, `new NAME`."""

from __future__ import annotations

import argparse
import dataclasses
import sys
from collections.abc import Sequence
from pathlib import Path

from .sandbox import Limits, Unavailable

_PUBLIC = (
    "The masters in the book's repository are public, solutions included: anyone can read them. "
    "A course that wants private ones keeps its variants elsewhere and passes --masters PATH."
)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m lielab.grading", description="Assignments of the book.", epilog=_PUBLIC
    )
    commands = parser.add_subparsers(dest="command", required=True)
    released = commands.add_parser(
        "release", help="write student copies of the assignments", epilog=_PUBLIC
    )
    graded = commands.add_parser("grade", help="grade a folder of submissions", epilog=_PUBLIC)
    graded.add_argument(
        "folder", type=Path, help="holds the submissions: any tree of .ipynb files; it is only read"
    )
    for command, what in ((released, "released"), (graded, "grades")):
        command.add_argument(
            "--masters", type=Path, help="folder of NN_name/NN_name.ipynb (default: exercises)"
        )
        command.add_argument(
            "--out", type=Path, default=Path(what), help=f"where to write (default: {what})"
        )
    exported = commands.add_parser(
        "export",
        help="gradebooks (Canvas, Moodle, Gradescope), feedback pages and a summary of the class",
    )
    exported.add_argument("--out", type=Path, default=Path("grades"), help="folder of the results")
    exported.add_argument("--roster", type=Path, help="CSV with a column `student` and others")
    alike = commands.add_parser(
        "similar", help="pairs of submissions with much in common, to be looked at"
    )
    alike.add_argument("folder", type=Path, help="holds the submissions")
    alike.add_argument("--masters", type=Path, help="as for grade")
    alike.add_argument("--out", type=Path, default=Path("grades"), help="where to write")
    alike.add_argument("--roster", type=Path, help="as for grade")
    alike.add_argument(
        "--above", type=float, default=0.6, help="share in common (default: %(default)g)"
    )
    made = commands.add_parser("new", help="a working assignment to start from")
    made.add_argument("name", help="two digits and small letters: 21_my_topic")
    made.add_argument(
        "--masters", type=Path, default=Path("masters"), help="folder for it (default: masters)"
    )
    for option, what in (
        ("--roster", "CSV with a column `student` and others that find them (e-mail, number, ...)"),
        ("--deadlines", "CSV with the columns assignment, due, per_day (share of the points)"),
        ("--times", "CSV with the columns student, assignment, time (default: time of the file)"),
    ):
        graded.add_argument(option, type=Path, help=what)
    graded.add_argument(
        "--student", action="append", default=[], help="only this one (repeat for several)"
    )
    graded.add_argument(
        "--again", action="store_true", help="grade also what has not changed since it was graded"
    )
    defaults = Limits()
    graded.add_argument(
        "--assignment", help="grade everything as this one (default: what each notebook says)"
    )
    graded.add_argument(
        "--seed", type=int, help="of the random inputs (default: fresh; it is in the results)"
    )
    graded.add_argument(
        "--sandbox",
        choices=("auto", "bubblewrap", "none"),
        default="auto",
        help="auto: bubblewrap where it works",
    )
    graded.add_argument(
        "--jobs", type=int, default=2, help="submissions at the same time (default: 2)"
    )
    graded.add_argument(
        "--time",
        type=float,
        default=defaults.total_seconds,
        help="seconds for all questions of a submission (default: %(default)g)",
    )
    graded.add_argument(
        "--call-time",
        type=float,
        default=defaults.call_seconds,
        help="seconds for one call (default: %(default)g)",
    )
    graded.add_argument(
        "--memory",
        type=int,
        default=defaults.memory_mb,
        help="MB for one submission (default: %(default)d)",
    )
    graded.add_argument(
        "--tasks",
        type=int,
        default=defaults.tasks,
        help="processes and threads (default: %(default)d)",
    )
    return parser


def _release(args: argparse.Namespace) -> int:
    from .release import release

    words = {
        "written": "written",
        "unchanged": "is there already",
        "kept": "kept: a file that differs is there, perhaps somebody's work; move it to get a fresh copy",
    }
    for item in release(args.masters, args.out):
        print(f"{item.path}: {words[item.state]}")
        for note in item.notes:
            print(f"  {note}")
    if args.masters is None:
        print(_PUBLIC)
    return 0


def _grade(args: argparse.Namespace) -> int:
    from .grade import grade

    limits = dataclasses.replace(
        Limits(),
        total_seconds=args.time,
        cpu_seconds=args.time + Limits().scratch_seconds,
        call_seconds=min(args.call_time, args.time),
        memory_mb=args.memory,
        tasks=args.tasks,
    )
    results = grade(
        args.folder,
        args.masters,
        args.out,
        seed=args.seed,
        sandbox=args.sandbox,
        limits=limits,
        jobs=args.jobs,
        assignment=args.assignment,
        roster=args.roster,
        deadlines=args.deadlines,
        times=args.times,
        students=args.student,
        again=args.again,
    )
    what = "1 submission" if len(results) == 1 else f"{len(results)} submissions"
    print(f"{what}; results in {args.out}")
    skipped = len((args.out / "skipped.csv").read_text(encoding="utf-8").splitlines()) - 1
    if skipped:
        print(f"left out or doubtful: {skipped}; see {args.out / 'skipped.csv'}")
    if args.masters is None:  # after what was asked for, and not in front of an error
        print(_PUBLIC)
    return 1 if any(result.failed for result in results) else 3 if skipped else 0


def _export(args: argparse.Namespace) -> int:
    from .export import export

    written, strangers = export(args.out, args.roster)
    print(
        f"{len(written)} files in {args.out}: canvas.csv, moodle.csv, summary.html, feedback/, gradescope/"
    )
    if strangers:
        print(f"not in the roster, so in no gradebook: {', '.join(strangers)}")
    return 3 if strangers else 0


def _similar(args: argparse.Namespace) -> int:
    from .export import compare

    for path, pairs in compare(args.folder, args.masters, args.out, args.above, args.roster):
        print(f"{path}: {len(pairs)} pairs; a reason to look, no verdict")
    return 0


def _new(args: argparse.Namespace) -> int:
    from .template import new

    for path in new(args.name, args.masters):
        print(f"{path}: written")
    print(f"try it: python -m lielab.grading release --masters {args.masters}")
    return 0


_COMMANDS = {
    "release": _release, "grade": _grade, "export": _export, "similar": _similar, "new": _new
}  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit code.

    0: all is well; 1: the grader itself failed on a submission; 2: bad arguments; 3: something was left out, and said.
    """
    args = _parser().parse_args(arguments)
    if hasattr(sys.stdout, "reconfigure"):
        # A student's name may not exist in the terminal's alphabet.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        return _COMMANDS[args.command](args)
    except KeyboardInterrupt:
        print("stopped; the table holds what was graded before", file=sys.stderr)
        return 130
    except (ValueError, Unavailable) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
