"""Added inertia of an ellipsoid in irrotational flow (lee (6)-(11))."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np

from ..core.arguments import positive, positives


def added_inertia(axes: Any, mass: float) -> tuple[np.ndarray, np.ndarray]:
    """Total inertia (M, J), diagonals (3,), of a neutrally buoyant ellipsoid with its fluid (lee (6)-(11)).

    `axes`: semi-axes (m), `mass`: of the body (kg). gamma_q = (2/3) l_1 l_2 l_3 R_D. The quotient of lambda is
    written so that equal axes, where the printed one is 0/0, need no special case: numerator and denominator
    are divided by l_2^2 - l_3^2, and (gamma_3 - gamma_2)/(l_2^2 - l_3^2) is an integral of its own.
    """
    from scipy.special import elliprd

    l, mass = np.array(positives("axes", axes, 3)), positive("mass", mass)
    s, volume = l * l, float(np.prod(l))
    M, J = np.empty(3), np.empty(3)
    for q in range(3):
        a, b = (q + 1) % 3, (q + 2) % 3
        gamma = 2.0 / 3.0 * volume * elliprd(s[a], s[b], s[q])
        M[q] = mass * (1.0 + gamma / (2.0 - gamma))
        slope = volume * _cross_integral(s[q], s[a], s[b])  # (gamma_b - gamma_a) / (s_a - s_b)
        added = mass / 5.0 * (s[a] - s[b]) ** 2 * slope / (2.0 - (s[a] + s[b]) * slope)
        J[q] = mass / 5.0 * (s[a] + s[b]) + added
    return M, J


def _cross_integral(x: float, a: float, b: float) -> float:
    """int_0^inf dv / ((a + v)(b + v) sqrt((x + v)(a + v)(b + v)))"""
    from scipy.special import elliprd  # imported where it is used

    if abs(a - b) > 0.1 * max(a, b):  # partial fractions
        return 2.0 / 3.0 * float(elliprd(x, b, a) - elliprd(x, a, b)) / (b - a)
    # near a = b the difference cancels: Gauss-Legendre in z, v = a ((1 + z)/(1 - z))^2
    z, weight = _nodes()
    u = math.sqrt(a) * (1.0 + z) / (1.0 - z)
    slope = 2.0 * math.sqrt(a) / (1.0 - z) ** 2
    v = u * u
    values = 2.0 * u / ((a + v) * (b + v) * np.sqrt((x + v) * (a + v) * (b + v)))
    return float((weight * slope * values).sum())


@cache
def _nodes() -> tuple[np.ndarray, np.ndarray]:
    """The Gauss-Legendre rule on [-1, 1]: its nodes are eigenvalues, which take longer than all the rest."""
    return np.polynomial.legendre.leggauss(200)
