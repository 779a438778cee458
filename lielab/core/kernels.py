"""Kernels of actions: made of functions that return or that fill an array, ours or a reader's."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from ._bounds import guarded, ours
from .arguments import call_once, named_array, numbers_of, undefined
from .jit import ACT, ENABLED, OPTIONS, VEC, closure, compiled, in_python, numba, raise_waiting
from .readers import VECTOR, meaning, only_reads, warn_slow

_FLOAT, _FLAT = np.dtype(float), (8,)  # of a vector whose numbers stand side by side
_OURS = "ours"  # the key of a kernel that never changes
_KEEP = 64  # readers' own kernels, kept compiled in a process
_KERNELS: dict[tuple, Callable] = {}


class Kernel:
    """A kernel of an action: `kernel(u, v)` returns a new array, `kernel.into(u, v, out)` fills one.

    Compiled loops take `into`, which allocates nothing; out, of the length of v, must be another array than u and v.
    Made from a function (u, v, out) that writes, or from one (u, v) that returns a list, a tuple or an array.

    Loops lend their arrays (`lielab.core.jit.lent`), so a reader's function is kept from harm: it gets copies where it
    does not provably only read, its indices are looked at, so is how many numbers it returns, and what it leaves
    unwritten is NaN. Where Numba cannot compile it, it is called as Python, with one warning that says why. It is
    compiled anew when what it refers to has changed, as readers' fields are.
    """

    def __init__(self, function: Callable, name: str = "kernel") -> None:
        plain = getattr(function, "py_func", function)
        self.function, self.name, self.__name__ = function, name, getattr(plain, "__name__", name)
        self.writes = _writes(plain, name)
        self.ours = ours(plain)
        self._sizes: tuple | None = None
        self._lengths: set[tuple[int, int]] = set()  # that it has been called with
        self._kept: dict[tuple | str | None, Callable] = {}

    def of(self, name: str, moves: bool, action: Any) -> Kernel:
        """The same kernel, called from Python only with arrays of the lengths that the action has."""
        kernel = copy.copy(self)
        words = ("xi", "y") if moves else ("u", "v")
        kernel._sizes = (name, words, action.algebra, action.point if moves else action.algebra)
        kernel._sizes += (action.blocks, action.name)
        kernel._lengths = set()
        return kernel

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Kernel):
            return NotImplemented
        return self.function == other.function and self._sizes == other._sizes

    def __hash__(self) -> int:
        return hash(self.function)

    def __deepcopy__(self, memo: dict) -> Kernel:
        return self  # it never changes

    def __getstate__(self) -> dict[str, Any]:
        """Other processes get the function, and compile it for themselves."""
        return {**vars(self), "_kept": {}}

    @property
    def into(self) -> Callable:
        """The compiled function (u, v, out)."""
        if self.ours:
            if _OURS not in self._kept:
                into = closure(self.function)
                self._kept[_OURS] = into if self.writes else _stored(into, self.__name__)
            return self._kept[_OURS]
        key = meaning(self.function) if ENABLED else None
        if key is None:
            if None not in self._kept:
                self._kept[None] = self._guarded()
            return self._kept[None]
        key = (self.name, self.writes, *key)
        if key not in _KERNELS:
            made = self._guarded()
            while len(_KERNELS) >= _KEEP:
                del _KERNELS[next(iter(_KERNELS))]
            _KERNELS[key] = made
        return _KERNELS[key]

    def __call__(self, u: Any, v: Any) -> np.ndarray:
        # Looked at in place: a call of one of ours costs no more than a few lines of Python.
        if not (
            type(u) is type(v) is np.ndarray
            and u.dtype == v.dtype == _FLOAT
            and u.strides == v.strides == _FLAT
            and (len(u), len(v)) in self._lengths
        ):
            u, v = self._checked(u, v)
        into = self._kept.get(_OURS)
        if into is None:
            if not self.ours and not hasattr(self.function, "py_func"):
                return self._python(u, v)
            into = self.into
        out = np.empty(len(v))
        into(u, v, out)
        return out

    def _checked(self, u: Any, v: Any) -> tuple[np.ndarray, np.ndarray]:
        """Both as arrays that compiled code takes; ValueError where the action has others."""
        words = self._sizes[1] if self._sizes else ("u", "v")
        u, v = _vector(words[0], u), _vector(words[1], v)
        if self._sizes is not None:
            _check_sizes(u, v, *self._sizes)
        if u.ndim == v.ndim == 1:
            self._lengths.add((len(u), len(v)))
        return u, v

    def attempt(self, u: np.ndarray, v: np.ndarray) -> None:
        """Try a reader's function once, as plain Python: ValueError where it does not return len(v) numbers."""
        if self.ours:
            return
        words = self._sizes[1] if self._sizes else ("u", "v")
        takes, more = ", ".join(words), ()
        if self.writes:
            takes, more = takes + ", out", (np.empty(len(v)),)
        value = call_once(
            self.name, self.function, takes, u, v, *more, sometime=True, fills=self.writes
        )
        if value is not None and not self.writes:
            self._read(value, len(v))

    def _read(self, value: Any, size: int) -> np.ndarray:
        what = f"as many numbers as its second argument has, {size}"
        found = numbers_of(self.name, value, what)
        if found.size != size or found.ndim == 0:
            raise ValueError(f"{self.name} must return {what}, got shape {found.shape}")
        return found.reshape(-1)

    @in_python
    def _python(self, u: np.ndarray, v: np.ndarray) -> np.ndarray:
        # First: the frame of an error may outlive arrays that a loop lends.
        u, v = u.copy(), v.copy()
        raise_waiting()
        out = np.full(len(v), np.nan)
        try:
            with np.errstate(all="ignore"):
                value = self.function(u, v, out) if self.writes else self.function(u, v)
        except (ArithmeticError, ValueError) as error:
            if not undefined(error):
                raise
            return np.full(len(v), np.nan)
        return out.copy() if self.writes else self._read(value, len(v))

    def _guarded(self) -> Callable:
        python = self._python
        if not ENABLED:

            def into(u, v, out):
                out[:] = python(u, v)

            return into
        try:
            return compiled(self._compiled(), ACT)
        except Exception as error:  # Numba raises many kinds; each means "cannot be compiled"
            warn_slow(f"{self.name} {self.__name__!r}", error)

        @numba.njit(error_model="numpy")
        def called_back(u, v, out):
            with numba.objmode(result="float64[::1]"):
                result = python(u, v)
            for i in range(len(out)):
                out[i] = result[i]

        called_back.calls_python = True
        return compiled(called_back, ACT)

    def _compiled(self) -> Callable:
        inner = guarded(self.function)
        if self.writes:
            reads = only_reads(inner, (VEC, VEC, VEC), (VECTOR, VECTOR, VEC), own=False)

            @numba.njit(**OPTIONS)
            def fill(u, v, out):
                for i in range(len(out)):
                    out[i] = np.nan
                if reads:
                    inner(u, v, out)
                    return
                result = out.copy()
                inner(u.copy(), v.copy(), result)
                for i in range(len(out)):
                    out[i] = result[i]

            return fill
        if only_reads(inner, (VEC, VEC), (VECTOR, VECTOR), own=False):
            return _stored(inner, self.__name__)

        @numba.njit(**OPTIONS)
        def copied(u, v):
            return inner(u.copy(), v.copy())

        return _stored(copied, self.__name__)


def _vector(name: str, values: Any) -> np.ndarray:
    if type(values) is np.ndarray and values.dtype == float and values.flags.c_contiguous:
        return values
    found = named_array(name, values)
    return found if found.flags.c_contiguous else np.ascontiguousarray(found)


def _stored(function: Callable, name: str) -> Callable:
    """The kernel that writes what a function (u, v) returns."""
    message = f"{name} must return as many numbers as its second argument has"

    @closure
    def into(u, v, out):
        values = np.asarray(function(u, v))
        if len(values) != len(out):
            raise ValueError(message)
        for i in range(len(out)):
            out[i] = values[i]

    return into


def _writes(plain: Callable, name: str) -> bool:
    """Whether a kernel is one of (u, v, out); ValueError where it is neither that nor one of (u, v)."""
    if not callable(plain):
        raise ValueError(f"{name} must be a function of two or three arrays, got {plain!r}")
    try:
        signature = inspect.signature(plain)
    except (TypeError, ValueError):
        return False  # a function of C without a signature
    for count in (2, 3):
        try:
            signature.bind(*range(count))
        except TypeError:
            continue
        return count == 3
    raise ValueError(
        f"{name} must take (u, v) and return, or take (u, v, out) and fill out; got {name}{signature}"
    )


def _check_sizes(
    u: np.ndarray,
    v: np.ndarray,
    name: str,
    words: tuple[str, str],
    algebra: int,
    second: int,
    blocks: bool,
    action: str,
) -> None:
    """Compiled code does not look: arrays of other lengths would be read, and written, past their ends."""
    for word, array in zip(words, (u, v), strict=True):
        if array.ndim != 1:
            raise ValueError(f"{name}: {word} must be flat, got shape {array.shape}")
    count = len(v) // second if blocks else 1
    if len(v) != count * second or count == 0:
        wanted = f"a multiple of {second}" if blocks else str(second)
        raise ValueError(
            f"{name}: {words[1]} must have length {wanted} for the action {action}, got {len(v)}"
        )
    if len(u) != count * algebra:
        raise ValueError(
            f"{name}: {words[0]} must have length {count * algebra} for the action {action}, got {len(u)}"
        )
