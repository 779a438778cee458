"""Derivatives of readers' functions by central differences, with steps that follow the function and their error.

With f at -3 s ... 3 s along a curve, differences of order 2, 4 and 6 come from six values. How fast they approach each
other says how far the last one is off; what rounding adds is eps |f| / s. The step is tried anew only where that sum
is too large: a function that varies where it was first looked at as it did there costs six values a direction.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from .jit import closure, jit, lent

EPS = 2.0**-52
NESTED = 1e-13  # relative noise of a function that is itself a derivative by differences
# Of the scale on which f varies: error and round-off of order 6 meet there, near 1e-14.
STEP = 2.0**-7
# Steps are powers of two: y + j s is then exact wherever y has digits to spare.
_FACTOR, _ROUNDS, _PATIENCE = 8.0, 24, 2
_VISIBLE = 1e-9  # of the entries that a curve moves: no step is shorter at first
_GOOD = 1e-12  # relative error that is taken as it is
_ROUNDING = 16.0  # roundings of f that count as unavoidable: those of a few operations, where the derivative is 0
_DOUBTFUL = 1e-9  # relative error that a failing run is told of
POOR = 1e-6  # relative error from which on a derivative is none: NaN, which ends the run
_NODES = (-3.0, -2.0, -1.0, 1.0, 2.0, 3.0)


@jit
def sixth_order(V, s, noise, out):
    """out[c] = f_c' from f(-3 s), ..., f(3 s) and f(0), the rows of V; returns the largest estimated error and |f'|."""
    V, out = lent(V), lent(out)
    error, slope, one = 0.0, 0.0, 1.0 / s
    for c in range(V.shape[1]):
        d1, d2, d3 = V[3, c] - V[2, c], V[4, c] - V[1, c], V[5, c] - V[0, c]
        two = (0.5 * one) * d1
        four = (one / 12.0) * (8.0 * d1 - d2)
        six = (one / 60.0) * (45.0 * d1 - 9.0 * d2 + d3)
        high = max(max(abs(V[0, c]), abs(V[5, c])), abs(V[2, c]))
        # Errors of orders 2, 4, 6 fall in equal ratios, one step small against the scale of f.
        e2, e4 = abs(four - two), abs(six - four)
        found = (e4 if e4 >= e2 else e4 * e4 / e2) + noise * high * one
        # Where f is even these say nothing: two second differences, which differ by order s^2, do.
        bend1, bend2 = V[3, c] + V[2, c] - 2.0 * V[6, c], V[4, c] + V[1, c] - 2.0 * V[6, c]
        apart = abs(bend2 - 4.0 * bend1)
        if apart > 100.0 * noise * (high + abs(V[6, c])):
            ratio = 1.0 if apart >= abs(bend2) else apart / abs(bend2)
            found += ratio**3 * max(apart, abs(bend2)) * one
        if not math.isfinite(found):
            found = math.inf
        error, slope = max(error, found), max(slope, abs(six))
        out[c] = six
    return error, slope


@jit
def largest(x):
    size = 0.0
    for value in x:
        size = max(size, abs(value))
    return size


def gradient_kernel(
    along: Callable,
    shape: tuple[int, int],
    length: int,
    start: tuple,
    noise: float = EPS,
    blocks: list[tuple[int, int, float]] | None = None,
    extra: int = 0,
    steps: np.ndarray | None = None,
) -> Callable:
    """slopes(t, y, p, out, errors): out[i, c] = d/ds f_c along curve i at s = 0, out of that shape.

    `along(t, y, p, i, s, z, V, row)` puts the values of f at s on curve i into V[row]; z (length + extra,) is scratch,
    of which it leaves the first `length` entries as they are in y, unless it writes all of them each time. `start` =
    (t, y, p): there the steps are chosen. `noise`: relative error of f. `blocks`: for each curve the entries
    y[first:last] whose size the steps follow, and the scale of f along it at the start; by default 1
    and the first `length`.

    errors[i] is the estimated error, relative to |f'| or, where that is smaller, to |f| over the scale of f. A
    derivative that is off by more than POOR with the best step found is NaN. `steps` are given where f is itself a
    derivative, whose own noise would mislead the choice; those chosen are `slopes.steps`.
    """
    along = closure(along)
    count, values = shape
    good = max(_GOOD, 100.0 * noise)

    @closure
    def stencil(t, y, p, i, s, z, V, out):
        y, p, z, V, out = lent(y), lent(p), lent(z), lent(V), lent(out)
        for row in range(6):
            along(t, y, p, i, _NODES[row] * s, z, V, row)
        return sixth_order(V, s, noise, out)

    blocks = blocks or [(0, length, 1.0)] * count
    first, last = np.array([b[0] for b in blocks]), np.array([b[1] for b in blocks])
    if steps is None:
        steps = _first_steps(
            stencil, along, shape, length + extra, length, start, blocks, good, noise
        )
    sizes = np.array([np.abs(start[1][a:b]).max(initial=0.0) for a, b, _ in blocks])

    @closure
    def step(y, i):
        """The step chosen at the start, longer where the entries that it belongs to have grown since."""
        y = lent(y)
        now = 0.0
        for j in range(first[i], last[i]):
            now = max(now, abs(y[j]))
        if sizes[i] > 0.0 and 2.0 * sizes[i] <= now < math.inf:
            return steps[i] * 2.0 ** math.floor(math.log2(now / sizes[i]))
        if steps[i] < _VISIBLE * now < math.inf:
            return 2.0 ** math.ceil(math.log2(_VISIBLE * now))
        return steps[i]

    @closure
    def improved(t, y, p, i, s0, found, level, z, V, out):
        """The best step found from s0 on, first shorter, then longer: its error and slope, as in `found`."""
        trial, (error, slope) = np.empty(values), found
        for factor in (1.0 / _FACTOR, _FACTOR):
            s, worse = s0, 0
            for _ in range(_ROUNDS):
                if error <= good * slope + level or worse > _PATIENCE:
                    break
                s *= factor
                e, d = stencil(t, y, p, i, s, z, V, trial)
                worse, gap = worse + 1, 0.0
                for c in range(values):
                    gap = max(gap, abs(trial[c] - out[c]))
                # Far too long steps over a bounded f find less and less: they have to agree with what is known.
                if e < error and (factor < 1.0 or gap <= 10.0 * (e + error)):
                    error, slope, worse = e, d, 0
                    for c in range(values):
                        out[c] = trial[c]
        return error, slope

    @closure
    def slopes(t, y, p, out, errors):
        z, V = np.zeros(length + extra), np.empty((7, values))
        for j in range(length):
            z[j] = y[j]
        along(t, y, p, 0, 0.0, z, V, 6)
        size = largest(V[6])
        for i in range(count):
            s = step(y, i)
            level = _ROUNDING * noise * size / s
            error, slope = stencil(t, y, p, i, s, z, V, out[i])
            if not error <= good * slope + level:
                error, slope = improved(t, y, p, i, s, (error, slope), level, z, V, out[i])
            whole = max(slope, size * STEP / s)
            errors[i] = error / whole if whole > 0.0 else (0.0 if error < math.inf else error)
            if not errors[i] <= POOR:
                for c in range(values):
                    out[i, c] = math.nan

    vars(slopes)["steps"] = steps
    return slopes


def _first_steps(
    stencil: Callable,
    along: Callable,
    shape: tuple[int, int],
    room: int,
    length: int,
    start: tuple,
    blocks: list,
    good: float,
    noise: float,
) -> np.ndarray:
    """A step for each curve, at the start: STEP of its scale where that is good, else the shortest of the best.

    From short to long, and a longer one only where it finds the same derivative: a step that happens to be a whole
    number of periods of f sees none of it.
    """
    t, y, p = start
    count, values = shape
    V, steps, z = np.empty((7, values)), np.empty(count), np.zeros(room)
    z[:length] = y[:length]
    along(t, y, p, 0, 0.0, z, V, 6)
    unseen: dict[int, float] = {}
    for i in range(count):
        a, b, scale = blocks[i]
        natural, short = 2.0 ** round(math.log2(STEP * scale)), _VISIBLE * largest(y[a:b])
        tried, best, least = {}, np.zeros(values), math.inf
        k = -_ROUNDS - 1
        while natural * _FACTOR**k < max(1.0, natural * _FACTOR ** (_ROUNDS // 4)):
            k += 1
            s, out = natural * _FACTOR**k, np.zeros(values)
            if s < short:
                continue
            try:
                with np.errstate(all="ignore"):
                    error, slope = stencil(t, y, p, i, s, z, V, out)
            except (ArithmeticError, ValueError):  # undefined so far away
                z[:length], z[length:] = y[:length], 0.0
                continue
            seen = np.ptp(V, axis=0).any()
            if (
                (seen or k >= 0)
                and error < math.inf
                and (least == math.inf or np.abs(out - best).max() <= 10.0 * (error + least))
            ):
                tried[s] = error, slope
                if error < least:
                    best, least = out, error
        error, slope = tried.get(natural, (math.inf, 0.0))
        # with no derivative that can be told from 0 any step will do
        none = np.abs(best).max() <= 4.0 * least
        level = _ROUNDING * noise * largest(V[6]) / natural
        if error <= good * slope or (none and (level == 0.0 or error <= level)):
            steps[i] = natural
            if none:
                unseen[i] = natural
        else:
            near = [s for s, (error, _) in tried.items() if error <= 4.0 * least]
            steps[i] = near[0] if near else natural
    # Where nothing was seen at the start, by symmetry say, f varies as it does along the others of that block.
    for i, natural in unseen.items():
        others = [
            steps[j] / (STEP * blocks[j][2])
            for j in range(count)
            if j not in unseen and blocks[j][:2] == blocks[i][:2]
        ]
        steps[i] = natural * 2.0 ** math.floor(math.log2(min([1.0, *others])))
    return steps


def slope(function: Callable, scale: float = 1.0, good: float = _GOOD) -> tuple[np.ndarray, float]:
    """f'(0) of a Python function of one number, an array or a number, and the largest estimated error of an entry.

    `scale`: a guess at that on which f varies. Steps on both sides of it are tried where the error, relative to the
    largest entry, is above `good`.
    """
    shape, stencil = _stencil(function)
    first = 2.0 ** round(math.log2(STEP * scale))
    best, error, size = stencil(first)
    for factor in (1.0 / _FACTOR, _FACTOR):
        s, worse = first, 0
        while error > good * size and worse <= _PATIENCE and 1e-18 < s / scale < 1e3:
            s *= factor
            out, e, d = stencil(s)
            worse += 1
            if e < error and (factor < 1.0 or np.abs(out - best).max() <= 10.0 * (e + error)):
                best, error, size, worse = out, e, d, 0
    return best.reshape(shape), error


def _stencil(function: Callable) -> tuple[tuple[int, ...], Callable]:
    """The shape of the values of a Python function, and step -> its derivative at 0, flat, the error and the size."""
    zero = np.asarray(function(0.0))
    V = np.empty((7, max(1, zero.size)))
    V[6] = zero.ravel()

    def stencil(s: float) -> tuple[np.ndarray, float, float]:
        out = np.empty(V.shape[1])
        for row, node in enumerate(_NODES):
            V[row] = np.ravel(function(node * s))
        return (out, *sixth_order(V, s, EPS, out))

    return zero.shape, stencil


def _slope_of_any_scale(function: Callable, scale: float) -> tuple[np.ndarray, float]:
    """The same from all steps that change a variable of that scale, from short to long.

    A longer one only where it finds the same derivative: over many periods of f, or far from where it varies, there is
    little to see, and that little varies as slowly as one likes.
    """
    shape, stencil = _stencil(function)
    best, least, seen = np.zeros(math.prod(shape)), math.inf, False
    s = 2.0 ** math.ceil(math.log2(_VISIBLE * scale))
    while s <= scale:
        try:
            out, error, _ = stencil(s)
        except (ArithmeticError, ValueError):  # undefined so far away
            break
        if error < least and (not seen or np.abs(out - best).max() <= 10.0 * (error + least)):
            best, least, seen = out, error, True
        s *= 0.5 * _FACTOR
    return best.reshape(shape), least


def compared(
    given: np.ndarray,
    curves: Sequence[Callable],
    scales: Sequence[float],
    allowed: float,
    floor: float = 0.0,
) -> tuple[np.ndarray, float]:
    """Derivatives of n functions of one number at 0 by differences, and how far those `given` (n, ...) are off.

    That is beyond ten times the estimated error, relative to the largest and to `floor`. Where it is more than
    `allowed` with the usual steps, those of all scales decide; `scales` are guesses at that on which f varies.
    """
    for derivative in (slope, _slope_of_any_scale):
        found = [derivative(f, scale) for f, scale in zip(curves, scales, strict=True)]
        values, error = np.array([d for d, _ in found]), max(e for _, e in found)
        gap = float(np.abs(given - values).max(initial=0.0)) - 10.0 * error
        size = max(floor, float(np.abs(values).max(initial=0.0)))
        off = 0.0 if gap <= 0.0 else gap / size if size > 0.0 else math.inf
        if off <= allowed:
            break
    return values, off


def errors_of(
    slopes: Callable, count: int, values: int, t: float, y: np.ndarray, p: np.ndarray
) -> np.ndarray:
    """The estimated relative errors (count,) of a kernel of `gradient_kernel`."""
    out, errors = np.empty((count, values)), np.empty(count)
    slopes(t, y.copy(), p, out, errors)
    return errors


def largest_errors(
    slopes: Callable, count: int, values: int, y: np.ndarray, p: np.ndarray
) -> np.ndarray:
    """The largest of `errors_of` in each of the states (..., dim)."""
    rows = [
        errors_of(slopes, count, values, 0.0, row, p).max() for row in y.reshape(-1, y.shape[-1])
    ]
    return np.reshape(rows, y.shape[:-1])


def refuse_poor(name: str, errors: np.ndarray, remedy: str) -> None:
    """Raise ValueError where differences of the function of that name do not settle at the start."""
    if not errors.max() <= POOR:
        raise ValueError(
            f"{name} has no derivative by differences at the start: the estimated relative error is "
            f"{errors.max():.1g}, whatever the step; {remedy}"
        )


def doubt(error: float, remedy: str) -> str:
    """For the message of a run that failed: the estimated error in its last state, where that is no round-off."""
    if error <= _DOUBTFUL:
        return ""
    return f"; derivatives by differences have an estimated relative error of {error:.1g} there: {remedy}"
