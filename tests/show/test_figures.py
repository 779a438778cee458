"""The figures of celledoni 2 to 11: each from one call, with the numbers of an independent implementation."""

from __future__ import annotations

import json
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pytest

import lielab
from lielab import figures

REFERENCE = json.loads((Path(__file__).parents[1] / "methods" / "celledoni.json").read_text())
EXPECTED = REFERENCE["adaptive"]["figures"]


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def test_figure2_shows_the_orders():
    data, fig = figures.figure2()
    assert len(fig.axes) == 3
    for name, errors in data["errors"].items():
        order = 1 if name.endswith(("0", "= 1")) else 2
        slopes = np.diff(np.log(errors)) / np.diff(np.log(data["h"]))
        assert slopes[-1] == pytest.approx(order, abs=0.1), name
    for name, weight in data["weight"].items():
        assert np.ptp(np.linalg.norm(weight, axis=1)) < 1e-9, name
    np.testing.assert_allclose(
        data["axis"]["SLGIKK"], data["axis"]["SLGI, theta = 1/2"], atol=1e-11
    )


def test_figure3_has_no_drift():
    data, fig = figures.figure3()
    assert len(fig.axes) == 2
    worst = {}
    for name, (t, error, _) in data.items():
        assert len(t) == 6001
        worst[name] = np.abs(error).max()
        half = len(error) // 2
        # the mean over each half differs by far less than the error swings
        assert abs(error[:half].mean() - error[half:].mean()) < 0.1 * np.ptp(error), name
    assert worst["SLGI, theta = 1/2"] < 0.1 * worst["SLGI, theta = 0"]


def test_figure4_names_every_part():
    data, fig = figures.figure4()
    assert figures.figure4(draw=False)[1] is None
    np.testing.assert_allclose(np.linalg.norm(data["directions"], axis=1), 1.0, atol=1e-14)
    np.testing.assert_allclose(np.cumsum(data["directions"], axis=0), data["places"], atol=1e-14)
    shown = {text.get_text() for text in fig.axes[0].texts} - {""}
    assert shown == {"$e_3$", *(f"${name}_{i}$" for name in "qLm" for i in (1, 2, 3))}


def test_figure5_shows_the_orders():
    data, fig = figures.figure5()
    assert fig is not None
    for method, errors in data["errors"].items():
        slopes = np.diff(np.log(errors)) / np.diff(np.log(data["h"]))
        assert slopes[-3] == pytest.approx(lielab.methods()[method].order, abs=0.15), method


@pytest.mark.parametrize("make", [figures.figure6, figures.figure7])
def test_figures_6_and_7_separate_the_families(make):
    data, fig = make()
    assert len(fig.axes) == 2
    for method, (t, values) in data.items():
        assert t[-1] == 5.0
        largest = np.abs(values).max()
        if method in figures.LIE:
            assert largest < 1e-12, method
        else:
            assert largest > 1e-8, method


@pytest.mark.parametrize(
    ("make", "lengths", "ns"),
    [(figures.figure8, "L_i=1", (2, 4, 20)), (figures.figure10, "L_i=5/N", (2, 4, 20))],
)
def test_figures_8_and_10(make, lengths, ns):
    data, fig = make(ns)
    assert fig is not None
    for row, n in enumerate(ns):
        expected = EXPECTED[lengths][str(n)]
        assert data["steps"][row] == expected["accepted"]
        assert data["rejected"][row] == expected["rejected"]
        assert data["variable"][row] == pytest.approx(expected["error_adaptive"], rel=1e-3)
        assert data["constant"][row] == pytest.approx(expected["error_constant_same_n"], rel=1e-3)
    assert data["t"][1:] == pytest.approx(np.cumsum(data["h"]))


def test_figure9_variable_steps_follow_the_peak():
    data, fig = figures.figure9()
    assert len(fig.axes) == 12
    end = data["exact"].y[-1]
    errors = {k: np.linalg.norm(s.y[-1] - end) for k, s in data.items() if k != "exact"}
    assert 290 < errors["RKMK5, constant"] / errors["RKMK54"] < 310


def test_figure11_the_peak_is_near_2_29():
    data, fig = figures.figure11()
    assert len(fig.axes) == 3
    sol = data["runs"]["RKMK54"]
    assert sol.t[np.argmin(sol.h) + 1] == pytest.approx(2.29, abs=0.01)
    peaks = data["t"][np.abs(data["rates"]).argmax(axis=0)]
    np.testing.assert_allclose(peaks, [2.250, 2.299], atol=2e-3)
    largest = np.abs(data["rates"]).max(axis=0)
    np.testing.assert_allclose(largest, [76.57, 103.26], atol=0.05)
    np.testing.assert_allclose(np.abs(data["w"]).max(axis=0), [9.674, 12.223], atol=2e-3)


def test_data_without_a_picture():
    data, fig = figures.figure6(draw=False)
    assert fig is None
    assert set(data) == set(figures.LIE + figures.CLASSICAL)
