"""Figures 7.1 to 7.9 of ortolan: what the four methods keep, and their orders."""

from __future__ import annotations

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest

from lielab import diagnostics, sphere_figures
from lielab.systems import DoubleSphericalPendulum, MagneticDipoles, SphericalPendulum

EPS = 1e-12
# Errors of q and of w at h = 2^-7, from an independent program that follows the thesis.
AT_7 = {"ELN": (8.195e-4, 5.543e-3), "RKMK4": (2.388e-7, 2.429e-6), "RATTLE": (2.024e-3, 8.492e-3)}


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


@pytest.mark.parametrize(
    "system", [SphericalPendulum(), DoubleSphericalPendulum(), MagneticDipoles(2, 2)], ids=str
)
def test_structure_tells_the_methods_apart(system):
    sols = sphere_figures.runs(system, 2.0)
    data, fig = sphere_figures.structure(system, sols, (7, 8, 9))
    assert len(fig.axes) == 4
    largest = {name: np.abs(value).max() for name, value in data["tangency"].items()}
    assert max(largest["ELN"], largest["RATTLE"]) < EPS < 1e-11 < largest["RKMK4"]
    assert max(np.abs(value).max() for value in data["length"].values()) < EPS
    for part in "qw":
        slopes = {name: np.log2(e[-2] / e[-1]) for name, e in data[part].items()}
        for name, order in {"ELN": 2, "RATTLE": 2, "RKMK4": 4, "RKMKGL4": 4}.items():
            assert slopes[name] == pytest.approx(order, abs=0.15), (part, name)


def test_errors_of_the_double_pendulum_are_those_of_the_reference():
    system = DoubleSphericalPendulum()
    data, fig = sphere_figures.structure(system, sphere_figures.runs(system, 0.1), (7,), draw=False)
    assert fig is None
    for name, (q, w) in AT_7.items():
        assert data["q"][name][0] == pytest.approx(q, rel=1e-3)
        assert data["w"][name][0] == pytest.approx(w, rel=1e-3)


def test_a_step_without_a_solution_is_a_gap():
    ends = diagnostics.end_states(MagneticDipoles(), "RATTLE", [2.0**-4, 2.0**-5])
    assert np.isnan(ends[0]).all()
    assert np.isfinite(ends[1]).all()
