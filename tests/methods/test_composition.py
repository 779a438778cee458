"""Compositions: orders, the symmetric half steps, and counts of whole steps only."""

import dataclasses
import warnings

import numpy as np
import pytest

import lielab
from lielab import so3
from lielab.core.march import RUNNING, H, advance, running
from lielab.core.values import Vec3
from lielab.methods import Plan, rigid_body
from lielab.methods.composition import SCHEMES
from lielab.systems import EllipsoidParticle, FreeRigidBody, RigidBodyInWell, SphericalPendulum

PENDULUM = SphericalPendulum()


@pytest.mark.parametrize("scheme", SCHEMES)
def test_fractions_meet_the_order_conditions(scheme):
    """Sum 1, and the odd powers up to the order sum to 0: the conditions on a symmetric base (Yoshida 1990)."""
    fractions, order = SCHEMES[scheme]
    assert fractions == fractions[::-1]
    assert sum(fractions) == pytest.approx(1.0, abs=1e-15)
    for power in range(3, order, 2):
        assert sum(x**power for x in fractions) == pytest.approx(0.0, abs=1e-13)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_measured_order(scheme):
    method = lielab.compose("LieMidpoint", scheme)
    exact = lielab.solve(PENDULUM, (0, 1), method="RKMK8", rtol=1e-13, atol=1e-14).y[-1]
    errors = [
        np.abs(lielab.solve(PENDULUM, (0, 1), method=method, h=1 / n).y[-1] - exact).max()
        for n in (12, 24, 48)
    ]
    assert -np.diff(np.log2(errors))[-1] == pytest.approx(method.order, abs=0.15)


def test_a_composition_is_its_parts_one_after_the_other():
    system, h = EllipsoidParticle(), 0.1
    sol = lielab.solve(
        system, (0, 0.2), method=lielab.compose("RiemannianLeapfrog", [0.3, 0.7]), h=h
    )
    y, t = system.y0, 0.0
    for part in (0.03, 0.07, 0.03, 0.07):
        y = lielab.solve(system, (t, t + part), y, method="RiemannianLeapfrog", h=part).y[-1]
        t += part
    np.testing.assert_allclose(sol.y[-1], y, atol=1e-15)
    np.testing.assert_array_equal(sol.t, [0, 0.1, 0.2])
    np.testing.assert_array_equal(sol.h, [0.1, 0.1])


def test_counts_dense_values_and_long_runs_speak_of_whole_steps():
    method = lielab.compose("RKMK2", [0.5, 0.5])
    sol = lielab.solve(PENDULUM, (0, 50), method=method, h=0.01, save_every=100)
    assert sol.nsteps == 5000
    assert sol.n_exponentials == 4
    assert len(sol.t) == 51
    half = lielab.solve(PENDULUM, (0, 50), method="RKMK2", h=0.005, save_every=200)
    np.testing.assert_allclose(sol.y, half.y, atol=1e-10)
    fine = lielab.solve(PENDULUM, (0, 0.5), method=method, h=0.05)
    np.testing.assert_allclose(
        fine(0.33),
        lielab.solve(PENDULUM, (0, 0.33), fine.y[0], method=method, h=0.33 / 11).y[-1],
        atol=1e-3,
    )
    np.testing.assert_allclose(fine(fine.t), fine.y, atol=1e-14)


def test_a_composite_run_that_fails_keeps_whole_steps_only():
    def field(t, y, p):
        return [np.nan if t > 0.52 else 1.0, 0.2, 0.0]

    system = lielab.systems.ActionSystem(lielab.actions.SO3_ON_S2, field, (0.0, 0.0, 1.0))
    sol = lielab.solve(system, (0, 1), method=lielab.compose("LieMidpoint"), h=0.1)
    assert not sol.success
    np.testing.assert_allclose(sol.t, np.arange(len(sol.t)) * 0.1, atol=1e-15)


def test_the_adjoint_undoes_the_step_backwards():
    body, adjoint = FreeRigidBody(attitude=True), lielab.adjoint("LieEuler")
    sol = lielab.solve(body, (0, 1), method=adjoint, h=0.1)
    back = lielab.solve(body, (1, 0), sol.y[-1], method="LieEuler", h=0.1)
    np.testing.assert_allclose(back.y[-1], body.y0, atol=1e-14)
    assert sol.defect().max() < 1e-14
    assert (
        np.abs(sol.y[-1] - lielab.solve(body, (0, 1), method="LieEuler", h=0.1).y[-1]).max() > 0.01
    )


def test_a_symmetric_method_is_its_own_adjoint():
    for method in ("LieMidpoint",):
        one = lielab.solve(PENDULUM, (0, 1), method=method, h=0.1).y[-1]
        other = lielab.solve(PENDULUM, (0, 1), method=lielab.adjoint(method), h=0.1).y[-1]
        np.testing.assert_allclose(other, one, atol=1e-12)


def test_symmetrised_euler_is_reversible_and_of_order_two():
    method = lielab.symmetrised("LieEuler")
    assert method.order == 2
    exact = lielab.solve(PENDULUM, (0, 1), method="RKMK8", rtol=1e-13, atol=1e-14).y[-1]
    runs = [lielab.solve(PENDULUM, (0, 1), method=method, h=1 / n) for n in (20, 40, 80)]
    errors = [np.abs(sol.y[-1] - exact).max() for sol in runs]
    np.testing.assert_allclose(-np.diff(np.log2(errors)), 2.0, atol=0.1)
    back = lielab.solve(PENDULUM, (1, 0), runs[0].y[-1], method=method, h=1 / 20)
    np.testing.assert_allclose(back.y[-1], PENDULUM.y0, atol=1e-12)


def test_liemid_is_its_half_step_after_the_adjoint_of_that():
    """The first-order map of LIEMID: a kick, then a turn by exp(h v) with J v = exp(-h v / 2) m (ortolan (4.6))."""
    well = RigidBodyInWell((1.0, 2.0, 2.5))
    inertia = np.array(well.inertia)

    def march(kernels, data, run, y, p, ts, ys, hs):
        (torque,) = kernels
        while running(run):
            h, end = run[H], y.copy()
            m = inertia * y[9:] + h * torque(0.0, y, p)
            v, left = rigid_body.newton(
                rigid_body.MCG, Vec3(*(m / inertia)), 0.5 * h, Vec3(*m), Vec3(*inertia)
            )
            assert left == 0.0
            F = so3.exp(h * np.array(list(v)))
            end[:9] = (y[:9].reshape(3, 3) @ F).ravel()
            end[9:] = F.T @ m / inertia
            advance(run, RUNNING, 0.0, y, end, ts, ys, hs)

    def prepare(formulation, y0):
        return Plan(march, (formulation.torque,), (), formulation.params, structured=True)

    liemid = lielab.methods()["LIEMID"]
    half = dataclasses.replace(liemid, name="half of LIEMID", order=1, prepare=prepare)
    start = np.concatenate([so3.exp([0.3, 0.6, 0.2]).ravel(), [0.2, -0.3, 0.4]])
    t, h = 1.0, 0.125
    whole = lielab.solve(well, (0, t), start, method=liemid, h=h).y
    adjoint_first = lielab.solve(well, (0, t), start, method=lielab.symmetrised(half), h=h).y
    # the kick opens the half step: LIEMID kicks at both ends, so its half step comes first and the adjoint second
    y = start
    for _ in range(round(t / h)):
        y = lielab.solve(well, (0, h / 2), y, method=half, h=h / 2).y[-1]
        y = lielab.solve(well, (0, h / 2), y, method=lielab.adjoint(half), h=h / 2).y[-1]
    np.testing.assert_allclose(y, whole[-1], atol=1e-13)
    assert np.abs(adjoint_first[-1] - whole[-1]).max() > 1e-4
    study = lielab.diagnostics.order(well, half, t_end=t, y0=start, steps=(64, 128, 256, 512, 1024))
    assert study.order == pytest.approx(1.0, abs=0.1)


def test_the_compiled_baseline_composes_too():
    """RK4 has a step of its own, SciPy's methods have none."""
    exact = lielab.solve(PENDULUM, (0, 1), method="RKMK8", rtol=1e-13, atol=1e-14).y[-1]
    two = lielab.solve(PENDULUM, (0, 1), method=lielab.compose("RK4", [0.5, 0.5]), h=0.1)
    one = lielab.solve(PENDULUM, (0, 1), method="RK4", h=0.05)
    np.testing.assert_allclose(two.y[-1], one.y[-1], atol=1e-14)
    back = lielab.solve(PENDULUM, (0, 1), method=lielab.adjoint("RK4"), h=0.05)
    assert np.abs(back.y[-1] - exact).max() < 10 * np.abs(one.y[-1] - exact).max()


@pytest.mark.parametrize(
    ("system", "method", "options", "text"),
    [
        (EllipsoidParticle(), "RiemannianLeapfrog", {"refresh": 1}, "refresh must be 0 in"),
        (RigidBodyInWell(), "SLGI", {"theta": 0.0}, "theta must be 0.5 in"),
        (RigidBodyInWell(), "LieNewmark", {"gamma": 0.7}, "gamma must be 0.5 in"),
        (RigidBodyInWell(), "LGVI", {"quadrature": "left"}, "'midpoint' in .* got 'left'"),
    ],
)
def test_members_that_are_not_symmetric_are_refused(system, method, options, text):
    """Composed to "order 4" they stay at order 1, or lose reversibility."""
    with pytest.raises(ValueError, match=text):
        lielab.solve(system, (0, 1), method=lielab.compose(method), h=0.1, **options)
    assert lielab.solve(system, (0, 1), method=lielab.compose(method), h=0.1).success


@pytest.mark.parametrize("method", ["RKMK2", "LieEulerHeun", "CG2"])
def test_explicit_methods_are_not_symmetric(method):
    """By fractions alone: yoshida4 of an explicit method of order 2 has order 3, so the name is refused."""
    with pytest.raises(ValueError, match=f"{method} is explicit and not symmetric"):
        lielab.compose(method)
    bare = lielab.compose(method, SCHEMES["yoshida4"][0])
    assert bare.order == 3
    study = lielab.diagnostics.order(PENDULUM, bare, steps=(64, 128, 256, 512))
    assert study.order == pytest.approx(3.0, abs=0.1)
    even = lielab.compose(lielab.symmetrised(method))
    study = lielab.diagnostics.order(PENDULUM, even, t_end=0.5, steps=(8, 12, 16, 24))
    assert study.order == pytest.approx(4.0, abs=0.2)


def test_nested_compositions_multiply_their_fractions():
    body = FreeRigidBody()
    inner = lielab.compose("LieMidpoint", "yoshida4")
    outer = lielab.compose(inner, [0.5, 0.5])
    twice = lielab.solve(body, (0, 1), method=inner, h=0.05)
    once = lielab.solve(body, (0, 1), method=outer, h=0.1)
    np.testing.assert_allclose(once.y, twice.y[::2], atol=1e-14)
    assert outer.order == 4
    thrice = lielab.solve(body, (0, 1), method=lielab.compose(outer, [0.25, 0.75]), h=0.1)
    by_hand = body.y0
    for part in (0.25, 0.25, 0.75, 0.75):
        h = 0.05 * part
        by_hand = lielab.solve(body, (0, h), by_hand, method=inner, h=h).y[-1]
    np.testing.assert_allclose(thrice.y[1], by_hand, atol=1e-14)
    explicit = lielab.compose(lielab.compose("RKMK2", [0.5, 0.5]), [0.2, 0.3, 0.5])
    assert lielab.solve(body, (0, 1), method=explicit, h=0.1).n_exponentials == 12
    assert explicit.order == 2


def test_declared_orders_of_fractions_are_measured_ones():
    """Triple jumps from any even order, bare fractions, and fractions that raise nothing."""
    four = SCHEMES["yoshida4"][0]
    fifth = 1.0 / (2.0 - 2.0**0.2)
    six = (fifth, 1.0 - 2.0 * fifth, fifth)
    inner = lielab.compose("LieMidpoint")
    cases = [
        (lielab.compose("LieMidpoint", four), 4, (24, 32, 48, 64)),
        (lielab.compose("LieMidpoint", SCHEMES["yoshida6"][0]), 6, (12, 16, 24, 32)),
        (lielab.compose(inner, six), 6, (12, 16, 24, 32)),
        (lielab.compose(inner, [0.3, 0.7]), 4, (12, 16, 24, 32)),
        (lielab.compose("LieMidpoint", [0.3, 0.7]), 2, (24, 32, 48, 64)),
        (lielab.compose("RKMK2", four), 3, (64, 96, 128, 192)),
    ]
    for method, order, steps in cases:
        assert method.order == order
        study = lielab.diagnostics.order(FreeRigidBody(), method, t_end=2.0, steps=steps)
        assert study.order == pytest.approx(order, abs=0.25), method.name


def test_symmetry_is_measured_not_believed():
    """An implicit method of order 2 that is not symmetric, under any name; its symmetrised form is taken."""
    g = 1.0 - np.sqrt(0.5)  # of the diagonally implicit method of two stages, order 2
    tableau = lielab.tableaus.ImplicitTableau(
        "SDIRK2", 2, np.array([[g, 0.0], [1.0 - g, g]]), np.array([1.0 - g, g])
    )
    method = lielab.implicit_rkmk(tableau, "SDIRK2")
    for scheme in ("yoshida4", SCHEMES["yoshida4"][0]):
        with pytest.raises(ValueError, match="SDIRK2 is not symmetric, a step forth and back"):
            lielab.solve(PENDULUM, (0, 1), method=lielab.compose(method, scheme), h=0.1)
    plain = lielab.compose(method, [0.5, 0.5])
    assert plain.order == 2
    assert lielab.solve(PENDULUM, (0, 1), method=plain, h=0.1).success
    even = lielab.compose(lielab.symmetrised(method))
    assert lielab.solve(PENDULUM, (0, 0.2), method=even, h=0.1).success


def test_bad_arguments():
    with pytest.raises(ValueError, match="scheme must be one of yoshida4.* or fractions; got 3"):
        lielab.compose("LieMidpoint", 3)
    # Complex ones with no warning of NumPy's.
    for nonsense in (np.array([0.5 + 0.1j, 0.5 - 0.1j]), [True, False], ["1"]):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(ValueError, match="yoshida4.* or fractions; got .*(0.1j|True|'1')"):
                lielab.compose("LieMidpoint", nonsense)
    with pytest.raises(ValueError, match="scheme must be one of yoshida4"):
        lielab.compose("LieMidpoint", "yoshida8")
    with pytest.raises(ValueError, match="order 2; RKMK4 has order 4"):
        lielab.compose("RKMK4")
    with pytest.raises(ValueError, match="fractions must sum to 1"):
        lielab.compose("LieMidpoint", [0.5, 0.4])
    with pytest.raises(ValueError, match="SciPy's"):
        lielab.adjoint("DOP853")
