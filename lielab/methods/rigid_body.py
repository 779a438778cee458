"""The rigid-body zoo of ortolan 4.1: R' = R hat(w), J w' = J w x w + tau(R), one torque and one Newton solve a step.

With c = h/2 and the equations of `_body`, R1 = R F, tau, tau1 the torques at R, R1, and Jd = tr(J)/2 - J:

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

from ..core.jit import FIELD, I8, VEC, jit, lent, loop, record
from ..core.march import (
    AT,
    MOVED,
    NFEV,
    NOT_CONVERGED,
    RESIDUAL,
    RUNNING,
    STATE,
    H,
    T,
    advance,
    running,
)
from ..core.values import cross, dot, store, transpose, vec3
from ..groups.rotations import cay, exp, rotate, turn
from . import _body
from ._body import Body, newton, torque_at
from ._registry import Method, Plan, register
from .spheres import prepare as on_spheres

ELN, PRK, VLV, RATTLE, MCG, LIEMID, NEW3 = range(7)

# Each turn: from w, the momentum b = J w + c tau after the kick, c = h/2, and h, the rotation F of the step, the
# momentum m1 that the torque at R1 kicks, J w1 = m1 + c tau1, and what Newton left. Newton's guess v is ELN's value.


@jit
def eln_turn(use_cay, w, h, b, J):
    """ELN, ortolan (4.1): J v = b + c J w x w, F = map(h v); `kicked_step` solves for w1

    w is omega_k, v is omega_{k+1/2}, w1 is omega_{k+1}, c = h/2, b = J omega_k + c tau(R_k).
    """
    c = 0.5 * h
    v = (b + c * cross(J * w, w)) / J  # ortolan (4.1a)
    F = turn(use_cay, h * v)  # ortolan (4.1b)
    return F, J * v, 0.0


@jit
def prk_turn(use_cay, v, h, b, J):
    """PRK, ortolan (4.8): J v - c J v x v = b, F = map(h v), then m1 = J v + c J v x v

    v is omega_{k+1/2} (given: its guess), c = h/2, b = J omega_k + c tau(R_k), m1 = J omega_{k+1} - c tau(R_{k+1}).
    """
    c = 0.5 * h
    v, left = newton(_body.EULER, v, c, b, J)  # J v - c J v x v = b: ortolan (4.8a)
    F = turn(use_cay, h * v)  # ortolan (4.8b)
    m1 = J * v + c * cross(J * v, v)  # ortolan (4.8c) but for c tau1
    return F, m1, left


@jit
def vlv_turn(v, h, b, J):
    """VLV, ortolan (4.11): J v - c J v x v + c^2 (v . J v) v = b, F = cay(h v), then m1

    v is omega_{k+1/2} (given: its guess), c = h/2, b = J omega_k + c tau(R_k), m1 = J omega_{k+1} - c tau(R_{k+1}).
    The first is dcayinv(h v)^T J v = b, and m1 = J v + c J v x v + c^2 (v . J v) v = dcayinv(-h v)^T J v.
    """
    c = 0.5 * h
    v, left = newton(_body.VLV, v, c, b, J)  # dcayinv(h v)^T J v = b: ortolan (4.11a)
    F, m = cay(h * v), J * v  # ortolan (4.11b)
    m1 = m + c * cross(m, v) + c**2 * dot(v, m) * v  # ortolan (4.11c) but for c tau1
    return F, m1, left


@jit
def rattle_turn(v, h, b, J):
    """RATTLE, cited in ortolan 2.3: h hat(b) = F Jd - Jd F^T, F = cay(h v), then F^T b; Jd = tr(J)/2 - J"""
    v, left = newton(_body.RATTLE, v, 0.5 * h, b, J)  # `_body.rattle_equation`, derived there
    F = cay(h * v)
    m1 = transpose(F) @ b  # J w1 = F^T b but for c tau1
    return F, m1, left


@jit
def mcg_turn(v, h, b, J):
    """MCG, ortolan (4.9): J v = exp(-c v) b, F = exp(h v), then m1 = exp(-h v) b = F^T b

    v is omega_{k+1/2} (given: its guess), c = h/2, b = J omega_k + c tau(R_k), m1 = J omega_{k+1} - c tau(R_{k+1}).
    """
    c = 0.5 * h
    v, left = newton(_body.SPIN, v, c, b, J)  # J v = exp(-c v) b: ortolan (4.9a)
    F = exp(h * v)  # ortolan (4.9b)
    m1 = transpose(F) @ b  # J w1 = F^T b but for c tau1: ortolan (4.9c) with J w for its J v
    return F, m1, left


@jit
def liemid_turn(h, b, J):
    """LIEMID, ortolan (4.6): two half steps of J v = exp(-c v / 2) b, F = exp(c v), b -> F^T b"""
    Fa, m, left_a = mcg_turn(b / J, 0.5 * h, b, J)  # ortolan (4.6a), (4.6c)
    Fb, m1, left_b = mcg_turn(m / J, 0.5 * h, m, J)  # ortolan (4.6d), (4.6f) but for c tau1
    return Fa @ Fb, m1, left_a + left_b  # ortolan (4.6b), (4.6e)


@jit
def turn_of(kind, use_cay, w, b, h, J):
    """The turn of that kind of method."""
    if kind == ELN:
        return eln_turn(use_cay, w, h, b, J)
    c = 0.5 * h
    v = (b + c * cross(J * w, w)) / J  # Newton's guess: the value of ELN
    if kind == PRK:
        return prk_turn(use_cay, v, h, b, J)
    if kind == VLV:
        return vlv_turn(v, h, b, J)
    if kind == RATTLE:
        return rattle_turn(v, h, b, J)
    if kind == MCG:
        return mcg_turn(v, h, b, J)
    return liemid_turn(h, b, J)


@jit
def kicked_step(kind, body, t, h, y, kept, y_new):
    """A step whose torque acts at both ends; `kept` holds the torque at R, then the one at R1."""
    y, kept, y_new = lent(y), lent(kept), lent(y_new)
    c, w, J, tau = 0.5 * h, vec3(y, 9), body.J, vec3(kept, 0)
    b = J * w + c * tau
    F, m1, left = turn_of(kind, body.use_cay, w, b, h, J)
    rotate(y, F, y_new)  # R1 = R F: ortolan (4.1b), (4.6e), (4.8b), (4.9b), (4.11b)
    tau1 = torque_at(body, t + h, y_new)
    b1 = m1 + c * tau1  # the c tau1 of ortolan (4.1c), (4.6f), (4.8c), (4.9c), (4.11c)
    w1 = b1 / J
    if kind == ELN:
        w1, left = newton(_body.EULER, w1, c, b1, J)  # J w1 - c J w1 x w1 = b1: ortolan (4.1c)
    store(w1, y_new, 9)
    store(tau1, kept, 0)
    return left


@jit
def midpoint_step(body, t, h, y, y_new):
    """NEW3, ortolan (4.10): R_m = R exp(c w), exp(c w1) J w1 = exp(-c w) J w + h tau(R_m), R1 = R_m exp(c w1)"""
    y, y_new = lent(y), lent(y_new)
    c, w, J = 0.5 * h, vec3(y, 9), body.J
    F = exp(c * w)
    rotate(y, F, y_new)  # R_m: ortolan (4.10a)
    b = transpose(F) @ (J * w) + h * torque_at(body, t + c, y_new)  # ortolan (4.10b)
    w1, left = newton(_body.SPIN, b / J, c, b, J)  # J w1 = exp(-c w1) b
    rotate(y_new, exp(c * w1), y_new)  # ortolan (4.10c)
    store(w1, y_new, 9)
    return left


BodyKernels = record("BodyKernels", torque=FIELD)
BodyData = record("BodyData", kind=I8, use_cay=I8, inertia=VEC, kept=VEC, y_new=VEC)


@loop(BodyKernels.kind, BodyData.kind, *STATE)
def march(kernels, data, run, y, p, ts, ys, hs):
    """The loop over steps of the semi-explicit methods."""
    kind, use_cay, inertia, kept, y_new = lent(data)
    run, y, p = lent(run), lent(y), lent(p)
    body = Body(kernels.torque, kernels.torque, 0, use_cay, vec3(inertia, 0), p)
    while running(run):
        t, h = run[T], run[H]
        if kind == NEW3:
            left = midpoint_step(body, t, h, y, y_new)
        else:
            if run[AT] != MOVED:
                store(torque_at(body, t, y), kept, 0)
                run[NFEV] += 1
            left = kicked_step(kind, body, t, h, y, kept, y_new)
        run[NFEV] += 1
        run[RESIDUAL] = left
        advance(run, RUNNING if left == 0.0 else NOT_CONVERGED, 0.0, y, y_new, ts, ys, hs)


def map_flag(retraction: str) -> int:
    """1 for "cay", 0 for "exp"."""
    if retraction not in ("cay", "exp"):
        raise ValueError(f"retraction must be 'cay' or 'exp', got {retraction!r}")
    return int(retraction == "cay")


def plan(formulation: Any, march: Any, kernels: Any, data: Any) -> Plan:
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
        data = BodyData(kind, map_flag(retraction), inertia, np.zeros(3), np.zeros(12))
        return plan(formulation, march, BodyKernels(formulation.torque), data)

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
