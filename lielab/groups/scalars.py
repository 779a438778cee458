"""Scalar functions of x = theta^2 behind the closed forms, exact at every scale.

Each is entire or even in theta, so it is a function of x. Near x = 0 the closed form cancels and a Taylor
series in x is used; the switch lies where both are good to a few units in the last place. Coefficients are
exact fractions, rounded once.
"""

from __future__ import annotations

import math
from fractions import Fraction

from ..core.jit import inner, jit


def bernoulli(count: int) -> list[Fraction]:
    """Bernoulli numbers B_0 ... B_count, B_1 = -1/2."""
    numbers = [Fraction(1)]
    for m in range(1, count + 1):
        numbers.append(
            -sum((math.comb(m + 1, k) * numbers[k] for k in range(m)), Fraction(0)) / (m + 1)
        )
    return numbers


def _alternating(offset: int, terms: int) -> list[Fraction]:
    """Coefficients of sum_k (-x)^k / (2 k + offset)!"""
    return [Fraction((-1) ** k, math.factorial(2 * k + offset)) for k in range(terms)]


def _derivative(series: list[Fraction]) -> list[Fraction]:
    return [k * c for k, c in enumerate(series)][1:]


def _floats(series: list[Fraction]) -> tuple[float, ...]:
    return tuple(float(c) for c in reversed(series))  # highest power first, for Horner


_TERMS = 14  # x < 2: the last term is below 1e-20
_B = bernoulli(60)
# (theta/2) cot(theta/2) = sum_k f_k x^k with f_k = (-1)^k B_2k / (2k)!
_F = [Fraction((-1) ** k) * _B[2 * k] / math.factorial(2 * k) for k in range(31)]
_C = [-f for f in _F[1:]]  # dexpinv coefficient (1 - f)/x

_SINC = _floats(_alternating(1, 9))  # used for x < 0.25 only
_SINC_SHORT = _floats(_alternating(1, 5))  # for x < 0.01, where small steps are
_DSINC = _floats(_derivative(_alternating(1, _TERMS + 1)))
_DCOSC = _floats(_derivative(_alternating(2, _TERMS + 1)))
_SINC3 = _floats(_alternating(3, _TERMS))
_SINC3_SHORT = _floats(_alternating(3, 8))  # for x < 0.25, where most steps are
_DSINC3 = _floats(_derivative(_alternating(3, _TERMS + 1)))
_CINV = _floats(_C[:14])  # converges like (x/39)^k
_CINV_SHORT = _floats(_C[:8])  # for x < 0.25, where most steps are
_CINV_SHORTEST = _floats(_C[:5])  # for x < 0.01
_DCINV = _floats(_derivative(_C[:25]))
_DCINV_SHORT = _floats(_derivative(_C[:10]))  # for x < 0.25
_DDCINV = _floats(_derivative(_derivative(_C[:26])))
# A vector typed in as 2 pi k times an axis has that length to a few units in the last place: relative to theta.
_AT_SINGULARITY = 4e-15


@inner
def horner(coefficients, x):
    """Polynomial with the highest power first; even and odd powers run side by side, half the latency."""
    xx, n = x * x, len(coefficients)
    first, second = 0.0, 0.0
    for k in range(n // 2):
        first = first * xx + coefficients[2 * k]
        second = second * xx + coefficients[2 * k + 1]
    value = first * x + second
    return value * x + coefficients[n - 1] if n % 2 else value


@jit
def sinc(x):
    """sin(theta)/theta"""
    if x < 0.25:
        return horner(_SINC, x)
    theta = math.sqrt(x)
    return math.sin(theta) / theta


@jit
def cosc(x):
    """(1 - cos(theta))/theta^2, as half the square of sin(theta/2)/(theta/2): it never cancels"""
    s = sinc(0.25 * x)
    return 0.5 * s * s


@jit
def sinc_cosc(x):
    """Both at once, for one sine and one cosine"""
    if x < 0.01:
        s = horner(_SINC_SHORT, 0.25 * x)
        return horner(_SINC_SHORT, x), 0.5 * s * s
    if x < 0.25:
        s = horner(_SINC, 0.25 * x)
        return horner(_SINC, x), 0.5 * s * s
    half = 0.5 * math.sqrt(x)
    s = math.sin(half) / half
    return s * math.cos(half), 0.5 * s * s


@jit
def sinc3(x):
    """(theta - sin(theta))/theta^3"""
    if x < 0.25:
        return horner(_SINC3_SHORT, x)
    if x < 2.0:
        return horner(_SINC3, x)
    return (1.0 - sinc(x)) / x


@jit
def dsinc(x):
    """Derivative of sinc in x"""
    if x < 2.0:
        return horner(_DSINC, x)
    return 0.5 * (math.cos(math.sqrt(x)) - sinc(x)) / x


@jit
def dcosc(x):
    """Derivative of cosc in x"""
    if x < 2.0:
        return horner(_DCOSC, x)
    return (0.5 * sinc(x) - cosc(x)) / x


@jit
def dsinc3(x):
    """Derivative of sinc3 in x"""
    if x < 2.0:
        return horner(_DSINC3, x)
    return (-dsinc(x) - sinc3(x)) / x


@jit
def cinv(x):
    """(1 - (theta/2) cot(theta/2))/theta^2, the coefficient of ad^2 in dexpinv on so(3)"""
    if x < 0.01:
        return horner(_CINV_SHORTEST, x)
    if x < 0.25:
        return horner(_CINV_SHORT, x)
    if x < 2.0:
        return horner(_CINV, x)
    half = 0.5 * math.sqrt(x)
    return (1.0 - half / math.tan(half)) / x


@jit
def cotc(x):
    """(theta/2) cot(theta/2)"""
    if x < 0.25:
        return 1.0 - x * horner(_CINV, x)
    half = 0.5 * math.sqrt(x)
    return half / math.tan(half)


@jit
def singular(x):
    """Is theta one of 2 pi, 4 pi, ..., where dexpinv does not exist, up to the rounding of theta itself?"""
    half = 0.5 * math.sqrt(x)
    return x > 30.0 and abs(math.sin(half)) < _AT_SINGULARITY * half


@jit
def dcinv(x):
    """Derivative of cinv in x; the closed form loses everything near 0, the series serves up to x = 6"""
    if x < 0.25:
        return horner(_DCINV_SHORT, x)
    if x < 6.0:
        return horner(_DCINV, x)
    half = 0.5 * math.sqrt(x)
    sine = math.sin(half)
    # d/dx of (half cot half) is (cot half / half - 1/sin^2 half)/8
    return (-(1.0 / (math.tan(half) * half) - 1.0 / (sine * sine)) / 8.0 - cinv(x)) / x


@jit
def ddcinv(x):
    """Second derivative of cinv in x, with the same switch as dcinv"""
    if x < 6.0:
        return horner(_DDCINV, x)
    half = 0.5 * math.sqrt(x)
    sine, cotangent = math.sin(half), 1.0 / math.tan(half)
    # half cot half has the derivative (cot half / half - 1/sin^2 half)/8 in x; d half/dx = 1/(8 half)
    cosecant = 1.0 / (sine * sine)
    slope = (2.0 * cosecant * cotangent - cosecant / half - cotangent / (half * half)) / 8.0
    return (-slope / (8.0 * half) - 2.0 * dcinv(x)) / x
