"""A number keeps its unit on its line."""

from __future__ import annotations

import pytest
import units


@pytest.mark.parametrize(
    ("text", "after_formula", "wanted"),
    [
        ("at 0.05 s, and 12 N m of 3 kg", False, "at 0.05~s, and 12~N~m of 3~kg"),
        ("2 rad/s in 40 ms", False, "2~rad/s in 40~ms"),
        (" s of it", True, "~s of it"),
        (" s of it", False, " s of it"),
        ("2 steps, 3 methods, 4 Nodes, 5 state", False, "2 steps, 3 methods, 4 Nodes, 5 state"),
        ("half of 23 % is so", False, "half of 23~% is so"),
    ],
)
def test_units(text: str, after_formula: bool, wanted: str) -> None:
    assert units.joined(text, after_formula) == wanted.replace("~", "\N{NO-BREAK SPACE}")
