"""What a step keeps of the structure of the flow: symmetry, reversibility, the symplectic form; and the drift test.

`lielab.diagnostics` offers these names.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.arguments import as_real, function_of, named_array
from ..core.arguments import count as whole
from ..core.differences import slope
from ..core.interrupts import keeps
from ..groups import so3
from ..methods import Method, get
from ..solve import solve
from ..systems import ConnectedBodies, RigidBodyInWell, System
from .orders import known_system, several_methods

# Central differences of order 6 along curves y(s): at this step their error and round-off meet near 1e-12 where the
# step of the method moves as the curve does; shorter ones follow where it varies faster, down to the last.
_STEP, _SHORTER, _LAST = 0.005, 0.25, 1e-9
_CLEAR = 1e-11  # symplectic to what the differences reach
_DEPENDENT = 1e-8  # of the largest: a smaller singular value belongs to no direction of its own
_NODES, _WEIGHTS = (-3, -2, -1, 1, 2, 3), np.array([-1, 9, -45, 45, -9, 1]) / 60.0


def _steps(
    system: System, method: str | Method, h: float, count: int, options: dict
) -> Callable[[np.ndarray], np.ndarray]:
    """The map of `count` steps of size h, backward for h < 0."""

    step = as_real(h)
    if step is None or not math.isfinite(step) or step == 0.0:
        raise ValueError(f"h must be a finite number other than 0, got {h!r}")
    count = whole("steps", count)

    def flow(y: np.ndarray) -> np.ndarray:
        sol = solve(
            system, (0.0, count * h), y, method=method, h=abs(h), save_every=count, **options
        )
        if not sol.success:
            raise ValueError(f"{sol.method} failed at h = {h!r}: {sol.message}")
        return sol.y[-1]

    return flow


def _start(system: System, y0: Any) -> np.ndarray:
    known_system(system)
    y = system.y0.copy() if y0 is None else named_array("y0", y0)
    if y.shape != (system.dim,):
        raise ValueError(f"y0 must have shape ({system.dim},), got {y.shape}")
    return y


# The measures below name their arguments one by one, so that help and editors show them.
def symmetry(
    system: System,
    method: str | Method,
    h: float,
    y0: Any = None,
    *,
    steps: int = 1,
    **options: Any,
) -> float:
    """Largest entry of Phi_{-h}(Phi_h(y)) - y: zero to round-off for a symmetric method."""
    y = _start(system, y0)
    there = _steps(system, method, h, steps, options)(y)
    return float(np.abs(_steps(system, method, -h, steps, options)(there) - y).max())


_PLACES = ("R", "Q", "q", "x", "Gamma")
_VELOCITIES = ("Omega", "mu", "pi", "Pi", "p", "w", "v")


def reverse(system: System, y: np.ndarray) -> np.ndarray:
    """rho(y): velocities and momenta change their sign, places stay. States (..., dim).

    Read off the names of the parts: R, Q, q, x, Gamma are places, Omega, mu, pi, Pi, p, w, v velocities or momenta.
    Raises ValueError for systems without such a split, or whose energy this changes.
    """
    turned, column, flipped = known_system(system)._states(y).copy(), 0, False
    kinds = [name.rstrip("0123456789") for name, _ in system.parts]
    for kind, (_, shape) in zip(kinds, system.parts, strict=True):
        width = int(np.prod(shape))
        if kind in _VELOCITIES:
            turned[..., column : column + width] *= -1.0
            flipped = True
        column += width
    known = flipped and all(kind in _PLACES + _VELOCITIES for kind in kinds)
    if not known or not np.allclose(system.energy(y), system.energy(turned)):
        raise ValueError(
            f"{type(system).__name__} has no known reversal of velocities; give reversal=, a function of states"
        )
    return turned


def reversibility(
    system: System,
    method: str | Method,
    h: float,
    y0: Any = None,
    *,
    steps: int = 1,
    reversal: Callable[[np.ndarray], np.ndarray] | None = None,
    **options: Any,
) -> float:
    """Largest entry of rho(Phi_h(rho(Phi_h(y)))) - y, rho the reversal of velocities: rho Phi = Phi^-1 rho.

    ortolan, definition 1.2.10, prints Phi^-1 without the second rho; the exact flow fails that.
    """
    y = _start(system, y0)
    rho = (lambda z: reverse(system, z)) if reversal is None else reversal
    function_of("reversal", rho, "y")
    flow = _steps(system, method, h, steps, options)
    return float(np.abs(rho(flow(rho(flow(y)))) - y).max())


# --- the symplectic form --------------------------------------------------------------------------


def symplectic_form(system: System) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
    """form(y, X) -> (k, k): the symplectic form of the system's state space on tangent vectors X (k, dim).

    - R or Q with a momentum or velocity: the canonical form of T*SO(3), left-trivialised (body momentum p)
      [[-hat(p), 1], [-1, 0]], right-trivialised (pi in space) [[hat(pi), 1], [-1, 0]], celledoni (13);
    - directions with velocities: sum M_ij dq_i ^ dv_j on T(S^2)^n, v = w x q, M the mass matrix;
    - a place x with its velocity v in a metric G(x): d(G v) ^ dx on T*S^2, leimkuhler;
    - several bodies with momenta, `ConnectedBodies`: the sum of [[-hat(p_i), 1], [-1, 0]] and dp_x ^ dx;
    - directions alone: the sum of the area forms, weighted by the strengths of vortices.
    """
    names = [name for name, _ in known_system(system).parts]
    if names in (["R", "Omega"], ["R", "mu"], ["R", "p"], ["Q", "Pi"], ["Q", "pi"]):
        return _body_form(system, names[1])
    if isinstance(system, ConnectedBodies):
        return _bodies_form(system)
    if len(names) % 2 == 0 and all(
        a.startswith("q") and b.startswith("w")
        for a, b in zip(names[::2], names[1::2], strict=True)
    ):
        return _spheres_form(system)
    if names == ["x", "v"] and "metric" in system.formulations:
        return _metric_form(system)
    if all(name.startswith("q") for name in names):
        return _area_form(system)
    raise ValueError(
        f"the symplectic form of {type(system).__name__} with parts {', '.join(names)} is not known; give form="
    )


def _body_form(system: Any, second: str) -> Callable:
    J = np.array(system.inertia)

    def form(y: np.ndarray, X: np.ndarray) -> np.ndarray:
        R, m = y[:9].reshape(3, 3), y[9:]
        dR, dm = X[:, :9].reshape(-1, 3, 3), X[:, 9:]
        spatial = second == "pi"
        if second == "Omega":
            m, dm = J * m, J * dm
        eta = _body_turn(R, dR)
        eta = eta @ R.T if spatial else eta
        pairing = eta @ dm.T
        twist = eta @ so3.hat(m) @ eta.T
        return pairing - pairing.T + (twist if spatial else -twist)

    return form


def _bodies_form(system: ConnectedBodies) -> Callable:
    velocities = system.formulation == "lagrangian"

    def momenta(y: np.ndarray) -> np.ndarray:
        return system.to_momenta(y)[..., 30:]

    def form(y: np.ndarray, X: np.ndarray) -> np.ndarray:
        mu, dmu = (momenta(y), _along(momenta, y, X)) if velocities else (y[30:], X[:, 30:])
        total = X[:, 9:12] @ dmu[:, 3:6].T
        total = total - total.T
        for R, p in ((0, 0), (12, 6), (21, 9)):
            turn = _body_turn(y[R : R + 9].reshape(3, 3), X[:, R : R + 9].reshape(-1, 3, 3))
            pairing = turn @ dmu[:, p : p + 3].T
            total += pairing - pairing.T - turn @ so3.hat(mu[p : p + 3]) @ turn.T
        return total

    return form


def _body_turn(R: np.ndarray, dR: np.ndarray) -> np.ndarray:
    """eta (k, 3) with dR = R hat(eta)."""
    turn = R.T @ dR
    return so3.vee(0.5 * (turn - np.swapaxes(turn, 1, 2)))


def _along(function: Callable, y: np.ndarray, X: np.ndarray) -> np.ndarray:
    """Derivatives (k, n) of function(y) (n,) along vectors X (k, dim)."""

    def one(row: np.ndarray) -> np.ndarray:
        size = float(np.abs(row).max()) or 1.0
        return slope(lambda s: function(y + s * row), 1.0 / size)[0]

    return np.array([one(row) for row in X])


def mass_matrix(system: Any) -> np.ndarray:
    """M (n, n) of the kinetic energy sum M_ij v_i . v_j / 2 of a system on spheres, read from its energy."""
    n = len(known_system(system).parts) // 2
    q = np.tile([0.0, 0.0, 1.0], (n, 1))

    def energy(v: np.ndarray) -> float:
        return float(system.energy(np.concatenate([q, np.cross(q, v)], axis=1).ravel()))

    still, one = energy(np.zeros((n, 3))), np.zeros((n, n, 3))
    for i in range(n):
        one[i, i, 0] = 1.0
    single = np.array([energy(v) - still for v in one])
    M = np.diag(2.0 * single)
    for i in range(n):
        for j in range(i):
            M[i, j] = M[j, i] = energy(one[i] + one[j]) - still - single[i] - single[j]
    return M


def _spheres_form(system: Any) -> Callable:
    M = mass_matrix(system)

    def form(y: np.ndarray, X: np.ndarray) -> np.ndarray:
        q, w = y.reshape(-1, 2, 3).swapaxes(0, 1)
        dq, dw = X.reshape(len(X), -1, 2, 3).transpose(2, 0, 1, 3)
        dv = np.cross(dw, q) + np.cross(w, dq)
        pairing = np.einsum("aik,ij,bjk->ab", dq, M, dv)
        return pairing - pairing.T

    return form


def _metric_form(system: Any) -> Callable:
    metric = system.formulations["metric"]
    p = np.require(metric.params, float, ["C", "W"])

    def momentum(y: np.ndarray) -> np.ndarray:
        return metric.metric(0.0, np.require(y, float, ["C", "W"]), p).reshape(3, 3) @ y[3:]

    def form(y: np.ndarray, X: np.ndarray) -> np.ndarray:
        pairing = X[:, :3] @ _along(momentum, y, X).T
        return pairing - pairing.T

    return form


def _area_form(system: Any) -> Callable:
    weights = np.array(getattr(system, "strengths", np.ones(len(system.parts))))

    def form(y: np.ndarray, X: np.ndarray) -> np.ndarray:
        q, dq = y.reshape(-1, 3), X.reshape(len(X), -1, 3)
        return np.einsum("i,ik,abik->ab", weights, q, np.cross(dq[:, None], dq[None]))

    return form


def symplecticity(
    system: System,
    method: str | Method,
    h: float,
    y0: Any = None,
    *,
    steps: int = 1,
    form: Callable[[np.ndarray, np.ndarray], np.ndarray] | None = None,
    **options: Any,
) -> float:
    """Largest entry of A^T Omega(Phi(y)) A - Omega(y) over the largest of Omega(y): zero to about 1e-11 if symplectic.

    A, the tangent map of the step, comes from central differences of order 6 along the curves exp(s e_i) . y of the
    system's action, which span the tangent space; what their isotropy repeats does no harm. `form(y, X) -> (k, k)`
    evaluates the form on tangent vectors X (k, dim); by default `symplectic_form(system)`.
    """

    def missed(_: np.ndarray, old: np.ndarray, new: np.ndarray) -> float:
        return float(np.abs(new - old).max() / np.abs(old).max())

    return _form_missed(missed, system, method, h, y0, steps, form, options)


def volume(
    system: System,
    method: str | Method,
    h: float,
    y0: Any = None,
    *,
    steps: int = 1,
    form: Callable[[np.ndarray, np.ndarray], np.ndarray] | None = None,
    **options: Any,
) -> float:
    """By how much a step changes Liouville's volume, relative: zero to about 1e-11 if it is kept.

    The volume is the n-th power of the symplectic form, so that a symplectic step keeps it; a step may keep it without
    being symplectic. It is sqrt(det(A^T Omega(Phi(y)) A) / det Omega(y)) - 1 on a basis of the tangent space, with A
    and `form` as in `symplecticity`. Raises ValueError where the action spans directions on which the form is
    degenerate, as that of a free body's attitude does.
    """

    def missed(before: np.ndarray, old: np.ndarray, new: np.ndarray) -> float:
        directions, sizes, _ = np.linalg.svd(before, full_matrices=False)
        basis = directions[:, sizes > _DEPENDENT * sizes[0]].T  # without what isotropy repeats
        old, new = (basis @ w @ basis.T for w in (old, new))
        if np.linalg.cond(old) * _DEPENDENT > 1.0:
            raise ValueError(
                f"system: the action of {type(system).__name__} spans {len(basis)} directions here, on which the form "
                "is degenerate and gives no volume; take a system whose action moves momenta too"
            )
        return float(abs(math.sqrt(abs(np.linalg.det(new) / np.linalg.det(old))) - 1.0))

    return _form_missed(missed, system, method, h, y0, steps, form, options)


def _form_missed(
    missed: Callable[[np.ndarray, np.ndarray, np.ndarray], float],
    system: System,
    method: str | Method,
    h: float,
    y0: Any,
    steps: int,
    form: Callable | None,
    options: dict,
) -> float:
    """missed(tangent vectors at y (k, dim), the form on them, the form on what the flow makes of them), (k, k) each.

    The vectors are those of the curves exp(s e_i) . y, by differences whose step is shortened as long as that helps.
    """
    y = _start(system, y0)
    omega = symplectic_form(system) if form is None else function_of("form", form, "y, X")
    action = system.formulations["action"].action
    flow = _steps(system, method, h, steps, options)
    end, eye = flow(y), np.eye(action.algebra_dim(len(y)))
    scales = [_curve_scale(system, action.generator(e, y), y) for e in eye]

    def by(step: float) -> float:
        before, after = [], []
        for e, scale in zip(eye, scales, strict=True):
            curve = [action.exp_act(scale * j * step * e, y) for j in _NODES]
            before.append(_WEIGHTS @ np.array(curve) / step)
            after.append(_WEIGHTS @ np.array([flow(z) for z in curve]) / step)
        vectors = np.array(before)
        return missed(vectors, omega(y, vectors), omega(end, np.array(after)))

    step, found = _STEP, by(_STEP)
    # Where the velocities change much with a turn (a thin body) the differences miss, by a power of their step.
    while found > _CLEAR and step > _LAST:
        step *= _SHORTER
        finer = by(step)
        if not finer < 0.5 * found:
            break
        found = finer
    return found


def _curve_scale(system: System, speed: np.ndarray, y: np.ndarray) -> float:
    """Length of a curve that leaves y with this speed: a turn by about one, or momenta changed by about their size.

    A unit angle turns a place by one, whatever the size of the momenta that it takes along.
    """
    column, moved, size = 0, 0.0, 0.0
    for name, shape in system.parts:
        part = slice(column, column + math.prod(shape))
        column = part.stop
        here = float(np.linalg.norm(speed[part]))
        if here > 0.0 and name.rstrip("0123456789_x") not in _VELOCITIES:
            return 1.0
        if here > 0.0:
            moved, size = math.hypot(moved, here), math.hypot(size, float(np.linalg.norm(y[part])))
    return max(1.0, size) / moved if moved > 0.0 else 1.0


# --- the energy drift test -------------------------------------------------------------------------

ZOO = ("ELN", "TLN", "LIEMID", "PRK", "MCG", "NEW3", "VLV", "SimoWong", "AKW", "RATTLE")
_BLOCKS = (
    20  # averages over these, longer than the oscillation of the energy, are nearly independent
)
_CERTAIN = 5.0  # standard errors
_WANDER, _SMOOTH, _EXACT = 0.1, 0.8, 1e-10


@dataclass(frozen=True)
class DriftRow:
    """One run of the drift test: energy error E(t) - E0 against time.

    `slope` (J/s) with its standard error from the scatter of 20 block means, so that the oscillation of the energy does
    not pass for independent noise; `first`, `second`: slopes of the two halves; `largest` |E - E0|; `wander`: range of
    the block means over the oscillation within a block; `roughness`: von Neumann's ratio of the block means, about 2
    where they scatter and near 0 where they move along a smooth curve. The verdict is

        exact     |E - E0| at round-off, below 1e-10 of the energy's size
        drifts    a line with a slope of more than five standard errors carries the block means
        wanders   the block means move by more than a tenth of the oscillation, smoothly (roughness below 0.8, which
                  happens by chance once in 300 times), but on no line
        bounded   neither; also where the block means scatter far, so look at `wander`, too
    """

    method: str
    h: float
    slope: float
    slope_error: float
    first: float
    second: float
    largest: float
    wander: float
    roughness: float
    verdict: str
    seconds: float


def line(t: np.ndarray, values: np.ndarray) -> tuple[float, float]:
    """Slope of the least-squares line through points, and its standard error from their scatter."""
    t, values = named_array("t", t), named_array("values", values)
    if t.ndim != 1 or t.shape != values.shape or len(t) < 3:
        raise ValueError(f"t and values must be 3 or more each, got {t.shape} and {values.shape}")
    centred = t - t.mean()
    spread = float(centred @ centred)
    slope = float(centred @ values) / spread
    rest = values - values.mean() - slope * centred
    return slope, float(np.sqrt(rest @ rest / (len(t) - 2) / spread))


def energy_drift_test(
    methods: str | Method | Iterable[str | Method | tuple[str | Method, dict]] = ZOO,
    h: float | Sequence[float] = (0.125, 0.25),
    *,
    t_end: float = 10000.0,
    system: System | None = None,
    y0: Any = None,
) -> list[DriftRow]:
    """The symplecticity test of ortolan, chapters 3 and 4: does the energy drift over a long time?

    A method that is symplectic, or conjugate to a symplectic one, keeps the energy error bounded; a slope says that it
    is neither. No slope proves nothing. Sign and size of the drift belong to the data, although ortolan prints them as
    if they belonged to the methods: the start with Omega reversed gives the opposite sign, without the attraction
    (alpha = 0) the thesis' eight methods are level from this start, and TLN at h = 0.25 bends. From most starts with
    three velocities the motion is chaotic, and round-off decides there where the energy of a drifting method goes.
    `methods`: names, or pairs (name, options of solve). `system`: by default `RigidBodyInWell()`. Raises ValueError
    for a step that is no positive number, and for a span too short to show a drift. Interrupted, the KeyboardInterrupt
    carries the rows that are done as its `.result`.
    """
    system = RigidBodyInWell() if system is None else known_system(system)
    rows: list[DriftRow] = []
    sizes = np.atleast_1d(h)
    for step in sizes:
        if as_real(step) is None or not 0.0 < step < np.inf:
            raise ValueError(f"h must be a positive number or several, got {h!r}")
        count = max(1, round(0.5 / step)) * 2 * _BLOCKS
        if as_real(t_end) is None or not abs(t_end) >= count * step * (1.0 - 1e-9):
            raise ValueError(
                f"t_end must be at least {count * step:g} for h = {step:g}, got {t_end!r}; a drift takes longer to show"
            )
    cases = [item if isinstance(item, tuple) else (item, {}) for item in several_methods(methods)]
    with keeps(lambda: rows):
        for method, options in cases:
            for step in sizes:
                began = time.perf_counter()
                sol = solve(
                    system,
                    (0.0, t_end),
                    y0,
                    method=method,
                    h=float(step),
                    save_every=max(1, round(0.5 / step)),
                    **options,
                )
                seconds = time.perf_counter() - began
                rows.append(_drift_row(sol, get(method).name, options, float(step), seconds))
    return rows


def _drift_row(sol: Any, name: str, options: dict, h: float, seconds: float) -> DriftRow:
    if options:
        name += "(" + ", ".join(f"{k}={v!r}" for k, v in options.items()) + ")"
    if not sol.success:
        nan = float("nan")
        return DriftRow(name, h, nan, nan, nan, nan, nan, nan, nan, "failed", seconds)
    return drift_row(sol.t, sol.energy(), name, h, seconds)


def drift_row(t: np.ndarray, values: np.ndarray, name: str, h: float, seconds: float) -> DriftRow:
    """What the drift test says of energies (n,) at times (n,), from whatever run they came."""
    error = values - values[0]
    parts = np.array_split(np.arange(len(t)), _BLOCKS)
    at = np.array([t[i].mean() for i in parts])
    means = np.array([error[i].mean() for i in parts])
    slope, doubt = line(at, means)
    half = _BLOCKS // 2
    first, second = line(at[:half], means[:half])[0], line(at[half:], means[half:])[0]
    rest = means - means.mean() - slope * (at - at.mean())
    # Long drifts bend a little: a line that carries 90 per cent of the range counts.
    carried = np.ptp(rest) < 0.35 * abs(slope) * (at[-1] - at[0])
    inside = float(np.median([np.ptp(error[i]) for i in parts]))
    wander = float(np.ptp(means) / max(inside, 1e-300))
    scatter = float(((means - means.mean()) ** 2).sum())
    roughness = float((np.diff(means) ** 2).sum() / max(scatter, 1e-300))
    largest = float(np.abs(error).max())
    if largest < _EXACT * max(1.0, float(np.abs(values).max())):
        verdict = "exact"
    elif abs(slope) > _CERTAIN * doubt and carried and wander > _WANDER:
        verdict = "drifts"
    elif wander > _WANDER and roughness < _SMOOTH:
        verdict = "wanders"
    else:
        verdict = "bounded"
    numbers = (slope, doubt, first, second, largest, wander, roughness)
    return DriftRow(name, h, *numbers, verdict, seconds)
