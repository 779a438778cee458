"""The variational step on SO(3) alone, in scalars: several times faster than the general one on arrays.

Same equations and same Newton iteration as `variational.weighted` and `variational.solve_step`, for one SO(3) factor, a
Lagrangian with weights (a, b) at the two ends, and no constraint.
"""

from __future__ import annotations

import math

from .._jit import jit
from ..groups._factors import add, dot, pull_core, pull_slope_core, turn
from ..groups._round_off import mend
from ..groups.so3 import back_core
from ._body import solve3_core
from ._march import NFEV

_E = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


@jit
def _entry(values, first, i):
    return (values[first + 3 * i], values[first + 3 * i + 1], values[first + 3 * i + 2])


@jit
def _column(values, first, j):
    return (values[first + j], values[first + 3 + j], values[first + 6 + j])


@jit
def rotation_step(
    L, force, forced, cay, a, b, t, h, u, g0, P, x, p, run, z, g1, p1, sweeps, last, stagnation
):
    """Newton for x from the guess in it, then g1 and p1; returns 0, or the last correction where it fails."""
    for i in range(len(u)):
        z[12 + i] = u[i]
    y, size, settled = (x[0], x[1], x[2]), math.inf, False
    for _ in range(sweeps):
        F = turn(cay, y)
        for i in range(0, 9, 3):
            row = back_core(F, (g0[i], g0[i + 1], g0[i + 2]))
            g1[i], g1[i + 1], g1[i + 2] = row
        if settled:
            mend(g1, 0, 3)
        for i in range(3):
            z[9 + i] = y[i] / h
        for i in range(9):
            z[i] = g0[i]
        d0 = L(t, z, p)
        r = add((P[0], P[1], P[2]), h * a, (d0[1], d0[2], d0[3]))
        f0 = d0
        if forced:
            f0 = force(t, z, p)
            r = add(r, h * a, (f0[0], f0[1], f0[2]))
        for i in range(9):
            z[i] = g1[i]
        d1 = L(t + h, z, p)
        m0, m1 = (d0[4], d0[5], d0[6]), (d1[4], d1[5], d1[6])
        mu = add((a * m0[0], a * m0[1], a * m0[2]), b, m1)
        pulled = pull_core(cay, y, mu)
        r = add(r, -1.0, pulled)
        run[NFEV] += 1
        if settled:
            end = pull_core(cay, (-y[0], -y[1], -y[2]), mu)
            end = add(end, h * b, (d1[1], d1[2], d1[3]))
            if forced:
                f1 = force(t + h, z, p)
                end = add(end, h * b, (f1[0], f1[1], f1[2]))
            for i in range(3):
                x[i], p1[i] = y[i], end[i]
            return 0.0
        # columns of [a xg0' + a f_xi - slope - A' M / h] A - b A' xg1 Ad^-1, A = dtauinv_x
        k0 = pull_core(cay, y, _E[0])
        k1 = pull_core(cay, y, _E[1])
        k2 = pull_core(cay, y, _E[2])  # rows of A
        c0 = c1 = c2 = (0.0, 0.0, 0.0)
        for j in range(3):
            v = (k0[j], k1[j], k2[j])  # A e_j
            mass = (0.0, 0.0, 0.0)
            for i in range(3):
                mass = add(mass, v[i] * a / h, _column(d0, 25, i))
                mass = add(mass, v[i] * b / h, _column(d1, 25, i))
            # Ad^-1 e_j is row j of F
            back = (F[3 * j], F[3 * j + 1], F[3 * j + 2])
            for i in range(3):
                mass = add(mass, back[i] * b, _column(d1, 16, i))
            column = pull_core(cay, y, mass)
            column = add(column, 1.0, pull_slope_core(cay, y, mu, v))
            column = (-column[0], -column[1], -column[2])
            for i in range(3):
                column = add(column, a * v[i], _entry(d0, 16, i))
                if forced:
                    column = add(column, a * v[i], _column(f0, 12, i))
            if j == 0:
                c0 = column
            elif j == 1:
                c1 = column
            else:
                c2 = column
        w = solve3_core((c0[0], c1[0], c2[0], c0[1], c1[1], c2[1], c0[2], c1[2], c2[2]), r)
        step = (dot(k0, w), dot(k1, w), dot(k2, w))
        before = size
        size = max(abs(step[0]), max(abs(step[1]), abs(step[2])))
        y = add(y, -1.0, step)
        scale = max(abs(y[0]), max(abs(y[1]), abs(y[2])))
        if not math.isfinite(y[0] + y[1] + y[2]):
            return math.inf
        settled = size <= last * scale or (size >= 0.5 * before and size <= stagnation)
    return size
