"""From sampled rates to attitudes and poses: g' = g hat(w), with w known at times t_k, as a gyroscope gives it.

One interval of length h is one exponential, g_{k+1} = g_k exp(u_k), of the first two terms of Magnus' series for a
rate that moves with the body (Hairer, Lubich & Wanner IV.7; the sign of the bracket is that of left translation):

    constant   u = h w_k                                                          order 1
    linear     u = h/2 (w_k + w_{k+1}) + h^2/12 [w_k, w_{k+1}]                    order 2
    cubic      u = h/2 (a + b) + sqrt(3)/12 h^2 [a, b], a and b the cubic through
               the four nearest samples at the two Gauss points                   order 4

The order is the one by which the attitude improves when smooth rates are sampled more often. A rate in space,
g' = hat(w) g, is g^-1' = g^-1 hat(-w): the same rule, on inverses.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.arguments import one_of, times_of
from ..core.jit import BINARY, F8, I8, MAT, VEC, jit, loop
from .batch import LARGEST, Space, read

RULES = {"constant": 0, "linear": 1, "cubic": 2}
_LEAST = {"constant": 2, "linear": 2, "cubic": 4}
_GAUSS = math.sqrt(3.0) / 6.0  # the Gauss points lie this fraction of h from the middle


@jit
def cubic_through(t, w, first, at, out):
    """out: the cubic through the rows first, ..., first + 3 of w at the time `at` (Lagrange's form)."""
    for i in range(len(out)):
        out[i] = 0.0
    for j in range(first, first + 4):
        weight = 1.0
        for m in range(first, first + 4):
            if m != j:
                weight *= (at - t[m]) / (t[j] - t[m])
        for i in range(len(out)):
            out[i] += weight * w[j, i]


@loop(BINARY, BINARY, I8, F8, VEC, MAT, MAT)
def follow(step, bracket, rule, sign, t, w, g):
    """Fill the rows of g from its first one; step(u, g, out) is out = g exp(u), w counts with the sign."""
    n, d = w.shape
    a, b, u = np.empty(d), np.empty(d), np.empty(d)
    for k in range(n - 1):
        h = sign * (t[k + 1] - t[k])
        if rule == 0:
            for i in range(d):
                u[i] = h * w[k, i]
        else:
            c = h * h / 12.0
            if rule == 1:
                for i in range(d):
                    a[i], b[i] = w[k, i], w[k + 1, i]
            else:
                c *= math.sqrt(3.0)
                first = min(max(k - 1, 0), n - 4)
                middle, far = 0.5 * (t[k] + t[k + 1]), _GAUSS * (t[k + 1] - t[k])
                cubic_through(t, w, first, middle - far, a)
                cubic_through(t, w, first, middle + far, b)
            bracket(a, b, u)
            for i in range(d):
                u[i] = 0.5 * h * (a[i] + b[i]) + c * u[i]
        step(u, g[k], g[k + 1])
    return True


def integrated(
    group: Any, step: Callable, t: Any, rates: Any, name: str, start: Any, rule: Any, frame: Any
) -> np.ndarray:
    """Elements (n, *shape) at the times t (n,) from rates (n, dim), called `name` by the group's `integrate`."""
    one_of("rule", rule, RULES)
    one_of("frame", frame, ("body", "space"))
    t = times_of("t", t, _LEAST[rule], f" for rule={rule!r}")
    w = read(name, rates, Space((group.dim,)))
    if w.ndim != 2 or len(w) != len(t):
        raise ValueError(
            f"{name} must have shape ({len(t)}, {group.dim}), one row for each time, got {w.shape}"
        )
    g0 = group.identity() if start is None else read("start", start, group.ELEMENT)
    if g0.shape != group.shape:
        raise ValueError(f"start must be one element of shape {group.shape}, got {g0.shape}")
    space = frame == "space"
    g = np.empty((len(t), math.prod(group.shape)))
    g[0] = (group.inverse(g0) if space else g0).reshape(-1)
    with np.errstate(all="ignore"):
        follow(step, group.bracket.kernel, RULES[rule], -1.0 if space else 1.0, t, w, g)
    if not np.abs(g).max() <= LARGEST:
        raise ValueError(
            f"{name} is too large for these times: the motion overflows; check its units"
        )
    g = g.reshape(len(t), *group.shape)
    return group.inverse(g) if space else g
