"""Cubic splines through elements of a group: curves with continuous velocity and acceleration, left-invariant.

A cumulative cubic B-spline moves from one control element P_j to the next along one-parameter subgroups, three at a
time (Kim, Kim & Shin 1995), with d_j = log(P_{j-1}^-1 P_j) and B_j the cumulative basis, B_j = sum_{i >= j} N_i:

    g(t) = P_k exp(B_{k+1}(t) d_{k+1}) exp(B_{k+2}(t) d_{k+2}) exp(B_{k+3}(t) d_{k+3})

Body velocity w and acceleration w' follow factor by factor (Sommer et al. 2020), from w = w' = 0, E = exp(-B_j d_j):

    w <- Ad_E w + B_j' d_j,    w' <- Ad_E w' + B_j' [w, d_j] + B_j'' d_j

Moving all elements by h from the left moves the curve by h. The order of the factors is a choice, so the curve is not
the same run backwards; on a vector space it is the ordinary cubic spline.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from .core.arguments import one_of, times_of
from .groups.batch import Space, floats, read
from .systems import System

__all__ = ["Spline", "b_spline", "cubic_spline"]

_SWEEPS = 50  # of Newton's iteration for an interpolating spline
_LONGEST = (
    0.5  # that it moves a control element at once, relative to the steps between the elements
)
_HALVINGS = 8  # of a step that leads away
_DIFFERENCE = 1e-7  # at the two ends: half the digits suffice for a Newton step
_SETTLED = 1e-14  # of a correction, relative to the steps between the elements
_STALLED = 1e-11  # larger corrections that no longer shrink are a failure


@dataclass(frozen=True, eq=False)
class _Poses(System):
    """What an animation asks of a system: the layout of the elements."""

    name: str
    shape: tuple[int, ...]

    @property
    def parts(self) -> tuple[tuple[str, tuple[int, ...]], ...]:  # type: ignore[override]
        return (("g", self.shape),)


class Spline:
    """A cumulative cubic B-spline in a group; made by `b_spline` or `cubic_spline`.

    `curve(t)` gives elements (..., *group.shape) at times t (...), `velocity` and `acceleration` vectors (..., dim).
    `start` and `end` bound its domain; outside, up to its length on each side, it goes on with its end pieces.
    `control` (m, *shape) are its control elements, `knots` (m + 4,) its knots. `lielab.animate` takes it as it is.
    """

    def __init__(self, group: Any, times: np.ndarray, control: np.ndarray) -> None:
        self.group, self.control = group, control
        self.knots = _extended(times, 2)
        self.start, self.end = float(times[1]), float(times[-2])
        self._steps = group.log(group.compose(group.inverse(control[:-1]), control[1:]))

    def __repr__(self) -> str:
        return (
            f"<Spline in {self.group.name}, t = {self.start:g} to {self.end:g}, "
            f"{len(self.control)} control elements>"
        )

    @property
    def t(self) -> np.ndarray:
        """The times at which the pieces meet, from `start` to `end`."""
        return self.knots[3:-3].copy()

    @property
    def y(self) -> np.ndarray:
        """The elements at these times, flat: (n, size)."""
        return self(self.t).reshape(len(self.t), -1)

    @cached_property
    def system(self) -> System:
        """The layout of `y`, for animations."""
        return _Poses(self.group.name, tuple(self.group.shape))

    def __call__(self, t: Any) -> np.ndarray:
        """Elements (..., *shape) at times t (...)."""
        times, span, basis = self._at(t, 0)
        g = self.control[span]
        for j in range(3):
            g = self.group.compose(g, self.group.exp(basis[0][:, j, None] * self._steps[span + j]))
        return g.reshape(times.shape + tuple(self.group.shape))

    def velocity(self, t: Any, frame: str = "body") -> np.ndarray:
        """Velocity (..., dim) at times t (...): w with g' = g hat(w) in the "body", g' = hat(w) g in "space"."""
        return self._moved(t, frame, 1)

    def acceleration(self, t: Any, frame: str = "body") -> np.ndarray:
        """Derivative (..., dim) of the velocity in the same frame. In space it is Ad_g of the one in the body."""
        return self._moved(t, frame, 2)

    def _moved(self, t: Any, frame: str, derivative: int) -> np.ndarray:
        one_of("frame", frame, ("body", "space"))
        times, span, (B, dB, ddB) = self._at(t, 2)
        group = self.group
        w = a = np.zeros((len(span), group.dim))
        for j in range(3):
            d = self._steps[span + j]
            back = group.Ad(group.exp(-B[:, j, None] * d))
            w = np.einsum("nij,nj->ni", back, w) + dB[:, j, None] * d
            a = np.einsum("nij,nj->ni", back, a)
            a = a + dB[:, j, None] * group.bracket(w, d) + ddB[:, j, None] * d
        found = w if derivative == 1 else a
        if frame == "space":
            found = np.einsum("nij,nj->ni", group.Ad(self(times.ravel())), found)
        return found.reshape(*times.shape, group.dim)

    def _at(self, t: Any, derivatives: int) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
        """The times, the pieces k they lie in, and B_{k+1}, B_{k+2}, B_{k+3} there with their derivatives."""
        times = floats("t", t)
        if not np.isfinite(times).all():
            raise ValueError(f"t must be finite, got {t!r}; remove NaN and inf first")
        x, length = times.ravel(), self.end - self.start
        low, high = self.start - length, self.end + length
        if x.size and not (low <= x.min() and x.max() <= high):
            raise ValueError(
                f"t must not be further outside than the curve is long, between {low:g} and {high:g}, got {t!r}"
            )
        span = np.clip(np.searchsorted(self.knots, x, side="right") - 4, 0, len(self.control) - 4)
        values = _basis(self.knots, span, x)[: derivatives + 1]
        return times, span, [np.cumsum(N[:, ::-1], axis=1)[:, ::-1][:, 1:] for N in values]


def _extended(times: np.ndarray, count: int) -> np.ndarray:
    """The times with `count` more on each side, as far apart as the first and the last two."""
    k = np.arange(1, count + 1)
    before = times[0] - k[::-1] * (times[1] - times[0])
    return np.concatenate([before, times, times[-1] + k * (times[-1] - times[-2])])


def _basis(knots: np.ndarray, span: np.ndarray, x: np.ndarray) -> list[np.ndarray]:
    """The four cubic B-splines (n, 4) that do not vanish on the pieces, and their two derivatives (Cox-de Boor)."""
    at = span + 3  # knots[at] <= x < knots[at + 1]

    def knot(i: int) -> np.ndarray:
        return knots[at + i]

    levels = [[np.ones_like(x)]]
    for p in (1, 2, 3):
        lower, level = levels[-1], []
        for i in range(p + 1):
            total = np.zeros_like(x)
            if i > 0:
                total = total + (x - knot(i - p)) / (knot(i) - knot(i - p)) * lower[i - 1]
            if i < p:
                total = total + (knot(i + 1) - x) / (knot(i + 1) - knot(i + 1 - p)) * lower[i]
            level.append(total)
        levels.append(level)
    value = np.stack(levels[3], axis=1)
    return [value, _slopes(knots, at, levels, 1), _slopes(knots, at, levels, 2)]


def _slopes(knots: np.ndarray, at: np.ndarray, levels: list, order: int) -> np.ndarray:
    """Derivatives of the cubic B-splines.

    N_{i,p}' = p (N_{i,p-1}/(t_{i+p} - t_i) - N_{i+1,p-1}/(t_{i+p+1} - t_{i+1}))
    """
    found = levels[3 - order]
    for p in range(4 - order, 4):
        padded = [np.zeros(len(at)), *found, np.zeros(len(at))]
        found = []
        for i in range(p + 1):
            total = np.zeros(len(at))
            if i > 0:
                total = total + p * padded[i] / (knots[at + i] - knots[at + i - p])
            if i < p:
                total = total - p * padded[i + 1] / (knots[at + i + 1] - knots[at + i + 1 - p])
            found.append(total)
    return np.stack(found, axis=1)


def _read(group: Any, t: Any, elements: Any, name: str, least: int) -> tuple:
    needed = ("exp", "log", "Ad", "bracket", "compose", "inverse", "shape", "dim")
    missing = [item for item in needed if not hasattr(group, item)]
    if missing:
        raise ValueError(
            f"group must be a group such as lielab.so3, got {group!r} without {missing[0]}"
        )
    shape = tuple(group.shape)
    if not all(isinstance(length, int) for length in shape):
        raise ValueError(
            f"group must have arrays as elements; of {group.name} make a spline of each factor"
        )
    t = times_of("t", t, least)
    g = read(name, elements, Space(shape))
    if g.ndim != 1 + len(shape) or len(g) != len(t):
        wanted = ", ".join(map(str, (len(t), *shape)))
        raise ValueError(
            f"{name} must have shape ({wanted}), one element for each time, got {g.shape}"
        )
    group.compose(group.inverse(g), g)  # says what is not in the group
    return t, g


def b_spline(group: Any, t: Any, control: Any) -> Spline:
    """The cumulative cubic B-spline of control elements (m, *shape), the j-th belonging to time t_j (m,), m >= 4.

    It starts at t_1 and ends at t_{m-2}, smooths and does not pass through its control elements, and each of them moves
    only the four pieces next to it. Successive elements must be less than half a turn apart, where `log` is unique; of
    quaternions turn signs first. Any group whose elements are arrays. Source: Kim, Kim & Shin (1995); Sommer et al.
    (2020). Raises ValueError for times that do not increase and for what is not in the group.
    """
    return Spline(group, *_read(group, t, control, "control", 4))


def cubic_spline(group: Any, t: Any, elements: Any, ends: Any = "natural") -> Spline:
    """The cubic spline through elements (n, *shape) at times t (n,), n >= 2, twice continuously differentiable.

    A `b_spline` whose control elements are found by Newton's iteration, so that it passes through the elements to
    round-off. `ends`: "natural", no acceleration there, or a pair of body velocities (2, dim), the "clamped" ends of
    SciPy's `CubicSpline`. Two elements give the one-parameter subgroup between them. Left-invariant. Elements must be
    less than half a turn apart, as for `b_spline`, and about a radian at most where the axis changes at random: control
    elements lie further out. Raises ValueError where the iteration does not settle: give more elements.
    """
    t, g = _read(group, t, elements, "elements", 2)
    velocities = _ends(ends, group.dim)
    times, u = _extended(t, 1), group.log(group.compose(group.inverse(g[:-1]), g[1:]))
    before, after = group.exp(-u[:1]), group.exp(u[-1:])
    control = np.concatenate([group.compose(g[:1], before), g, group.compose(g[-1:], after)])
    size, last = 1.0 + np.abs(u).max(), np.inf
    curve = Spline(group, times, control)
    wanted = _missing(curve, t, g, velocities)
    for _ in range(_SWEEPS):
        change = _newton_step(curve, t, wanted, velocities)
        largest = float(np.abs(change).max())
        if largest <= _SETTLED * size or (largest >= last and largest <= _STALLED * size):
            return curve
        if not largest < np.inf:
            break
        last, before = largest, float(np.abs(wanted).max())
        change *= min(1.0, _LONGEST * size / largest)
        for _ in range(_HALVINGS):  # until what is missing becomes less, or is round-off
            curve = Spline(group, times, group.compose(control, group.exp(change)))
            wanted = _missing(curve, t, g, velocities)
            if np.abs(wanted).max() < before or largest <= _STALLED * size:
                break
            change *= 0.5
        control = curve.control
    raise ValueError(
        f"elements turn too far from one to the next for a spline (the last correction was {largest:.2g}): give more "
        "elements, nearer to each other in time"
    )


def _missing(
    curve: Spline, t: np.ndarray, g: np.ndarray, velocities: np.ndarray | None
) -> np.ndarray:
    """What is missing to the condition at the start, to the elements, and to that at the end: (n + 2, dim)."""
    group = curve.group
    inner = group.log(group.compose(group.inverse(curve(t)), g))
    ends = [_end(curve, last, velocities) for last in (False, True)]
    return np.concatenate([ends[0][None], inner, ends[1][None]])


def _newton_step(
    curve: Spline, t: np.ndarray, missing: np.ndarray, velocities: np.ndarray | None
) -> np.ndarray:
    """delta (m, dim) by which all P_j exp(delta_j) make up for what is missing, to first order."""
    from scipy.sparse import bsr_array
    from scipy.sparse.linalg import splu

    dim, n = curve.group.dim, len(t)
    span, blocks = _sensitivities(curve, t)
    first, last = (_end_sensitivities(curve, at_end, velocities) for at_end in (False, True))
    data = np.concatenate([first[None], blocks, last[None]]).reshape(-1, dim, dim)
    spans = np.concatenate([span[:1], span, span[-1:]])
    columns, size = (spans[:, None] + np.arange(4)).ravel(), (n + 2) * dim
    rows = 4 * np.arange(n + 3, dtype=np.int32)
    matrix = bsr_array((data, columns.astype(np.int32), rows), shape=(size, size))
    return splu(matrix.tocsc()).solve(missing.ravel()).reshape(missing.shape)


def _sensitivities(curve: Spline, t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The pieces, and (n, 4, dim, dim): how g(t) exp(eta) moves with its four control elements P_j exp(delta_j).

    The change of d_j is dexpinv(-d_j) delta_j - dexpinv(d_j) delta_{j-1}.
    """
    group = curve.group
    _, span, (B,) = curve._at(t, 0)
    later = np.broadcast_to(np.eye(group.dim), (len(t), group.dim, group.dim))
    found = np.zeros((len(t), 4, group.dim, group.dim))
    for j in (2, 1, 0):
        d, b = curve._steps[span + j], B[:, j, None]
        moves = later @ (b[..., None] * group.dexp(-b * d))
        found[:, j + 1] += moves @ group.dexpinv(-d)
        found[:, j] -= moves @ group.dexpinv(d)
        later = later @ group.Ad(group.exp(-b * d))
    found[:, 0] += later
    return span, found


def _end(curve: Spline, last: bool, velocities: np.ndarray | None) -> np.ndarray:
    """What is missing to the condition at an end: no acceleration, or the velocity."""
    at = curve.end if last else curve.start
    if velocities is None:
        return -curve.acceleration(at)
    return velocities[-1 if last else 0] - curve.velocity(at)


def _end_sensitivities(curve: Spline, last: bool, velocities: np.ndarray | None) -> np.ndarray:
    """How that condition moves with the four control elements of the end (4, dim, dim), by differences."""
    group, keep = curve.group, slice(-6, None) if last else slice(0, 6)
    control, times = curve.control[keep], curve.knots[2:-2][keep]
    value, found = _end(curve, last, velocities), np.empty((4, group.dim, group.dim))
    for j in range(4):
        place = len(control) - 4 + j if last else j
        for i, e in enumerate(_DIFFERENCE * np.eye(group.dim)):
            moved = control.copy()
            moved[place] = group.compose(control[place], group.exp(e))
            found[j, :, i] = value - _end(Spline(group, times, moved), last, velocities)
    return found / _DIFFERENCE


def _ends(ends: Any, dim: int) -> np.ndarray | None:
    if isinstance(ends, str):
        one_of("ends", ends, ("natural",))
        return None
    found = read("ends", ends, Space((2, dim)))
    if found.ndim != 2:
        raise ValueError(
            f"ends must be 'natural' or two body velocities, shape (2, {dim}), got {found.shape}"
        )
    return found
