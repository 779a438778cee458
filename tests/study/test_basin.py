"""The stored basin study: cells computed anew, and what the heat map has to show."""

import numpy as np
import pytest

from lielab.control import basin


def test_the_stored_counts_are_what_the_cells_give():
    """Two starts of the 80 may lie on the edge of the basin and fall to the other side on another machine."""
    counts = basin.stored()
    mixed = 0
    for i, j, k in ((0, 5, 2), (3, 9, 4), (3, 18, 9), (5, 18, 10)):
        cell = (basin.ANGLES[j], basin.SPEEDS[k], basin.LIMITS[i])
        assert abs(basin.caught(cell) - counts[i, j, k]) <= 2
        mixed += 0 < counts[i, j, k] < basin.STARTS
    assert mixed >= 2  # cells all or none of whose starts arrive would test little


def test_stronger_motors_catch_more():
    share = basin.stored() / basin.STARTS
    assert share.shape == (len(basin.LIMITS), len(basin.ANGLES), len(basin.SPEEDS))
    assert len(basin.cells()) * basin.STARTS > 100_000
    assert np.all(np.diff(share.mean((1, 2))) > 0)
    assert share[:, 0, 0].min() == 1.0  # at the goal, at rest
    assert share[-1].min() > 0.95


def test_starts_are_where_the_cell_says():
    y = basin.starts(40.0, 6.0, 50)
    R = np.array([1.0, -1.0, -1.0])[:, None] * y[:, :9].reshape(-1, 3, 3)
    angle = np.arccos((np.trace(R, axis1=1, axis2=2) - 1) / 2)
    np.testing.assert_allclose(angle, np.deg2rad(40.0), atol=1e-12)
    speed = np.linalg.norm(y[:, 9:] / [3.0, 7.0, 4.0], axis=1)
    np.testing.assert_allclose(speed, 6.0, rtol=1e-12)
    np.testing.assert_array_equal(y, basin.starts(40.0, 6.0, 50))


def test_a_result_of_another_grid_is_refused(monkeypatch):
    monkeypatch.setattr(basin, "STARTS", 81)
    with pytest.raises(ValueError, match="another grid; run python -m benchmarks.basin"):
        basin.stored()
