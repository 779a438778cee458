"""The corrections of the papers: one page a paper, every entry with a check of its own, and none in a chapter."""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import pytest

BOOK = Path(__file__).resolve().parents[1] / "book"
PAGES = sorted(BOOK.glob("corrections_*.ipynb"))
ENTRY = re.compile(
    r"## (\d+)\. .+?\n\n\*\*Printed\.\*\* .+?\n\n\*\*Right\.\*\* .+?\n\n\*\*Why it matters\.\*\* .+",
    re.DOTALL,
)
each_page = pytest.mark.parametrize("page", PAGES, ids=[page.stem for page in PAGES])


def cells(notebook: Path) -> list[tuple[str, str]]:
    found = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    return [(cell["cell_type"], "".join(cell["source"])) for cell in found]


def test_each_paper_has_its_page() -> None:
    papers = {page.stem.removeprefix("corrections_") for page in PAGES}
    assert papers == {"celledoni", "fan", "lee", "leimkuhler", "ortolan"}
    entries = [text for page in PAGES for kind, text in cells(page) if ENTRY.fullmatch(text)]
    assert len(entries) > 95


@each_page
def test_entries_are_whole_and_counted_without_gaps(page: Path) -> None:
    headed = [text for kind, text in cells(page) if kind == "markdown" and text.startswith("## ")]
    entries = [text for text in headed if not text.startswith("## Slips of print")]
    assert [text for text in entries if not ENTRY.fullmatch(text)] == []
    assert [int(ENTRY.fullmatch(text)[1]) for text in entries] == [*range(1, len(entries) + 1)]


def comparisons(check: str) -> int:
    """How many comparisons a cell asserts, a call of `same` for one."""
    tree = ast.parse(check)
    calls = [n for n in ast.walk(tree) if isinstance(n, ast.Call)]
    same = sum(getattr(call.func, "id", "") == "same" for call in calls)
    claimed = [n for a in ast.walk(tree) if isinstance(a, ast.Assert) for n in ast.walk(a)]
    return same + sum(len(n.ops) for n in claimed if isinstance(n, ast.Compare))


@each_page
def test_each_entry_has_a_check_of_both_forms(page: Path) -> None:
    """One that holds for the right form and one that fails for the printed form: two comparisons at least."""
    found = cells(page)
    entries = [
        (text.split("\n")[0], *after)
        for (_, text), after in zip(found, found[1:], strict=False)
        if ENTRY.fullmatch(text)
    ]
    assert {kind for _, kind, _ in entries} == {"code"}
    assert [head for head, _, check in entries if comparisons(check) < 2] == []


def test_no_chapter_corrects_a_paper() -> None:
    """A correction in the flow of an argument stops the reader; at most a link leads to it."""
    told = {
        f"{path.stem}: {word}"
        for path in BOOK.glob("*.ipynb")
        if path not in PAGES
        for _, text in cells(path)
        for word in re.findall(r"(?i)\berrat(?:um|a)\b", text)
    }
    assert told == set()
