"""What a course takes out of the table: gradebooks, feedback pages, a summary, a report on similar work.

Everything is made from `grades.sqlite` in the folder of results, and can be made again at any time.
"""

from __future__ import annotations

import html
import io
import json
import keyword
import statistics
import tokenize
from collections.abc import Mapping, Sequence
from pathlib import Path

from .collect import Roster, collect
from .grade import identify
from .notebook import Master, find_masters, mark, read_master, source
from .result import Result
from .sandbox import workplace
from .store import Store, cell, number, table, write

_BIN = 10  # percent, in histograms
# Tokens that are compared together; share in common above which a pair is listed.
_GRAM, _SHOWN = 12, 0.6


def latest(store: Store, assignment: str | None = None) -> list[Result]:
    """All lines of the table, or those of one assignment, with what was written by hand."""
    return [r for r, _, _ in store.lines() if assignment in (None, r.assignment)]


# ---------------------------------------------------------------- gradebooks


def canvas(results: Sequence[Result], roster: Roster) -> str:
    """CSV that Canvas imports: a line a student of the roster (columns name, id, login), a column an assignment."""
    assignments = sorted({r.assignment for r in results if r.assignment})
    possible = {r.assignment: r.possible for r in results if r.parts}
    points = {(r.student, r.assignment): number(r.final) for r in results}
    students = roster.students or sorted({r.student for r in results})
    rows = [["Student", "ID", "SIS User ID", "SIS Login ID", "Section", *assignments]]
    rows.append(
        ["    Points Possible", *[""] * 4, *[number(possible.get(a, 0)) for a in assignments]]
    )
    for student in students:
        line = roster.lines.get(student, {})
        head = [
            line.get("name", student),
            *(line.get(k, "") for k in ("id", "sis", "login", "section")),
        ]
        rows.append([*map(cell, head), *(points.get((student, a), "") for a in assignments)])
    return table(rows)


def moodle(results: Sequence[Result], roster: Roster) -> str:
    """CSV that Moodle's gradebook imports: found by e-mail or ID number, a column an assignment, comments beside."""
    assignments = sorted({r.assignment for r in results if r.assignment})
    found = {(r.student, r.assignment): r for r in results}
    students = roster.students or sorted({r.student for r in results})
    rows = [["ID number", "Email address", "Full name"]]
    for a in assignments:
        rows[0] += [a, f"{a} feedback"]
    for student in students:
        line = roster.lines.get(student, {})
        row = [cell(line.get(k, "")) for k in ("id", "email")] + [cell(line.get("name", student))]
        for a in assignments:
            result = found.get((student, a))
            row += [number(result.final), cell(result.comment)] if result else ["", ""]
        rows.append(row)
    return table(rows)


def gradescope(result: Result) -> str:
    """`results.json` of Gradescope's autograder, for one submission."""
    tests = [
        {
            "name": score.part.name,
            "score": score.earned,
            "max_score": score.part.points,
            "output": score.message,
            "visibility": "visible",
        }
        for score in result.parts
        if score.part.points
    ]
    output = "\n".join([*result.notes, *([result.comment] if result.comment else [])])
    return json.dumps({"score": result.final, "output": output, "tests": tests}, indent=1) + "\n"


def unlisted(results: Sequence[Result], roster: Roster) -> list[str]:
    """Students with results whom a roster does not name."""
    if not roster.students:
        return []
    return sorted({r.student for r in results} - set(roster.students))


# ---------------------------------------------------------------- pages


def _bars(values: Sequence[tuple[str, float, str]], alt: str) -> str:
    """A bar chart: label, share from 0 to 1, text at its end; plain SVG that needs no script."""
    rows = []
    for k, (label, share, end) in enumerate(values):
        y = 24 * k
        rows += [
            f'<text x="0" y="{y + 16}">{html.escape(label)}</text>',
            f'<rect x="130" y="{y + 3}" width="300" height="16" fill="#e4e7eb"/>',
            f'<rect x="130" y="{y + 3}" width="{300 * min(1.0, max(0.0, share)):.0f}" height="16" fill="#2f6f9f"/>',
            f'<text x="440" y="{y + 16}">{html.escape(end)}</text>',
        ]
    return (
        f'<svg role="img" aria-label="{html.escape(alt)}" viewBox="0 0 560 {24 * len(values)}" '
        f'width="560" font-family="sans-serif" font-size="13">{"".join(rows)}</svg>'
    )


def _page(title: str, body: Sequence[str]) -> str:
    head = (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{html.escape(title)}</title>'
        "<style>body{font:16px/1.5 sans-serif;max-width:44rem;margin:2rem auto;padding:0 1rem}"
        "pre{background:#f4f5f7;padding:.5rem;overflow-x:auto;white-space:pre-wrap}"
        "table{border-collapse:collapse}td,th{padding:.2rem .8rem;text-align:left}</style>"
    )
    return head + f"<h1>{html.escape(title)}</h1>" + "\n".join(body) + "</html>\n"


def histogram(results: Sequence[Result]) -> list[tuple[str, int]]:
    """Range of percent -> how many, by the points that count."""
    counts = [0] * (100 // _BIN)
    for r in results:
        if r.possible:
            share = 100 * r.final / r.possible
            counts[min(len(counts) - 1, max(0, int(share // _BIN)))] += 1
    return [(f"{_BIN * k} to {_BIN * (k + 1)} %", n) for k, n in enumerate(counts)]


def feedback(result: Result, others: Sequence[Result]) -> str:
    """The page of one student: points a question, what did not hold, and where the class stands. No inputs of tests."""
    questions = [
        (name, earned / possible, f"{number(earned)} of {number(possible)}")
        for name, (earned, possible) in result.questions.items()
    ]
    total = f"{number(result.final)} of {number(result.possible) if result.parts else '?'} points"
    body = [f"<p>{html.escape(result.student)}: <strong>{total}</strong></p>"]
    if questions:
        body += ["<h2>Questions</h2>", _bars(questions, "points of each question")]
    if result.override is not None:
        body.append("<p>These points were given by hand.</p>")
    elif result.days_late:
        days = "a day" if result.days_late == 1 else f"{result.days_late} days"
        body.append(f"<p>Handed in {days} late: {number(result.penalty)} points less.</p>")
    if result.comment:
        body += ["<h2>Comment</h2>", f"<p>{html.escape(result.comment)}</p>"]
    lost = [score for score in result.parts if score.message]
    if lost:
        body.append("<h2>What did not hold</h2>")
        body += [
            f"<p>{html.escape(s.part.name)}</p><pre>{html.escape(s.message)}</pre>" for s in lost
        ]
    notes = [*result.notes, *(f"cell {k}: {text}" for k, text in sorted(result.complaints.items()))]
    if notes:
        body += ["<h2>Notes</h2>", *(f"<pre>{html.escape(note)}</pre>" for note in notes)]
    body += ["<h2>The class</h2>", _class(others)]
    return _page(f"Assignment {result.assignment or 'unknown'}", body)


def _class(results: Sequence[Result]) -> str:
    found = histogram(results)
    most = max((n for _, n in found), default=0) or 1
    return _bars([(label, n / most, str(n)) for label, n in found], "how many reached which share")


def summary(results: Sequence[Result], roster: Roster) -> str:
    """The class, assignment by assignment: numbers, a histogram, the share that earned each part, who is missing."""
    body: list[str] = []
    for assignment in sorted({r.assignment for r in results if r.assignment}):
        mine = [r for r in results if r.assignment == assignment]
        shares = [r.final / r.possible for r in mine if r.possible]
        body.append(f"<h2>{html.escape(assignment)}</h2>")
        if shares:
            mean, middle = statistics.mean(shares), statistics.median(shares)
            body.append(f"<p>{len(mine)} submissions, mean {mean:.0%}, median {middle:.0%}.</p>")
        body.append(_class(mine))
        parts: dict[str, list[float]] = {}
        for r in mine:
            for score in r.parts:
                if score.part.points:
                    parts.setdefault(score.part.name, []).append(score.earned / score.part.points)
        rows = [(name, sum(p) / len(p), f"{sum(p) / len(p):.0%}") for name, p in parts.items()]
        body += ["<h3>Share of the points of each part</h3>", _bars(rows, "share of each part")]
        missing = [s for s in roster.students if s not in {r.student for r in mine}]
        if missing:
            body.append(f"<p>Nothing from: {html.escape(', '.join(missing))}</p>")
        strangers = unlisted(mine, roster)
        if strangers:
            names = html.escape(", ".join(strangers))
            body.append(f"<p>Not in the roster, so in no gradebook: {names}</p>")
        failed = [r.student for r in mine if r.failed]
        if failed:
            body.append(f"<p>The grader failed on: {html.escape(', '.join(failed))}</p>")
    return _page("The class", body)


# ---------------------------------------------------------------- similar work


def tokens(code: str) -> list[str]:
    """The tokens of a program without comments and texts, with every name replaced by the same letter."""
    found: list[str] = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(code).readline):
            if token.type == tokenize.NAME:
                found.append(token.string if keyword.iskeyword(token.string) else "x")
            elif token.type in (tokenize.OP, tokenize.NUMBER):
                found.append(token.string)
    except (tokenize.TokenError, IndentationError, SyntaxError):
        pass  # what came before the mistake counts
    return found


def fingerprint(cells: Sequence[str]) -> set[int]:
    """All runs of some tokens in the cells of a solution."""
    grams = set()
    for code in cells:
        words = tokens(code)
        grams |= {hash(tuple(words[k : k + _GRAM])) for k in range(len(words) - _GRAM + 1)}
    return grams


def similar(
    notebooks: Mapping[str, dict], master: Master, shown: float = _SHOWN
) -> list[tuple[str, str, float]]:
    """Pairs of students whose solutions have much in common beyond what most have: a reason to look, no verdict."""
    prints = {}
    for student, notebook in notebooks.items():
        cells = [c for c in notebook["cells"] if c.get("cell_type") == "code"]
        own = [source(c) for c in cells if str(mark(c).get("grade_id")) in master.solutions]
        prints[student] = fingerprint(own)
    usual: dict[int, int] = {}
    for grams in prints.values():
        for gram in grams:
            usual[gram] = usual.get(gram, 0) + 1
    often = max(3, len(prints) // 4)  # what a quarter of the class writes is how one writes it
    prints = {s: {g for g in grams if usual[g] <= often} for s, grams in prints.items()}
    names, pairs = sorted(prints), []
    for k, a in enumerate(names):
        for b in names[k + 1 :]:
            smaller = min(len(prints[a]), len(prints[b]))
            share = len(prints[a] & prints[b]) / smaller if smaller >= _GRAM else 0.0
            if share >= shown:
                pairs.append((a, b, share))
    return sorted(pairs, key=lambda pair: -pair[2])


# ---------------------------------------------------------------- all of it


def export(out: Path, roster: Path | None = None) -> tuple[list[Path], list[str]]:
    """Write Canvas's, Moodle's and Gradescope's files, the feedback pages and the summary into `out`.

    Returns their paths, and the students who are in no gradebook because the roster does not name them.
    """
    people, written = Roster(roster), []
    if not (out / "grades.sqlite").is_file():
        raise ValueError(f"out={str(out)!r} holds no grades.sqlite; grade something first")
    with Store(out) as store:
        store.write_tables()
        results = latest(store)
    files = {"canvas.csv": canvas(results, people), "moodle.csv": moodle(results, people)}
    files["summary.html"] = summary(results, people)
    for r in results:
        others = [x for x in results if x.assignment == r.assignment]
        name = r.report.removesuffix(".md")
        files[f"feedback/{name}.html"] = feedback(r, others)
        files[f"gradescope/{name}/results.json"] = gradescope(r)
    for name, text in files.items():
        write(out / name, text)
        written.append(out / name)
    return written, unlisted(results, people)


def compare(
    folder: Path,
    masters: Path | None,
    out: Path,
    above: float = _SHOWN,
    roster: Path | None = None,
) -> list[tuple[Path, list[tuple[str, str, float]]]]:
    """Write `similar-ASSIGNMENT.csv` for each assignment in a folder of submissions; the files and their pairs."""
    if not folder.is_dir():
        raise ValueError(f"folder={str(folder)!r} is not a folder")
    if not 0 < above <= 1:
        raise ValueError(f"above must be a share from 0 to 1, got {above!r}")
    known = {name: read_master(path) for name, path in find_masters(masters).items()}
    notebooks: dict[str, dict[str, dict]] = {}
    with workplace() as unpacked:
        for item in collect(folder, unpacked, list(known), Roster(roster)).submissions:
            notebook, master, _ = identify(item.path, known, None, item.origin)
            if notebook and master:
                notebooks.setdefault(master.name, {})[item.student] = notebook
    found = []
    for name, mine in sorted(notebooks.items()):
        pairs = similar(mine, known[name], above)
        rows = [(cell(a), cell(b), f"{share:.2f}") for a, b, share in pairs]
        path = out / f"similar-{name}.csv"
        write(path, table([("one", "other", "in common"), *rows]))
        found.append((path, pairs))
    return found
