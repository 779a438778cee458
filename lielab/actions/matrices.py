"""SO(n) on spheres and Stiefel manifolds, in any dimension.

Points are n x p matrices with orthonormal columns, row-major; p = 1 is the sphere S^(n-1). Algebra vectors have
n (n - 1)/2 entries: hat(u) = sum over i < j of u_k (E_ji - E_ij), pairs in lexicographic order, as on
`lielab.special_orthogonal(n)`. The kernels read n from the length of u and p from that of y.
"""

from __future__ import annotations

import math

import numpy as np

from ..core.arguments import count
from ..core.dense import exponential, multiply, solve
from ..core.jit import jit
from ..core.round_off import mend_columns
from ..core.travel import recorded
from ..groups.scalars import bernoulli
from .action import Action

# B_2k/(2k)!, falling like (2 pi)^-2k: the series serves up to about |ad_u| = 2.
_EVEN = tuple(float(b) / math.factorial(2 * k) for k, b in enumerate(bernoulli(34)[::2]))


@jit
def _rows(u):
    """n from n (n - 1)/2."""
    return int(0.5 * (1.0 + math.sqrt(1.0 + 8.0 * len(u))) + 0.5)


@jit
def _hat(u, n, scale):
    X = np.zeros(n * n)
    k = 0
    for i in range(n):
        for j in range(i + 1, n):
            X[j * n + i] = scale * u[k]
            X[i * n + j] = -scale * u[k]
            k += 1
    return X


@jit
def _vee(X, n, u):
    k = 0
    for i in range(n):
        for j in range(i + 1, n):
            u[k] = X[j * n + i]
            k += 1


@jit
def exp_times(X, y, n, out):
    """exp(X) y"""
    g = np.empty(n * n)
    exponential(X, g)
    multiply(g, y, n, out)


@jit
def cay_times(A, y, n, out):
    """(1 + A)^-1 (1 - A) y: the Cayley map of -2 A; A is overwritten"""
    multiply(A, y, n, out)
    for i in range(len(y)):
        out[i] = y[i] - out[i]
    for i in range(n):
        A[i * n + i] += 1.0
    solve(A, out, n)


@jit
def dcayinv_of_half(X, Y, n):
    """(1 - X) Y (1 + X) = Y - [X, Y] - X Y X: dcayinv_2X Y; Y is overwritten"""
    XY, YX, XYX = np.empty(n * n), np.empty(n * n), np.empty(n * n)
    multiply(X, Y, n, XY)
    multiply(Y, X, n, YX)
    multiply(XY, X, n, XYX)
    for i in range(n * n):
        Y[i] += YX[i] - XY[i] - XYX[i]


@jit
def son_exp(u, y, out):
    """exp(hat(u)) y"""
    n = _rows(u)
    exp_times(_hat(u, n, 1.0), y, n, out)
    mend_columns(out, n)


@jit
def son_cay(u, y, out):
    """(1 - hat(u)/2)^-1 (1 + hat(u)/2) y"""
    n = _rows(u)
    cay_times(_hat(u, n, -0.5), y, n, out)
    mend_columns(out, n)


@jit
def son_generator(u, y, out):
    """hat(u) y"""
    n = _rows(u)
    multiply(_hat(u, n, 1.0), y, n, out)


@jit
def son_bracket(u, v, out):
    """Commutator."""
    n = _rows(u)
    X, Y = _hat(u, n, 1.0), _hat(v, n, 1.0)
    XY, YX = np.empty(n * n), np.empty(n * n)
    multiply(X, Y, n, XY)
    multiply(Y, X, n, YX)
    for i in range(n * n):
        XY[i] -= YX[i]
    _vee(XY, n, out)


@jit
def dexpinv_of_ad(A, v, out):
    """dexpinv_u v from A = ad_u, flat: Bernoulli's series, or a solve with dexp where the series is too slow.

    NaN where dexp_u is singular or not finite, so that a method notices.
    """
    n = len(v)
    term, after = v.copy(), np.empty(n)
    size = 0.0
    for i in range(n):
        out[i] = v[i]
        size = max(size, abs(v[i]))
    for k in range(1, 2 * len(_EVEN) - 1):  # k commutators
        for i in range(n):
            total = 0.0
            for j in range(n):
                total += A[i * n + j] * term[j]
            after[i] = total
        term, after = after, term
        if k > 1 and k % 2 == 1:
            continue  # the odd Bernoulli numbers vanish, but for B_1 = -1/2
        c = -0.5 if k == 1 else _EVEN[k // 2]
        largest = 0.0
        for i in range(n):
            out[i] += c * term[i]
            largest = max(largest, abs(c * term[i]))
        if largest <= 1e-17 * size:
            return
    # dexp is the upper right block of the exponential of [[A, 1], [0, 0]]
    m = 2 * n
    block, E = np.zeros(m * m), np.empty(m * m)
    for i in range(n):
        for j in range(n):
            block[i * m + j] = A[i * n + j]
        block[i * m + n + i] = 1.0
    good = exponential(block, E)
    D = np.empty(n * n)
    for i in range(n):
        out[i] = v[i]
        for j in range(n):
            D[i * n + j] = E[i * m + n + j]
    if not (good and solve(D, out, n)):
        for i in range(n):
            out[i] = np.nan


@jit
def son_dexpinv(u, v, out):
    """dexpinv on so(n), from the matrix of ad_u."""
    n, d = _rows(u), len(u)
    X = _hat(u, n, 1.0)
    A, M = np.empty(d * d), np.empty(n * n)
    column = 0
    for i in range(n):
        for j in range(i + 1, n):
            # [X, E] for E = E_ji - E_ij: column j of X enters column i of the result, and so on.
            for k in range(n * n):
                M[k] = 0.0
            for k in range(n):
                M[k * n + i] += X[k * n + j]
                M[k * n + j] -= X[k * n + i]
                M[j * n + k] -= X[i * n + k]
                M[i * n + k] += X[j * n + k]
            row = 0
            for a in range(n):
                for b in range(a + 1, n):
                    A[row * d + column] = M[b * n + a]
                    row += 1
            column += 1
    dexpinv_of_ad(A, v, out)


@jit
def son_dcayinv(u, v, out):
    """(1 - X/2) Y (1 + X/2)"""
    n = _rows(u)
    Y = _hat(v, n, 1.0)
    dcayinv_of_half(_hat(u, n, 0.5), Y, n)
    _vee(Y, n, out)


_MOST = 10**4


@recorded
def so_n_on_stiefel(n: int, p: int) -> Action:
    """SO(n) on the Stiefel manifold of n x p matrices Y with Y'Y = 1, y row-major."""
    n = count("n", n, 2, _MOST)
    p = count("p", p)
    if p > n:
        raise ValueError(f"p must be a whole number of at least 1 and at most {n}, got {p}")

    def distance(y: np.ndarray) -> np.ndarray:
        """Frobenius norm of Y'Y - 1."""
        Y = y.reshape(*y.shape[:-1], n, p)
        return np.linalg.norm(np.swapaxes(Y, -1, -2) @ Y - np.eye(p), axis=(-2, -1))

    def nearest(y: np.ndarray) -> np.ndarray:
        """The orthogonal factor of Y = Q S."""
        U, s, Vt = np.linalg.svd(y.reshape(*y.shape[:-1], n, p), full_matrices=False)
        if not np.all(s[..., -1] > 1e-12 * s[..., 0]):
            raise ValueError("the columns of y are dependent; nothing is nearest to them")
        return (U @ Vt).reshape(y.shape)

    def sample(rng: np.random.Generator) -> np.ndarray:
        return np.linalg.qr(rng.standard_normal((n, p)))[0].ravel()

    sphere = p == 1
    return Action(
        name=f"SO({n}) on S^{n - 1}" if sphere else f"SO({n}) on V({n}, {p})",
        group=f"SO({n})",
        manifold=f"the unit sphere S^{n - 1}" if sphere else f"the Stiefel manifold V({n}, {p})",
        algebra=n * (n - 1) // 2,
        point=n * p,
        dimension=n * p - p * (p + 1) // 2,
        exp_act=son_exp,
        dexpinv=son_dexpinv,
        bracket=son_bracket,
        generator=son_generator,
        cay_act=son_cay,
        dcayinv=son_dcayinv,
        distance=distance,
        nearest=nearest,
        sample=sample,
    )


def so_n_on_sphere(n: int) -> Action:
    """SO(n) on the unit sphere S^(n-1) in R^n."""
    return so_n_on_stiefel(n, 1)
