"""Events: every zero crossing of a function of the state, in order, located to round-off on the manifold.

A step may pass several zeros, and a long one may turn by many radians between its ends. So each step is looked at along
the solution's own interpolant, the method's shorter steps: it is divided until the state moves along each part as the
cubic with the values and slopes of its ends does, and further where the event's own values do not follow theirs, or
where that cubic comes too close to zero to tell. Slopes come from a second look a hair before: a whole number of turns
looks like rest at the ends of a part, but not a hair from them.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .core.arguments import as_real, call_once

# Slopes come from a look this fraction of a part away: above round-off, below the fastest motion that hides there.
_HAIR = 2.0**-16
# Where the cubic of a part is checked: no simple fraction of a turn, which its ends might share.
_CHECK = math.sqrt(2.0) - 1.0
# A part is resolved where the trapezoidal rule of its slopes gives its increment up to this fraction, and its cubic
# the value at the check up to that: a rotation by a radian or less. (No turn, however long, passes both.)
_TRAPEZOID, _CUBIC = 0.08, 0.01
_SLOW = 0.01  # of a block's largest speed: what is slower may move as it likes
_STRAIGHT = 0.25  # slopes of an event that differ by less have no turning point between them
_ROUND_OFF = 1e-9  # of a value: what is lost in its slope
_MARGIN = 8.0  # a cubic is trusted beyond so many times what it missed at the check
_SHORTEST = 2.0**-20  # of a step: shorter parts are not divided
_MOST, _LOOKS = 2**15, 2**12  # parts of a step, and more looks inside them, before we give up
_HUGE = 1e150  # infinite values count as this, so that their differences are numbers
_ROWS = 256  # steps whose states are computed at once


@dataclass(frozen=True)
class Event:
    """A function of (t, y) whose zero crossings `solve` locates, all of them in the order of time.

    `function(t, y)` takes the time and the state (dim,) in the system's layout and returns a number. `direction`: 1 for
    crossings from below only, -1 from above, 0 for both. A `terminal` event ends the run at its first crossing, with a
    whole number k at its k-th.
    Steps are looked at inside, as densely as the motion of the state and the values of the function ask for. Where a
    function changes faster than that shows (a narrow spike, say), `spacing` is the longest time between two looks.
    """

    function: Callable[[float, np.ndarray], float]
    terminal: bool | int = False
    direction: int = 0
    spacing: float | None = None

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise ValueError(f"an event needs a function of (t, y), got {self.function!r}")
        whole = isinstance(self.terminal, (bool, np.bool_, int, np.integer))
        if not whole or self.terminal < 0:
            raise ValueError(
                "terminal must be True or False (the first crossing ends the run), or a whole number k (the k-th "
                f"does), got {self.terminal!r}"
            )
        if as_real(self.direction) not in (-1.0, 0.0, 1.0):
            raise ValueError(f"direction must be -1, 0 or 1, got {self.direction!r}")
        if self.spacing is not None:
            spacing = as_real(self.spacing)
            if spacing is None or not spacing > 0.0:
                raise ValueError(f"spacing must be a positive time, got {self.spacing!r}")

    def __call__(self, t: float, y: np.ndarray) -> float:
        found = self.function(t, y.copy())  # a copy: what it writes there would change the run
        # NumPy's numbers are floats as well, but slow ones.
        value = float(found) if isinstance(found, float) else as_real(found)
        if value is not None and abs(value) <= _HUGE:
            return value
        if value is None or math.isnan(value):
            name = getattr(self.function, "__name__", type(self.function).__name__)
            raise ValueError(
                f"event {name!r} must return one number wherever the run goes; got {value} at t = {t:.10g}"
            )
        return math.copysign(_HUGE, value)


def try_events(events: list[Event], t: float, y: np.ndarray) -> None:
    """Call each event once; ValueError where it takes other arguments or returns no number."""
    for number, event in enumerate(events):
        name = f"events[{number}]"
        value = call_once(name, event.function, "t, y", t, y, sometime=True)
        if value is not None and as_real(value) is None:
            raise ValueError(f"{name} must return one number, got {value!r}")


def read_events(events: Any) -> list[Event]:
    """A function, an Event, or a sequence of them, as a list; SciPy's attributes on functions are honoured."""
    if events is None:
        return []
    given = list(events) if isinstance(events, Sequence) else [events]
    return [
        item
        if isinstance(item, Event)
        else Event(
            item,
            getattr(item, "terminal", False),
            _direction(getattr(item, "direction", 0)),
        )
        for item in given
    ]


def _direction(value: Any) -> Any:
    """SciPy takes any number, of which the sign counts."""
    number = as_real(value)
    return value if number is None or math.isnan(number) else int(np.sign(number))


def _cubic(x: float, a: Any, da: Any, b: Any, db: Any) -> Any:
    """Hermite's cubic on [0, 1] with values a, b and slopes da, db at the ends."""
    return (
        (1 + 2 * x) * (1 - x) ** 2 * a
        + x * (1 - x) ** 2 * da
        + x * x * (3 - 2 * x) * b
        + x * x * (x - 1) * db
    )


def _turning_values(a: float, da: float, b: float, db: float) -> list[float]:
    """Values of the cubic where its slope vanishes inside (0, 1), in order."""
    # slope: da + 2 (3 (b - a) - 2 da - db) x + 3 (da + db - 2 (b - a)) x^2
    c0, c1, c2 = da, 3.0 * (b - a) - 2.0 * da - db, 3.0 * (da + db - 2.0 * (b - a))
    root = c1 * c1 - c0 * c2
    if root <= 0.0:
        return []
    q = -(c1 + math.copysign(math.sqrt(root), c1))
    found = ([c0 / q] if q else []) + ([q / c2] if c2 else [])
    return [_cubic(x, a, da, b, db) for x in sorted(found) if 0.0 < x < 1.0]


@dataclass(slots=True)
class _Look:
    """A place in a step, in fractions of it, and what an event is there: its value, and its slope per step."""

    at: float
    value: float
    slope: float


@dataclass(slots=True)
class _Step:
    """A step and its interpolant, from (t0, y0) to (t1, y1)."""

    flow: Callable
    t0: float
    t1: float
    y0: np.ndarray
    y1: np.ndarray
    h: float = 0.0

    def __post_init__(self) -> None:
        self.h = self.t1 - self.t0

    def time(self, at: float) -> float:
        return self.t1 if at == 1.0 else self.t0 + at * self.h

    def states(self, at: np.ndarray) -> np.ndarray:
        """States (n, dim) at these fractions of the step (n,)."""
        n = len(at)
        ends = (at == 0.0) | (at == 1.0)
        inner = np.where(ends, 0.5, at)  # a step of size 0 is none
        start = np.broadcast_to(self.y0, (n, len(self.y0)))
        y = self.flow(np.full(n, self.t0), start, inner * self.h, full=np.full(n, self.h))
        y[at == 0.0], y[at == 1.0] = self.y0, self.y1
        return y

    def value(self, event: Event, at: float) -> float:
        return event(self.time(at), self.states(np.array([at]))[0])


def _follows(a: float, da: float, b: float, db: float) -> bool:
    """Does the trapezoidal rule of the slopes give the increment?"""
    moved = b - a
    missed = abs(moved - 0.5 * (da + db))
    return missed <= _TRAPEZOID * max(abs(da), abs(db), abs(moved)) or missed <= _ROUND_OFF * max(
        abs(a), abs(b)
    )


def _quiet(a: float, da: float, b: float, db: float) -> bool:
    """Nothing to find: no change of sign, and values on a line or nearly."""
    if (a < 0.0) != (b < 0.0) or a == 0.0 or b == 0.0:
        return False
    return abs(da - db) <= _STRAIGHT * max(abs(da), abs(db)) and _follows(a, da, b, db)


def _crosses(a: _Look, b: _Look) -> bool:
    """Do the values differ in sign? A zero counts when it is reached, not when it is left."""
    return a.value != 0.0 and (b.value == 0.0 or (a.value < 0.0) != (b.value < 0.0))


class Watcher:
    """Looks at the new steps of a run after each chunk, and keeps the events found."""

    def __init__(
        self,
        events: list[Event],
        flow: Callable,
        t0: float,
        y0: np.ndarray,
        parts: Sequence[tuple[str, tuple[int, ...]]],
    ) -> None:
        self.events, self.flow = events, flow
        self.t, self.y = t0, y0
        sizes = [math.prod(shape) for _, shape in parts]
        self.blocks = np.cumsum([0, *sizes[:-1]])  # first entry of each part of the state
        self.speed = np.zeros(len(sizes))  # of each part of the state, the largest so far
        self.rate: Any = None  # dy/dt at the last row seen, an array
        self.last = [(event(t0, y0), math.nan) for event in events]  # value and slope in time there
        self.found: list[list[tuple[float, np.ndarray]]] = [[] for _ in events]
        self.spacing = min((e.spacing for e in events if e.spacing is not None), default=math.inf)
        self.looks = 0  # in this step, beyond those at the ends of its parts
        self.end: tuple[int, float, np.ndarray] | None = (
            None  # row, time and state of a terminal event
        )

    def look(self, t: np.ndarray, y: np.ndarray, h: np.ndarray) -> bool:
        """Look at rows that follow the last one seen, each one step further; True at a terminal event."""
        for first in range(0, len(t), _ROWS):
            rows = slice(first, first + _ROWS)
            if self._look_at(first, t[rows], y[rows], h[rows]):
                return True
        return False

    def _look_at(self, first: int, t: np.ndarray, y: np.ndarray, h: np.ndarray) -> bool:
        n, size = y.shape
        starts, knots = np.append(self.t, t[:-1]), np.vstack([self.y, y[:-1]])
        inside = np.repeat(h, 2) * np.tile([_CHECK, 1.0 - _HAIR], n)
        try:
            if self.rate is None:
                self._begin(_Step(self.flow, self.t, float(t[0]), self.y, y[0]))
            inner = self.flow(
                np.repeat(starts, 2), np.repeat(knots, 2, axis=0), inside, full=np.repeat(h, 2)
            ).reshape(n, 2, size)
        except (
            ValueError
        ):  # a shorter step fails where the whole one did not: then its ends must do
            if n == 1:
                return self._look_at_ends(first, float(t[0]), y[0])
            half = n // 2
            return self._look_at(first, t[:half], y[:half], h[:half]) or self._look_at(
                first + half, t[half:], y[half:], h[half:]
            )
        check, near = inner[:, 0], inner[:, 1]
        rates = np.vstack([self.rate, (y - near) / (_HAIR * h[:, None])])
        self.speed = np.maximum(self.speed, self._sizes(rates).max(axis=0))
        simple = self._resolved(h, knots, check, y, rates[:-1], rates[1:])
        simple &= np.abs(h) <= self.spacing
        for row, t1 in enumerate(t.tolist()):
            self.looks = 0
            if simple[row]:
                ended = self._walk(
                    first + row, t1, y[row], [1.0], y[row : row + 1], near[row : row + 1]
                )
            else:
                self.rate = rates[row]
                ended = self._walk(first + row, t1, y[row], *self._divided(t1, y[row]))
            if ended:
                return True
            self.t, self.y = t1, y[row]
        self.rate = rates[-1]
        return False

    def _look_at_ends(self, row: int, t1: float, y1: np.ndarray) -> bool:
        """Crossings told by the values at the ends alone."""
        step, crossed = _Step(self.flow, self.t, t1, self.y, y1), []
        for number, event in enumerate(self.events):
            a = _Look(0.0, self.last[number][0], 0.0)
            b = _Look(1.0, event(step.t1, step.y1), 0.0)
            self.last[number] = b.value, 0.0
            if _crosses(a, b):
                crossed.append((self._locate(step, event, a, b), a.value < 0.0, number))
        self.t, self.y, self.rate = step.t1, step.y1, None
        return self._keep(row, step, crossed)

    def _begin(self, step: _Step) -> None:
        """Slopes at the start of the run, from a look a hair later."""
        (near,) = step.states(np.array([_HAIR]))
        later = _HAIR * step.h
        self.rate = (near - step.y0) / later
        self.last = [
            (value, (event(step.t0 + later, near) - value) / later)
            for event, (value, _) in zip(self.events, self.last, strict=True)
        ]

    def _sizes(self, y: np.ndarray) -> np.ndarray:
        """Euclidean norm of each part of states (n, dim): (n, parts)."""
        return np.sqrt(np.add.reduceat(y * y, self.blocks, axis=1))

    def _resolved(
        self,
        h: np.ndarray,
        a: np.ndarray,
        check: np.ndarray,
        b: np.ndarray,
        da: np.ndarray,
        db: np.ndarray,
    ) -> np.ndarray:
        """Which of n intervals of lengths h (n,) are resolved: states at start, check and end, rates at the ends."""
        da, db = da * h[:, None], db * h[:, None]
        moved = b - a
        size = np.maximum.reduce([*map(self._sizes, (da, db, moved))])
        size += _SLOW * self.speed * np.abs(h)[:, None]
        noise = _ROUND_OFF * np.maximum(self._sizes(a), self._sizes(b))
        trapezoid = self._sizes(moved - 0.5 * (da + db))
        cubic = self._sizes(check - _cubic(_CHECK, a, da, b, db))
        fits = (trapezoid <= _TRAPEZOID * size + noise) & (cubic <= _CUBIC * size + noise)
        return fits.all(axis=1)

    def _divided(self, t1: float, y1: np.ndarray) -> tuple[list[float], np.ndarray, np.ndarray]:
        """Ends of resolved parts of the step to (t1, y1), in fractions, the states there, and a hair before."""
        step = _Step(self.flow, self.t, t1, self.y, y1)
        count = min(_MOST, max(1, math.ceil(abs(step.h) / self.spacing)))
        ends = np.arange(count + 1) / count
        while True:
            width = np.diff(ends)
            n = len(width)
            at = np.concatenate([ends[1:], ends[1:] - _HAIR * width, ends[:-1] + _CHECK * width])
            states, nears, checks = step.states(at).reshape(3, n, -1)
            rates = np.vstack([self.rate, (states - nears) / (_HAIR * step.h * width)[:, None]])
            starts = np.vstack([step.y0, states[:-1]])
            fine = self._resolved(step.h * width, starts, checks, states, rates[:-1], rates[1:])
            fine |= width <= _SHORTEST
            if fine.all():
                break
            if n + np.count_nonzero(~fine) > _MOST:
                self.looks = _LOOKS
                warnings.warn(
                    f"events: the state turns too fast for {_MOST} looks inside the step of {abs(step.h):.3g} at "
                    f"t = {step.t0:.6g}; crossings may be missed there, use a smaller h or max_step",
                    RuntimeWarning,
                    stacklevel=6,
                )
                break
            ends = np.sort(np.concatenate([ends, (ends[:-1] + 0.5 * width)[~fine]]))
        return ends[1:].tolist(), states, nears

    def _walk(
        self,
        row: int,
        t1: float,
        y1: np.ndarray,
        parts: list[float],
        states: np.ndarray,
        nears: np.ndarray,
    ) -> bool:
        """Find the crossings of the step to (t1, y1), part by part; True at a terminal one."""
        before, t0, h = 0.0, self.t, t1 - self.t
        for at, y, near in zip(parts, states, nears, strict=True):
            width = at - before
            hair, span = _HAIR * width, width * h
            time = t1 if at == 1.0 else t0 + at * h
            crossed = []
            for number, event in enumerate(self.events):
                first, rate = self.last[number]
                value = event(time, y)
                slope = (value - event(time - hair * h, near)) / (hair * h)
                self.last[number] = value, slope
                if not _quiet(first, rate * span, value, slope * span):
                    step = _Step(self.flow, t0, t1, self.y, y1)
                    a, b = _Look(before, first, rate * h), _Look(at, value, slope * h)
                    crossed += [(*found, number) for found in self._crossings(step, event, a, b)]
            if crossed and self._keep(row, step, crossed):
                return True
            before = at
        return False

    def _keep(self, row: int, step: _Step, crossed: list[tuple[float, bool, int]]) -> bool:
        """Keep crossings (fraction of the step, from below?, which event) that count; True at a terminal one."""
        for at, rising, number in sorted(crossed):
            event, found = self.events[number], self.found[number]
            if event.direction != 0 and rising != (event.direction > 0):
                continue
            found.append((step.time(at), step.states(np.array([at]))[0]))
            if event.terminal and len(found) >= event.terminal:
                self.end = row, *found[-1]
                return True
        return False

    def _crossings(self, step: _Step, event: Event, a: _Look, b: _Look) -> list[tuple[float, bool]]:
        """The crossings between two looks at an event: (fraction of the step, from below?), in order."""
        width, crosses = b.at - a.at, _crosses(a, b)
        da, db = a.slope * width, b.slope * width
        size = max(abs(da), abs(db), abs(b.value - a.value))
        resolved = single = _follows(a.value, da, b.value, db)
        if resolved and abs(da - db) > _STRAIGHT * size:
            there = step.value(event, a.at + _CHECK * width)
            missed = abs(there - _cubic(_CHECK, a.value, da, b.value, db))
            resolved = missed <= _CUBIC * size + _ROUND_OFF * abs(there)
            inner = _turning_values(a.value, da, b.value, db)
            clear = all(abs(value) > _MARGIN * missed for value in inner)
            signs = [value < 0.0 for value in (a.value, *inner, b.value) if value != 0.0]
            turns = sum(one != two for one, two in zip(signs, signs[1:], strict=False))
            single = resolved and clear and turns <= 1
        far = not resolved and not crosses and min(abs(a.value), abs(b.value)) > 2.0 * size
        if single or far or width <= _SHORTEST or self.looks >= _LOOKS:
            return [(self._locate(step, event, a, b), a.value < 0.0)] if crosses else []
        self.looks += 1
        at = a.at + 0.5 * width
        hair = _HAIR * width
        y, near = step.states(np.array([at, at - hair]))
        value = event(step.time(at), y)
        slope = (value - event(step.time(at - hair), near)) / hair
        middle = _Look(at, value, slope)
        return [
            *self._crossings(step, event, a, middle),
            *self._crossings(step, event, middle, b),
        ]

    def _locate(self, step: _Step, event: Event, a: _Look, b: _Look) -> float:
        """Where the event is zero between two looks, as a fraction of the step."""
        if b.value == 0.0:
            return b.at
        from scipy.optimize import brentq

        known = {a.at: a.value, b.at: b.value}

        def value(at: float) -> float:
            return known[at] if at in known else step.value(event, at)

        return brentq(value, a.at, b.at, xtol=1e-15)

    def times(self) -> list[np.ndarray]:
        return [np.array([when for when, _ in events]) for events in self.found]

    def states(self) -> list[np.ndarray]:
        size = len(self.y)
        return [np.array([y for _, y in events]).reshape(-1, size) for events in self.found]
