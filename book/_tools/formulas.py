"""From a formula of the five papers to its line in the package: read from the comments and docstrings that name it.

    python book/_tools/formulas.py        after such a comment was added or moved

A comment names the formula of its own line (`# celledoni (6)`), a docstring that of its function or file. The page
`book/formulas.md` lists both, by paper and number.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import NamedTuple

from chapters import ROOT

PAGE = Path("book") / "formulas.md"
PAPERS = {
    "celledoni": "Celledoni, Çokaj, Leone, Murari and Owren (2021)",
    "leimkuhler": "Leimkuhler and Patrick (1996)",
    "lee": "Lee, Leok and McClamroch (2009)",
    "ortolan": "Ortolan (2011)",
    "fan": "Fan and Murphey (2016)",
}
NUMBER = r"(?:\(\d[\d.]*[a-z]?\)|\d(?:\.\d)+)"
NAMED = re.compile(rf"\b({'|'.join(PAPERS)}),? ({NUMBER}(?:(?:-|, | and ){NUMBER})*)")
SKIPPED = ("grading", "testing", "show")
SCOPES = (ast.FunctionDef, ast.ClassDef)
HEAD = """# From a formula to its line

Where a formula of the five papers stands in `lielab`, in the order of the papers' numbers; a number without brackets is
a section. The comments and docstrings of the package name these numbers, and this table is made from them. Code is
shown where a comment says that this line is the formula; elsewhere the first line of the docstring that names it. How a
whole method is written down is on its card in the [atlas](methods_atlas.md); how the rooms fit together is told in
[Inside lielab](inside.ipynb).
"""


class Row(NamedTuple):
    paper: str
    numbers: str
    place: str  # file and function
    shown: str
    at: int = 0  # line of the file

    @property
    def order(self) -> tuple:
        first = re.search(r"[\d.]+[a-z]?", self.numbers)[0]
        digits = [int(d) for d in re.findall(r"\d+", first)]
        return (
            list(PAPERS).index(self.paper),
            "(" not in self.numbers,
            digits,
            first,
            self.place,
            self.at,
            self.shown,
            self.numbers,
        )


def escaped(text: str) -> str:
    """As Markdown in a table, which leaves what stands between backticks as it is."""
    parts = text.split("`")
    parts[::2] = [re.sub(r"([|*<_~])", r"\\\1", part) for part in parts[::2]]
    return "`".join(parts)


def first_line(docstring: str) -> str:
    """What it begins with, without the name of a formula in brackets."""
    line = re.sub(rf" \({NAMED.pattern}\)", "", docstring.strip().splitlines()[0])
    # Two names, as the book writes them.
    line = re.sub(r"([A-Z][a-z]+)-(?=[A-Z][a-z])", r"\1–", line)
    return escaped(line.rstrip(".:, "))


def rows_of(file: Path, package: Path) -> set[Row]:
    source = file.read_text(encoding="utf-8")
    tree, lines, found = ast.parse(source), source.splitlines(), set()
    where = f"`{file.relative_to(package).as_posix()}`"
    scopes = [(0, len(lines), "", tree)]
    scopes += [(n.lineno, n.end_lineno, n.name, n) for n in ast.walk(tree) if isinstance(n, SCOPES)]
    docstrings = {
        number: scope
        for scope in scopes
        if ast.get_docstring(scope[3]) is not None
        for number in range(scope[3].body[0].lineno, scope[3].body[0].end_lineno + 1)
    }
    for number, line in enumerate(lines, 1):
        code, _, comment = line.partition("# ")
        for named in NAMED.finditer(line):
            if number in docstrings:
                *_, name, node = docstrings[number]
                shown = first_line(ast.get_docstring(node))
            elif named[0] in comment:
                name = [name for first, last, name, _ in scopes if first <= number <= last][-1]
                after = (text for text in lines[number:] if not text.lstrip().startswith("#"))
                shown = "`" + (code.strip() or next(after).strip()).rstrip(",") + "`"
                words = (
                    re.sub(rf":?,? ?{NAMED.pattern}:?", "", comment).strip(" ,:;.")
                    if code.strip()
                    else ""
                )
                shown += f" {escaped(words)}" if words else ""
            else:  # the source of a method: the atlas has it
                continue
            place = where + (f", `{name}`" if name else "")
            found.add(Row(named[1], named[2], place, shown, number))
    return found


def merged(rows: list[Row]) -> list[Row]:
    """One row for a docstring that names several formulas, at the first of them."""
    kept: dict[tuple, Row] = {}
    for row in rows:
        key = row.paper, row.place, row.shown
        before = kept[key].numbers.split(", ") if key in kept else []
        numbers = ", ".join(dict.fromkeys([*before, *row.numbers.split(", ")]))
        kept[key] = row._replace(numbers=numbers)
    return list(kept.values())


def page(root: Path = ROOT) -> str:
    package = root / "lielab"
    files = [f for f in package.rglob("*.py") if f.relative_to(package).parts[0] not in SKIPPED]
    found = merged(sorted((r for f in files for r in rows_of(f, package)), key=lambda r: r.order))
    text = HEAD
    for paper, title in PAPERS.items():
        text += f"\n## {title}\n\n| number | in | line |\n|---|---|---|\n"
        text += "".join(
            f"| {r.numbers} | {r.place} | {r.shown} |\n" for r in found if r.paper == paper
        )
    return text


def main() -> None:
    (ROOT / PAGE).write_text(page(), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
