"""Lines of the source in a page: those that run, or a message."""

from __future__ import annotations

import pytest

import lielab
from lielab import excerpt, excerpts


def test_lines_of_a_function_and_of_a_module(capsys: pytest.CaptureFixture) -> None:
    excerpt(excerpt, "path = Path(", 2)
    assert capsys.readouterr().out == (
        "# lielab/excerpts.py\n"
        "path = Path(str(file))\n"
        'package = next((p for p in path.parents if p.name == "lielab"), path.parent)\n'
    )
    excerpt("lielab.control.lqr", "closed = A[k]", 2)
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
