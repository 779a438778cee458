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
def rotation_step(problem, t, h, u, G0, P0, X, z, G1, P1):
    """Newton for x from the guess in it, then g1 and p1; arrays in capitals hold what has their small letter.

    Returns 0, or the last correction where it fails, and how often it called the Lagrangian.
    """
    problem, u, G0, P0, X = lent(problem), lent(u), lent(G0), lent(P0), lent(X)
    z, G1, P1 = lent(z), lent(G1), lent(P1)
    cay, a, b, p = problem.cay, problem.a, problem.b, problem.p
    for i in range(len(u)):
        z[12 + i] = u[i]
    x, p0, g0 = vec3(X, 0), vec3(P0, 0), mat3(G0, 0)
    size, last = math.inf, False
    for sweep in range(SWEEPS):
        F = turn(cay, x)
        store(g0 @ F, G1, 0)  # g1 = g0 tau(x)
        if last:
            mend(G1, 0, 3)
        store(x / h, z, 9)  # z = (g, xi, u), here with g0
        store(g0, z, 0)
        d0 = problem.L(t, z, p)
        f0 = problem.force(t, z, p) if problem.forced else d0
        store(mat3(G1, 0), z, 0)  # and here with g1
        d1 = problem.L(t + h, z, p)
        L0, L1, A = slopes(d0), slopes(d1), dtauinv(cay, x)
        mu = a * L0.xi + b * L1.xi
        if last:
            D2_Ld = h * b * L1.g + A @ mu  # as dtauinv_{-x}^T = dtauinv_x on SO(3)
            p1 = D2_Ld  # and F+, where there is a force: fan (9b)
            if problem.forced:
                p1 += h * b * vec3(problem.force(t + h, z, p), 0)  # F+: fan (9b)
            store(x, X, 0)
            store(p1, P1, 0)
            return 0.0, sweep + 1
        D1_Ld = h * a * L0.g - transpose(A) @ mu
        r = p0 + D1_Ld  # and F-, where there is a force: fan (9a)
        # dr/dx but for what the end g1 moves, which Ad^-1 = F^T takes back to w
        J = a * transpose(L0.xg) - dtauinv_slope(cay, x, mu)
        J -= transpose(A) @ (a / h * L0.xx + b / h * L1.xx)
        if problem.forced:
            r += h * a * vec3(f0, 0)  # F-: fan (9a)
            J += a * mat3(f0, 12)
        J = J @ A - transpose(A) @ (b * L1.xg @ transpose(F))
        step = A @ solve(J, r)
        x -= step
        if not finite(x):
            return math.inf, sweep + 1
        before, size = size, largest(step)
        last = settled(size, largest(x), before)
    return size, SWEEPS
