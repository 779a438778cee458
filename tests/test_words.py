"""The words of the book: British spelling, and one term for one thing.

Read are the prose of chapters and assignments, the texts of their pictures, and the pages in Markdown; code, formulas,
links, addresses and words quoted from somebody else are not. A word that is added to a list is mended everywhere.
"""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
import pytest

# American endings (-ize, -yze) of any word but those that have no other spelling.
IZE = re.compile(r"\b\w+(?:iz|yz)(?:e|es|ed|ing|ation|ations|er|ers|able)\b", re.IGNORECASE)
ONLY_SO = re.compile(r"(?:re)?siz|priz|seiz|capsiz", re.IGNORECASE)

AMERICAN = (
    r"(?:col|fav|hon|lab|neighb|behavi|rig|vap)or(?:s|ed|ing|ful|hood)?",
    r"(?:re)?centers?|centered|meters?|fibers?|theaters?",
    r"gr[a]y(?:s|er|ish)?",
    r"(?:model|label|travel|cancel|signal)(?:ed|ing|er|ers)",
    r"catalogs?|dialogs?|analogs?|artifacts?",
    r"defense|offense|fulfill?s?|skillful|judgment|acknowledgment|maneuvers?|aluminum|gotten|toward|aging",
)

# One term for one thing: what a text says in place of the term the book has chosen.
TERMS = {
    "rounding": r"round-?offs?",
    "attitude": r"orientations?",
    "step size": r"step-?sizes?(?<!step size)(?<!step sizes)|time-?steps?|time steps?",
    "skew-symmetric": r"anti-?symmetric|anti-symmetry|skew symmetric",
    "isotropy": r"stabili[sz]ers?|stabili[sz]er (?:sub)?groups?",
    "generator": r"infinitesimal generators?",
    "conserved quantity, invariant": r"first integrals?|constants? of (?:the )?motion",
    "exp": r"exponential maps?",
    "in the body": r"body[- ]frames?|body-fixed frames?",
    "semidirect, coadjoint, nonlinear, midpoint, leapfrog, pullback": (
        r"semi-direct|co-adjoint|non-linear|mid-points?|leap-frog|pull-backs?"
    ),
    "commutator-free": r"commutator free",
    "quadrotor": r"quadcopters?|drones?",
    "a dash between two names": (
        r"(?:Runge-Kutta|Lie-Euler|Lie-Poisson|Lie-Newmark|Lie-Trotter|Crouch-Grossman|Euler-Lagrange|"
        r"Landau-Lifshitz|Landau-Zener|Dormand-Prince|Newton-Euler|Störmer-Verlet|St[öo]rmer-Verlet|Baker-Campbell)"
    ),
}


def prose(text: str) -> str:
    """What a reader reads: no code, formulas, addresses, tags and quotations; of links the words."""
    for pattern, kept in (
        (r"```.*?```", ""),
        (r"~~~.*?~~~", ""),
        (r"`[^`]*`", ""),
        (r"\$\$.*?\$\$", ""),
        (r"\$[^$]*\$", ""),
        (r"\]\([^)]*\)", "]"),
        (r"https?://\S+", ""),
        (r"<[^>]*>", ""),
        (r"\*[A-Z][^*\n]{40,}\*", ""),  # the title of a work
        (r"\"[^\"]*\"", ""),
        (r"“[^”]*”", ""),
    ):
        text = re.sub(pattern, kept, text, flags=re.DOTALL)
    return text


def texts(root: Path) -> dict[str, str]:
    pages = [*(root / "book").glob("*.md")]
    pages += [root / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]
    found = {path.name: prose(path.read_text(encoding="utf-8")) for path in pages}
    for path in [*(root / "book").glob("*.ipynb"), *(root / "exercises").glob("*/*.ipynb")]:
        for cell in nbformat.read(path, as_version=4).cells:
            if cell.cell_type == "markdown":
                found[f"{path.name}, cell {cell.id}"] = prose(cell.source)
            shown = [output.get("data", {}) for output in cell.get("outputs", [])]
            said = [
                data.get("text/plain", "")
                for data in shown
                if {"image/png", "text/html"} & set(data)
            ]
            if said:
                found[f"{path.name}, pictures of {cell.id}"] = prose("\n".join(said))
    return found


def american(text: str) -> list[str]:
    words = [word for word in IZE.findall(text) if not ONLY_SO.search(word)]
    for pattern in AMERICAN:
        words += re.findall(rf"\b(?:{pattern})\b", text, re.IGNORECASE)
    return words


def others(text: str, term: str) -> list[str]:
    return re.findall(rf"\b(?:{TERMS[term]})\b", text, re.IGNORECASE)


def test_what_is_read_is_prose() -> None:
    text = 'The `color` of $x$ in [a color](color.md), "the center", <b>size</b> and a centre.'
    assert prose(text).split() == [
        "The",
        "of",
        "in",
        "[a",
        "color],",
        ",",
        "size",
        "and",
        "a",
        "centre.",
    ]
    assert american(prose(text)) == ["color"]
    assert american("We linearize the size of a centre; they analyzed it.") == [
        "linearize",
        "analyzed",
    ]
    assert american("Practise on paper: the programs were cancelled, organised, labelled.") == []
    assert others("the time step, a step size and two stepsizes", "step size") == [
        "time step",
        "stepsizes",
    ]


def test_the_spelling_is_british(root: Path) -> None:
    assert {name: found for name, text in texts(root).items() if (found := american(text))} == {}


@pytest.mark.parametrize("term", TERMS)
def test_one_term_for_one_thing(root: Path, term: str) -> None:
    wrong = {name: found for name, text in texts(root).items() if (found := others(text, term))}
    assert wrong == {}, f"say: {term}"
