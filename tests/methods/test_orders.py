"""The order suite: every method has its order on every problem, measured inside the asymptotic window."""

from __future__ import annotations

import numpy as np
import pytest

import lielab
from lielab import diagnostics, tableaus
from lielab.study.order_problems import problems
from lielab.study.orders import asymptotic_window, measured_table
from lielab.systems import FreeRigidBody

TOLERANCE = 0.1
MIN_POINTS = 4
FAMILIES = ("RKMK", "commutator-free", "Crouch-Grossman", "implicit RKMK")
METHODS = [name for name, m in lielab.methods().items() if m.family in FAMILIES]
CAY = {"retraction": "cay"}
# Every method that takes Cayley's map (RKMK4c2 and the products of exponentials refuse it, RKMK8 has a test of its own;
# RKMK4t1 and t2 cut the series of exp's dexpinv, with Cayley's map they are RKMK4).
CAYLEY = ["LieEuler", "LieEulerHeun", "RKMK2", "RKMK3", "RKMK4", "RKMK5", "RKMK54"]
CAYLEY += ["LieMidpoint", "RKMKGL4", "RKMKGL6"]
OPTIONS = [
    *((name, CAY) for name in CAYLEY),
    ("RKMKGL6", {"solver": "newton"}),
    ("RKMK3", {"commutators": "order"}),
    ("RKMK5", {"commutators": "order"}),
]
# Order 8 with an approximate map shows its asymptotic range above round-off on these only; elsewhere its errors
# still fall faster than h^8 when they meet the floor.
HIGH = {
    "cay": ["free body", "heavy top, left", "spherical pendulum", "double pendulum", "chain of 3"]
    + ["shaken pendulum"],
    "cut": ["free body", "heavy top, left", "spherical pendulum", "double pendulum", "chain of 3"],
}


@pytest.fixture(scope="module", params=list(problems()))
def problem(request):
    system, t_end, y0 = problems()[request.param]
    exact, uncertainty = diagnostics.reference_state(system, t_end, y0)

    def study(method, **options):
        return diagnostics.order(
            system,
            method,
            t_end=t_end,
            y0=y0,
            reference=exact,
            uncertainty=uncertainty,
            **options,
        )

    return request.param, study


def check(study, order):
    assert study.points >= MIN_POINTS, study.message
    assert study.order == pytest.approx(order, abs=TOLERANCE), study.message


@pytest.mark.parametrize("method", METHODS)
def test_order(problem, method):
    _, study = problem
    check(study(method), lielab.methods()[method].order)


@pytest.mark.parametrize(("method", "options"), OPTIONS, ids=str)
def test_order_with_options(problem, method, options):
    _, study = problem
    check(study(method, **options), lielab.methods()[method].order)


@pytest.mark.parametrize(
    "method", ["RKMK4t1", "RKMK4t2", lielab.rkmk(tableaus.RK4, "mine", commutators=0)]
)
def test_a_cut_series_has_no_cayley_form(method):
    """It used to run, as RKMK4 does: the cut that was asked for was dropped without a word."""
    name = getattr(method, "name", method)
    with pytest.raises(
        ValueError, match=f"{name} cuts the series of exp's dexpinv after . commutators"
    ):
        lielab.solve(FreeRigidBody(), (0, 1), method=method, h=0.1, retraction="cay")
    # Up to order 2 no term is needed, and without a cut there is nothing to drop.
    for fits in ("LieEulerHeun", "RKMK2", "RKMK4", lielab.rkmk(tableaus.RK4)):
        assert lielab.solve(FreeRigidBody(), (0, 1), method=fits, h=0.1, retraction="cay").success


@pytest.mark.parametrize(("kind", "options"), [("cay", CAY), ("cut", {"commutators": "order"})])
def test_order_eight_with_cayley_and_cut(problem, kind, options):
    name, study = problem
    if name in HIGH[kind]:
        check(study("RKMK8", **options), 8)
    else:
        result = study("RKMK8", **options)
        falling = np.flatnonzero(result.errors > 1e-12)
        fine = falling[-4:]
        slope = np.polyfit(np.log(result.h[fine]), np.log(result.errors[fine]), 1)[0]
        assert slope > 8 - 2 * TOLERANCE


def test_the_baseline_has_its_order_too(problem):
    _, study = problem
    check(study("RK4"), 4)


def test_the_table_of_the_book_is_what_is_measured():
    """A subset of the stored table, measured again."""
    rows = measured_table()
    chosen = [r for r in rows if r["method"] in ("RKMK4", "CF4", "RKMKGL4") and not r["options"]]
    assert len(chosen) == 3 * len(problems())
    table = diagnostics.order_table(problems(), ["RKMK4", "CF4", "RKMKGL4"])
    for old in chosen:
        (new,) = [
            r for r in table if (r["problem"], r["method"]) == (old["problem"], old["method"])
        ]
        assert new["measured"] == pytest.approx(old["measured"], abs=0.01)
    assert {r["method"] for r in rows} >= set(METHODS)
    assert {r["problem"] for r in rows} == set(problems())


def line(order, noise=0.0, n=10, floor=0.0):
    h = 2.0 ** -np.arange(n)
    return h, h**order * (1 + noise * (-1.0) ** np.arange(n)) + floor


def test_window_is_found_above_the_floor():
    h, errors = line(4, floor=1e-9)
    window, message = asymptotic_window(h, errors, 1e-7)
    assert window.tolist() == [True] * 6 + [False] * 4
    assert "fitted on 6 of 10" in message


def test_window_prefers_fine_steps_over_a_long_coarse_plateau():
    h = 2.0 ** -np.arange(12)
    errors = h**3 + 60.0 * h**6  # order 6 at first
    window, _ = asymptotic_window(h, errors, 0.0)
    slope = np.polyfit(np.log(h[window]), np.log(errors[window]), 1)[0]
    assert slope == pytest.approx(3, abs=0.05)


def test_rounding_of_many_steps_at_the_fine_end_is_left_out():
    """Each of n steps may add half a unit in the last place: slopes scatter far above the floor of a few steps."""
    h = 0.7 ** np.arange(28)
    rough = 30 * 1.1e-16 / h[-1]
    errors = 1e-3 * h**2 * (1 + np.where(h < 3e-4, 0.02 * (-1.0) ** np.arange(28), 0.0))
    assert not asymptotic_window(h, errors, 1e-14)[0].any()
    window, message = asymptotic_window(h, errors, 1e-14, rough=rough)
    assert window.any(), message
    assert not window[-1]
    assert np.polyfit(np.log(h[window]), np.log(errors[window]), 1)[0] == pytest.approx(2, abs=0.01)


@pytest.mark.parametrize(
    ("errors", "why"),
    [
        (line(4, noise=0.5)[1], "share a slope"),
        (line(4)[1][:3], "0 of 3|3 of 3"),
        (np.full(10, np.nan), "0 of 10"),
        (np.full(10, 1e-20), "0 of 10"),
    ],
)
def test_no_window_no_order(errors, why):
    h = 2.0 ** -np.arange(len(errors))
    window, message = asymptotic_window(h, errors, 1e-15)
    assert not window.any()
    assert "no asymptotic window" in message
    import re

    assert re.search(why, message)


def fitted(h, errors, floor=0.0):
    window, message = asymptotic_window(h, errors, floor)
    assert window.any(), message
    return np.polyfit(np.log(h[window]), np.log(errors[window]), 1)[0]


@pytest.mark.parametrize("ratio", [1.05, 1.15, 1.3, 2.0])
def test_a_slope_that_still_moves_is_no_order(ratio):
    """h^4 + c h^2 passes from order 4 to order 2: the answer is 2, or none while the finest steps are in between."""
    for c in (1e-6, 1e-4, 1e-2, 1.0):
        crossing = np.sqrt(c)  # where both terms are of one size
        for finest in (10.0, 3.0, 1.0, 0.3, 0.01):
            h = np.exp(np.arange(np.log(1e3 * crossing), np.log(finest * crossing), -np.log(ratio)))
            errors = h**4 + c * h**2
            window, message = asymptotic_window(h, errors, 0.0)
            if window.any():
                slope = np.polyfit(np.log(h[window]), np.log(errors[window]), 1)[0]
                limit = 2 if finest < 1 else 4  # what these errors can tell
                assert slope == pytest.approx(limit, abs=0.2)
                assert window[-1]
            else:
                assert "no asymptotic window" in message
                if ratio < 1.1:
                    assert "the slope still moves at the finest steps, by " in message
        assert finest >= 0.3 or fitted(h, errors) == pytest.approx(2, abs=0.1)


@pytest.mark.parametrize("ratio", [1.05, 1.15, 1.3, 2.0])
@pytest.mark.parametrize("n", [4, 5, 12, 40])
def test_clean_and_noisy_errors_have_their_order(n, ratio):
    h = ratio ** -np.arange(n)
    assert fitted(h, 7.0 * h**4) == pytest.approx(4, abs=1e-12)
    # Scatter that moves slopes of neighbours by hundredths is no trend; on a short range it must be smaller.
    size = min(0.01, 0.05 * (n - 1) * np.log(ratio)) * np.log(ratio)
    for seed in range(20):
        scatter = np.random.default_rng(seed).uniform(-size, size, n)
        assert fitted(h, h**4 * np.exp(scatter)) == pytest.approx(4, abs=0.05)


def test_round_off_of_any_level_is_no_slope():
    """Errors that cease to fall, far above the floor that was said: the points there are left out, the others stand."""
    h = 1.3 ** -np.arange(42)
    for level in (1e-11, 1e-9):
        for seed in range(20):
            noise = level * np.abs(np.random.default_rng(seed).normal(size=42))
            assert fitted(h, h**3 + noise, 1e-16) == pytest.approx(3, abs=0.1)
    # A second order in place of round-off: the steps that show 4 are not the finest, and those are between 4 and 2.
    h = h[:14]
    window, _ = asymptotic_window(h, h**4 + 1e-3 * h**2, 1e-16)
    assert not window.any()


def test_saturated_errors_have_no_order():
    """Steps so large that the error is the size of the motion: constant, but not of order 0."""
    study = diagnostics.order(
        lielab.systems.HeavyTop("left"), "LieEuler", t_end=1.0, steps=(8, 16, 32, 64, 128)
    )
    assert np.isnan(study.order)
    assert study.points == 0


def test_steps_and_error_may_be_given():
    body = lielab.systems.FreeRigidBody()
    study = diagnostics.order(
        body,
        "RKMK4",
        steps=(8, 16, 32, 64),
        error=lambda y, exact: float(np.abs(y - exact).max()),
    )
    assert len(study.h) == 4
    assert study.order > 3.9
    tight = diagnostics.order(body, "RKMK4", steps=(8, 16, 32, 64), reference=[0.0, 0.0, 0.0])
    assert np.isnan(tight.order)


def test_refused():
    body = lielab.systems.FreeRigidBody()
    with pytest.raises(ValueError, match=r"reference must be the state at t_end, shape \(3,\)"):
        diagnostics.order(body, "RKMK4", reference=[1.0, 2.0])
    with pytest.raises(ValueError, match="h follows from steps here, got h=0.1"):
        diagnostics.order(body, "RKMK4", h=0.1)
