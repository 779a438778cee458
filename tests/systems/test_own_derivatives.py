"""A reader's own derivative is compared with differences: right ones pass on every scale, wrong ones nowhere."""

from __future__ import annotations

import numpy as np
import pytest

import lielab
from lielab import so3
from lielab.systems import CotangentSystem, LagrangianFormulation, RigidBodyInPotential
from lielab.testing import check_lagrangian


def turned(R):
    """d/ds R_13 along R exp(s e_i)."""
    return np.array([(R @ so3.hat(e))[0, 2] for e in np.eye(3)])


def ripples(k, size=1.0):
    """U = size cos(k R_13) and its torque."""
    return (
        lambda R, p: size * np.cos(k * R[0, 2] + 0.3),
        lambda R, p: size * k * np.sin(k * R[0, 2] + 0.3) * turned(R),
    )


def well(width, size=1.0):
    """A narrow well about R_13 = 0 and its torque."""

    def potential(R, p):
        return -size * np.exp(-0.5 * (R[0, 2] / width) ** 2)

    def torque(R, p):
        x = R[0, 2] / width
        return -size / width * x * np.exp(-0.5 * x * x) * turned(R)

    return potential, torque


def bowl(size=1.0):
    """A weight, and its torque."""
    return (
        lambda R, p: size * (1.0 - R[2, 2]),
        lambda R, p: size * np.array([-R[2, 1], R[2, 0], 0.0]),
    )


def body(functions, tilt, factor=1.0):
    potential, torque = functions
    R = so3.exp(np.asarray(tilt))
    start = (*R.ravel(), 0.1, 0.2, 0.3)
    return RigidBodyInPotential(
        (1, 2, 2.5), potential, lambda R, p: factor * torque(R, p), (), start
    )


CASES = {
    **{f"ripples of 1e-{n}": (ripples(10.0**n), (0.3, 0.5, -0.2)) for n in range(7)},
    "ripples whose period any usual step holds": (ripples(2.0**21 * np.pi), (0.3, 0.5, -0.2)),
    **{f"well of 1e-{n}": (well(10.0**-n), (0.0, 0.7 * 10.0**-n, 0.0)) for n in range(7)},
    **{f"bowl at 1e-{n}": (bowl(), (10.0**-n, 0.0, 0.0)) for n in (1, 3, 6, 8)},
    **{f"energies of {size:g}": (ripples(1e6, size), (0.3, 0.5, -0.2)) for size in (1e-20, 1e20)},
}


@pytest.mark.parametrize(("functions", "tilt"), CASES.values(), ids=CASES)
def test_a_right_torque_is_taken_and_a_wrong_one_refused(functions, tilt):
    body(functions, tilt)
    for factor in (-1.0, 1.01):
        with pytest.raises(ValueError, match="torque is not minus the derivative of potential"):
            body(functions, tilt, factor)


@pytest.mark.parametrize("width", [1e3, 1.0, 1e-3, 1e-6])
def test_a_field_of_its_own_is_compared_on_the_scale_of_the_hamiltonian(width):
    def hamiltonian(y, p):
        return 0.5 * y[1] ** 2 - np.exp(-0.5 * (y[0] / width) ** 2)

    def field(t, y, p):
        x = y[0] / width
        return np.array([y[1], -x / width * np.exp(-0.5 * x * x)])

    for momentum in (1.0, 1e-6):
        start = ([0.7 * width], [momentum])
        CotangentSystem(lielab.rn(1), start, hamiltonian, field)
        for sign in ([1.0, -1.0], [-1.0, 1.0]):
            with pytest.raises(ValueError, match="field is not"):
                CotangentSystem(
                    lielab.rn(1),
                    start,
                    hamiltonian,
                    lambda t, y, p, sign=sign: sign * field(t, y, p),
                )


@pytest.mark.parametrize("size", [1e-18, 1.0, 1e18])
@pytest.mark.parametrize("k", [1e-3, 1.0, 1e4])
def test_derivatives_of_a_lagrangian_are_compared_on_its_own_scale(size, k):
    def lagrangian(wrong):
        def kernel(t, z, p):
            """L = size (v^2/2 - cos(k q)), its first derivatives, then gg, xig and xixi."""
            q, v = z
            L = np.array(
                [0.5 * v * v - np.cos(k * q), k * np.sin(k * q), v, k * k * np.cos(k * q), 0, 1]
            )
            L[wrong] *= -1.0
            return size * L

        return LagrangianFormulation((1,), kernel, np.empty(0))

    check_lagrangian(lagrangian([]))
    for entry, name in ((1, "dL/dg"), (3, "d2L/dg dg"), (5, "d2L/dxi dxi")):
        assert name in check_lagrangian(lagrangian(entry), require=False).failures
