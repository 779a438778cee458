"""What tests of an assignment are written with: `close`, `close_up_to_sign`, `holds`, `array` and `rng`.

The public checks, the hidden tests and a master run from top to bottom all use these. They compare plain numbers, and
turn every oddity (wrong shape, NaN, complex, None, an object that claims to equal everything) into a sentence.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

import numpy as np


class Failed(AssertionError):
    """A property that does not hold: what it is, the number that shows it, and a hint."""

    def __init__(self, what: str, number: str = "", hint: str = "") -> None:
        self.what, self.number, self.hint = what, number, hint
        super().__init__(f"{what}: {number}" if number else what)


@dataclass
class _Context:
    seed: tuple[int, ...] | None = None
    passed: list[str] = field(default_factory=list)


_CONTEXT: ContextVar[_Context | None] = ContextVar("lielab_grading_context", default=None)


@contextmanager
def context(seed: int | None = None, part: str = "") -> Iterator[_Context]:
    """Run tests with inputs drawn from `seed` (each part has its own stream) and note the properties that held."""
    current = _Context(None if seed is None else (seed, zlib.crc32(part.encode())))
    token = _CONTEXT.set(current)
    try:
        yield current
    finally:
        _CONTEXT.reset(token)


def rng() -> np.random.Generator:
    """Random inputs: from the grader's seed, or fresh ones outside the grader. Each call starts the stream anew."""
    current = _CONTEXT.get()
    return np.random.default_rng(current.seed if current else None)


def _passed(what: str) -> None:
    current = _CONTEXT.get()
    if current:
        current.passed.append(what)


def array(what: str, got: Any, shape: tuple[int, ...], hint: str = "") -> np.ndarray:
    """`got` as a real float array of this shape; raises `Failed` that says what it is instead."""
    if got is None:
        raise Failed(what, "the function returned None; does it end with `return`?", hint)
    if not isinstance(got, (np.ndarray, np.generic, int, float, complex, list, tuple)):
        raise Failed(what, f"got a {type(got).__name__}, not an array of numbers", hint)
    try:
        found = np.array(got)
    except Exception:
        raise Failed(what, "got lists that do not form an array", hint) from None
    if found.dtype.kind == "c":
        raise Failed(what, "got complex numbers where real ones are asked for", hint)
    if found.dtype.kind not in "fiu":
        raise Failed(what, f"got an array of {found.dtype}, not of numbers", hint)
    if found.shape != shape:
        raise Failed(what, f"got shape {found.shape}, the question asks for {shape}", hint)
    return found.astype(float)


def close(what: str, got: Any, want: Any, tol: float, hint: str = "") -> None:
    """The property `what`: `got` has the shape of `want`, is finite, and no entry differs by more than `tol`."""
    want = np.asarray(want, dtype=float)
    found = array(what, got, want.shape, hint)
    if not np.isfinite(found).all():
        raise Failed(what, f"got {'NaN' if np.isnan(found).any() else 'infinity'}", hint)
    gap = float(np.max(np.abs(found - want), initial=0.0))
    if not gap <= tol:
        raise Failed(what, f"largest difference {gap:.3g}, allowed {tol:.1g}", hint)
    _passed(what)


def close_up_to_sign(what: str, got: Any, want: Any, tol: float, hint: str = "") -> None:
    """Like `close`, where `want` and `-want` are both right answers."""
    want = np.asarray(want, dtype=float)
    found = array(what, got, want.shape, hint)
    flip = float(np.sum(np.where(np.isfinite(found), found, 0.0) * want)) < 0
    close(what, found, -want if flip else want, tol, hint)


def holds(what: str, condition: Any, number: str = "", hint: str = "") -> None:
    """The property `what`: `condition` is true, and is a plain truth value and not an object that acts like one."""
    if not (isinstance(condition, (bool, np.bool_)) and bool(condition)):
        raise Failed(what, number, hint)
    _passed(what)
