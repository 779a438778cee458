"""Events: zero crossings of a function of the state, located to round-off on the manifold."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ._arguments import as_real, call_once


@dataclass(frozen=True)
class Event:
    """A function of (t, y) whose zero crossings `solve` locates.

    `function(t, y)` takes the time and the state (dim,) in the system's layout and returns a number. `direction`: 1 for
    crossings from below only, -1 from above, 0 for both. A `terminal` event ends the run there. Two crossings
    inside one step go unnoticed: limit `h` or `max_step` where that matters.
    """

    function: Callable[[float, np.ndarray], float]
    terminal: bool = False
    direction: int = 0

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise ValueError(f"an event needs a function of (t, y), got {self.function!r}")
        if self.terminal not in (False, True):
            raise ValueError(
                f"terminal must be True or False (the first crossing ends the run), got {self.terminal!r}"
            )
        if self.direction not in (-1, 0, 1):
            raise ValueError(f"direction must be -1, 0 or 1, got {self.direction!r}")

    def __call__(self, t: float, y: np.ndarray) -> float:
        value = as_real(
            self.function(t, y.copy())
        )  # a copy: what it writes there would change the run
        if value is None or math.isnan(value):
            name = getattr(self.function, "__name__", type(self.function).__name__)
            raise ValueError(
                f"event {name!r} must return one number wherever the run goes; got {value} at t = {t:.10g}"
            )
        return value


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


class Watcher:
    """Looks at the new rows of a run after each chunk, and keeps the events found."""

    def __init__(self, events: list[Event], flow: Callable, t0: float, y0: np.ndarray) -> None:
        self.events, self.flow = events, flow
        self.t, self.y = t0, y0
        self.values = [event(t0, y0) for event in events]
        self.found: list[list[tuple[float, np.ndarray]]] = [[] for _ in events]
        self.end: tuple[int, float, np.ndarray] | None = (
            None  # row, time and state of a terminal event
        )

    def look(self, t: np.ndarray, y: np.ndarray, h: np.ndarray) -> bool:
        """Look at rows that follow the last one seen, each one step further; True at a terminal event."""
        for row in range(len(t)):
            crossed = []
            for number, event in enumerate(self.events):
                before, after = self.values[number], event(t[row], y[row])
                self.values[number] = after
                # A zero counts when it is reached, not when it is left.
                if before != 0.0 and (after == 0.0 or (before < 0.0) != (after < 0.0)):
                    rising = before < 0.0
                    if event.direction == 0 or rising == (event.direction > 0):
                        crossed.append(
                            (*self._locate(event, before, t[row], y[row], h[row]), number)
                        )
            for when, state, number in sorted(crossed, key=lambda c: abs(c[0] - self.t)):
                self.found[number].append((when, state))
                if self.events[number].terminal:
                    self.end = row, when, state
                    return True
            self.t, self.y = t[row], y[row]
        return False

    def _locate(
        self, event: Event, before: float, t1: float, y1: np.ndarray, h: float
    ) -> tuple[float, np.ndarray]:
        """Time and state of the crossing between the last row and (t1, y1)."""
        from scipy.optimize import brentq

        t0, start = self.t, self.y[None]
        span = t1 - t0

        def state(part: float) -> np.ndarray:
            if part in (0.0, 1.0):
                return y1 if part else self.y
            return self.flow(np.array([t0]), start, np.array([part * span]), full=np.array([h]))[0]

        part = brentq(lambda x: event(t0 + x * span, state(x)), 0.0, 1.0, xtol=1e-15)
        return t0 + part * span, state(part)

    def times(self) -> list[np.ndarray]:
        return [np.array([when for when, _ in events]) for events in self.found]

    def states(self) -> list[np.ndarray]:
        size = len(self.y)
        return [np.array([y for _, y in events]).reshape(-1, size) for events in self.found]
