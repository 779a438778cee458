"""Analytic functions of ad in closed form: phi(ad) on so(3) and se(3) (celledoni 2.3).

For phi real and analytic at 0, with phi_+(z) = (phi(iz) + phi(-iz))/2 and phi_-(z) = (phi(iz) - phi(-iz))/(2i):

    phi(ad_A) = phi(0) 1 + g1 hat(A) + g2 hat(A)^2,   g1(z) = phi_-(z)/z,   g2(z) = (phi(0) - phi_+(z))/z^2,

at z = |A|; on se(3) the lower left block is its derivative in the direction a, with g1~ = g1'/z and g2~ = g2'/z.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core.arguments import function_of, numbers
from ..core.values import Vec3
from . import se3, so3
from ._se3_cores import tangent_blocks
from .batch import read
from .scalars import bernoulli

_SERIES_UP_TO = (
    0.75  # |A|: below it the closed forms of g2 and g2~ lose digits, the series loses none
)


def exponential_series(terms: int = 40) -> list[float]:
    """Taylor coefficients of e^z."""
    return [1.0 / math.factorial(k) for k in range(terms)]


def dexp_series(terms: int = 40) -> list[float]:
    """Taylor coefficients of (e^z - 1)/z."""
    return [1.0 / math.factorial(k + 1) for k in range(terms)]


def dexpinv_series(terms: int = 40) -> list[float]:
    """Taylor coefficients of z/(e^z - 1)."""
    return [float(b / math.factorial(k)) for k, b in enumerate(bernoulli(terms - 1))]


def phi_ad(
    group: Any, phi: Callable, dphi: Callable, series: Sequence[float], u: Any
) -> np.ndarray:
    """phi(ad_u) as a matrix, on lielab.so3 or lielab.se3. Shapes (..., n) -> (..., n, n).

    `phi` and its derivative `dphi` are functions of one complex number; `series` are Taylor coefficients of phi
    at 0, enough of them to be exact for |z| < 0.75. The group's own dexp and dexpinv are special cases, with
    scalar functions that are exact at every scale.
    """
    if not any(group is known for known in (so3, se3)):
        raise ValueError(f"group must be lielab.so3 or lielab.se3, got {group!r}")
    function_of("phi", phi, "z")
    function_of("dphi", dphi, "z")
    series = numbers("series", series)
    if len(series) < 4:
        raise ValueError(f"series must have at least 4 coefficients, got {len(series)}")
    u = read("u", u, group.ALGEBRA)
    flat = u.reshape(-1, group.dim)
    out = np.empty((len(flat), group.dim, group.dim))
    for row, result in zip(flat, out, strict=True):
        g1, g2, g1_, g2_ = coefficients(phi, dphi, series, math.sqrt(float(row[:3] @ row[:3])))
        a = row[3:] if group is se3 else np.zeros(3)
        A, a = Vec3(*row[:3]), Vec3(*a)
        top, low = tangent_blocks(A, a, series[0], g1, g2, g1_, g2_)
        top, low = np.reshape([*top], (3, 3)), np.reshape([*low], (3, 3))
        result[:] = np.block([[top, np.zeros((3, 3))], [low, top]]) if group is se3 else top
    return out.reshape(*u.shape, group.dim)


def coefficients(
    phi: Callable, dphi: Callable, series: Sequence[float], z: float
) -> tuple[float, float, float, float]:
    """g1, g2, g1~, g2~ at z >= 0 (celledoni 2.3)."""
    if z < _SERIES_UP_TO:
        # phi_-(z)/z = sum_k (-1)^k c_(2k+1) z^2k, (phi(0) - phi_+(z))/z^2 = sum_k (-1)^k c_(2k+2) z^2k
        odd = [(-1) ** k * c for k, c in enumerate(series[1::2])]
        even = [(-1) ** k * c for k, c in enumerate(series[2::2])]
        x = z * z
        values = []
        for s in (odd, even):
            values.append((_polynomial(s, x), _polynomial([k * c for k, c in enumerate(s)][1:], x)))
        (g1, h1), (g2, h2) = values
        return g1, g2, 2.0 * h1, 2.0 * h2
    value, slope = complex(phi(1j * z)), complex(dphi(1j * z))
    # phi(iz) = phi_+ + i phi_-, and d/dz phi(iz) = i phi'(iz)
    plus, minus = value.real, value.imag
    dplus, dminus = -slope.imag, slope.real
    g1, g2 = minus / z, (series[0] - plus) / z**2
    return g1, g2, (dminus - g1) / z**2, (-dplus / z - 2.0 * g2) / z**2


def _polynomial(coefficients: Sequence[float], x: float) -> float:
    value = 0.0
    for c in reversed(coefficients):
        value = value * x + c
    return value
