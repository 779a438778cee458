"""Choosing the step: the paper's runs step by step, controllers, limits, counts, and what is refused."""

from __future__ import annotations

import json
from inspect import signature
from pathlib import Path

import numpy as np
import pytest

import lielab
from lielab.actions import rn_on_rn
from lielab.step_size import first_step
from lielab.study.order_problems import problems
from lielab.systems import ActionSystem, FreeRigidBody, PendulumChain, SphericalPendulum

REFERENCE = json.loads((Path(__file__).parent / "celledoni.json").read_text())
ADAPTIVE = REFERENCE["adaptive"]
EXACT = np.array(REFERENCE["pendulum"]["states"][-1])  # at t = 3
CHAIN = PendulumChain(2)
# The algorithm of celledoni 4: |.|_2 of the estimate against tol, no limits on the factor.
PAPER = {"rtol": 0, "h0": 0.01, "safety": 0.85, "factor_limits": (1e-3, 1e3)}


def paper(system, tol, method="RKMK54", **changes):
    norm = "algebra" if method.startswith("RKMK") else "euclidean"
    settings = {**PAPER, "error_norm": norm, **changes}
    return lielab.solve(system, (0, 3), method=method, atol=tol, **settings)


def test_figure_8_step_by_step():
    """120 accepted steps at tol 1e-6, each the same as an independent implementation's."""
    sol = paper(CHAIN, 1e-6)
    assert (sol.nsteps, sol.nrejected) == (120, 13)
    # A step depends on the fifth root of a difference of stages: round-off grows over 120 steps.
    np.testing.assert_allclose(sol.h, ADAPTIVE["steps"], rtol=1e-7)
    np.testing.assert_allclose(sol.y[-1], ADAPTIVE["final"], atol=1e-10)
    smallest = np.argmin(sol.h)
    assert sol.t[smallest + 1] == pytest.approx(2.29, abs=0.01)


def test_variable_steps_beat_constant_ones_by_three_hundred():
    adaptive, constant = paper(CHAIN, 1e-6), lielab.solve(CHAIN, (0, 3), method="RKMK5", h=3 / 120)
    errors = [np.linalg.norm(sol.y[-1] - EXACT) for sol in (adaptive, constant)]
    expected = ADAPTIVE["runs"]["h0=0.01,theta=0.85"]
    np.testing.assert_allclose(
        errors, [expected["error_adaptive"], expected["error_constant_same_n"]], rtol=1e-5
    )
    assert 290 < errors[1] / errors[0] < 310


@pytest.mark.parametrize("run", list(ADAPTIVE["runs"]))
def test_other_starts_and_safety_factors(run):
    h0, theta = (float(part.split("=")[1]) for part in run.split(","))
    sol = paper(CHAIN, 1e-6, h0=h0, safety=theta)
    assert (sol.nsteps, sol.nrejected) == tuple(
        ADAPTIVE["runs"][run][k] for k in ("accepted", "rejected")
    )


@pytest.mark.parametrize("run", list(ADAPTIVE["tolerances"]))
def test_tolerances_of_all_pairs(run):
    name, tol = run.split(" tol=")
    method = {"rkmk54": "RKMK54", "cf43": "CF43", "cf32a": "CF32a", "cf32b": "CF32b"}[name]
    sol, expected = paper(CHAIN, float(tol), method), ADAPTIVE["tolerances"][run]
    assert (sol.nsteps, sol.nrejected) == (expected["accepted"], expected["rejected"])
    assert np.linalg.norm(sol.y[-1] - EXACT) == pytest.approx(expected["error"], rel=1e-3)


@pytest.mark.parametrize("lengths", ["L_i=1", "L_i=5/N"])
def test_figures_8_and_10_for_longer_chains(lengths):
    for n, expected in ADAPTIVE["figures"][lengths].items():
        system = PendulumChain(int(n)) if lengths == "L_i=1" else PendulumChain.beam(int(n))
        sol = paper(system, 1e-6)
        assert (sol.nsteps, sol.nrejected) == (expected["accepted"], expected["rejected"]), n
        assert sol.h.max() == pytest.approx(expected["h_max"], rel=1e-6)


PAIRS = ["RKMK54", "RKMK8", "CF43", "CF32a", "CF32b"]


@pytest.mark.parametrize("controller", ["standard", "PI"])
@pytest.mark.parametrize("method", PAIRS)
def test_error_is_proportional_to_the_tolerance(method, controller):
    system, t_end = problems()["shaken pendulum"][0], 4.0
    exact = lielab.solve(system, (0, t_end), method="DOP853", rtol=1e-13, atol=1e-13).y[-1]
    tolerances = 10.0 ** -np.arange(4, 9)
    errors = []
    for tol in tolerances:
        sol = lielab.solve(
            system, (0, t_end), method=method, rtol=tol, atol=tol, controller=controller
        )
        assert sol.success
        assert sol.defect().max() < 1e-13
        errors.append(np.abs(sol.y[-1] - exact).max())
    slope = np.polyfit(np.log(tolerances), np.log(errors), 1)[0]
    assert 0.7 < slope < 1.3
    assert all(error < 100 * tol for error, tol in zip(errors, tolerances, strict=True))


def test_pi_controller_smooths_the_steps():
    """Where the standard controller swings and rejects, PI rejects less; the formula is checked step by step."""
    tol, q = 1e-5, 3
    settings = {"method": "CF32a", "rtol": 0, "atol": tol, "error_norm": "euclidean", "h0": 1e-3}
    limits = {"factor_limits": (1e-3, 1e3), "safety": 0.9}
    standard = lielab.solve(CHAIN, (0, 0.3), **settings, **limits)
    e_over_tol = (
        0.9 * standard.h[:-1] / standard.h[1:]
    ) ** q  # from the formula of the standard controller
    pi = lielab.solve(CHAIN, (0, 0.3), **settings, **limits, controller="PI")
    # Both start with the same step, hence the same error; PI remembers an error of 1 at first.
    assert pi.h[1] == pytest.approx(0.9 * pi.h[0] * e_over_tol[0] ** (-0.7 / q), rel=1e-9)
    rejected = [
        lielab.solve(CHAIN, (0, 3), **settings, controller=c).nrejected for c in ("standard", "PI")
    ]
    assert rejected[1] < rejected[0]


def test_factor_limits_and_largest_step():
    sol = lielab.solve(CHAIN, (0, 3), rtol=1e-4, atol=1e-4, h0=1e-4, factor_limits=(0.5, 1.5))
    ratios = sol.h[1:-1] / sol.h[:-2]
    assert ratios.max() == pytest.approx(1.5, rel=1e-12)
    assert lielab.solve(CHAIN, (0, 3), max_step=0.01).h.max() <= 0.01
    scipy = lielab.solve(CHAIN, (0, 3), method="DOP853", max_step=0.01, h0=0.001)
    assert scipy.h.max() <= 0.01 * (1 + 1e-12)
    assert scipy.h[0] == pytest.approx(0.001)


@pytest.mark.parametrize(("start", "end"), [(0.0, 2.0), (2.0, 0.0), (1.0, 1.0 + 1e-9)])
@pytest.mark.parametrize("method", PAIRS)
def test_last_step_is_clipped(method, start, end):
    sol = lielab.solve(SphericalPendulum(), (start, end), method=method, rtol=1e-7, atol=1e-7)
    assert sol.t[-1] == end
    assert sol.h.sum() == pytest.approx(end - start, rel=1e-12)
    assert np.abs(sol.h).min() > 1e-12


@pytest.mark.parametrize("method", ["RKMK54", "RKMK8"])
@pytest.mark.parametrize("span", [(0.0, 5.0), (5.0, 0.0), (0.0, 1e-3)])
def test_first_step_is_that_of_scipy_where_the_group_is_flat(method, span):
    """On R^n the Lie-Euler step of the trial is Euler's, and the rule of Hairer, Norsett & Wanner II.4 SciPy's."""
    from scipy.integrate._ivp.common import select_initial_step

    def field(t, y, p):
        return [y[1], -np.sin(y[0]) + 0.3 * np.cos(2.0 * t)]

    start, rtol, atol = np.array([0.4, 0.7]), 1e-5, 1e-8
    system = ActionSystem(rn_on_rn(2), field, tuple(start))
    form = system.formulations["action"]
    q = lielab.methods()[method].prepare(form, start).error_order

    def rhs(t, y):
        return np.array(field(t, y, None))

    t0, t1 = span
    sign = np.sign(t1 - t0)
    bounds = (t1, np.inf) if "t_bound" in signature(select_initial_step).parameters else ()
    expected = select_initial_step(rhs, t0, start, *bounds, rhs(t0, start), sign, q, rtol, atol)
    expected = min(expected, abs(t1 - t0))  # SciPy before 1.12 looks beyond the end
    assert first_step(form, t0, t1, start, rtol, atol, q) == pytest.approx(expected, rel=1e-12)
    sol = lielab.solve(system, span, method=method, rtol=rtol, atol=atol)
    assert sol.h[0] == pytest.approx(sign * expected, rel=1e-9)  # a good first guess is accepted


EVALUATIONS = {  # in a try, and of f(y) at the start: per accepted step, or once in the run (FSAL)
    "RKMK54": (6, False),
    "RKMK8": (11, True),
    "CF43": (4, True),
    "CF32a": (2, True),
    "CF32b": (2, True),
}


@pytest.mark.parametrize("method", EVALUATIONS)
def test_evaluations_are_counted_and_reused(method):
    """f(y1) is reused where the tableau gives it, f(y) is kept after a rejected step."""
    stages, each = EVALUATIONS[method]
    sol = lielab.solve(CHAIN, (0, 3), method=method, rtol=1e-5, atol=1e-5)
    tries = sol.nsteps + sol.nrejected
    assert sol.nrejected > 0
    assert sol.nfev == 2 + stages * tries + (sol.nsteps if each else 1)


@pytest.mark.parametrize("method", ["RK45", "DOP853"])
def test_rejected_steps_of_scipy(method, monkeypatch):
    """`solve` infers them from the number of calls; here the tries themselves are counted."""
    import scipy.integrate._ivp.rk as rk

    tries, step = [], rk.rk_step

    def counting(*arguments):
        tries.append(1)
        return step(*arguments)

    monkeypatch.setattr(rk, "rk_step", counting)
    runs = [
        lielab.solve(CHAIN, (0, 3), method=method, rtol=1e-5, atol=1e-5, h0=h0)
        for h0 in (None, 0.5)
    ]
    assert len(tries) == sum(run.nsteps + run.nrejected for run in runs)
    assert runs[1].nrejected > 0


def test_nothing_is_lost_between_chunks(monkeypatch):
    """A run of many chunks keeps its stages and errors: the same steps as in one piece."""
    system = FreeRigidBody()
    whole = lielab.solve(system, (0, 400), method="RKMK54", rtol=1e-9, atol=1e-9, controller="PI")
    assert whole.nsteps > 1000
    monkeypatch.setattr(lielab._runs, "_CHUNK_SECONDS", 0.0)  # chunks of 16 steps throughout
    pieces = lielab.solve(system, (0, 400), rtol=1e-9, atol=1e-9, controller="PI")
    np.testing.assert_array_equal(pieces.t, whole.t)
    np.testing.assert_array_equal(pieces.y, whole.y)
    assert pieces.nfev == whole.nfev


REFUSED = {
    "h0": ({"h0": -1.0}, "h0 must be a positive number"),
    "max_step": ({"max_step": 0.0}, "max_step must be a positive number"),
    "controller": ({"controller": "PID"}, "controller must be one of 'standard', 'PI'"),
    "safety": ({"safety": 1.5}, "safety must lie between"),
    "limits": ({"factor_limits": (0.2, 0.9)}, "factor_limits must be"),
    "limits type": ({"factor_limits": 3}, "factor_limits must be"),
    "norm": ({"error_norm": "max"}, "error_norm must be one of"),
    "algebra": ({"error_norm": "algebra", "method": "CF43"}, "CF43; it knows scaled, euclidean"),
    "with h": ({"h": 0.1, "safety": 0.9}, "safety controls adaptive steps"),
    "scipy": ({"safety": 0.8, "method": "RK45"}, "takes h0 and max_step only"),
    "no pair": ({"method": "CF4"}, "has no embedded pair"),
    "cayley": ({"method": "CF4", "h": 0.1, "retraction": "cay"}, "CF4 must use exp"),
    "c2": ({"method": "RKMK4c2", "h": 0.1, "retraction": "cay"}, "series of exp's dexpinv"),
    "commutators": ({"commutators": 9}, "commutators must be None"),
    "commutators bool": ({"commutators": True}, "commutators must be None.* got True"),
    "solver": ({"method": "RKMKGL4", "h": 0.1, "solver": "x"}, "solver must be"),
    "option": ({"theta": 1}, "RKMK54 has no option 'theta'"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case):
    options, message = REFUSED[case]
    with pytest.raises(ValueError, match=message):
        lielab.solve(FreeRigidBody(), (0, 1), **{"method": "RKMK54", **options})


def test_commutators_may_be_counted_by_numpy():
    run = {"method": "RKMK4", "h": 0.1}
    one, two = (
        lielab.solve(FreeRigidBody(), (0, 1), commutators=m, **run) for m in (2, np.int64(2))
    )
    np.testing.assert_array_equal(one.y, two.y)


@pytest.mark.parametrize("maker", ["rkmk", "commutator_free", "implicit_rkmk"])
def test_methods_are_made_of_their_own_coefficients(maker):
    with pytest.raises(ValueError, match="must be a lielab.tableaus"):
        getattr(lielab, maker)("RK4")
