"""Structured linearization of variational integrators (fan III): A and B from derivatives of the Lagrangian alone."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..core.arguments import named_array, positive
from ..core.differences import POOR, STEP, slope
from ..systems.system import System
from .discrete import DiscreteSystem

_SETTLED = 1e-10  # relative error of a difference that is good enough to judge by


class _Pair(NamedTuple):
    A: np.ndarray
    B: np.ndarray


class Linearization(_Pair):
    """x1 = A x + B du for x = (log(g_d^-1 g), p - p_d): A (2n, 2n), B (2n, m).

    `lambda_x` (c, 2n) and `lambda_u` (c, m) are the derivatives of the multipliers of the step, lambda = lambda_d +
    lambda_x x + lambda_u du (fan (19)): how a tension follows the state and the input. Empty without a constraint.
    """

    lambda_x: np.ndarray
    lambda_u: np.ndarray

    def __new__(
        cls,
        A: np.ndarray,
        B: np.ndarray,
        lambda_x: np.ndarray | None = None,
        lambda_u: np.ndarray | None = None,
    ) -> Linearization:
        self = super().__new__(cls, A, B)
        self.lambda_x = np.zeros((0, A.shape[-1])) if lambda_x is None else lambda_x
        self.lambda_u = np.zeros((0, B.shape[-1])) if lambda_u is None else lambda_u
        return self


def linearize(
    system: System | DiscreteSystem,
    y: Any,
    u: Any = None,
    h: float | None = None,
    retraction: str = "cay",
    *,
    t: float = 0.0,
) -> Linearization:
    """A and B of one step of the trapezoidal variational integrator at state y and input u, and the derivatives
    of its multipliers as `.lambda_x`, `.lambda_u`.

    `system` offers a `lagrangian` formulation; y (dim,) is in its layout and holds, with a constraint, the momentum
    before the impulse (fan (10)). Free, forced and constrained systems on products of SO(3), SE(3) and R^n; fan (15)
    to (19), corrected (the derivative of dtauinv^T, the Ad of the same retraction). With a constraint A
    is singular: a momentum along Dphi^T is undone by the impulse.
    """
    discrete = as_discrete(system, h, retraction)
    return at(discrete, discrete.on_group("y", y), u, t)[0]


def as_discrete(
    system: System | DiscreteSystem, h: float | None, retraction: str = "cay"
) -> DiscreteSystem:
    if isinstance(system, DiscreteSystem):
        return system
    if h is None:
        raise ValueError("h must be given: the step size of the integrator")
    return DiscreteSystem(system, h, retraction)


def _discrete(d: Any) -> None:
    if not isinstance(d, DiscreteSystem):
        raise ValueError(
            f"d must be a DiscreteSystem, got {d!r}; make it by DiscreteSystem(system, h)"
        )


def variation(
    d: DiscreteSystem, x: np.ndarray, F_g0: np.ndarray, F_g1: np.ndarray, F_xi: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """D1 and D2 of F(g0, g1, xi) with xi = tauinv(g0^-1 g1)/h, x = h xi (fan (11)), for columns of derivatives.

    F_g0, F_g1, F_xi (r, n) are the partial derivatives, those in g along g exp(s e_i). Public, for forces of one's own:
    d xi = (-dtauinv_x eta0 + dtauinv_x Ad_{tau(x)} eta1)/h.
    """
    _discrete(d)
    dxi = d.dtauinv(x) / d.h
    return F_g0 - F_xi @ dxi, F_g1 + F_xi @ dxi @ d.Ad(x)  # fan (11a), (11b)


def _lagrangian(d: DiscreteSystem, t: float, g: np.ndarray, xi: np.ndarray) -> tuple:
    """L_g, L_xi (n,) and L_gg, L_xig, L_xixi (n, n)"""
    n = d.n
    values = d.form.kernel(t, np.concatenate([g, xi]), d.params)
    first, second = values[1 : 1 + 2 * n].reshape(2, n), values[1 + 2 * n :].reshape(3, n, n)
    return (*first, *second)


def _force(d: DiscreteSystem, t: float, g: np.ndarray, xi: np.ndarray, u: np.ndarray) -> tuple:
    """f_g, f_xi (n, n) and f_u (n, m)"""
    n = d.n
    values = d.form.force(t, np.concatenate([g, xi, u]), d.params)[n:]
    f_g, f_xi = values[: 2 * n * n].reshape(2, n, n)
    return f_g, f_xi, values[2 * n * n :].reshape(n, d.m)


class _Ld(NamedTuple):
    """Second derivatives of the discrete Lagrangian, (n, n): D2D1 is the one of D1 Ld in g1."""

    D1D1: np.ndarray
    D2D1: np.ndarray
    D1D2: np.ndarray
    D2D2: np.ndarray


class _F(NamedTuple):
    """Derivatives of the force at one end in g0, g1 (n, n) and u (n, m)."""

    D1: np.ndarray
    D2: np.ndarray
    D3: np.ndarray


def _second_derivatives(
    d: DiscreteSystem, t: float, g0: np.ndarray, g1: np.ndarray, x: np.ndarray
) -> _Ld:
    """Those of the trapezoidal rule."""
    h, xi = d.h, x / d.h
    _, L0_xi, L0_gg, L0_xig, L0_xixi = _lagrangian(d, t, g0, xi)
    _, L1_xi, L1_gg, L1_xig, L1_xixi = _lagrangian(d, t + h, g1, xi)
    dtauinv, dtauinv_back = d.dtauinv(x), d.dtauinv(-x)
    mu, L_xixi = 0.5 * (L0_xi + L1_xi), 0.5 * (L0_xixi + L1_xixi)
    # D1 Ld = h/2 L_g(g0) - dtauinv_x' mu, and x = h xi: fan (11)
    D1D1, D2D1 = variation(
        d,
        x,
        F_g0=0.5 * h * L0_gg - 0.5 * dtauinv.T @ L0_xig,
        F_g1=-0.5 * dtauinv.T @ L1_xig,
        F_xi=0.5 * h * L0_xig.T - dtauinv.T @ L_xixi - h * d.dual_slope(x, mu),
    )
    # D2 Ld = h/2 L_g(g1) + dtauinv_{-x}' mu: fan (11); D1D2 is D2D1', computed as it is no dearer than a test of it
    D1D2, D2D2 = variation(
        d,
        x,
        F_g0=0.5 * dtauinv_back.T @ L0_xig,
        F_g1=0.5 * h * L1_gg + 0.5 * dtauinv_back.T @ L1_xig,
        F_xi=0.5 * h * L1_xig.T + dtauinv_back.T @ L_xixi - h * d.dual_slope(-x, mu),
    )
    return _Ld(D1D1, D2D1, D1D2, D2D2)


def _forces(
    d: DiscreteSystem, t: float, g0: np.ndarray, g1: np.ndarray, x: np.ndarray, u: np.ndarray
) -> tuple[_F, _F]:
    """Derivatives of F- = h/2 f(g0, xi, u) and of F+ = h/2 f(g1, xi, u)."""
    h, xi, none = d.h, x / d.h, np.zeros((d.n, d.n))
    if d.form.force is None:
        free = _F(none, none, np.zeros((d.n, d.m)))
        return free, free
    f_g, f_xi, f_u = _force(d, t, g0, xi, u)
    D1, D2 = variation(d, x, F_g0=0.5 * h * f_g, F_g1=none, F_xi=0.5 * h * f_xi)
    minus = _F(D1, D2, 0.5 * h * f_u)
    f_g, f_xi, f_u = _force(d, t + h, g1, xi, u)
    D1, D2 = variation(d, x, F_g0=none, F_g1=0.5 * h * f_g, F_xi=0.5 * h * f_xi)
    return minus, _F(D1, D2, 0.5 * h * f_u)


@np.errstate(all="ignore")
def at(
    d: DiscreteSystem, y: np.ndarray, u: Any = None, t: float = 0.0
) -> tuple[Linearization, np.ndarray, np.ndarray]:
    """A, B and the slopes of the multipliers at the state (g, p); the next state and the multipliers.

    The derivatives of g1 and p1 in g, p and u are `g1_g`, ..., `p1_u`, fan (15), (16); those of the multipliers stand
    side by side in `lam_`. phi is the paper's constraint h.
    """
    _discrete(d)
    y = named_array("y", y)
    if y.shape != (d.dim,):
        raise ValueError(f"y must be a state (g, p) of shape ({d.dim},), got {y.shape}")
    n, h, u, solve = d.n, d.h, d.inputs(u), np.linalg.solve
    y1, x, lam = d.step(y, u, t)
    g0, g1 = y[: d.k].copy(), y1[: d.k].copy()
    Ld = _second_derivatives(d, t, g0, g1, x)
    F_minus, F_plus = _forces(d, t, g0, g1, x, u)
    # 0 = C_g dg + C_p dp + C_u du + M dg1 along the equation of the step, dg = g^-1 (change of g): fan (12), (13)
    M = Ld.D2D1 + F_minus.D2
    C = np.hstack([Ld.D1D1 + F_minus.D1, np.eye(n), F_minus.D3])  # C_g, C_p, C_u
    lam_ = np.zeros((0, 2 * n + d.m))
    if d.c:  # Dphi0^T lam is taken off p, and Dphi1 g1_x = 0
        Dphi0, D2phi_lam = _constraint(d, t, g0, lam)
        Dphi1, _ = _constraint(d, t + h, g1, lam)
        C[:, :n] -= D2phi_lam
        lam_ = solve(Dphi1 @ solve(M, Dphi0.T), Dphi1 @ solve(M, C))  # fan (18), (19)
        C -= Dphi0.T @ lam_
    g1_g, g1_p, g1_u = np.hsplit(-solve(M, C), [n, 2 * n])  # fan (15), (17)
    E = Ld.D2D2 + F_plus.D2
    p1_g = Ld.D1D2 + F_plus.D1 + E @ g1_g  # fan (16a)
    p1_p = E @ g1_p  # fan (16b)
    p1_u = F_plus.D3 + E @ g1_u  # fan (16c)
    A, B = np.block([[g1_g, g1_p], [p1_g, p1_p]]), np.vstack([g1_u, p1_u])
    return Linearization(A, B, *np.hsplit(lam_, [2 * n])), y1, lam


def _constraint(
    d: DiscreteSystem, t: float, g: np.ndarray, lam: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Dphi (c, n) and the derivative (n, n) of Dphi' lam along g exp(s e_j)"""
    values = d.form.constraint(t, g, d.params)[d.c :]
    first = values[: d.c * d.n].reshape(d.c, d.n)
    second = values[d.c * d.n :].reshape(d.c, d.n, d.n)
    return first, np.einsum("c,cij->ij", lam, second)


@np.errstate(all="ignore")
def check_linearization(
    system: System | DiscreteSystem,
    y: Any,
    u: Any = None,
    h: float | None = None,
    retraction: str = "cay",
    *,
    t: float = 0.0,
    step: float = 0.02,
) -> float:
    """Largest entry of the difference between A, B and differences of the step, over the largest entry; the derivatives
    of the multipliers likewise.

    Perturbs the state by g exp(eta), p + dp, and u, and takes central differences of order 6, first with steps of about
    `step` / 3 (in units of the algebra, of the largest entry of p and of u), then with shorter and longer ones where
    the estimated error asks for them. A right linearization gives about 1e-11; a term left out gives much more.
    ValueError where the differences do not settle: their error, which would hide a wrong term, is then above 1e-6.
    """
    d, step = as_discrete(system, h, retraction), positive("step", step)
    if not step < np.pi:
        raise ValueError(f"step must be less than half a turn, got {step:g}; the default is 0.02")
    y, u = d.encode(y), d.inputs(u)
    found, y1, lam = at(d, y, u, t)
    exact, slopes = np.hstack(found), np.hstack([found.lambda_x, found.lambda_u])
    largest = np.abs(exact).max()
    # The multipliers count as the state does.
    weight = largest / max(np.abs(slopes).max(initial=0.0), 1e-300)
    exact = np.vstack([exact, weight * slopes])
    scale = np.concatenate([np.ones(d.n), _sizes(y[d.k :], d.n), _sizes(u, d.m)])

    def moved(z: np.ndarray) -> np.ndarray:
        state, _, pulls = d.step(d.moved(y, z[: 2 * d.n]), u + z[2 * d.n :], t)
        moves = d.log(y1[None], state[None])[0], state[d.k :] - y1[d.k :]
        return np.concatenate([*moves, weight * (pulls - lam)])

    columns = []
    for e in scale * np.eye(len(scale)):
        size = e.max()
        column, error = slope(lambda s, e=e: moved(s * e), step / (3.0 * STEP), _SETTLED)
        if error > POOR * largest * size:
            raise ValueError(
                f"differences of the step do not settle (estimated error {error / size:.1g}, largest entry "
                f"{largest:.3g}): it is not smooth here; move y or u"
            )
        columns.append(column / size)
    gap = exact - np.array(columns).T
    return float(np.abs(gap).max() / largest)


def _sizes(x: np.ndarray, count: int) -> np.ndarray:
    """The largest entry of x for each of the count directions, 1 where there is none but 0."""
    return np.full(count, float(np.abs(x).max(initial=0.0)) or 1.0)
