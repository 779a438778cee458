"""SO(3), SE(3), SE(2) and unit quaternions to 50 digits, for floats as they are; the yardstick of accuracy.

Arguments are floats and count as exact. Closed forms with 160 digits, so that nothing is lost at angles of 1e-16;
`by_series` gives the same functions from their power series, as a check on the closed forms.
"""

from __future__ import annotations

from collections.abc import Sequence

import mpmath as mp
import numpy as np

DIGITS = 160
Matrix = list  # rows of mpf


def numbers(values: Sequence[float]) -> list:
    if isinstance(values, list) and isinstance(values[0], mp.mpf):
        return values
    return [mp.mpf(float(v)) for v in np.asarray(values, dtype=float).ravel()]


def one(n: int) -> Matrix:
    return [[mp.mpf(int(i == j)) for j in range(n)] for i in range(n)]


def times(X: Matrix, Y: Matrix) -> Matrix:
    return [[mp.fdot(row, column) for column in zip(*Y, strict=True)] for row in X]


def blend(*terms: tuple) -> Matrix:
    """Sum of coefficient times matrix."""
    n, m = len(terms[0][1]), len(terms[0][1][0])
    return [[mp.fsum(c * X[i][j] for c, X in terms) for j in range(m)] for i in range(n)]


def transpose(X: Matrix) -> Matrix:
    return [list(row) for row in zip(*X, strict=True)]


def apply(X: Matrix, v: list) -> list:
    return [mp.fdot(row, v) for row in X]


def hat(v: list) -> Matrix:
    x, y, z = v
    return [[mp.mpf(0), -z, y], [z, mp.mpf(0), -x], [-y, x, mp.mpf(0)]]


def coefficients(A: list) -> dict[str, mp.mpf]:
    """Scalar functions of x = |A|^2 and their derivatives in x."""
    x = mp.fdot(A, A)
    if x == 0:
        f = mp.mpf(1)
        values = {"sinc": f, "cosc": f / 2, "sinc3": f / 6, "cinv": f / 12}
        return values | {"dcosc": -f / 24, "dsinc3": -f / 120, "dcinv": f / 720}
    t = mp.sqrt(x)
    sinc, cosc, sinc3 = mp.sin(t) / t, (1 - mp.cos(t)) / x, (t - mp.sin(t)) / (x * t)
    half = t / 2
    cot = mp.cot(half)
    cinv = (1 - half * cot) / x
    return {
        "sinc": sinc,
        "cosc": cosc,
        "sinc3": sinc3,
        "cinv": cinv,
        "dcosc": (sinc / 2 - cosc) / x,
        "dsinc3": ((cosc - sinc3) - 2 * sinc3) / (2 * x),
        "dcinv": (-(cot / half - 1 / mp.sin(half) ** 2) / 8 - cinv) / x,
    }


def tangent(A: list, a: list, c0, c1, c2, d1, d2) -> tuple[Matrix, Matrix]:
    """phi(ad_(A, a)): the diagonal block and the lower left one."""
    X, Y = hat(A), hat(a)
    XX = times(X, X)
    rho = 2 * mp.fdot(A, a)
    low = blend((c1, Y), (c2, times(X, Y)), (c2, times(Y, X)), (rho * d1, X), (rho * d2, XX))
    return blend((c0, one(3)), (c1, X), (c2, XX)), low


def exp(u: Sequence[float]) -> tuple[Matrix, list]:
    """Rotation and translation of exp(A, a); a may be absent."""
    A, a = _parts(u)
    c, X = coefficients(A), hat(A)
    XX = times(X, X)
    R = blend((1, one(3)), (c["sinc"], X), (c["cosc"], XX))
    V = blend((1, one(3)), (c["cosc"], X), (c["sinc3"], XX))
    return R, apply(V, a)


def dexp(u: Sequence[float]) -> tuple[Matrix, Matrix]:
    A, a = _parts(u)
    c = coefficients(A)
    return tangent(A, a, 1, c["cosc"], c["sinc3"], c["dcosc"], c["dsinc3"])


def dexpinv(u: Sequence[float]) -> tuple[Matrix, Matrix]:
    A, a = _parts(u)
    c = coefficients(A)
    return tangent(A, a, 1, -mp.mpf(1) / 2, c["cinv"], 0, c["dcinv"])


def cay(u: Sequence[float]) -> tuple[Matrix, list]:
    A, a = _parts(u)
    X = hat(A)
    XX = times(X, X)
    f = 1 / (1 + mp.fdot(A, A) / 4)
    R = blend((1, one(3)), (f, X), (f / 2, XX))
    return R, apply(blend((1, one(3)), (f / 2, X), (f / 4, XX)), a)


def nearest_rotation(R: np.ndarray) -> Matrix:
    """Polar factor of a float matrix, by Newton's iteration."""
    X = mp.matrix([[mp.mpf(float(v)) for v in row] for row in R])
    for _ in range(6):  # a defect of 1e-15 is squared every time
        X = (X + (X**-1).T) / 2
    return [[X[i, j] for j in range(3)] for i in range(3)]


def logs(g: np.ndarray) -> list[tuple[list, list]]:
    """(A, a) of a float matrix 3x3 or 4x4; two candidates where round-off decides about the side of pi."""
    g = np.asarray(g, dtype=float)
    R = nearest_rotation(g[:3, :3])
    r = numbers(g[:3, 3]) if len(g) == 4 else [mp.mpf(0)] * 3
    w = mp.sqrt(max(mp.mpf(0), 1 + R[0][0] + R[1][1] + R[2][2])) / 2
    skew = [R[2][1] - R[1][2], R[0][2] - R[2][0], R[1][0] - R[0][1]]
    if w > mp.mpf("0.1"):
        v = [s / (4 * w) for s in skew]
    else:
        k = max(range(3), key=lambda i: R[i][i])
        pivot = mp.sqrt(1 + 2 * R[k][k] - (R[0][0] + R[1][1] + R[2][2])) / 2
        v = [(R[i][k] + R[k][i]) / (4 * pivot) for i in range(3)]
        v[k] = pivot
        if mp.fdot(v, skew) < 0:
            v = [-x for x in v]
    n = mp.sqrt(mp.fdot(v, v))
    if n == 0:
        return [([mp.mpf(0)] * 3, r)]
    angle = 2 * mp.atan2(n, w)
    candidates = [angle]
    if w < mp.mpf("1e-13"):
        candidates.append(angle - 2 * mp.pi)
    results = []
    for t in candidates:
        A = [t * x / n for x in v]
        X = hat(A)
        Vinv = blend((1, one(3)), (-mp.mpf(1) / 2, X), (coefficients(A)["cinv"], times(X, X)))
        results.append((A, apply(Vinv, r)))
    return results


def other_branch(u: Sequence[float]) -> list:
    """The vector of the same motion that turns the other way round: lengths |A| - 2 pi."""
    A, a = _parts(u)
    t = mp.sqrt(mp.fdot(A, A))
    B = [x * (1 - 2 * mp.pi / t) for x in A]
    c, X = coefficients(A), hat(A)
    r = apply(blend((1, one(3)), (c["cosc"], X), (c["sinc3"], times(X, X))), a)
    X = hat(B)
    half = -mp.mpf(1) / 2
    return B + apply(blend((1, one(3)), (half, X), (coefficients(B)["cinv"], times(X, X))), r)


def quaternion(u: Sequence[float]) -> list:
    """(cos(|u|/2), sin(|u|/2) u/|u|)"""
    A = numbers(u)
    t = mp.sqrt(mp.fdot(A, A))
    f = mp.sin(t / 2) / t if t else mp.mpf(1) / 2
    return [mp.cos(t / 2), *(f * x for x in A)]


def plane_exp(u: Sequence[float]) -> tuple[Matrix, list]:
    """exp on SE(2): (theta, a)."""
    t, x, y = numbers(u)
    c, s = mp.cos(t), mp.sin(t)
    p, q = (s / t, (1 - c) / t) if t else (mp.mpf(1), mp.mpf(0))
    return [[c, -s], [s, c]], [p * x - q * y, q * x + p * y]


def plane_tangent(u: Sequence[float], inverse: bool) -> tuple[Matrix, list]:
    """dexp or dexpinv on SE(2): the block on translations, and the column on theta."""
    t, x, y = numbers(u)
    c = coefficients([t, mp.mpf(0), mp.mpf(0)])
    if inverse:
        alpha, beta = 1 - t * t * c["cinv"], -t / 2
        p, q = -mp.mpf(1) / 2, t * c["cinv"]
    else:
        alpha, beta = c["sinc"], t * c["cosc"]
        p, q = c["cosc"], t * c["sinc3"]
    # (p 1 + q J)(-J a), J = [[0, -1], [1, 0]]
    return [[alpha, -beta], [beta, alpha]], [p * y + q * x, q * y - p * x]


def by_series(u: Sequence[float], weights: Sequence) -> tuple[Matrix, Matrix]:
    """sum_k weights_k ad_u^k on se(3): the diagonal block and the lower left one."""
    A, a = _parts(u)
    X, Y = hat(A), hat(a)
    top, low = one(3), [[mp.mpf(0)] * 3 for _ in range(3)]
    tops, lows = [], []
    for _ in weights:
        tops.append(top)
        lows.append(low)
        low = blend((1, times(X, low)), (1, times(Y, top)))
        top = times(X, top)
    pair = list(zip(weights, tops, strict=True)), list(zip(weights, lows, strict=True))
    return blend(*pair[0]), blend(*pair[1])


def error(value: np.ndarray, exact: Matrix | list) -> float:
    """Frobenius norm of the difference over that of the exact block; absolute where that vanishes."""
    flat = [x for row in exact for x in row] if isinstance(exact[0], list) else exact
    values = [mp.mpf(float(v)) if np.isfinite(v) else mp.inf for v in np.ravel(value)]
    off = mp.sqrt(mp.fsum((v - e) ** 2 for v, e in zip(values, flat, strict=True)))
    size = mp.sqrt(mp.fsum(e * e for e in flat))
    return float(off / size) if size else float(off)


def _parts(u: Sequence[float]) -> tuple[list, list]:
    values = numbers(u)
    return values[:3], values[3:] or [mp.mpf(0)] * 3
