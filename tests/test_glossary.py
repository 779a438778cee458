"""The two pages that look things up: every term and every figure of the papers leads to where it is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import chapters
import paper_figures

# What the papers have, counted there.
FIGURES = {
    "Celledoni": [str(n) for n in range(1, 19)],
    "Leimkuhler": ["1", "2"],
    "Lee": ["1", "2"],
    "Ortolan": ["3.1", "3.2", "4.1", "4.2", "4.3", "6.1", *(f"7.{n}" for n in range(1, 10))],
    "Fan": ["1", "2", "3", "4"],
}
TABLES = {"Ortolan": ["2.1", "7.1", "7.2", "7.3"]}


def page(root: Path) -> str:
    return (root / paper_figures.PAGE).read_text(encoding="utf-8")


def sections(root: Path) -> dict[str, list[str]]:
    """First author -> rows of the table."""
    found = {}
    for part in page(root).split("\n## ")[1:]:
        author = re.match(r"\w+", part)
        assert author
        found[author[0]] = re.findall(r"^\| (?:Figure|Table) .*$", part, re.MULTILINE)
    return found


def test_every_figure_and_table_of_the_papers_has_its_row(root: Path) -> None:
    rows = sections(root)
    assert set(rows) == set(FIGURES)
    for paper, lines in rows.items():
        named = [re.findall(r"^\| (Figure|Table) ([\d.]+) \|", line)[0] for line in lines]
        assert sorted(n for kind, n in named if kind == "Figure") == sorted(FIGURES[paper])
        assert sorted(n for kind, n in named if kind == "Table") == TABLES.get(paper, [])


def test_a_row_leads_to_a_figure_or_says_why_not(root: Path) -> None:
    for lines in sections(root).values():
        for line in lines:
            row = paper_figures.ROW.match(line)
            if row is None:
                assert re.search(r"\| not shown \| \S.{20,}", line), line
            elif row[1] == "Table":
                assert f"Table {row[2]}" in paper_figures.prose(row[4], root), line


def test_the_numbers_are_those_of_the_captions(root: Path) -> None:
    assert paper_figures.numbered(page(root), root) == page(root), (
        "run: python book/_tools/paper_figures.py"
    )


def test_a_figure_that_no_caption_names_is_refused(root: Path) -> None:
    with pytest.raises(ValueError, match="no caption of rkmk.ipynb names Figure 99"):
        paper_figures.numbered("| Figure 99 | [RKMK](rkmk.ipynb) | |", root)


ENTRY = re.compile(r"^\*\*(.+?)\*\*\n: (.+) \[(.+)\]\((\w+)\.ipynb\)$", re.MULTILINE)


def entries(root: Path) -> list[tuple[str, ...]]:
    text = (root / "book/glossary.md").read_text(encoding="utf-8")
    found = ENTRY.findall(text)
    assert len(found) == text.count("\n: ")
    return found


def test_the_glossary_is_long_and_in_order(root: Path) -> None:
    terms = [re.sub(r"[^a-z0-9]", "", term.lower()) for term, *_ in entries(root)]
    assert len(terms) >= 70
    assert terms == sorted(set(terms))


def test_each_term_is_one_sentence_and_stands_in_its_chapter(root: Path) -> None:
    known = {Path(entry).name for entry in chapters.toc_files(root)}
    text = {name: paper_figures.prose(name, root) for name in {entry[3] for entry in entries(root)}}
    for term, sentence, title, name in entries(root):
        assert name in known
        assert sentence.endswith(".")
        heading = re.sub(r"\\\*|\*|\$|\^|\W", "", text[name].splitlines()[0])
        assert re.sub(r"\*|\$|\^|\W", "", title) == heading, (term, title)
        words = [re.escape(part.strip()) for part in term.split(",")]
        assert any(re.search(word, text[name], re.IGNORECASE) for word in words), (term, name)
