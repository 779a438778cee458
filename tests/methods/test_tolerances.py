"""Tolerances by part and by entry, and the distance along the group as the measure of an error."""

from __future__ import annotations

import numpy as np
import pytest

import lielab
from lielab import so3
from lielab.systems import FreeRigidBody, HeavyTop, SphericalPendulum

BODY = FreeRigidBody(attitude=True)
TOP = HeavyTop("left")


def steps(system, t_end=1.0, **named):
    sol = lielab.solve(system, (0, t_end), **named)
    assert sol.success, sol.message
    return sol.nsteps


@pytest.mark.parametrize("method", ["RKMK54", "CF43", "RKMK8"])
def test_equal_tolerances_in_an_array_are_the_number(method):
    one = lielab.solve(BODY, (0, 2), method=method, rtol=1e-7, atol=1e-8)
    for tolerances in (
        {"rtol": np.full(12, 1e-7), "atol": np.full(12, 1e-8)},
        {"rtol": 1e-7, "atol": {"R": 1e-8, "mu": 1e-8}},
        {"rtol": {"R": 1e-7, "mu": np.full(3, 1e-7)}, "atol": 1e-8},
    ):
        other = lielab.solve(BODY, (0, 2), method=method, **tolerances)
        np.testing.assert_allclose(other.t, one.t, rtol=1e-12)
        np.testing.assert_allclose(other.y, one.y, atol=1e-13)


def test_scipys_methods_take_them_too():
    one = lielab.solve(BODY, (0, 2), method="RK45", rtol=1e-7, atol=1e-8)
    other = lielab.solve(BODY, (0, 2), method="RK45", rtol=1e-7, atol={"R": 1e-8, "mu": 1e-8})
    np.testing.assert_allclose(other.t, one.t, rtol=1e-12)
    assert steps(BODY, method="DOP853", atol={"mu": 1.0}) <= steps(BODY, method="DOP853", atol=1e-9)


def test_each_part_has_a_say():
    """A loose part does not choose the step; the tight one does, and its error follows its own tolerance."""
    exact = lielab.solve(TOP, (0, 0.2), method="RKMK8", rtol=1e-12, atol=1e-12).y[-1]
    # Looser ones are near singularities of dexpinv, where counts hang on round-off.
    loose = {"Q": 1e-3, "Pi": 1e3}
    tight_Q = {"Q": 1e-7, "Pi": 1e3}
    errors = {}
    for name, atol in (("loose", loose), ("tight", tight_Q)):
        sol = lielab.solve(TOP, (0, 0.2), method="RKMK54", rtol=0.0, atol=atol)
        errors[name] = np.abs(sol.y[-1] - exact)[:9].max(), sol.nsteps
    assert errors["tight"][0] < 1e-3 * errors["loose"][0]
    assert errors["tight"][1] > 3 * errors["loose"][1]
    # named and left out: the default holds
    assert steps(TOP, 0.1, rtol=0.0, atol={"Pi": 1e3}) == steps(
        TOP, 0.1, rtol=0.0, atol={"Q": 1e-9, "Pi": 1e3}
    )


def test_an_entry_without_error_may_have_no_tolerance_of_its_own_size():
    """mu_3 = 0 stays 0: with atol = 0 there its scale is 0, and 0/0 must not count."""
    atol = np.full(3, 1e-9)
    atol[2] = 0.0
    sol = lielab.solve(FreeRigidBody(inertia=(1, 1, 1)), (0, 1), [1.0, 0.5, 0.0], atol=atol)
    assert sol.success


def test_distance_along_the_group():
    """exp(u) and exp(u - e) differ by log(exp(u) exp(e - u)), which dexp_u e is to first order in e: as computed."""
    from lielab.actions import SO3_ON_S2
    from lielab.methods.rkmk import along_group

    rng = np.random.default_rng(0)
    for size in (0.1, 0.3):
        u, e = size * rng.standard_normal(3), 1e-7 * rng.standard_normal(3)
        exact = np.linalg.norm(so3.log(so3.exp(u) @ so3.exp(e - u)))
        kernel = getattr(SO3_ON_S2.bracket, "into", SO3_ON_S2.bracket)
        assert along_group(kernel, u, e) == pytest.approx(exact, rel=size**4)
    pendulum = SphericalPendulum()
    tolerance = 1e-6
    sol = lielab.solve(pendulum, (0, 5), error_norm="distance", rtol=0.0, atol=tolerance)
    algebra = lielab.solve(pendulum, (0, 5), error_norm="algebra", rtol=0.0, atol=tolerance)
    assert sol.success
    assert abs(sol.nsteps - algebra.nsteps) <= 0.1 * algebra.nsteps
    exact = lielab.solve(pendulum, (0, 5), method="RKMK8", rtol=1e-12, atol=1e-12).y[-1]
    coarse = lielab.solve(pendulum, (0, 5), error_norm="distance", rtol=0.0, atol=100 * tolerance)
    # a pair that goes on with order 5: 100 in the tolerance of an error per step of order 4 is 100 in the result
    gain = np.abs(coarse.y[-1] - exact).max() / np.abs(sol.y[-1] - exact).max()
    assert 10 < gain < 1000


def test_the_distance_does_not_see_where_the_step_is():
    """Turned as a whole: the same steps. In coordinates they are others; a chord will do where the group turns."""
    S = so3.random(3)
    y = BODY.y0
    turned = np.concatenate([(S @ y[:9].reshape(3, 3)).ravel(), y[9:]])
    for method, norm, same in (
        ("RKMK54", {"error_norm": "distance", "atol": 0.0}, True),
        ("RKMK54", {"atol": 0.0}, False),
        ("CF43", {"error_norm": "euclidean", "atol": 1e-6, "rtol": 0.0}, True),
        ("CF43", {"atol": 0.0}, False),
    ):
        one, other = (
            lielab.solve(BODY, (0, 3), z, method=method, h0=0.01, **norm).t for z in (y, turned)
        )
        found = len(one) == len(other) and np.allclose(one, other, rtol=1e-6)
        assert found is same, (method, norm)


def test_on_the_sphere_the_chord_is_the_distance():
    """A fixed turn moves a unit vector by a chord; pairs that cannot measure along the group measure this."""
    pendulum = SphericalPendulum()
    counts = [
        lielab.solve(pendulum, (0, 5), error_norm=norm, rtol=0.0, atol=1e-7).nsteps
        for norm in ("distance", "euclidean")
    ]
    assert abs(counts[0] - counts[1]) < 0.2 * counts[0]


def test_a_distance_needs_a_bracket():
    """Frames without structure: no commutator, no distance along a group; the estimate in the algebra stays."""
    from lielab import tableaus
    from lielab.actions import frozen_action
    from lielab.methods.rkmk import rkmk
    from lielab.systems import ActionSystem

    action = frozen_action(
        name="shifts",
        manifold="R^2",
        algebra=2,
        point=2,
        flow=lambda xi, y: y + xi,
        generator=lambda xi, y: 1.0 * xi,
    )
    system = ActionSystem(action, lambda t, y, p: np.array([y[1], -y[0]]), (1.0, 0.0))
    method = rkmk(tableaus.DORMAND_PRINCE_54, commutators=0, order=2)
    assert lielab.solve(system, (0, 1), method=method, error_norm="algebra").success
    with pytest.raises(ValueError, match="needs commutators, and this action has no bracket"):
        lielab.solve(system, (0, 1), method=method, error_norm="distance")


WRONG = [
    (
        {"atol": {"x": 1.0}},
        "atol by part must name some of R, mu, got x",
    ),
    ({"atol": {}}, "atol by part must name some of R, mu, got none of them"),
    ({"atol": {"R": np.ones(2)}}, r"atol of R must be a number or an array \(3, 3\)"),
    ({"atol": {"R": "tight"}}, r"atol of R must be a number or an array \(3, 3\), got 'tight'"),
    ({"atol": {"R": -1.0}}, "atol must be finite and nowhere negative"),
    (
        {"rtol": np.ones(3)},
        r"rtol must be a non-negative number, got array.*an array \(12,\) or part -> number does too",
    ),
    ({"rtol": np.full(12, np.nan)}, "rtol must be finite and nowhere negative"),
    ({"rtol": 0.0, "atol": {"R": 0.0}}, "rtol and atol must not both be 0"),
    (
        {"atol": {"R": 1e-9}, "error_norm": "euclidean"},
        "by part need error_norm='scaled', got 'euclidean'",
    ),
    (
        {"error_norm": "distance", "method": "CF43"},
        "error_norm='distance' is not known to CF43; it knows scaled, euclidean.*use 'euclidean', a chord, or an RKMK",
    ),
]


@pytest.mark.parametrize(("named", "message"), WRONG)
def test_what_is_refused(named, message):
    with pytest.raises(ValueError, match=message):
        lielab.solve(BODY, (0, 1), **named)
