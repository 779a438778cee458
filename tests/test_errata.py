"""The errata of the papers: every one is on the page, and has a check below it that can fail."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("sphinx")  # the page's extension needs it
from errata import HEAD, found  # noqa: E402

BOOK = Path(__file__).resolve().parents[1] / "book"
ENTRIES = found(BOOK)
CHECK = re.compile(r"^# errat(?:um|a): (\w+) ([\w, ]+)$", re.MULTILINE)


def cells(chapter: Path) -> list[dict]:
    return json.loads(chapter.read_text(encoding="utf-8"))["cells"]


def checks(chapter: Path) -> Iterator[tuple[int, str, str]]:
    """(place of the cell, paper, number) of all that the cells tagged `erratum` say they check."""
    for place, cell in enumerate(cells(chapter)):
        source = "".join(cell["source"])
        if "erratum" not in cell["metadata"].get("tags", []):
            continue
        named = CHECK.findall(source)
        assert named, f"{chapter.stem}, cell {cell['id']}: begin with `# erratum: paper number`"
        assert re.search(r"^ *(assert|same\()", source, re.MULTILINE), cell["id"]
        for paper, numbers in named:
            yield from ((place, paper, number.strip()) for number in numbers.split(","))


def test_the_page_lists_every_paper_that_has_errata() -> None:
    page = (BOOK / "errata.md").read_text(encoding="utf-8")
    listed = re.findall(r"^```\{errata\} (\w+)$", page, re.MULTILINE)
    assert len(listed) == len(set(listed))
    assert set(listed) == {paper for paper, *_ in ENTRIES}
    assert len(ENTRIES) > 70


def test_no_erratum_is_overlooked_or_told_twice() -> None:
    """A paragraph that says `Erratum` in another form would not come to the page."""
    named = [(paper, number) for paper, number, *_ in ENTRIES]
    assert len(set(named)) == len(named)
    said = sum(
        len(re.findall(r"\*\*Errat", "".join(cell["source"])))
        for chapter in BOOK.glob("*.ipynb")
        for cell in cells(chapter)
        if cell["cell_type"] == "markdown"
    )
    assert said == len(ENTRIES)


@pytest.mark.parametrize("chapter", sorted({entry[3] for entry in ENTRIES}))
def test_each_has_its_check_below_it(chapter: str) -> None:
    path = BOOK / f"{chapter}.ipynb"
    checked = {(paper, number): place for place, paper, number in checks(path)}
    told = {
        (head["paper"], head["number"]): place
        for place, cell in enumerate(cells(path))
        if cell["cell_type"] == "markdown"
        for paragraph in "".join(cell["source"]).split("\n\n")
        if (head := HEAD.match(paragraph))
    }
    assert set(checked) == set(told)
    assert [name for name in told if checked[name] <= told[name]] == []
