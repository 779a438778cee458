"""What the front page says of its simulation and of its picture (in a browser: tests/browser/test_front_page.py)."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import lielab
import readme_picture
from lielab import plotting
from lielab.systems import SphericalPendulum

ROUNDING = 1e-12
STEPS = 1000  # forty seconds of the simulation


def drift(method: str, h: float, start: np.ndarray) -> float:
    sol = lielab.solve(SphericalPendulum(), (0, STEPS * h), start, method=method, h=h)
    return float(np.abs(sol.energy() - sol.energy()[0]).max())


@pytest.mark.parametrize(
    "direction", [(0.75, -0.35, -0.55), (1.0, 0.0, 0.02), (0.4, 0.2, 0.85), (0.2, 0.1, -0.97)]
)
def test_the_energy_drifts_less_by_turning_at_small_steps(direction: tuple[float, ...]) -> None:
    start = readme_picture.start(direction)
    for h in (0.02, 0.05, 0.1, 0.15):
        assert drift("RKMK4", h, start) < 0.6 * drift("RK4", h, start)
    assert drift("RKMK4", 0.4, start) > drift("RK4", 0.4, start)


def test_the_picture_is_of_what_its_words_say(root: Path) -> None:
    length = SphericalPendulum().l
    ends = {}
    for method in ("RK4", "RKMK4"):
        rod = np.hypot(*readme_picture.aside(method).T)
        ends[method] = rod[-1]
        inside = rod[1:] < length - ROUNDING
        assert np.all(inside) if method == "RK4" else np.abs(rod - length).max() < ROUNDING
    for page in ("README.md", "book/intro.md"):
        alt = re.search(
            r"!\[(.*)\]\((?:book/)?_static/readme\.png\)", (root / page).read_text("utf-8")
        )
        assert alt is not None
        assert f"{readme_picture.STEPS} steps of {readme_picture.STEP:g} s" in alt[1]
        assert f"the circle of {length:g} m and the rod ends at {ends['RK4']:.3f} m" in alt[1]
    fig = readme_picture.picture()
    titles = [ax.get_title() for ax in fig.axes]
    assert titles == [f"{m}: the rod of {length:g} m is {ends[m]:.3f} m long" for m in ends]
    with Image.open(root / "book/_static/readme.png") as kept:
        assert kept.size == tuple(int(side * plotting.DPI) for side in fig.get_size_inches())
