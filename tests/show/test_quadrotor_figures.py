"""Figures 12 to 18 of celledoni: the data behind each, and what the pictures claim."""

from __future__ import annotations

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest

from lielab import figures, quadrotor_figures
from lielab.systems import TwoQuadrotors, two_quadrotors

both = pytest.mark.parametrize("attitude", [False, True], ids=["tracking", "attitude"])


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def test_figure12_is_drawn_to_scale():
    data, fig = figures.figure12()
    assert len(fig.axes) == 1
    links = data["places"][1:] - data["places"][0]
    np.testing.assert_allclose(np.linalg.norm(links, axis=-1), 1.0, rtol=0, atol=1e-13)
    # the thrusts act along -R e_3, up
    np.testing.assert_allclose(np.cross(data["thrusts"], data["axes"]), 0.0, atol=1e-13)
    assert (data["thrusts"][:, 2] < 0).all()


@both
def test_figure13_shows_the_orders(attitude):
    data, fig = figures.figure13(attitude=attitude)
    assert fig is not None
    for order, method in enumerate(quadrotor_figures.FIGURE_13, start=1):
        slopes = np.diff(np.log(data["errors"][method])) / np.diff(np.log(data["h"]))
        assert slopes[3] == pytest.approx(order, abs=0.1), method


@both
def test_figure14_keeps_the_links_at_their_length(attitude):
    data, fig = figures.figure14(attitude=attitude)
    assert fig.axes[
        1
    ].yaxis_inverted()  # from above, with e3 down: x to the right, y towards the reader
    assert len(fig.axes) == 2
    np.testing.assert_allclose(data["t"], np.arange(6.0), atol=1e-12)
    links = data["places"][:, 1:] - data["places"][:, :1]
    np.testing.assert_allclose(np.linalg.norm(links, axis=-1), 1.0, rtol=0, atol=1e-13)


@both
def test_figures_15_and_16_follow_the_path(attitude):
    place, fig = figures.figure15(attitude=attitude)
    assert len(fig.axes) == 3
    off, fig = figures.figure16(attitude=attitude)
    assert fig is not None
    np.testing.assert_array_equal(place["load"] - place["desired"], off["deviation"])
    distance = np.linalg.norm(off["deviation"], axis=1)
    assert distance[0] > 0.3
    assert distance[-1] < (3e-3 if attitude else 8e-4)


@both
def test_figure17_brings_the_links_to_their_targets(attitude):
    data, fig = figures.figure17(attitude=attitude)
    assert fig is not None
    assert data["angle"][0].max() > 0.5
    assert data["angle"][-1].max() < (4e-4 if attitude else 1e-6)


@both
def test_figure18_separates_the_families(attitude):
    data, fig = figures.figure18(attitude=attitude)
    assert fig is not None
    assert np.abs(data["RKMK4"][1]).max() < 1e-13
    assert np.abs(data["RK4"][1]).max() > 1e-9


def test_link_targets_are_those_of_the_control_law():
    """The law pulls the load along the targets, and its targets are those that the system names."""
    system = TwoQuadrotors(control="tracking")
    parts = system.unpack(system.y0)
    q1, q2 = system.link_targets(0.7, system.y0)
    y = system.pack(**{**parts, "q1": q1, "w1": np.zeros(3), "q2": q2, "w2": np.zeros(3)})
    F, _, _, a = two_quadrotors.load_force(0.7, y, system.params)
    for j, q in enumerate((q1, q2)):
        share = np.array([*two_quadrotors.mu_desired(F, system.params, j)])
        np.testing.assert_allclose(-share / np.linalg.norm(share), q, rtol=0, atol=1e-14)
    # links on their targets give the load all of F
    np.testing.assert_allclose([*(system.my * a)], [*F], rtol=0, atol=1e-14)
    assert system.link_targets(np.zeros(4), np.tile(y, (4, 1))).shape == (4, 2, 3)
    with pytest.raises(ValueError, match="has no targets"):
        TwoQuadrotors().link_targets(0.0, y)
