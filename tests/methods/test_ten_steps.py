"""Ten steps of every method against an independent implementation, to round-off."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import lielab
from lielab import tableaus
from lielab.systems import FreeRigidBody, PendulumChain

REFERENCE = json.loads((Path(__file__).parent / "celledoni.json").read_text())
TEN = REFERENCE["ten_steps"]
SYSTEMS = {"rigid_body": FreeRigidBody(), "pendulum_N2_paper": PendulumChain(2)}
ROUND = 1e-13  # the largest difference seen is 2e-15

METHODS = {
    "lie_euler": ("LieEuler", {}),
    "lie_euler_heun": ("LieEulerHeun", {}),
    "rkmk3_exact": ("RKMK3", {}),
    "rkmk3_trunc1": ("RKMK3", {"commutators": "order"}),
    "rkmk4_exact": ("RKMK4", {}),
    "rkmk4_trunc2": ("RKMK4t2", {}),
    "rkmk4_trunc1(order 3)": ("RKMK4t1", {}),
    "rkmk4_2commutators": ("RKMK4c2", {}),
    "rkmk5_dp_exact": ("RKMK5", {}),
    "rkmk5_dp_trunc2": ("RKMK54", {"commutators": "order"}),
    "cf4": ("CF4", {}),
    "cf32a": ("CF32a", {}),
    "cf32b": ("CF32b", {}),
    "cg2": ("CG2", {}),
    "cg3": ("CG3", {}),
    "cg4": ("CG4", {}),
    "rkmk4_cayley": ("RKMK4", {"retraction": "cay"}),
}


def embedded(pair):
    """The embedded method of a pair as a method of its own."""
    if isinstance(pair, tableaus.Tableau):
        return lielab.rkmk(tableaus.Tableau("hat", pair.order_hat, pair.a, pair.b_hat))
    stages = [*pair.stages, *pair.extra]
    return lielab.commutator_free(
        tableaus.CommutatorFree("hat", pair.order_hat, stages, pair.update_hat)
    )


HATS = {
    "rkmk_dp_hat_exact": tableaus.DORMAND_PRINCE_54,
    "cf43_aux": tableaus.CF43,
    "cf32a_aux": tableaus.CF32A,
    "cf32b_aux": tableaus.CF32B,
}
CASES = [(s, k) for s in TEN for k in TEN[s]["final"]]


@pytest.mark.parametrize(("system", "key"), CASES)
def test_ten_steps(system, key):
    method, options = METHODS[key] if key in METHODS else (embedded(HATS[key]), {})
    h = TEN[system]["h"]
    sol = lielab.solve(SYSTEMS[system], (0, 10 * h), method=method, h=h, **options)
    assert sol.nsteps == 10
    np.testing.assert_allclose(sol.y[-1], TEN[system]["final"][key], rtol=0, atol=ROUND)


ESTIMATES = {
    "RKMK54": ("algebra", 5, "rkmk54_error_estimates"),
    "CF32a": ("euclidean", 3, "cf32a_estimate"),
    "CF32b": ("euclidean", 3, "cf32b_estimate"),
    "CF43": ("euclidean", 4, "cf43_estimate"),
}


@pytest.mark.parametrize("method", ESTIMATES)
@pytest.mark.parametrize("system", TEN)
def test_error_estimate_of_the_first_step(system, method):
    """The second step tells it: h2 = safety (tol / e)^(1/q) h1."""
    norm, q, key = ESTIMATES[method]
    h, tol, safety = TEN[system]["h"], 1e-3, 0.5
    expected = np.ravel(TEN[system][key])[0]
    settings = {"error_norm": norm, "safety": safety, "factor_limits": (1e-3, 1e3)}
    sol = lielab.solve(
        SYSTEMS[system], (0, 99), method=method, rtol=0, atol=tol, h0=h, max_steps=2, **settings
    )
    assert sol.nsteps == 2
    assert tol * (safety * sol.h[0] / sol.h[1]) ** q == pytest.approx(expected, rel=1e-6)


def test_midpoint_rules_coincide():
    """RKMK2 and CG2 are the same map: order 2 needs no commutator."""
    for system in SYSTEMS.values():
        one, two = (lielab.solve(system, (0, 1), method=m, h=0.1).y for m in ("RKMK2", "CG2"))
        np.testing.assert_allclose(one, two, atol=1e-13)
