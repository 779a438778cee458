"""The chapters without Sphinx: plain Markdown in which nothing is raw but formulas, and what Sphinx makes of it."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
import pytest

import chapters

pytest.importorskip("sphinx")  # the book's extension needs it
from docutils import nodes  # noqa: E402
from markdown_it import MarkdownIt  # noqa: E402
from plain import CITATION, EQUATION, FIGURE, TAG, keep_together, translate  # noqa: E402

ALL = chapters.chapters()
each_chapter = pytest.mark.parametrize("chapter", ALL, ids=[path.stem for path in ALL])
FORMULA = re.compile(r"(\$\$).+?\$\$|\$[^$\n]+(?:\n[^$\n]+)?\$", re.DOTALL)
RAW = re.compile(
    r"\{[a-z][\w:-]*\}$"  # a role, before its code
    r"|:::|^\([\w-]+\)=|\$ *\([\w-]+\)"  # a directive; a label; one of a formula
    r"|\]\(|\*\*|^\|"  # a link, emphasis or a table that did not become one
)
FOLDS = re.compile(r"</?details>|<summary>[^<>]+</summary>")


def markdown(chapter: Path) -> list[str]:
    cells = nbformat.read(chapter, as_version=4).cells
    return [cell.source for cell in cells if cell.cell_type == "markdown"]


def raw(text: str) -> list[str]:
    """What a plain renderer leaves as it is, formulas aside (viewers take them out before they render)."""
    found = []
    tokens = (
        MarkdownIt("commonmark").enable("table").parse(FORMULA.sub(lambda m: m[1] or "x", text))
    )
    for token in [*tokens, *(child for parent in tokens for child in parent.children or ())]:
        if token.type == "text":
            found += RAW.findall(token.content)
        elif token.type == "fence" and token.info.startswith("{"):
            found.append(token.info)
        elif token.type in ("html_block", "html_inline") and FOLDS.sub("", token.content).strip():
            found.append(token.content)
    return found


@pytest.mark.parametrize(
    "text",
    [
        "by {eq}`field`",
        "{cite}`fan` says",
        "::::{dropdown} Answer\nYes.\n::::",
        "(label)=\n# Heading",
        "$$\nx\n$$ (name)",
        "```{note}\nThis.\n```",
        "**not ended",
        "a [link](with spaces.md)",
        "<video src='a.mp4'></video>",
        "Inline <b>bold</b>",
    ],
)
def test_raw_markup_is_noticed(text: str) -> None:
    assert raw(text)


@each_chapter
def test_a_chapter_reads_without_sphinx(chapter: Path) -> None:
    assert [found for text in markdown(chapter) for found in raw(text)] == []


@each_chapter
def test_headings_are_words(chapter: Path) -> None:
    """They stand in the window's title and in the side bars, where a formula would be raw TeX."""
    heads = [h for text in markdown(chapter) for h in re.findall(r"^#+ .*", text, re.MULTILINE)]
    assert [head for head in heads if "$" in head] == []


@each_chapter
def test_answers_fold(chapter: Path) -> None:
    """A blank line inside on both sides: without them the answer's Markdown would stand there raw."""
    for text in markdown(chapter):
        opened = re.findall(r"^<details>\n<summary>[^\n<]+</summary>\n\n(?=\S)", text, re.MULTILINE)
        closed = re.findall(r"(?<=\S)\n\n</details>$", text, re.MULTILINE)
        assert len(opened) == len(closed) == text.count("<details") == text.count("</details")


def numbers(chapter: Path, what: str) -> list[int]:
    text = "\n\n".join(markdown(chapter))
    pattern = TAG if what == "eq" else re.compile(r"^\*\*Figure (\d+)\.\*\*", re.MULTILINE)
    return [int(number) for number in pattern.findall(text)]


@each_chapter
def test_formulas_and_figures_are_counted_in_order(chapter: Path) -> None:
    """Sphinx counts for itself: only in order are the numbers of the page those of the notebook."""
    for what in ("eq", "fig"):
        found = numbers(chapter, what)
        assert found == list(range(1, len(found) + 1)), what


@each_chapter
def test_references_lead_to_what_there_is(root: Path, chapter: Path) -> None:
    keys = re.findall(
        r"^@\w+\{([\w-]+),", (root / "book/references.bib").read_text("utf-8"), re.MULTILINE
    )
    text = "\n\n".join(markdown(chapter))
    assert {key for _, key in CITATION.findall(text)} <= set(keys)
    assert text.count("#eq-") == len(EQUATION.findall(text)), "a reference reads [(3)](#eq-3)"
    linked = [("eq", other, int(n)) for n, other in EQUATION.findall(text)]
    linked += [("fig", other, int(n)) for other, n in FIGURE.findall(text)]
    for what, other, number in linked:
        there = chapter.with_stem(other) if other else chapter
        assert number in numbers(there, what), (what, there.stem, number)


def test_what_sphinx_gets() -> None:
    text = (
        "$$\nx = y \\tag{2}\n$$\n\nBy [(2)](#eq-2), [(1)](rkmk.ipynb#eq-1) and [Figure 3](lqr.ipynb#fig-3);\n"
        "[the thesis](references.md#ortolan).\n\n**Figure 1.** A picture, $$z$$ in it.\n\n"
        "[`01_a`](../exercises/01_a/01_a.ipynb)"
    )
    assert translate(text, "here") == (
        "$$\nx = y\n$$ (here-eq-2)\n\nBy {eq}`here-eq-2`, {eq}`rkmk-eq-1` and [Figure 3](#lqr-fig-3);\n"
        "{bibref}`the thesis <ortolan>`.\n\n{#here-fig-1 .caption}\n**Figure 1.** A picture, $$z$$ in it.\n\n"
        '<a href="../exercises/01_a/01_a.ipynb" download>`01_a`</a>'
    )
    untouched = "# A title\n\n$$\na\n$$\n\n[Words](rkmk.ipynb) and (1), `[(1)]`."
    assert translate(untouched, "here") == untouched


def test_a_caption_shares_a_box_with_its_picture() -> None:
    """A cell with its printed lines above a picture, two captions below; a caption without a picture stays."""
    page = nodes.section("", nodes.title("", "here"), ids=["here"])
    lost, first, second = (nodes.paragraph("", text, classes=["caption"]) for text in "abc")
    picture, printed = nodes.container("", nodes.image(uri="x.png")), nodes.literal_block("", "1")
    output = nodes.container("", printed, picture, classes=["cell_output"])
    page += [lost, nodes.container("", output, classes=["cell"]), first, second]
    builder = type("Builder", (), {"format": "html"})
    keep_together(type("App", (), {"builder": builder}), page, "book/here")
    assert page[1] is lost
    assert len(page) == 3
    assert [type(child).__name__ for child in output] == ["literal_block", "container"]
    assert output[1]["classes"] == ["kept"]
    assert output[1][1:] == [first, second]
