"""The rigid-body zoo of ortolan 4.1: R' = R hat(w), J w' = J w x w + tau(R), one torque and one Newton solve a step.

With c = h/2, R1 = R F, tau, tau1 the torques at R, R1, and Jd = tr(J)/2 - J:

    ELN     J v = J w + c (J w x w + tau), F = map(h v);              J w1 - c J w1 x w1 = J v + c tau1       (4.1)
    PRK     J v - c J v x v = J w + c tau, F = map(h v);              J w1 = J v + c (J v x v + tau1)         (4.8)
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

import math
from typing import Any

import numpy as np

from ..core.jit import FIELD, I8, VEC, inner, jit, lent, loop, record
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
from ..core.newton import SWEEPS, settled
from ..core.values import (
    Vec3,
    cross,
    diag,
    dot,
    finite,
    hat,
    largest,
    outer,
    solve,
    store,
    transpose,
    vec3,
)
from ..groups.rotations import cay, dexp_left, exp, rotate, turn
from ._body import Body, euler_matrix, torque_at
from ._registry import Method, Plan, register
from .spheres import prepare as on_spheres

ELN, PRK, VLV, RATTLE, MCG, LIEMID, NEW3 = range(7)

# w, v, w1 are omega_k, omega_{k+1/2}, omega_{k+1} of the thesis, tau and tau1 the torques at R and R1, c = h/2; J is a
# diagonal, so that J w is J * w, and J^-1 b is b / J. A step takes y = (R, w) and tau, puts R1 into y_new, and returns
# w1, tau1 and what Newton left. Above it stands the equation that `newton` solves for it: f, to be 0, and its Jacobian.


@jit
def euler_equation(w, c, b, J):
    """The implicit Euler half step: f = J w - c J w x w - b. ELN solves it for w1, PRK for v."""
    f = J * w - c * cross(J * w, w) - b  # J times ortolan (4.1c), (4.8a)
    return f, euler_matrix(w, c, J)


@inner
def eln_step(body, t, h, y, tau, y_new):
    """ELN, ortolan (4.1): J v = J w + c (J w x w + tau), R1 = R map(h v), J w1 = J v + c (J w1 x w1 + tau1)"""
    c, w, J = 0.5 * h, vec3(y, 9), body.J
    v = (J * w + c * tau + c * cross(J * w, w)) / J  # ortolan (4.1a)
    rotate(y, turn(body.use_cay, h * v), y_new)  # R1 = R cay(h v), or exp: ortolan (4.1b)
    tau1 = torque_at(body, t + h, y_new)
    b1 = J * v + c * tau1
    w1, left = newton(ELN, b1 / J, c, b1, J)  # J w1 - c J w1 x w1 = b1: ortolan (4.1c)
    return w1, tau1, left


@jit
def eln_velocity(w, c, b, J):
    """v of ELN, J v = b + c J w x w with b = J w + c tau: the guess from which the others begin."""
    return (b + c * cross(J * w, w)) / J


@inner
def prk_step(body, t, h, y, tau, y_new):
    """PRK, ortolan (4.8): J v = J w + c (J v x v + tau), R1 = R map(h v), J w1 = J v + c (J v x v + tau1)"""
    c, w, J = 0.5 * h, vec3(y, 9), body.J
    b = J * w + c * tau
    v, left = newton(PRK, eln_velocity(w, c, b, J), c, b, J)  # J v - c J v x v = b: ortolan (4.8a)
    rotate(y, turn(body.use_cay, h * v), y_new)  # R1 = R cay(h v), or exp: ortolan (4.8b)
    tau1 = torque_at(body, t + h, y_new)
    w1 = (J * v + c * cross(J * v, v) + c * tau1) / J  # ortolan (4.8c)
    return w1, tau1, left


@jit
def vlv_equation(v, c, b, J):
    """VLV: f = J v - c J v x v + c^2 (v . J v) v - b, which is dcayinv(2 c v)^T J v - b.

    (4.11a) is printed right; the f and the J_f below it, for Newton, are not.
    """
    f = J * v - c * cross(J * v, v) + c**2 * dot(v, J * v) * v - b  # J times ortolan (4.11a)
    e = c**2 * dot(v, J * v)
    return f, euler_matrix(v, c, J) + diag(Vec3(e, e, e)) + outer(2.0 * c**2 * v, J * v)


@inner
def vlv_step(body, t, h, y, tau, y_new):
    """VLV, ortolan (4.11): J v - c J v x v + c^2 (v . J v) v = J w + c tau, R1 = R cay(h v), then w1"""
    c, w, J = 0.5 * h, vec3(y, 9), body.J
    b = J * w + c * tau
    # J v - c J v x v + c^2 (v . J v) v = b: ortolan (4.11a)
    v, left = newton(VLV, eln_velocity(w, c, b, J), c, b, J)
    rotate(y, cay(h * v), y_new)  # R1 = R cay(h v): ortolan (4.11b)
    tau1 = torque_at(body, t + h, y_new)
    # J w1 = J v + c J v x v + c^2 (v . J v) v + c tau1: ortolan (4.11c)
    w1 = (J * v + c * cross(J * v, v) + c**2 * dot(v, J * v) * v + c * tau1) / J
    return w1, tau1, left


@jit
def rattle_equation(v, c, b, J):
    """RATTLE: f = J v - c J v x v - (1 + c^2 |v|^2) b, which is 0 where 2 c hat(b) = F Jd - Jd F^T, F = cay(2 c v).

    For (1 + c^2 |v|^2) F = (1 - c^2 |v|^2) 1 + 2 c hat(v) + 2 c^2 v v^T, and with Jd = tr(J)/2 - J

        hat(v) Jd + Jd hat(v) = hat(J v),   v (Jd v)^T - (Jd v) v^T = hat(Jd v x v) = -hat(J v x v),

    so that (1 + c^2 |v|^2) (F Jd - Jd F^T) = 2 c hat(J v - c J v x v).
    """
    # (1 + c^2 |v|^2) times (F Jd - Jd F^T)/h - hat(b): ortolan 2.3
    f = J * v - c * cross(J * v, v) - (1.0 + c**2 * dot(v, v)) * b
    return f, euler_matrix(v, c, J) - outer(2.0 * c**2 * b, v)


@inner
def rattle_step(body, t, h, y, tau, y_new):
    """RATTLE, cited in ortolan 2.3: h hat(b) = F Jd - Jd F^T with b = J w + c tau, R1 = R F, J w1 = F^T b + c tau1

    The thesis has its formulas on vectors only, 7.1.3; on a body it is the step of Moser & Veselov 1991.
    """
    c, w, J = 0.5 * h, vec3(y, 9), body.J
    b = J * w + c * tau
    # h hat(b) = F Jd - Jd F^T, Jd = tr(J)/2 - J: derived in `rattle_equation`
    v, left = newton(RATTLE, eln_velocity(w, c, b, J), c, b, J)
    F = cay(h * v)
    rotate(y, F, y_new)  # R1 = R F
    tau1 = torque_at(body, t + h, y_new)
    w1 = (transpose(F) @ b + c * tau1) / J  # the turn keeps the momentum in space: R1 F^T b = R b
    return w1, tau1, left


@jit
def spin_equation(v, c, b, J):
    """The momentum seen from the turning body: f = J v - exp(-c v) b, for MCG, LIEMID and NEW3.

    turned = exp(-c v) b moves by turned x c dexp_{-c v} d along d.
    """
    turned = exp(-c * v) @ b
    f = J * v - turned  # J times ortolan (4.9a)
    return f, diag(J) - c * hat(turned) @ dexp_left(c * v)


@inner
def mcg_step(body, t, h, y, tau, y_new):
    """MCG, ortolan (4.9): J v = exp(-c v) b with b = J w + c tau, R1 = R exp(h v), J w1 = exp(-h v) b + c tau1"""
    c, w, J = 0.5 * h, vec3(y, 9), body.J
    b = J * w + c * tau
    v, left = newton(MCG, eln_velocity(w, c, b, J), c, b, J)  # J v = exp(-c v) b: ortolan (4.9a)
    F = exp(h * v)
    rotate(y, F, y_new)  # R1 = R exp(h v): ortolan (4.9b)
    tau1 = torque_at(body, t + h, y_new)
    # exp(-h v) (J w + c tau) + c tau1: ortolan (4.9c), where J v is printed for this J w
    w1 = (transpose(F) @ b + c * tau1) / J
    return w1, tau1, left


@jit
def liemid_half(c, b, J):
    """A half step of LIEMID: J v = exp(-c v / 2) b, F = exp(c v), then exp(-c v) b; c v is ortolan's Theta."""
    v, left = newton(LIEMID, b / J, 0.5 * c, b, J)
    F = exp(c * v)
    return F, transpose(F) @ b, left


@inner
def liemid_step(body, t, h, y, tau, y_new):
    """LIEMID, ortolan (4.6): two half steps of J v = exp(-c v / 2) b, F = exp(c v), b -> F^T b"""
    c, w, J = 0.5 * h, vec3(y, 9), body.J
    Fa, m, left_a = liemid_half(c, J * w + c * tau, J)  # ortolan (4.6a), (4.6c)
    Fb, m1, left_b = liemid_half(c, m, J)  # ortolan (4.6d), (4.6f) but for c tau1
    rotate(y, Fa @ Fb, y_new)  # R1 = R Fa Fb: ortolan (4.6b), (4.6e)
    tau1 = torque_at(body, t + h, y_new)
    w1 = (m1 + c * tau1) / J
    return w1, tau1, left_a + left_b


@inner
def new3_step(body, t, h, y, tau, y_new):
    """NEW3, ortolan (4.10): R_m = R exp(c w), exp(c w1) J w1 = exp(-c w) J w + h tau(R_m), R1 = R_m exp(c w1)"""
    c, w, J = 0.5 * h, vec3(y, 9), body.J
    F = exp(c * w)
    rotate(y, F, y_new)  # R_m: ortolan (4.10a)
    b = transpose(F) @ (J * w) + h * torque_at(body, t + c, y_new)  # ortolan (4.10b)
    w1, left = newton(NEW3, b / J, c, b, J)  # J w1 = exp(-c w1) b
    rotate(y_new, exp(c * w1), y_new)  # ortolan (4.10c)
    return w1, tau, left


@jit
def equation(kind, v, c, b, J):
    """The equation of that kind of method."""
    if kind == VLV:
        return vlv_equation(v, c, b, J)
    if kind == RATTLE:
        return rattle_equation(v, c, b, J)
    if kind in (ELN, PRK):
        return euler_equation(v, c, b, J)
    return spin_equation(v, c, b, J)


@jit
def newton(kind, v, c, b, J):
    """v with f(v) = 0 for (f, df/dv) = equation(...), from the guess v, and the last correction: 0 if it converged."""
    size = math.inf
    for _ in range(SWEEPS):
        f, A = equation(kind, v, c, b, J)
        d = solve(A, f)
        v -= d
        size = largest(d)
        if not finite(d):
            return v, math.inf
        if settled(size, largest(v)):
            return v, 0.0
    return v, size


@jit
def step(kind, body, t, h, y, kept, y_new):
    """The step of that kind; `kept` holds the torque at R, then the one at R1."""
    y, kept, y_new = lent(y), lent(kept), lent(y_new)
    tau = vec3(kept, 0)
    if kind == ELN:
        w1, tau1, left = eln_step(body, t, h, y, tau, y_new)
    elif kind == PRK:
        w1, tau1, left = prk_step(body, t, h, y, tau, y_new)
    elif kind == VLV:
        w1, tau1, left = vlv_step(body, t, h, y, tau, y_new)
    elif kind == RATTLE:
        w1, tau1, left = rattle_step(body, t, h, y, tau, y_new)
    elif kind == MCG:
        w1, tau1, left = mcg_step(body, t, h, y, tau, y_new)
    elif kind == LIEMID:
        w1, tau1, left = liemid_step(body, t, h, y, tau, y_new)
    else:
        w1, tau1, left = new3_step(body, t, h, y, tau, y_new)
    store(w1, y_new, 9)
    store(tau1, kept, 0)
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
        if kind != NEW3 and run[AT] != MOVED:
            store(torque_at(body, t, y), kept, 0)
            run[NFEV] += 1
        left = step(kind, body, t, h, y, kept, y_new)
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
