"""The rigid-body zoo of ortolan 4.1: R' = R hat(w), J w' = J w x w + tau(R), one torque and one Newton solve a step.

With c = h/2 and the equations of `_body`, R1 = R F, and tau, tau1 the torques at R, R1:

    ELN     J v = J w + c (J w x w + tau), F = map(h v);              J w1 - c J w1 x w1 = J v + c tau1       (4.1)
    PRK     EULER: J v - c J v x v = J w + c tau, F = map(h v);       J w1 = J v + c (J v x v + tau1)         (4.8)
    VLV     dcayinv(h v)^T J v = J w + c tau, F = cay(h v);           J w1 = dcayinv(-h v)^T J v + c tau1    (4.11)
    RATTLE  h hat(J w + c tau) = F Jd - Jd F^T, F = cay(h v);         J w1 = F^T (J w + c tau) + c tau1
    MCG     J v = exp(-c v) (J w + c tau), F = exp(h v);              J w1 = F^T (J w + c tau) + c tau1       (4.9)
    LIEMID  two half steps of J v = exp(-c v / 2) m, m -> exp(-c v) m, F = exp(c v_a) exp(c v_b)             (4.6)
    NEW3    R_m = R exp(c w), exp(c w1) J w1 = exp(-c w) J w + h tau(R_m), R1 = R_m exp(c w1)               (4.10)

The printed (4.9c), the Jacobians of LIEMID, TLN and VLV and the residual of VLV carry errors; these are the corrected
forms (see the book's errata). LieNewmark and TLN live in `newmark`, SimoWong and AKW in `momentum_balance`. Newton
runs to round-off, since what an early stop leaves behind drifts; each step brings R back onto SO(3), which moves
R J w by round-off. VLV and RATTLE are symplectic; the others are not. ELN and RATTLE also run on spheres, see
`spheres`; the option `retraction` of ELN left at None means cay on bodies and exp on spheres.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._jit import FIELD, I8, MAT, VEC, jit, lent, loop
from ..groups.so3 import back_core, product_core
from . import _body
from ._body import gyro_core, rotate, solve_velocity, turn_core
from ._march import AT, MOVED, NFEV, NOT_CONVERGED, RESIDUAL, RUNNING, H, T, advance, running
from ._registry import Method, Plan, register
from .spheres import prepare as on_spheres

ELN, PRK, VLV, RATTLE, MCG, LIEMID, NEW3 = range(7)


@jit
def half_turn(b, c, J):
    """LIEMID's half step: F = exp(c v) with J v = exp(-c v / 2) b, and F^T b."""
    v, left = solve_velocity(_body.SPIN, 0.5 * c, b, J, (b[0] / J[0], b[1] / J[1], b[2] / J[2]))
    F = turn_core(False, (c * v[0], c * v[1], c * v[2]))
    return F, back_core(F, b), left


@jit
def turn(kind, cay, w, tau, h, J):
    """The rotation F of a step, the momentum that the torque at R1 kicks, and what Newton left."""
    c = 0.5 * h
    m = (J[0] * w[0] + c * tau[0], J[1] * w[1] + c * tau[1], J[2] * w[2] + c * tau[2])
    if kind == LIEMID:
        A, b, left_a = half_turn(m, c, J)
        B, b, left_b = half_turn(b, c, J)
        return product_core(A, B), b, left_a + left_b
    g = gyro_core(w, J)
    b = (m[0] + c * g[0], m[1] + c * g[1], m[2] + c * g[2])
    v, left = (b[0] / J[0], b[1] / J[1], b[2] / J[2]), 0.0  # the guess of the others, ELN's value
    if kind == PRK:
        v, left = solve_velocity(_body.EULER, c, m, J, v)
    elif kind == VLV:
        v, left = solve_velocity(_body.VLV, c, m, J, v)
    elif kind == RATTLE:
        v, left = solve_velocity(_body.RATTLE, c, m, J, v)
    elif kind == MCG:
        v, left = solve_velocity(_body.SPIN, c, m, J, v)
    F = turn_core(cay, (h * v[0], h * v[1], h * v[2]))
    if kind in (RATTLE, MCG):
        b = back_core(F, m)
    elif kind != ELN:
        g = gyro_core(v, J)
        e = 0.0
        if kind == VLV:
            e = c * (J[0] * v[0] * v[0] + J[1] * v[1] * v[1] + J[2] * v[2] * v[2])
        b = (
            J[0] * v[0] + c * (g[0] + e * v[0]),
            J[1] * v[1] + c * (g[1] + e * v[1]),
            J[2] * v[2] + c * (g[2] + e * v[2]),
        )
    return F, b, left


@jit
def kicked_step(kind, cay, torque, t, h, y, p, J, kept, y_new):
    """A step whose torque acts at both ends; `kept` holds the torque at R, then the one at R1."""
    y, p, kept, y_new = lent(y), lent(p), lent(kept), lent(y_new)
    F, b, left = turn(kind, cay, (y[9], y[10], y[11]), (kept[0], kept[1], kept[2]), h, J)
    rotate(y, F, y_new)
    tau, c = torque(t + h, y_new, p), 0.5 * h
    b = (b[0] + c * tau[0], b[1] + c * tau[1], b[2] + c * tau[2])
    w = (b[0] / J[0], b[1] / J[1], b[2] / J[2])
    if kind == ELN:
        w, left = solve_velocity(_body.EULER, c, b, J, w)
    for i in range(3):
        y_new[9 + i], kept[i] = w[i], tau[i]
    return left


@jit
def midpoint_step(torque, t, h, y, p, J, y_new):
    """NEW3: the torque acts at R exp(c w)."""
    y, p, y_new = lent(y), lent(p), lent(y_new)
    c, w = 0.5 * h, (y[9], y[10], y[11])
    F = turn_core(False, (c * w[0], c * w[1], c * w[2]))
    rotate(y, F, y_new)
    tau = torque(t + c, y_new, p)
    m = back_core(F, (J[0] * w[0], J[1] * w[1], J[2] * w[2]))
    b = (m[0] + h * tau[0], m[1] + h * tau[1], m[2] + h * tau[2])
    w, left = solve_velocity(_body.SPIN, c, b, J, (b[0] / J[0], b[1] / J[1], b[2] / J[2]))
    rotate(y_new, turn_core(False, (c * w[0], c * w[1], c * w[2])), y_new)
    for i in range(3):
        y_new[9 + i] = w[i]
    return left


@loop(FIELD, I8, I8, VEC, VEC, VEC, VEC, VEC, VEC, VEC, MAT, VEC)
def march(torque, kind, cay, inertia, kept, y_new, run, y, p, ts, ys, hs):
    """The loop over steps of the semi-explicit methods."""
    kept, y_new, run, y, p = lent(kept), lent(y_new), lent(run), lent(y), lent(p)
    J = (inertia[0], inertia[1], inertia[2])
    while running(run):
        t, h = run[T], run[H]
        if kind == NEW3:
            left = midpoint_step(torque, t, h, y, p, J, y_new)
        else:
            if run[AT] != MOVED:
                tau = torque(t, y, p)
                run[NFEV] += 1
                for i in range(3):
                    kept[i] = tau[i]
            left = kicked_step(kind, cay, torque, t, h, y, p, J, kept, y_new)
        run[NFEV] += 1
        run[RESIDUAL] = left
        advance(run, RUNNING if left == 0.0 else NOT_CONVERGED, 0.0, y, y_new, ts, ys, hs)


def map_flag(retraction: str) -> int:
    """1 for "cay", 0 for "exp"."""
    if retraction not in ("cay", "exp"):
        raise ValueError(f"retraction must be 'cay' or 'exp', got {retraction!r}")
    return int(retraction == "cay")


def plan(formulation: Any, march: Any, kernels: tuple, data: tuple) -> Plan:
    """A Plan in the variables R, w of the rigid body, whatever the system's own layout is."""
    return Plan(
        loop=march,
        kernels=kernels,
        data=data,
        params=formulation.params,
        encode=formulation.encode,
        decode=formulation.decode,
        structured=True,
    )


def _register(
    name: str, kind: int, source: str, retraction: str, choice: bool = False, spheres: bool = False
) -> Method:
    default = None if spheres and choice else retraction

    def prepare(formulation: Any, y0: np.ndarray, retraction: str | None = default) -> Plan:
        if hasattr(formulation, "force"):  # on spheres
            cay = map_flag(retraction or "exp")
            return on_spheres(formulation, kind == RATTLE, bool(cay))
        retraction = retraction or "cay"
        inertia = np.array(formulation.inertia, dtype=float)
        data = (kind, map_flag(retraction), inertia, np.zeros(3), np.zeros(12))
        return plan(formulation, march, (formulation.torque,), data)

    return register(
        Method(
            name=name,
            family="rigid body",
            order=2,
            needs="rigid_body",
            source=source,
            prepare=prepare,
            options={"retraction": default} if choice else {},
            also=("spheres",) if spheres else (),
        )
    )


_register(
    "ELN",
    ELN,
    "explicit Lie-Newmark, Simo & Vu-Quoc 1988; ortolan (4.1), on spheres (7.1)",
    "cay",
    True,
    True,
)
_register("PRK", PRK, "Nukala & Shelton 2007; ortolan (4.8)", "cay", True)
_register("VLV", VLV, "Bou-Rabee & Marsden 2009; ortolan (4.11), residual corrected", "cay")
_register(
    "RATTLE",
    RATTLE,
    "Reich 1994, McLachlan & Scovel 1995 (free: Moser & Veselov 1991); ortolan 2.3, on spheres (7.4)",
    "cay",
    spheres=True,
)
_register("MCG", MCG, "Nukala & Shelton 2007; ortolan (4.9), (4.9c) corrected", "exp")
_register("LIEMID", LIEMID, "LIEMID[EA], Krysl 2005; ortolan (4.6)", "exp")
_register("NEW3", NEW3, "Koziara & Bicanic 2010; ortolan (4.10)", "exp")
