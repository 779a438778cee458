"""The page from formulas to lines: it is that of the package, and has what readers of the papers look for."""

from __future__ import annotations

from pathlib import Path

import pytest

import formulas


def test_the_page_is_that_of_the_package(root: Path) -> None:
    page = (root / formulas.PAGE).read_text(encoding="utf-8")
    assert page == formulas.page(root), "run: python book/_tools/formulas.py"


WANTED = {
    "celledoni": "(6) (8) (9) (10) (11) (14) (15) (16) (17) (19) (21) (23) (29) (36) (37) (38) 2.2 2.3 5.1 5.2 6.1 6.2",
    "leimkuhler": "(30) (32) (33) (42) (45) (46) (47) 5.1 5.2",
    "lee": "(1) (6) (30) (31) (35) (36) (37) (38) (39) (40) (41) (48)",
    "ortolan": "(2.4) (4.1) (4.3) (4.8) (4.9a) (4.11) (4.11a) (7.1) (7.1a) (7.1c) (7.1d) (7.4a) (7.4b) (7.4e) 7.1.2",
    "fan": "(3) (9a) (9b) (10a) (10b) (10c) (11) (12) (13) (15) (16) (17) (18) (19) (20)",
}


@pytest.mark.parametrize("paper", WANTED)
def test_what_a_reader_of_the_paper_looks_for_is_there(root: Path, paper: str) -> None:
    section = (root / formulas.PAGE).read_text("utf-8").split(f"## {formulas.PAPERS[paper]}")[1]
    rows = [line.split(" | ")[0] for line in section.split("\n## ")[0].splitlines()]
    missing = [n for n in WANTED[paper].split() if not any(n in row for row in rows)]
    assert not missing


def test_code_and_docstrings_are_told_apart(tmp_path: Path) -> None:
    (tmp_path / "lielab").mkdir()
    (tmp_path / "lielab/a.py").write_text(
        '"""All of it (fan 2)."""\n\n\ndef f(x):\n    """x | y (lee (3)-(4)).\n\n    More: fan (9b).\n    """\n'
        '    y = 2 * x  # lee (5)\n    # fan (7)\n    return y\n\n\nSOURCE = "ortolan (1.1)"\n'
    )
    rows = sorted(formulas.rows_of(tmp_path / "lielab/a.py", tmp_path / "lielab"))
    assert [(row.paper, row.numbers, row.shown) for row in rows] == [
        ("fan", "(7)", "`return y`"),
        ("fan", "(9b)", "x \\| y"),
        ("lee", "(3)-(4)", "x \\| y"),
        ("lee", "(5)", "`y = 2 * x`"),
    ]
    assert {row.place for row in rows} == {"`a.py`, `f`"}


def test_a_name_whose_function_has_gone_is_refused(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        formulas, "BY_NAME", (("RKMK", "celledoni (6)", "methods/rkmk.py", "walk"),)
    )
    with pytest.raises(ValueError, match=r"rkmk\.py has no walk"):
        formulas.by_name(root / "lielab")
