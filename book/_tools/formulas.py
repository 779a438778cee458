"""From a formula of the five papers to its line in the package: read from the comments and docstrings that name it.

    python book/_tools/formulas.py        after such a comment was added or moved

A comment names the formula of its own line (`# celledoni (6)`), a docstring that of its function or file. The page
`book/formulas.md` lists both, by paper and number, and before them the best known ones by name.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import NamedTuple

import address
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
# Who looks for a method or a map looks for its name: (name, numbers, file, functions)
BY_NAME = (
    ("exp on so(3)", "ortolan (2.6)", "groups/rotations.py", "exp"),
    ("dexp⁻¹ on so(3)", "celledoni 2.2", "groups/rotations.py", "dexpinv_times dexpinv"),
    ("exp on se(3)", "celledoni 2.3", "groups/_se3_cores.py", "exp_se3"),
    ("dexp⁻¹ on se(3)", "celledoni 2.3", "groups/_se3_cores.py", "dexpinv_se3"),
    ("RKMK", "celledoni (6)–(8)", "methods/rkmk.py", "march"),
    ("RKMK4c2", "celledoni 2.2", "methods/rkmk.py", "march_two_commutators"),
    ("RKMKGL4", "ortolan 7.1.2", "methods/implicit_rkmk.py", "stage_value solve_stages march"),
    ("CF4", "celledoni (9)", "tableaus/_commutator_free.py", ""),
    ("commutator-free", "celledoni 2.2", "methods/commutator_free.py", "reach"),
    ("SLGI", "celledoni (15)–(17)", "methods/cotangent.py", "stage solve_stage march"),
    ("ELN", "ortolan (4.1)", "methods/rigid_body.py", "eln_step"),
    ("VLV", "ortolan (4.11)", "methods/rigid_body.py", "vlv_step"),
    ("MCG", "ortolan (4.9)", "methods/rigid_body.py", "mcg_step"),
    ("RATTLE", "ortolan 2.3", "methods/rigid_body.py", "rattle_step rattle_equation"),
    (
        "ELN, RATTLE on spheres",
        "ortolan (7.1), (7.4)",
        "methods/spheres.py",
        "eln_step rattle_step",
    ),
    (
        "leapfrog on S²",
        "leimkuhler (30), (32), (33), 5.1",
        "methods/_riemannian_sphere.py",
        "sphere_covector sphere_w sphere_second_half",
    ),
    (
        "leapfrog on a group",
        "leimkuhler (30), (32), (33), 5.2",
        "methods/riemannian.py",
        "group_covector group_w group_second_half",
    ),
    ("LGVI on SO(3)", "fan (9)", "methods/_rotation_step.py", "rotation_step"),
    ("LGVI on any group", "fan (9)", "methods/variational_equations.py", "weighted"),
    ("LGVI with constraints", "fan (10)", "methods/variational_step.py", "take_impulse constrain"),
    ("A_k, B_k", "fan (11)–(19)", "control/linearize.py", "at variation"),
    ("LQR", "fan (21)", "control/lqr.py", "lqr"),
    ("connected bodies", "lee (35)–(41)", "systems/_swimming.py", "discrete_lagrangian"),
    ("chain of pendula", "celledoni 5.2", "systems/pendulum_chain.py", "_tensions _omega"),
    ("two quadrotors", "celledoni (37)", "systems/two_quadrotors.py", "quadrotors_field"),
)
HEAD = """# From a formula to its line

Where a formula of the five papers stands in `lielab`: first the methods and maps that have a name, then everything in
the order of the papers' numbers; a number without brackets is a section. Files are those of the folder `lielab`. The
comments and docstrings of the package name these numbers, and the tables below the first are made from them. Code is
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


def named_object(node: ast.stmt) -> str:
    """`X` and the name of an object that X = Action(name="...", ...) makes; empty for anything else."""
    match node:
        case ast.Assign(targets=[ast.Name(id=target)], value=ast.Call(keywords=keywords)):
            named = [k.value.value for k in keywords if k.arg == "name"]
            return f"`{target}` {escaped(named[0])}" if named else ""
    return ""


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
    objects = {n.lineno: said for n in tree.body if (said := named_object(n))}
    for number, line in enumerate(lines, 1):
        code, _, comment = line.partition("# ")
        for named in NAMED.finditer(line):
            if number in docstrings:
                *_, name, node = docstrings[number]
                shown = first_line(ast.get_docstring(node))
            elif named[0] in comment:
                name = [name for first, last, name, _ in scopes if first <= number <= last][-1]
                after = (n for n in range(number, len(lines)) if lines[n].lstrip()[:1] != "#")
                at = number - 1 if code.strip() else next(after)
                shown = "`" + lines[at].partition("# ")[0].strip().rstrip(",") + "`"
                shown = objects.get(at + 1, shown)
                if not re.search(r"\w", shown):
                    raise ValueError(
                        f"{where}, line {number}: a comment on a bracket; put it above its line"
                    )
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


def by_name(package: Path) -> str:
    """The table of names; ValueError for a function that is not where it is said to be."""
    text = "\n## By name\n\n| name | formula | in |\n|---|---|---|\n"
    for name, numbers, file, functions in BY_NAME:
        tree = ast.parse((package / file).read_text(encoding="utf-8"))
        scopes = {n.name: n for n in ast.walk(tree) if isinstance(n, SCOPES)}
        lost = set(functions.split()) - set(scopes)
        if lost:
            raise ValueError(
                f"{file} has no {', '.join(sorted(lost))}; change BY_NAME in formulas.py"
            )
        where = ", ".join([f"`{file}`", *(f"`{function}`" for function in functions.split())])
        text += f"| {escaped(name)} | {numbers} | {where} |\n"
    return text


def page(root: Path = ROOT) -> str:
    package = root / "lielab"
    files = [f for f in package.rglob("*.py") if f.relative_to(package).parts[0] not in SKIPPED]
    found = merged(sorted((r for f in files for r in rows_of(f, package)), key=lambda r: r.order))
    text = HEAD + by_name(package)
    for paper, title in PAPERS.items():
        text += f"\n## {title}\n\n| number | in | line |\n|---|---|---|\n"
        text += "".join(
            f"| {r.numbers} | {r.place} | {r.shown} |\n" for r in found if r.paper == paper
        )
    files = f"{address.current(root)}/blob/main/lielab"
    return re.sub(r"\| `([\w/]+\.py)`", rf"| [`\1`]({files}/\1)", text)


def main() -> None:
    (ROOT / PAGE).write_text(page(), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
