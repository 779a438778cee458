"""Lines of the source in a page: those that run, or a message."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import chapters
import lielab
from lielab import excerpt, excerpts


def test_lines_of_a_function_and_of_a_module(capsys: pytest.CaptureFixture) -> None:
    excerpt(excerpt, "path = Path(", 2)
    assert capsys.readouterr().out == (
        "# lielab/excerpts.py\n"
        "path = Path(str(file))\n"
        'package = next((p for p in path.parents if p.name == "lielab"), path.parent)\n'
    )
    excerpt("lielab.control.lqr", "BP = B[k].T", 2)
    assert "# lielab/control/lqr.py" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("of", "containing", "lines", "said"),
    [
        (excerpt, "no such text", 1, "stands in 0 lines"),
        (excerpt, "the", 1, "give a text that stands in one"),
        (excerpt, "path = Path(", 0, "lines must be a positive whole number"),
        (3.0, "x", 1, "of must be a function"),
    ],
)
def test_what_cannot_be_shown_is_said(of: object, containing: str, lines: int, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        excerpt(of, containing, lines)


def test_it_is_public() -> None:
    assert lielab.excerpt is excerpts.excerpt


def shown(chapter: Path) -> Iterator[str]:
    """The calls of `excerpt` in a chapter, with the imports and the names of texts that they need before them."""
    cells = [c for c in json.loads(chapter.read_text("utf-8"))["cells"] if c["cell_type"] == "code"]
    source = "\n".join("".join(cell["source"]) for cell in cells[1:])  # the first is for Colab
    tree = ast.parse(source)
    needed: list[ast.stmt] = [n for n in tree.body if isinstance(n, ast.Import | ast.ImportFrom)]
    for node in tree.body:
        text = ast.get_source_segment(source, node) or ""
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant):
            if all(isinstance(target, ast.Name) for target in node.targets):
                needed.append(node)
        elif "excerpt(" in text and isinstance(node, ast.Expr):
            made = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
            known = {name for n in needed for name in names(n)}
            if made <= known:  # not lines of an object that the chapter has computed
                yield "\n".join([*map(ast.unparse, needed), text])


def names(node: ast.stmt) -> list[str]:
    """What an import or the assignment of a text defines."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        return [(alias.asname or alias.name).split(".")[0] for alias in node.names]
    return [target.id for target in node.targets if isinstance(target, ast.Name)]  # type: ignore[attr-defined]


CALLS = [(path.stem, call) for path in chapters.chapters() for call in shown(path)]


def test_most_chapters_show_lines_of_the_library() -> None:
    assert len({name for name, _ in CALLS}) > 12


@pytest.mark.parametrize(("name", "call"), CALLS, ids=[name for name, _ in CALLS])
def test_the_lines_that_the_book_shows_are_where_it_looks(
    name: str, call: str, capsys: pytest.CaptureFixture
) -> None:
    """A file that moves takes its lines out of the book: known here, before any chapter is executed."""
    exec(call, {})
    assert capsys.readouterr().out.startswith("# lielab/")
