"""Dipoles, vortices, spins and particles on spheres against exact solutions and gradients."""

import numpy as np
import pytest

import lielab
from lielab import so3
from lielab.systems import (
    EllipsoidParticle,
    LandauLifshitz,
    MagneticDipoles,
    ParticleOnSphere,
    PointVortices,
)
from tests.systems.data import REFERENCES, generic, velocity


def gradient(function, q, h=1e-2):
    """Of a function of flat q, by differences of order 6."""
    out = np.empty(len(q))
    for k in range(len(q)):
        e = np.zeros(len(q))
        e[k] = h
        f = [function(q + j * e) for j in (-3, -2, -1, 1, 2, 3)]
        out[k] = np.dot([-1, 9, -45, 45, -9, 1], f) / (60 * h)
    return out


def test_dipole_forces_are_minus_the_gradient():
    """M w_i' = -q_i x dV/dq_i for the printed V with the corrected prefactor."""
    dipoles = MagneticDipoles(2, 3)
    y = generic(dipoles)
    blocks = y.reshape(-1, 2, 3)

    def potential(q):
        z = blocks.copy()
        z[:, 0], z[:, 1] = q.reshape(-1, 3), 0.0
        return float(dipoles.energy(z.ravel()))

    slope = gradient(potential, blocks[:, 0].ravel()).reshape(-1, 3)
    expected = -np.cross(blocks[:, 0], slope) / dipoles.inertia
    found = velocity(dipoles, y).reshape(-1, 2, 3)[:, 1]
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


def test_two_dipoles_by_hand():
    """Side by side and parallel: V = mu_0 nu^2 / 4 pi r^3; in line: -2 times that (nearest neighbours 7.234e-5 J)."""
    pair = MagneticDipoles(1, 2)
    c = 1e-7 * 0.1**2 / 0.024**3
    assert c == pytest.approx(7.234e-5, abs=5e-9)
    z = np.zeros(12)
    z[2] = z[8] = 1.0
    assert pair.energy(z) == pytest.approx(c, rel=1e-14)
    z = np.zeros(12)
    z[0] = z[6] = 1.0
    assert pair.energy(z) == pytest.approx(-2 * c, rel=1e-14)
    # small turns of a pair in line: both in phase, V = -2c + 3 c theta^2 /2 ..., frequency^2 = 3 c / M
    y = pair.project([1, 0, 1e-5, 0, 0, 0, 1, 0, 1e-5, 0, 0, 0])
    acceleration = velocity(pair, y)[4]
    # theta about e2 is -1e-5, in phase the coupling is c (1 + 2) theta
    assert acceleration == pytest.approx(3 * c * 1e-5 / pair.inertia, rel=1e-6)


def test_dipoles_of_the_thesis():
    dipoles = MagneticDipoles()
    assert dipoles.dim == 96
    np.testing.assert_allclose(dipoles.positions[5], [0.024, 0.024, 0])
    sol = lielab.solve(dipoles, (0, 1), rtol=1e-10, atol=1e-10)
    assert np.ptp(sol.energy()) < 1e-12
    assert sol.defect().max() < 1e-13


def test_ring_of_vortices_turns():
    vortices = PointVortices((1.5,) * 5)
    z, T = 0.3, 2.0
    start = vortices.ring(z)
    rate = 1.5 * 4 * z / (4 * np.pi * (1 - z * z))
    sol = lielab.solve(vortices, (0, T), start, rtol=1e-12, atol=1e-13)
    expected = start.reshape(-1, 3) @ so3.exp([0, 0, rate * T]).T
    np.testing.assert_allclose(sol.y[-1].reshape(-1, 3), expected, rtol=0, atol=1e-10)


def test_pair_of_vortices_turns_about_its_moment():
    pair = PointVortices((1.0, -2.5))
    start = pair.project([1, 0.2, 0, 0.3, 1, -0.5])
    moment = pair.invariants["moment"](start)
    omega = moment / (4 * np.pi * (1 - start[:3] @ start[3:]))
    sol = lielab.solve(pair, (0, 7), start, rtol=1e-12, atol=1e-13)
    expected = start.reshape(-1, 3) @ so3.exp(7 * omega).T
    np.testing.assert_allclose(sol.y[-1].reshape(-1, 3), expected, rtol=0, atol=1e-10)


def test_vortex_field_against_the_formula():
    vortices = PointVortices((1.0, -0.5, 2.0, 0.0, 0.7))
    y = generic(vortices)
    q, G = y.reshape(-1, 3), np.array(vortices.strengths)
    for i, rate in enumerate(velocity(vortices, y).reshape(-1, 3)):
        others = [j for j in range(5) if j != i]
        terms = [G[j] * np.cross(q[j], q[i]) / (1 - q[i] @ q[j]) for j in others]
        np.testing.assert_allclose(rate, np.sum(terms, 0) / (4 * np.pi), rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("damping", [0.0, 0.2])
def test_single_spin_is_exact(damping):
    b, t = 1.5, 3.0
    spin = LandauLifshitz(1, damping=damping, field=(0, 0, b), g=2.0)
    sol = lielab.solve(spin, (0, t), rtol=1e-12, atol=1e-13)
    z = np.tanh(damping * b * t + np.arctanh(np.cos(0.5)))
    r, angle = np.sqrt(1 - z * z), 2.0 * b * t
    np.testing.assert_allclose(sol.y[-1], [r * np.cos(angle), r * np.sin(angle), z], atol=1e-10)


@pytest.mark.parametrize("axis", [(0, 0, 1), (1, -2, 0.5)])
@pytest.mark.parametrize("ring", [False, True])
def test_spin_field_is_the_gradient_of_the_energy(ring, axis):
    spins = LandauLifshitz(5, 0.7, 0.3, (0.1, -0.2, 0.5), damping=0.3, g=1.7, ring=ring, axis=axis)
    y = generic(spins)
    m = y.reshape(-1, 3)
    H = -gradient(lambda q: float(spins.energy(q)), y).reshape(-1, 3)
    expected = -1.7 * np.cross(m, H) - 0.3 * np.cross(m, np.cross(m, H))
    np.testing.assert_allclose(velocity(spins, y).reshape(-1, 3), expected, rtol=0, atol=1e-10)


def test_anisotropy_along_any_axis_is_that_along_e3_turned():
    """Axis, field and spins turned together: the motion turns with them, and so does what is conserved."""
    S, n = lielab.so3.random(5), np.array([0.0, 0.0, 1.0])
    plain = LandauLifshitz(4, anisotropy=0.8, field=(0, 0, 0.4))
    turned = LandauLifshitz(4, anisotropy=0.8, field=tuple(0.4 * S @ n), axis=tuple(S @ n))
    one = lielab.solve(plain, (0, 3), method="RKMK4", h=0.05)
    start = (plain.y0.reshape(-1, 3) @ S.T).ravel()
    two = lielab.solve(turned, (0, 3), start, method="RKMK4", h=0.05)
    np.testing.assert_allclose(two.y.reshape(-1, 4, 3) @ S, one.y.reshape(-1, 4, 3), atol=1e-13)
    assert list(plain.invariants) == ["energy", "moment along e3"]
    assert list(turned.invariants) == ["energy", "moment along the axis"]
    np.testing.assert_allclose(
        two.invariants()["moment along the axis"], one.invariants()["moment along e3"], atol=1e-13
    )
    assert list(LandauLifshitz(axis=(1, 0, 0), anisotropy=0.1).invariants) == ["energy"]
    assert list(LandauLifshitz(axis=(1, 0, 0)).invariants) == ["energy", "moment along e3"]
    assert list(LandauLifshitz(axis=(1, 0, 0), field=(0, 0, 0)).invariants)[1] == "total moment"
    assert LandauLifshitz(axis=(0, 0, 7.0)) == LandauLifshitz()


def test_damped_spins_lose_energy_in_every_step():
    spins = LandauLifshitz(8, anisotropy=0.2, damping=0.1)
    assert spins.invariants == {}
    sol = lielab.solve(spins, (0, 20), rtol=1e-9, atol=1e-10)
    assert (np.diff(sol.energy()) < 0).all()
    quiet = LandauLifshitz(8, field=(0, 0, 0), ring=True)
    sol = lielab.solve(quiet, (0, 20), rtol=1e-11, atol=1e-12)
    moment = sol.invariants()["total moment"]
    np.testing.assert_allclose(moment, np.broadcast_to(moment[0], moment.shape), atol=1e-9)


def test_ellipsoid_momentum_and_its_own_metric():
    particle = EllipsoidParticle()
    assert particle.vertical_momentum(particle.y0) == pytest.approx(
        REFERENCES["ellipsoid"]["momentum"]
    )
    assert "vertical momentum" not in particle.invariants

    def metric(x, p):
        return np.diag(p[:3] ** 2)

    def potential(x, p):
        return p[3] * p[2] * x[2]

    own = ParticleOnSphere(metric, potential, p=(1.0, 1.3, 0.7, 1.0))
    y = generic(particle)
    np.testing.assert_allclose(velocity(own, y), velocity(particle, y), rtol=0, atol=1e-11)
    for name in ("metric", "metric_gradient", "potential_gradient"):
        one, two = (getattr(s.formulations["metric"], name) for s in (own, particle))
        expected = two(0.0, y, particle.formulations["metric"].params)
        np.testing.assert_allclose(
            one(0.0, y, own.formulations["metric"].params), expected, atol=1e-11
        )


def test_a_metric_that_numba_cannot_compile_runs_with_a_warning():
    def metric(x, p):
        return np.array([[float(f"{1.0 if i == j else 0.0}") for j in range(3)] for i in range(3)])

    def potential(x, p):
        return x[2]

    system = ParticleOnSphere(metric, potential)
    if lielab.core.jit.ENABLED:
        with pytest.warns(RuntimeWarning, match="could not be compiled"):
            form = system.formulations["action"]
    else:
        form = system.formulations["action"]
    y = system.y0
    expected = -y[3:] @ y[3:] * y[:3] - (np.array([0, 0, 1]) - y[2] * y[:3])
    rate = form.action.generator(form.field(0.0, y, form.params), y)
    np.testing.assert_allclose(rate[3:], expected, atol=1e-11)


def test_project_names_what_cannot_be_projected():
    with pytest.raises(ValueError, match="no nearest unit vector"):
        PointVortices().project(np.zeros(18))
    with pytest.raises(ValueError, match="project"):
        lielab.solve(PointVortices(), (0, 1), 2 * PointVortices().y0)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: MagneticDipoles(rows=0), "rows must be a whole number"),
        (lambda: MagneticDipoles(mass=-1), "mass must be a positive"),
        (lambda: PointVortices((1.0,)), "at least two"),
        (lambda: PointVortices((1.0, float("inf"))), "finite"),
        (lambda: PointVortices().ring(1.0), "height must lie between"),
        (lambda: PointVortices().check(np.tile([0, 0, 1.0], 6)), "vortices 1 and 2 of y coincide"),
        (lambda: LandauLifshitz(0), "n must be"),
        (lambda: LandauLifshitz(damping=-0.1), "damping must not be negative"),
        (lambda: LandauLifshitz(2, ring=True), "at least 3"),
        (lambda: LandauLifshitz(field=(0, 0)), "field must be 3"),
        (lambda: LandauLifshitz(axis=(0, 0, 0)), "axis must not be zero"),
        (lambda: LandauLifshitz(axis=(0, 1)), "axis must be 3"),
        (lambda: EllipsoidParticle(axes=(1, 2)), "axes must have length 3"),
        (lambda: EllipsoidParticle(axes=(1, 2, -3)), r"axes\[2\]"),
        (lambda: ParticleOnSphere(lambda x, p: np.ones(3), lambda x, p: 0.0), "symmetric array"),
        (lambda: ParticleOnSphere(lambda x, p: -np.eye(3), lambda x, p: 0.0), "positive definite"),
        (lambda: ParticleOnSphere(lambda x, p: np.eye(3), lambda x, p: x), "must return a number"),
    ],
)
def test_wrong_physics_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()
