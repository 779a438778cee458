"""Animations: every system has a picture; the file plays once, briefly, and carries its alt text."""

import io

import numpy as np
import pytest

import lielab
from lielab import animate, plotting
from lielab.systems import PendulumChain, PointVortices, SphericalPendulum
from tests.systems.data import EXAMPLES

Image = pytest.importorskip("PIL.Image")


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_system_has_a_scene(name):
    system = EXAMPLES[name]
    found = animate.scene(system, system.y0)
    assert all(line.shape[1] == 3 for line in found.lines)
    assert found.lines or len(found.dots)
    points = np.vstack([found.dots, *found.lines])
    assert np.isfinite(points).all()


def test_e3_down_is_turned_up():
    """A hanging double pendulum (e3 down) is drawn below its pivot, as a hanging chain (e3 up) is."""
    down = animate.scene(EXAMPLES["double pendulum"], [0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0])
    up = animate.scene(PendulumChain(2), [0, 0, -1, 0, 0, 0, 0, 0, -1, 0, 0, 0])
    assert down.dots[-1, 2] < down.dots[0, 2] < 0
    assert up.dots[-1, 2] < up.dots[0, 2] < 0


@pytest.mark.parametrize("system", [SphericalPendulum(), PointVortices()], ids=["lines", "sphere"])
def test_animated_png(system):
    sol = lielab.solve(system, (0, 1), h=0.1)
    pictures = animate.frames(sol, count=5, size=2.0)
    assert len(pictures) == 5
    assert np.any(np.asarray(pictures[0]) != np.asarray(pictures[-1]))
    picture = Image.open(io.BytesIO(animate.apng(pictures, seconds=1.0)))
    assert picture.n_frames == 5
    assert picture.info["loop"] == 1
    assert picture.info["duration"] == 200.0


def test_displayed_with_its_text(capsys):
    sol = lielab.solve(SphericalPendulum(), (0, 0.5), h=0.1)
    plotting.animate(sol, "A pendulum swings.", count=3, size=1.0)
    assert "A pendulum swings." in capsys.readouterr().out


def test_refused():
    sol = lielab.solve(SphericalPendulum(), (0, 0.5), h=0.1)
    with pytest.raises(ValueError, match="alt: got ''"):
        animate.animate(sol, "")
    with pytest.raises(ValueError, match="count must be at least 2"):
        animate.frames(sol, count=1)
    with pytest.raises(ValueError, match="seconds must lie between"):
        animate.apng([Image.new("RGB", (4, 4))] * 2, seconds=30)
    own = lielab.systems.ActionSystem(
        lielab.actions.SO3_ON_S2, lambda t, y, p: [0, 0, 1.0], (1, 0, 0)
    )
    with pytest.raises(ValueError, match="has no picture"):
        animate.scene(own, own.y0)
