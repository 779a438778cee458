"""The product action of quadrotors that carry a load by rigid links (celledoni 6.1).

Points are x, v of the load, then R, Omega of each quadrotor, then q, w of each link: 6 + 18 n numbers. The
group is R^6 x (SO(3) x R^3)^n x SE(3)^n; algebra vectors have 6 + 12 n entries in the same order. SO(3) x R^3
is the *direct* product, (B, b).(R, Omega) = (B R, Omega + b): its dexpinv is that of so(3) on the first slot
and the identity on the second. With the product of the tangent group the printed action is no action.
"""

from __future__ import annotations

import numpy as np

from ..core.arguments import count
from ..core.jit import jit
from ..core.round_off import mend_tangent
from ..core.travel import recorded
from ..groups.se3 import (
    cay_translation_core,
    dcayinv_se3_core,
    dexpinv_se3_core,
    translation_core,
)
from ..groups.so3 import cay_core, cross_core, dcayinv_core, dexpinv_core, exp_core, mul_core
from .action import Action
from .motions import move_pair, project_ts2, sample_ts2, ts2_distance
from .rotations import rotation_distance, sample_rotation


@jit
def _act(cayley, u, y, out):
    n = (len(y) - 6) // 18
    for i in range(6):
        out[i] = y[i] + u[i]
    for j in range(n):
        k, m = 6 + 12 * j, 6 + 6 * j
        g = cay_core(u[m], u[m + 1], u[m + 2]) if cayley else exp_core(u[m], u[m + 1], u[m + 2])
        for i in range(k, k + 3):
            out[i], out[i + 3], out[i + 6] = mul_core(g, (y[i], y[i + 3], y[i + 6]))
            out[i + 9] = y[i + 9] + u[m + 3 + i - k]
    for j in range(n):
        k, m = 6 + 12 * n + 6 * j, 6 + 6 * n + 6 * j
        A, a = (u[m], u[m + 1], u[m + 2]), (u[m + 3], u[m + 4], u[m + 5])
        if cayley:
            move_pair(cay_core(A[0], A[1], A[2]), cay_translation_core(A, a), y, k, out)
        else:
            move_pair(exp_core(A[0], A[1], A[2]), translation_core(A, a), y, k, out)
        mend_tangent(out, k)


@jit
def quadrotors_exp(u, y, out):
    _act(False, u, y, out)


@jit
def quadrotors_cay(u, y, out):
    _act(True, u, y, out)


@jit
def quadrotors_generator(u, y, out):
    """(xi, hat(eta) R, beta, A x q, A x w + a x q)"""
    n = (len(y) - 6) // 18
    for i in range(6):
        out[i] = u[i]
    for j in range(n):
        k, m = 6 + 12 * j, 6 + 6 * j
        A = (u[m], u[m + 1], u[m + 2])
        for i in range(k, k + 3):
            out[i], out[i + 3], out[i + 6] = cross_core(A, (y[i], y[i + 3], y[i + 6]))
            out[i + 9] = u[m + 3 + i - k]
    for j in range(n):
        k, m = 6 + 12 * n + 6 * j, 6 + 6 * n + 6 * j
        A = (u[m], u[m + 1], u[m + 2])
        q = (y[k], y[k + 1], y[k + 2])
        dq = cross_core(A, q)
        dw = cross_core(A, (y[k + 3], y[k + 4], y[k + 5]))
        c = cross_core((u[m + 3], u[m + 4], u[m + 5]), q)
        for i in range(3):
            out[k + i] = dq[i]
            out[k + 3 + i] = dw[i] + c[i]


@jit
def _inverse_tangent(cayley, u, v, out):
    n = (len(u) - 6) // 12
    for i in range(len(out)):
        out[i] = v[i]
    for j in range(n):
        m = 6 + 6 * j
        A, B = (u[m], u[m + 1], u[m + 2]), (v[m], v[m + 1], v[m + 2])
        out[m], out[m + 1], out[m + 2] = dcayinv_core(A, B) if cayley else dexpinv_core(A, B)
    for j in range(n):
        m = 6 + 6 * n + 6 * j
        A, a = (u[m], u[m + 1], u[m + 2]), (u[m + 3], u[m + 4], u[m + 5])
        B, b = (v[m], v[m + 1], v[m + 2]), (v[m + 3], v[m + 4], v[m + 5])
        top, low = dcayinv_se3_core(A, a, B, b) if cayley else dexpinv_se3_core(A, a, B, b)
        for i in range(3):
            out[m + i], out[m + 3 + i] = top[i], low[i]


@jit
def quadrotors_dexpinv(u, v, out):
    _inverse_tangent(False, u, v, out)


@jit
def quadrotors_dcayinv(u, v, out):
    _inverse_tangent(True, u, v, out)


@jit
def quadrotors_bracket(u, v, out):
    n = (len(u) - 6) // 12
    for i in range(len(out)):
        out[i] = 0.0
    for m in range(6, len(u), 6):
        A, B = (u[m], u[m + 1], u[m + 2]), (v[m], v[m + 1], v[m + 2])
        out[m], out[m + 1], out[m + 2] = cross_core(A, B)
        if m >= 6 + 6 * n:
            first = cross_core(A, (v[m + 3], v[m + 4], v[m + 5]))
            second = cross_core(B, (u[m + 3], u[m + 4], u[m + 5]))
            for i in range(3):
                out[m + 3 + i] = first[i] - second[i]


def quadrotors_distance(y: np.ndarray) -> np.ndarray:
    """Largest distance of the rotations from SO(3) and of the links from TS^2."""
    n = (y.shape[-1] - 6) // 18
    bodies = y[..., 6 : 6 + 12 * n].reshape(*y.shape[:-1], n, 12)
    links = np.ascontiguousarray(y[..., 6 + 12 * n :])
    return np.maximum(rotation_distance(bodies).max(axis=-1), ts2_distance(links))


def quadrotors_nearest(y: np.ndarray) -> np.ndarray:
    """y with its links on TS^2; `Action.project` sees to the rotations."""
    links = 6 + 12 * ((y.shape[-1] - 6) // 18)
    return np.concatenate([y[..., :links], project_ts2(y[..., links:])], axis=-1)


_MOST = 10**5


@recorded
def quadrotors_action(n: int) -> Action:
    """The action for n quadrotors and one load."""
    n = count("n", n, most=_MOST)

    def sample(rng: np.random.Generator) -> np.ndarray:
        bodies = [sample_rotation(3)(rng) for _ in range(n)]
        links = [sample_ts2(rng) for _ in range(n)]
        return np.concatenate([rng.standard_normal(6), *bodies, *links])

    return Action(
        name=f"R^6 x (SO(3) x R^3)^{n} x SE(3)^{n} on a load with {n} quadrotors",
        group=f"R^6 x (SO(3) x R^3)^{n} x SE(3)^{n}",
        manifold=f"TR^3 x TSO(3)^{n} x (TS^2)^{n}",
        algebra=6 + 12 * n,
        point=6 + 18 * n,
        dimension=6 + 10 * n,
        exp_act=quadrotors_exp,
        dexpinv=quadrotors_dexpinv,
        bracket=quadrotors_bracket,
        generator=quadrotors_generator,
        cay_act=quadrotors_cay,
        dcayinv=quadrotors_dcayinv,
        distance=quadrotors_distance,
        nearest=quadrotors_nearest,
        sample=sample,
        rotations=tuple((6 + 12 * j, 3) for j in range(n)),
    )


TWO_QUADROTORS = quadrotors_action(2)
