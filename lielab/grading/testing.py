"""What tests of an assignment are written with: `close`, `close_up_to_sign`, `holds`, `array`, `arrays`, `unchanged`,
`raises`, `order_seen` and `rng`.

The public checks, the hidden tests and a master run from top to bottom all use these. They compare plain numbers, and
turn every oddity (wrong shape, NaN, complex, None, an object that claims to equal everything) into a sentence.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Sequence
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


def _odd_one(value: Any) -> str:
    """What in `value` is no number, in words; empty if it is made of numbers. Looked at before an array is made."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, (list, tuple)):
            waiting += item
        elif isinstance(item, np.ndarray):
            if item.dtype.kind not in "fiuc":
                return f"got an array of {item.dtype}, not of numbers"
        elif isinstance(item, (bool, np.bool_)) or not isinstance(
            item, (int, float, complex, np.number)
        ):
            kind = type(item).__name__
            if item is value:
                return f"got a {kind}, not an array of numbers"
            return f"got a {kind} among the numbers"
    return ""


def array(what: str, got: Any, shape: tuple[int, ...], hint: str = "") -> np.ndarray:
    """`got` as a real float array of this shape; raises `Failed` that says what it is instead."""
    if got is None:
        raise Failed(what, "the function returned None; does it end with `return`?", hint)
    if odd := _odd_one(got):
        raise Failed(what, odd, hint)
    try:
        found = np.array(got)
    except Exception:
        raise Failed(what, "got lists that do not form an array", hint) from None
    if found.dtype.kind == "c":
        raise Failed(what, "got complex numbers where real ones are asked for", hint)
    if found.dtype.kind not in "fiu" and found.size:
        raise Failed(what, "got integers that are too large", hint)
    if found.shape != shape:
        raise Failed(what, f"got shape {found.shape}, the question asks for {shape}", hint)
    return found.astype(float)


def arrays(what: str, got: Any, *shapes: tuple[int, ...], hint: str = "") -> list[np.ndarray]:
    """A tuple or list of real float arrays of these shapes; raises `Failed` that says what it is instead."""
    if not isinstance(got, (tuple, list)) or len(got) != len(shapes):
        count = (
            f"{len(got)} values" if isinstance(got, (tuple, list)) else f"a {type(got).__name__}"
        )
        raise Failed(what, f"got {count}, the question asks for a tuple of {len(shapes)}", hint)
    return [array(what, item, shape, hint) for item, shape in zip(got, shapes, strict=True)]


_NAN = "NaN (of 0/0, a root or logarithm of something negative, or another NaN)"
_INFINITY = "infinity (of a division by zero, or too large a number)"
Slips = Sequence[tuple[Any, str]]


def close(
    what: str,
    got: Any,
    want: Any,
    tol: float,
    hint: str = "",
    *,
    scale: float = 1.0,
    slips: Slips = (),
) -> None:
    """The property `what`: `got` has the shape of `want`, is finite, and no entry differs by more than `tol * scale`.

    `slips` are pairs of a value that a typical mistake gives (NaN for any answer that is not finite) and the hint for
    it; another mistake gets `hint`.
    """
    want = np.asarray(want, dtype=float)
    found = array(what, got, want.shape, hint)
    if not np.isfinite(found).all():
        own = [reason for wrong, reason in slips if np.isnan(wrong).all()]
        number = f"got {_NAN if np.isnan(found).any() else _INFINITY}"
        raise Failed(what, number, own[0] if own else hint)
    gap = float(np.max(np.abs(found - want), initial=0.0)) / scale
    if not gap <= tol:
        for wrong, reason in slips:
            if _alike(found, wrong, max(1e-6 * gap, tol) * scale):
                hint = reason
                break
        relative = "" if scale == 1.0 else f" relative to {scale:.1g}"
        raise Failed(what, f"largest difference {gap:.3g}{relative}, allowed {tol:.1g}", hint)
    _passed(what)


def _alike(found: np.ndarray, wrong: Any, tol: float) -> bool:
    wrong = np.asarray(wrong, dtype=float)
    return found.shape == wrong.shape and bool(np.all(np.abs(found - wrong) <= tol))


def order_seen(ends: Sequence[np.ndarray]) -> float:
    """log2 of the ratio of the errors of the first two ends, the second with half the step, against the third."""
    first, second = (max(float(np.linalg.norm(end - ends[2])), 1e-300) for end in ends[:2])
    return float(np.log2(first / second))


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


def unchanged(what: str, function: Callable, *args: Any, hint: str = "work on copies") -> Any:
    """The value of `function(*args)`, which must leave its arrays as they are."""
    kept = [np.copy(x) if isinstance(x, np.ndarray) else x for x in args]
    value = function(*args)
    # Behind the wire the arguments here are others.
    changed = list(getattr(function, "changed", ()))
    changed += [k for k, x in enumerate(args) if isinstance(x, np.ndarray) and (x != kept[k]).any()]
    if changed:
        raise Failed(what, "the function changed what it was given", hint)
    _passed(what)
    return value


def raises(what: str, function: Callable, *args: Any, hint: str = "") -> None:
    """The property `what`: `function(*args)` ends in an exception of its own, not of a limit."""
    try:
        function(*args)
    except Exception as error:
        if not getattr(error, "raised", True):
            raise
    else:
        raise Failed(what, "no exception was raised", hint)
    _passed(what)
