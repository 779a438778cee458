"""Readers' own functions made into kernels, safely: what they write into, how long they are, and what they refer to."""

from __future__ import annotations

import builtins
import dis
import functools
import inspect
import itertools
import types as python_types
import warnings
import weakref
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np

from ._bounds import guarded
from .arguments import count, function_of, named_array, undefined
from .jit import (
    ENABLED,
    F8,
    FIELD,
    OPTIONS,
    VEC,
    compiled,
    in_python,
    interrupts_kept,
    is_kernel,
    numba,
    raise_waiting,
)

# All that a field may speak of to be called without copies. Numba does not let it write into an array marked as one
# that is only read, but forgets the mark in places (y.flat, np.ascontiguousarray, np.dot with three arguments,
# object mode): so what is harmless is listed, not what is known to harm.
_WORDS = (
    "shape size ndim T copy reshape sum min max mean append real imag "
    "array empty zeros ones full eye identity arange linspace empty_like zeros_like ones_like "
    "sin cos tan arcsin arccos arctan arctan2 sinh cosh tanh arcsinh arccosh arctanh exp expm1 log log1p log2 log10 "
    "sqrt cbrt square abs absolute fabs sign floor ceil trunc rint power hypot minimum maximum fmin fmax mod fmod "
    "deg2rad rad2deg radians degrees isnan isinf isfinite cross trace concatenate hstack vstack stack where "
    "linalg norm solve inv det pi e inf nan float64 int64 bool_ newaxis "
    "asin acos atan atan2 pow fsum gamma lgamma erf erfc tau degrees copysign isclose"
)
_BUILTIN_WORDS = (
    "abs bool complex divmod enumerate float int len list max min print range reversed round sum tuple zip "
    "ValueError ArithmeticError ZeroDivisionError Exception RuntimeError True False None"
)
_READING, _BUILTINS = frozenset(_WORDS.split()), frozenset(_BUILTIN_WORDS.split())
# A vector that may not be written to.
VECTOR = VEC.copy(readonly=True) if ENABLED else None
_KEEP_FIELDS = 64  # readers' own fields, kept compiled in a process
_FIELDS: dict[tuple, Callable] = {}


def field_kernel(function: Callable, example: tuple, size: int | None = None) -> Callable:
    """A reader's own `field(t, y, p)` as a kernel.

    The result may be a list, a tuple or an array of `size` numbers (by default as many as at `example`); one of
    another length, or an index outside y or p, ends the run with an error. A field that writes into y or p gets
    copies, and harms nobody. Where Numba cannot compile the function it is called as Python from the compiled loop,
    with one warning that says why. `example` holds arguments to compile for.

    Compiled once while the function and all it refers to stay the same: a system for every value of a slider
    costs one compilation.
    """
    name = getattr(function, "__name__", "field")
    function_of("function", function, "t, y, p")
    example = _read_example(example)
    if size is not None:
        count("size", size, -1)
    else:
        try:
            size = np.size(function(*map(np.copy, example)))
        except (ArithmeticError, ValueError) as error:
            if not undefined(error):
                raise
            size = -1  # not defined there, such as 1 / t: any length will do
    message = (
        f"field {name!r} must return {size} numbers at every t and y; it returned more or fewer"
    )
    python = _in_python(function, size, message)
    if not ENABLED:
        return python
    key = meaning(function)
    if key is not None:
        key = (size, *key)
        if key in _FIELDS:
            return _FIELDS[key]
    try:
        kernel = _compiled_field(function, size, message)
        if key is not None:
            while len(_FIELDS) >= _KEEP_FIELDS:
                del _FIELDS[next(iter(_FIELDS))]
            _FIELDS[key] = kernel
        return kernel
    except Exception as error:  # Numba raises many kinds; each means "cannot be compiled"
        function(*map(np.copy, example))  # a plain mistake in it is raised here, as itself
        warn_slow(f"field {name!r}", error)

    return _called_back(python)


def _in_python(function: Callable, size: int, message: str) -> Callable:
    """function(t, y, p) as compiled code calls it: `size` numbers, any where < 0, and NaN where it is not defined."""

    @in_python
    def python(t: float, y: np.ndarray, p: np.ndarray) -> np.ndarray:
        y, p = y.copy(), p.copy()  # first: an error's frame may outlive arrays that a loop lends
        raise_waiting()
        try:
            with np.errstate(all="ignore"):
                result = np.array(function(t, y, p), dtype=np.float64).ravel()
        except (ArithmeticError, ValueError) as error:
            if size < 0 or not undefined(error):
                raise
            return np.full(size, np.nan)
        if len(result) != size and size >= 0:
            raise ValueError(message)
        return result

    return python


def _read_example(example: Any) -> tuple:
    try:
        t, y, p = example
        return float(t), *(named_array("example", x).reshape(-1) for x in (y, p))
    except (TypeError, ValueError):
        raise ValueError(
            f"example must be (t, y, p), a number and two arrays to try the function with, got {example!r}"
        ) from None


# By number, since Numba may want to pickle what a kernel names, and a reader's function may hold what cannot be.
_HELD: dict[int, Callable] = {}
_numbers = itertools.count()


def _ask(number: int, t: float, y: np.ndarray, p: np.ndarray) -> np.ndarray:
    return _HELD[number](t, y, p)


def _called_back(python: Callable) -> Callable:
    """A kernel that leaves compiled code and calls a Python function (t, y, p) -> flat float array."""
    number = next(_numbers)

    @numba.njit(error_model="numpy")
    def kernel(t, y, p):
        with numba.objmode(result="float64[::1]"):
            result = _ask(number, t, y, p)
        return result

    kernel.calls_python = True
    _HELD[number] = python
    weakref.finalize(kernel, _HELD.pop, number)
    return compiled(kernel, FIELD)


def warn_slow(what: str, error: Exception) -> None:
    """Say that a reader's function runs as Python, and the line of Numba's message that tells why."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    telling = ("Unknown attribute", "Untyped global", "nsupported")
    marked = [line for line in lines if any(mark in line for mark in telling)]
    noise = ("Failed in", "During", "File", "raised from", "^", "-", "def ")
    others = [line for line in lines if not line.startswith(noise)]
    reason = (marked or others[:1] or lines[-1:] or [type(error).__name__])[0]
    if isinstance(error, AssertionError):  # Numba's own, without words
        reason = "Numba found no one type for a value; do all branches return the same, such as 1.0 and not 1?"
    level, frame = 1, inspect.currentframe()
    while frame is not None and frame.f_globals.get("__name__", "").startswith("lielab."):
        level, frame = level + 1, frame.f_back  # the reader's own line is the one to show
    warnings.warn(
        f"{what} could not be compiled and runs as Python, about 100 times slower: {reason}",
        RuntimeWarning,
        stacklevel=level,
    )


def _compiled_field(function: Callable, size: int, message: str) -> Callable:
    inner = guarded(function)

    if only_reads(inner, (F8, VEC, VEC), (F8, VECTOR, VECTOR)):
        if not is_kernel(function):  # a call that returns an array costs as much as a small field
            inner = numba.njit(inline="always", **OPTIONS)(inner.py_func)

        @numba.njit(boundscheck=True, **OPTIONS)
        def lean(t, y, p):
            values = inner(t, y, p)
            if len(values) != size and size >= 0:
                raise ValueError(message)
            return values

        with suppress(Exception):  # Numba cannot inline it: it is called
            return compiled(lean, FIELD)

    @numba.njit(**OPTIONS)
    def field(t, y, p):
        values = np.asarray(inner(t, y.copy(), p.copy()))
        if len(values) != size and size >= 0:
            raise ValueError(message)
        result = np.empty(len(values))
        for i in range(len(values)):
            result[i] = values[i]
        return result

    return compiled(field, FIELD)


def only_reads(inner: Callable, kinds: tuple, locked: tuple, own: bool = True) -> bool:
    """True where a reader's function provably writes into no locked argument, and returns an array of its `own`.

    Such a field needs no copy of y and none of its result, half of what a small one costs. The proof: it compiles
    for arrays that may not be written to, and speaks of nothing by which Numba forgets that.
    """
    if not _speaks_of_reading(inner, set()):
        return False
    proof = numba.njit(**OPTIONS)(inner.py_func)
    try:
        with interrupts_kept():
            proof.compile(locked)
            inner.compile(kinds)  # with the reader's own options it may return another type
    except Exception:  # it writes, or cannot be compiled for these: the caller finds out which
        return False
    if not own:
        return True
    (found,) = proof.overloads.values()
    usual = inner.overloads.get(kinds)
    return (
        found.signature.return_type == VEC
        and usual is not None
        and usual.signature.return_type == VEC
    )


@functools.lru_cache(maxsize=512)
def _names(code: python_types.CodeType) -> tuple[tuple[str, ...], frozenset[str]]:
    """The globals and the attributes that a function and the functions inside it speak of."""
    codes, spoken, attributes = [code], set(), set()
    for part in codes:  # grows
        codes.extend(c for c in part.co_consts if isinstance(c, python_types.CodeType))
        for instruction in dis.get_instructions(part):
            if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
                spoken.add(instruction.argval)
            elif instruction.opcode in dis.hasname:
                attributes.add(instruction.argval)
    return tuple(sorted(spoken)), frozenset(attributes)


def refers(plain: Callable) -> list[tuple[str, Any]]:
    """Names and values of the globals and the closure of a function, and of the functions inside it.

    Names that are builtins or not known yet are left out, as is a cell that is still empty.
    """
    named = [
        (name, plain.__globals__[name])
        for name in _names(plain.__code__)[0]
        if name in plain.__globals__
    ]
    for name, cell in zip(plain.__code__.co_freevars, plain.__closure__ or (), strict=True):
        with suppress(ValueError):
            named.append((name, cell.cell_contents))
    return named


def _speaks_of_reading(function: Any, seen: set) -> bool:
    """Whether a function and all that it calls speak of nothing but what is listed."""
    plain = getattr(function, "py_func", function)
    if plain in seen:
        return True
    seen.add(plain)
    spoken, attributes = _names(plain.__code__)
    unknown = [name for name in spoken if name not in plain.__globals__]
    return (
        attributes <= _READING
        and all(name in _BUILTINS and hasattr(builtins, name) for name in unknown)
        and all(_reads(value, seen) for _, value in refers(plain))
    )


def _reads(value: Any, seen: set) -> bool:
    if inspect.isfunction(getattr(value, "py_func", value)) and not _from_numpy(value):
        return _speaks_of_reading(value, seen)
    if isinstance(value, tuple):
        return all(_reads(one, seen) for one in value)
    if isinstance(value, np.ndarray | np.generic) or _is_number(value) or isinstance(value, str):
        return True
    if inspect.ismodule(value):
        return value.__name__ in ("numpy", "math", "numpy.linalg")
    return _from_numpy(value) and getattr(value, "__name__", "") in _READING


def _from_numpy(value: Any) -> bool:
    """A function or type of NumPy or math."""
    home = getattr(value, "__module__", None) or ""
    return isinstance(value, np.ufunc) or (
        callable(value) and home.split(".")[0] in ("numpy", "math")
    )


def meaning(function: Callable, above: tuple = ()) -> tuple | None:
    """A key that is the same while a function and all it refers to are; None where that cannot be told.

    Numba freezes the globals of a function when it compiles, so their values belong to the key.
    """
    plain = getattr(function, "py_func", function)
    if not inspect.isfunction(plain) or plain in above:
        return None
    # An identity is safe: what is kept compiled keeps everything it refers to alive.
    parts: list = [plain.__code__, None if plain is function else id(function)]
    if (plain.__module__ or "").split(".")[0] == "lielab":
        return (*parts, id(plain))  # a kernel of ours refers to constants only
    defaults = [("default", value) for value in plain.__defaults__ or ()]
    for name, value in [*refers(plain), *defaults]:
        part = _value(value, (*above, plain))
        if part is None:
            return None
        parts.append((name, part))
    return tuple(parts)


def _value(value: Any, above: tuple) -> tuple | None:
    if isinstance(value, np.ndarray | np.generic) and value.dtype != object:
        return value.dtype.str, value.shape, value.tobytes()
    if _is_number(value) or isinstance(value, str):
        return type(value), repr(value)
    if isinstance(value, tuple):
        parts = tuple(_value(one, above) for one in value)
        return None if None in parts else parts
    if inspect.ismodule(value):
        ours = value.__name__.split(".")[0] in ("numpy", "math")
        return (value.__name__,) if ours else None
    return (id(value),) if _from_numpy(value) else meaning(value, above)


class made_of:
    """Decorator: a property that is kept while readers' functions of these names mean the same, without names for good.

    Numba freezes what a function refers to. So that a gain changed in the next cell of a notebook counts, what
    was compiled of it is made anew then. Where that cannot be told (`meaning`) the first stays.
    """

    def __init__(self, *names: str) -> None:
        self.names = names

    def __call__(self, make: Callable) -> property:
        slot = f"_kept_{make.__name__}"

        def get(owner: Any) -> Any:
            means = [meaning(getattr(owner, name)) for name in self.names] if ENABLED else []
            kept = vars(owner).get(slot)
            if kept is None or kept[0] != means:
                kept = vars(owner)[slot] = (means, make(owner))
            return kept[1]

        return property(get, doc=make.__doc__)


def _is_number(value: Any) -> bool:
    return isinstance(value, bool | int | float | complex)


def point_kernel(function: Callable, shape: tuple[int, ...], example: tuple) -> Callable:
    """A reader's function(x, p) of a point x of that shape as a kernel (t, y, p) -> flat float array.

    x is a copy of the head of y. The result may be a number or an array of any shape. Where Numba cannot compile
    the function it is called as Python, with one warning that says why. `example` = (x, p) to try it with.
    """
    size, name = int(np.prod(shape)), getattr(function, "__name__", "function")
    # A plain mistake in the function is raised here, as itself.
    value = function(*map(np.copy, example))
    scalar, total = np.ndim(value) == 0, np.size(value)
    message = f"{name!r} must return {total} numbers everywhere; it returned more or fewer"
    python = _in_python(lambda t, y, p: function(y[:size].reshape(shape), p), total, message)
    if not ENABLED:
        return python

    # Loops in place of slices, copies and astype: these are slow to compile.
    @numba.njit(**OPTIONS)
    def head(y):
        x = np.empty(shape)
        for i, index in enumerate(np.ndindex(shape)):
            x[index] = y[i]
        return x

    try:
        inner = guarded(function)
        if scalar:

            @numba.njit(**OPTIONS)
            def kernel(t, y, p):
                out = np.empty(1)
                out[0] = inner(head(y), p.copy())
                return out

        else:

            @numba.njit(**OPTIONS)
            def kernel(t, y, p):
                values = inner(head(y), p.copy())
                if values.size != total:
                    raise ValueError(message)
                out = np.empty(total)
                i = 0
                for value in values.flat:
                    out[i] = value
                    i += 1
                return out

        return compiled(kernel, FIELD)
    except Exception as error:  # Numba raises many kinds; each means "cannot be compiled"
        warn_slow(repr(name), error)

    return _called_back(python)
