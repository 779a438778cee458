"""The page "Atlas of methods", from the registry, the measurements and the cards' words.

    python book/_tools/atlas.py        after `python -m benchmarks.atlas`, or when a method or a card has changed

`lielab.methods()` says which methods there are, `benchmarks/results/atlas.json` what was measured, `atlas_cards` the
formulas and the words; the lines of code are read from the source. The page is plain Markdown, a table and cards;
`book/_static/atlas.js` sorts the table and filters both, and nothing is lost without it.
"""

from __future__ import annotations

import contextlib
import io
import json
import math
import re
import sys
from pathlib import Path
from typing import Any

from chapters import ROOT

sys.path.insert(0, str(ROOT))

import lielab  # noqa: E402  (of this checkout)
from atlas_cards import CARDS, INTRODUCTION, LETTERS, NO_TIMES, READING, TIME_ROW  # noqa: E402
from benchmarks import atlas as measured  # noqa: E402

PAGE = Path("book") / "methods_atlas.md"
KEPT = 1e-12  # of a conserved quantity's size, over some hundred seconds: rounding
MANIFOLD = 1e-12
STRUCTURE = {  # a step's defect below which it has the property: what differences and iterations reach
    "symplecticity": 1e-8,
    "volume": 1e-8,
    "symmetry": 1e-10,
    "reversibility": 1e-10,
}
LOST = 1.0  # an energy error as large as the energy: nothing is left to drift
NEEDS = {
    "action": "an action and a field in its algebra",
    "cotangent": "a Hamiltonian on a cotangent bundle T\\*G",
    "quadratic": "a heavy top in its quadratic form",
    "rigid_body": "inertia and torque of a rigid body",
    "metric": "a metric whose geodesics are known, and a potential",
    "lagrangian": "a Lagrangian on a group",
    "directions": "unit vectors that a field turns",
    "spheres": "a mass matrix and forces on spheres",
}
FAMILIES = {
    "classical": "In the surrounding space",
    "RKMK": "Runge–Kutta–Munthe-Kaas",
    "commutator-free": "Commutator-free",
    "Crouch-Grossman": "Crouch–Grossman",
    "implicit RKMK": "Implicit, on actions",
    "cotangent": "On cotangent bundles",
    "rigid body": "For rigid bodies",
    "Riemannian": "On Riemannian manifolds",
    "spherical midpoint": "For spins and vortices",
    "variational": "Variational",
    "composition": "Compositions",
}


# --- words for numbers ----------------------------------------------------------------------------


def short(x: float) -> str:
    """One digit: 0.018 is 2e-2, 0.25 is 0.2, 1600 is 2000."""
    if x == 0.0 or abs(x) >= 0.095:
        return f"{float(f'{x:.1g}'):g}"
    return re.sub(r"e-0*", "e-", f"{x:.0e}")


def plain(x: float) -> str:
    """At most three digits."""
    return f"{x:.3g}"


def verdict(x: float | None, limit: float) -> str:
    """yes, or no with the number."""
    if x is None:
        return "–"
    return "yes" if x < limit else f"no ({short(x)})"


def energy(found: dict[str, Any] | None) -> tuple[str, float]:
    """The verdict of a drift test, and the largest error."""
    if not found:
        return "–", math.nan
    word = "lost" if found["largest"] > LOST else found["verdict"]
    return word, found["largest"]


def order_range(row: dict[str, Any]) -> str:
    found = [x for x in row["orders"].values() if x is not None]
    if not found:
        return "–"
    low, high = f"{min(found):.2f}", f"{max(found):.2f}"
    return low if low == high else f"{low} to {high}"


def momentum(row: dict[str, Any]) -> float | None:
    return row["kept"].get("top momentum", row["kept"].get("own momentum"))


def seconds(h: float | None) -> str:
    return f"below {plain(measured.STABLE_STEPS[0])}" if h is None else plain(h)


def anchor(name: str) -> str:
    return "card-" + re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def display(family: str) -> str:
    return family.replace("-Grossman", "–Grossman")


def title(chapter: str, root: Path = ROOT) -> str:
    cells = json.loads((root / "book" / f"{chapter}.ipynb").read_text(encoding="utf-8"))["cells"]
    return "".join(cells[0]["source"]).splitlines()[0].removeprefix("# ")


# --- the table ------------------------------------------------------------------------------------


def columns(timed: bool) -> list[str]:
    names = [
        "method",
        "family",
        "order",
        "measured",
        "manifold",
        "symplectic",
        "volume",
        "symmetric",
    ]
    names += ["energy", "momentum", "calls", "exps", "largest step (s)"]
    return [*names, "time"] if timed else names


def table_row(row: dict[str, Any], timed: bool) -> list[str]:
    word, error = energy(row["long"].get(row["home"]))
    structure = row["structure"]
    cells = [
        f"[`{row['name']}`](#{anchor(row['name'])})",
        display(row["family"]),
        str(row["order"]),
        order_range(row),
        verdict(row["kept"]["manifold"], MANIFOLD),
        *(
            verdict(structure[key], STRUCTURE[key])
            for key in ("symplecticity", "volume", "symmetry")
        ),
        word if math.isnan(error) else f"{word} ({short(error)})",
        verdict(momentum(row), KEPT),
        plain(row["field calls"]),
        plain(row["exponentials"]),
        seconds(row["stable"][row["home"]]) if row["stable"] else "–",
    ]
    return [*cells, plain(row["time"]["ratio"])] if timed else cells


def grid(lines: list[list[str]]) -> str:
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def table(rows: list[dict[str, Any]], timed: bool) -> str:
    heads = columns(timed)
    return grid([heads, ["---"] * len(heads), *(table_row(row, timed) for row in rows)])


# --- the cards ------------------------------------------------------------------------------------


def exact(row: dict[str, Any]) -> str:
    """What stays to rounding, in words."""
    kept, found = row["kept"], []
    if kept["manifold"] < MANIFOLD:
        found.append("the manifold")
    names = {
        "free momentum": "the momentum of a free body in space",
        "free casimir": "its length",
        "free energy": "the free body's energy",
        "top momentum": "the vertical momentum of a heavy top",
        "own momentum": "the moment along the axis",
    }
    found += [words for key, words in names.items() if key in kept and kept[key] < KEPT]
    forms = {"symplecticity": "the symplectic form", "volume": "the volume"}
    for key, words in forms.items():
        x = row["structure"][key]
        if x is not None and x < STRUCTURE[key]:
            found.append(words)
    return ", ".join(found) or "nothing of what was looked at"


def defects(row: dict[str, Any]) -> str:
    """The four properties of a step, with the numbers."""
    words = {
        "symplecticity": "symplectic",
        "volume": "volume",
        "symmetry": "symmetric",
        "reversibility": "reversible",
    }
    found = []
    for key, word in words.items():
        x = row["structure"][key]
        if x is not None:
            found.append(f"{word}: {'yes' if x < STRUCTURE[key] else 'no'}, {short(x)}")
    return "; ".join(found) or "–"


def drifts(row: dict[str, Any]) -> list[tuple[str, str]]:
    found = []
    for name, test in row["long"].items():
        word, error = energy(test)
        text = (
            f"{word}: error up to {short(error)} {'times' if word == 'lost' else 'of'} the energy"
        )
        if word == "exact":  # says that nothing was seen, not that nothing is there
            text = f"below 1e-10 of the energy all the time: {short(error)}"
        elif word != "lost":
            text += f", slope {short(test['slope'])} ± {short(test['slope error'])} a second"
        span = f"{test['t_end']:,.0f}".replace(",", "\u00a0")
        found.append((f"energy, {name}, {span}\u00a0s", text))
    return found


def several(x: float, thing: str) -> str:
    return f"{plain(x)} {thing}{'s' * (x != 1.0)}"


def cost(row: dict[str, Any]) -> str:
    text = f"{several(row['field calls'], 'call')}, {several(row['exponentials'], 'exponential')}; "
    if row["time"] is None:
        return text + "time not measured yet"
    time = row["time"]
    return (
        text + f"{plain(time['ratio'])} times `RK4` ({plain(time['low'])} to {plain(time['high'])})"
    )


def facts(row: dict[str, Any], method: lielab.Method) -> list[tuple[str, str]]:
    kept = row["kept"]
    needs = [NEEDS[name] for name in (method.needs, *method.also)]
    orders = f"{method.order}"
    if row["orders"]:
        count = sum(x is not None for x in row["orders"].values())
        of = f" of {len(row['orders'])}" if count < len(row["orders"]) else ""
        orders += (
            f"; measured {order_range(row)} on {count}{of} problem{'s' * (len(row['orders']) > 1)}"
        )
    changes = {
        "manifold": "distance from the manifold",
        "free energy": "energy of a free body",
        "free momentum": "its momentum in space",
        "top momentum": "vertical momentum of a heavy top",
        "own momentum": "moment along the axis",
    }
    numbers = [f"{words} {short(kept[key])}" for key, words in changes.items() if key in kept]
    steps = [f"{seconds(h)} s ({name})" for name, h in row["stable"].items()]
    return [
        ("needs", "; or ".join(needs)),
        ("order", orders),
        ("keeps exactly", exact(row)),
        ("largest changes", "; ".join(numbers)),
        ("one step", defects(row)),
        *drifts(row),
        ("a step costs", cost(row)),
        ("largest stable step", "; ".join(steps) or "chosen by itself"),
    ]


WIDTH, HEIGHT, LEFT, BELOW = 240, 120, 34, 18
CALLS, ERRORS = (5.0, 1e5), (1e-13, 1e2)


def place(calls: float, error: float) -> str:
    (a, b), (low, high) = CALLS, ERRORS
    x = LEFT + (WIDTH - LEFT - 4) * math.log(min(max(calls, a), b) / a) / math.log(b / a)
    y = 4 + (HEIGHT - BELOW - 4) * math.log(high / min(max(error, low), high)) / math.log(
        high / low
    )
    return f"{x:.1f},{y:.1f}"


def line(points: list[list[float]], kind: str) -> str:
    return f'<polyline class="{kind}" points="{" ".join(place(*p) for p in points)}"/>'


def said(row: dict[str, Any]) -> str:
    """The work-precision line in words."""
    (few, rough), (many, fine) = row["work"][0], row["work"][-1]
    return f"Error after 10 s: {short(rough)} with {few} calls, {short(fine)} with {many}."


def picture(row: dict[str, Any], base: dict[str, Any]) -> str:
    """Error against calls, both logarithmic; RK4's line beside it where the problem is the same."""
    marks = []
    for error, label in ((1.0, "1"), (1e-6, "1e-6"), (1e-12, "1e-12")):
        x, y = place(CALLS[0], error).split(",")
        marks.append(
            f'<text x="{LEFT - 4}" y="{float(y) + 3:.1f}" text-anchor="end">{label}</text>'
        )
        marks.append(f'<path d="M{x},{y}H{WIDTH - 4}"/>')
    for calls in (10, 1000, 100000):
        x, y = place(calls, ERRORS[0]).split(",")
        end = "end" if calls == 100000 else "middle"
        marks.append(f'<text x="{x}" y="{HEIGHT - 4}" text-anchor="{end}">{calls}</text>')
    lines = [line(row["work"], "own")]
    beside = ""
    if row["home"] == base["home"] and row["name"] != base["name"]:
        lines.insert(0, line(base["work"], "base"))
        beside = " Dashed: RK4."
    return "\n".join(
        [
            f'<svg class="atlas-work" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{row["name"]}: '
            f'error against calls, logarithmic. {said(row)}{beside}">',
            *marks,
            *lines,
            "</svg>",
        ]
    )


def source(excerpts: tuple[tuple[str, str, int], ...]) -> str:
    """Lines of the package, as `lielab.excerpt` prints them; one heading for a file."""
    blocks: dict[str, list[str]] = {}
    for of, containing, lines in excerpts:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            lielab.excerpt(of, containing, lines)
        file, *code = printed.getvalue().rstrip().split("\n")
        blocks.setdefault(file, []).append("\n".join(code))
    return "\n".join(f"{file}\n" + "\n...\n".join(parts) for file, parts in blocks.items())


def card(row: dict[str, Any], method: lielab.Method, base: dict[str, Any]) -> str:
    words = CARDS[row["name"]]
    taught = ", ".join(f"[{title(chapter)}]({chapter}.ipynb)" for chapter in words.taught)
    rows = [*map(list, facts(row, method)), ["taught in", taught]]
    parts = [
        f"({anchor(row['name'])})=\n### `{row['name']}`",
        "$$\n\\begin{gathered}\n" + "\\\\\n".join(words.formula) + "\n\\end{gathered}\n$$",
        words.note,
        grid([["from", words.origin], ["---", "---"], *rows]),
        picture(row, base),
        f"{said(row)}{' Dashed: `RK4`.' if row['home'] == base['home'] and row is not base else ''}",
        f"```python\n{source(words.code)}\n```",
    ]
    return "\n\n".join(part for part in parts if part)


# --- the page -------------------------------------------------------------------------------------


def page() -> str:
    """The whole page; ValueError where a method lacks its card or its measurements."""
    stored, there = measured.stored(), measured.everything()
    rows = {row["name"]: row for row in stored["methods"]}
    for name, found in (
        ("card in atlas_cards.py", CARDS),
        ("row in benchmarks/results/atlas.json", rows),
    ):
        if missing := [method for method in there if method not in found]:
            raise ValueError(f"no {name} for {', '.join(missing)}")
        if unknown := [method for method in found if method not in there]:
            raise ValueError(f"a {name} for {', '.join(unknown)}, which is no method")
    for name in measured.compositions():
        rows[name]["family"] = "composition"
    ordered = [rows[name] for name in there]
    timed = all(row["time"] for row in ordered)
    about = stored["machine"]
    versions = f"Python {about['python']} and NumPy {about['numpy']}"
    machine = f"Measured with {versions} on {about['cores']} cores ({about['processor']})."
    if not timed:
        machine += " " + NO_TIMES
    reading = READING.format(step=measured.STEP, time=TIME_ROW if timed else "", machine=machine)
    parts = [
        INTRODUCTION,
        "(all-methods)=\n## All methods",
        "The table is wider than a page and scrolls sideways; the names stay. What a column says is told below it.",
        table(ordered, timed),
        re.sub(r"\n{3,}", "\n\n", reading).strip(),
        "## The letters\n" + LETTERS.rstrip(),
    ]
    for family, heading in FAMILIES.items():
        members = [row for row in ordered if row["family"] == family]
        if not members:
            raise ValueError(f"no method of the family {family!r}")
        parts.append(f"## {heading}")
        parts += [card(row, there[row["name"]], rows["RK4"]) for row in members]
    if strange := {row["family"] for row in ordered} - set(FAMILIES):
        raise ValueError(f"FAMILIES has no heading for {', '.join(sorted(strange))}")
    return "\n\n".join(part.strip() for part in parts) + "\n"


def main() -> None:
    (ROOT / PAGE).write_text(page(), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
