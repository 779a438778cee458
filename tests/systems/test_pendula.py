"""Pendula on spheres: the O(N) tension solve against the dense equations of the paper, momenta, cost."""

import time

import numpy as np
import pytest

import lielab
from lielab.core import jit as _jit
from lielab.groups.so3 import hat
from lielab.systems import DoubleSphericalPendulum, PendulumChain, SphericalPendulum
from tests.pace import pace
from tests.systems.data import velocity


def random_chain(n, seed=1):
    rng = np.random.default_rng(seed)
    chain = PendulumChain(n, rng.uniform(0.5, 2, n), rng.uniform(0.5, 2, n))
    return chain, chain.project(rng.standard_normal(6 * n))


def dense(chain, y):
    """w' from the 3n x 3n system R(q) w' = ... of celledoni 5.2, with A9 of the errata."""
    n, m, L = chain.n, np.array(chain.masses), np.array(chain.lengths)
    q, w = y.reshape(n, 2, 3).transpose(1, 0, 2)
    above = np.cumsum(m[::-1])[::-1]
    R, b = np.zeros((n, 3, n, 3)), np.zeros((n, 3))
    for i in range(n):
        for j in range(n):
            M = above[max(i, j)] * L[i] * L[j]
            R[i, :, j] = M * np.eye(3) if i == j else M * hat(q[i]).T @ hat(q[j])
            if i != j:
                b[i] += M * (w[j] @ w[j]) * np.cross(q[i], q[j])
        b[i] -= above[i] * chain.g * L[i] * np.cross(q[i], [0, 0, 1])
    return np.linalg.solve(R.reshape(3 * n, 3 * n), b.ravel()).reshape(n, 3)


@pytest.mark.parametrize("n", [1, 2, 3, 10, 60])
def test_tension_solve_equals_the_dense_one(n):
    chain, y = random_chain(n)
    expected = dense(chain, y)
    found = velocity(chain, y).reshape(n, 2, 3)[:, 1]
    assert np.abs(found - expected).max() < 1e-12 * np.abs(expected).max()


def test_straight_chain_of_any_length():
    """A chain hanging straight with all w equal turns as a rod at that moment: w' = 0, whatever its length.

    The pivots of the tension equations fall to 1/m here; a recursion with subtractions would lose n times round-off.
    """
    n = 20000
    chain = PendulumChain(n, lengths=1.0 / n)
    y = np.tile([0.0, 0.0, -1.0, 0.0, 1.0, 0.0], n)
    rate = velocity(chain, y).reshape(n, 2, 3)[:, 1]
    assert np.abs(rate).max() < 1e-9
    # held out level, the links fall against the rods' tensions: compare with the dense solve
    small, tilted = PendulumChain(80), np.tile([1.0, 0.0, 0.0, 0.0, 0.5, 0.0], 80)
    found = velocity(small, tilted).reshape(80, 2, 3)[:, 1]
    assert np.abs(found - dense(small, tilted)).max() < 1e-11 * np.abs(found).max()


@pytest.mark.parametrize("n", [1, 2, 3, 10, 60])
def test_momentum_form(n):
    chain, y = random_chain(n)
    other = PendulumChain(n, chain.masses, chain.lengths, formulation="momentum")
    z = chain.to_momentum(y)
    # pi_i = sum_j M_ij q_i x q_j'
    q, w = y.reshape(n, 2, 3).transpose(1, 0, 2)
    m, L = np.array(chain.masses), np.array(chain.lengths)
    above = np.cumsum(m[::-1])[::-1]
    M = above[np.maximum.outer(np.arange(n), np.arange(n))] * np.outer(L, L)
    pi = np.cross(q, M @ np.cross(w, q))
    np.testing.assert_allclose(z.reshape(n, 2, 3)[:, 1], pi, rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(chain.to_omega(z), y, rtol=0, atol=1e-11)
    np.testing.assert_allclose(other.energy(z), chain.energy(y), rtol=1e-12)
    # the same motion: push the velocity of one form through the change of variables
    v, h = velocity(chain, y), 1e-5
    pushed = (
        8 * (chain.to_momentum(y + h * v) - chain.to_momentum(y - h * v))
        - (chain.to_momentum(y + 2 * h * v) - chain.to_momentum(y - 2 * h * v))
    ) / (12 * h)
    found = velocity(other, z)
    np.testing.assert_allclose(pushed, found, rtol=0, atol=1e-9 * np.abs(found).max())


def test_momentum_form_flows_as_the_other():
    one = lielab.solve(PendulumChain(2), (0, 2.2), rtol=1e-12, atol=1e-13)
    chain = PendulumChain(2, formulation="momentum")
    two = lielab.solve(chain, (0, 2.2), rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(chain.to_omega(two.y[-1]), one.y[-1], rtol=0, atol=1e-9)


def test_two_links_are_the_double_pendulum_upside_down():
    double = DoubleSphericalPendulum((2.0, 0.7), (0.8, 1.3))
    chain = PendulumChain(2, double.masses, double.lengths)
    turn = np.diag([1.0, -1.0, -1.0])
    y = double.project(np.random.default_rng(0).standard_normal(12))

    def turned(z):
        return (z.reshape(4, 3) @ turn).ravel()

    np.testing.assert_allclose(
        velocity(chain, turned(y)), turned(velocity(double, y)), rtol=0, atol=1e-12
    )
    assert chain.energy(turned(y)) == pytest.approx(double.energy(y), rel=1e-13)


def test_one_link_is_the_spherical_pendulum():
    chain, pendulum = PendulumChain(1, 2.0, 2.0), SphericalPendulum()
    y = pendulum.project(np.random.default_rng(0).standard_normal(6))
    np.testing.assert_allclose(velocity(chain, y), velocity(pendulum, y), atol=1e-13)
    assert chain.energy(y) == pytest.approx(pendulum.energy(y), rel=1e-14)


def test_beam_and_positions():
    beam = PendulumChain.beam(20)
    assert sum(beam.lengths) == pytest.approx(5.0, rel=1e-14)
    assert beam.masses == (1.0,) * 20
    tip = beam.positions(beam.y0)[-1]
    np.testing.assert_allclose(tip, 5 * np.array([1, 0, 1]) / np.sqrt(2), rtol=1e-13)
    down = DoubleSphericalPendulum()
    np.testing.assert_allclose(down.positions(down.y0)[1], down.y0[:3] + down.y0[6:9])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: PendulumChain(0), "n must be a whole number"),
        (lambda: PendulumChain(3, (1.0, 2.0)), "masses must have length 3, got 2"),
        (lambda: PendulumChain(2, (1.0, -2.0)), r"masses\[1\] must be a positive number, got -2.0"),
        (lambda: PendulumChain(2, lengths=(1.0, float("nan"))), r"lengths\[1\]"),
        (lambda: PendulumChain(2, formulation="theta"), "one of 'omega', 'momentum'"),
        (lambda: PendulumChain.beam(0), "n must be"),
        (lambda: DoubleSphericalPendulum((1.0,)), "masses must have length 2"),
        (lambda: SphericalPendulum(m=-1), "m must be a positive number"),
    ],
)
def test_wrong_physics_is_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.skipif(not _jit.ENABLED, reason="interpreted kernels have another cost")
def test_cost_is_linear():
    """Exponent of the field's cost between n = 1000 and 64000; the best of several timings each."""
    sizes, best = [1000, 8000, 64000], []
    for n in sizes:
        chain = PendulumChain.beam(n)
        form, y = chain.formulations["action"], chain.y0
        form.field(0.0, y, form.params)
        timings = []
        for _ in range(15):
            began = time.perf_counter()
            form.field(0.0, y, form.params)
            timings.append(time.perf_counter() - began)
        best.append(min(timings))
    slope = np.polyfit(np.log(sizes), np.log(best), 1)[0]
    assert slope < 1.1, (slope, best)
    assert best[1] < 0.16 * pace()  # a sixtieth of that, where it was written
