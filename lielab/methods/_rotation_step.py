"""The variational step on SO(3) alone, on values: several times faster than the general one on arrays.

Same equations and same Newton iteration as `variational_equations.weighted` and `variational_step.solve_step`, for
one SO(3) factor, a Lagrangian with weights (a, b) at the two ends, and no constraint.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from ..core.jit import jit, lent
from ..core.newton import SWEEPS, settled
from ..core.round_off import mend
from ..core.values import Mat3, Vec3, finite, largest, mat3, solve, store, transpose, vec3
from ..groups.rotations import dtauinv, dtauinv_slope, turn


class Slopes(NamedTuple):
    """Derivatives of L at one end: L_g, L_xi, then those of L_xi along g and xi, rows first."""

    g: Vec3
    xi: Vec3
    xg: Mat3
    xx: Mat3


@jit
def slopes(d):
    """The derivatives that a Lagrangian's kernel returned."""
    d = lent(d)
    return Slopes(vec3(d, 1), vec3(d, 4), mat3(d, 16), mat3(d, 25))


@jit
def rotation_step(problem, t, h, u, g0, P, x, z, g1, p1):
    """Newton for x from the guess in it, then g1 and p1.

    Returns 0, or the last correction where it fails, and how often it called the Lagrangian.
    """
    problem, u, g0, P, x = lent(problem), lent(u), lent(g0), lent(P), lent(x)
    z, g1, p1 = lent(z), lent(g1), lent(p1)
    cay, a, b, p = problem.cay, problem.a, problem.b, problem.p
    for i in range(len(u)):
        z[12 + i] = u[i]
    y, p0, R = vec3(x, 0), vec3(P, 0), mat3(g0, 0)
    size, last = math.inf, False
    for sweep in range(SWEEPS):
        F = turn(cay, y)
        store(R @ F, g1, 0)
        if last:
            mend(g1, 0, 3)
        store(y / h, z, 9)
        store(R, z, 0)
        d0 = problem.L(t, z, p)
        f0 = problem.force(t, z, p) if problem.forced else d0
        store(mat3(g1, 0), z, 0)
        d1 = problem.L(t + h, z, p)
        L0, L1, A = slopes(d0), slopes(d1), dtauinv(cay, y)
        mu = a * L0.xi + b * L1.xi
        if last:
            q1 = h * b * L1.g + A @ mu  # fan (9b): dtauinv_{-x}^T = dtauinv_x on SO(3)
            if problem.forced:
                q1 += h * b * vec3(problem.force(t + h, z, p), 0)
            store(y, x, 0)
            store(q1, p1, 0)
            return 0.0, sweep + 1
        r = p0 + h * a * L0.g - transpose(A) @ mu  # fan (9a)
        # dr/dx but for what the end g1 moves, which Ad^-1 = F^T takes back to w
        J = a * transpose(L0.xg) - dtauinv_slope(cay, y, mu)
        J -= transpose(A) @ (a / h * L0.xx + b / h * L1.xx)
        if problem.forced:
            r += h * a * vec3(f0, 0)
            J += a * mat3(f0, 12)
        J = J @ A - transpose(A) @ (b * L1.xg @ transpose(F))
        step = A @ solve(J, r)
        y -= step
        if not finite(y):
            return math.inf, sweep + 1
        before, size = size, largest(step)
        last = settled(size, largest(y), before)
    return size, SWEEPS
