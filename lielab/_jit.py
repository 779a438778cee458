"""The only room that knows about Numba: compiled when it is there, the same source in Python when it is not.

`jit` compiles a kernel lazily and caches it on disk across processes. `loop(...)` marks the few functions
that take kernels as *function pointers*; each is compiled once, for its one signature. With
`NUMBA_DISABLE_JIT=1`, or without Numba installed, every function here runs as plain Python.

The disk cache lives in a folder named by a hash of all kernel sources and of Numba's flags. Numba itself
looks only at the file of the function that is called, and would serve stale code after an edit of a callee
in another file.
"""

from __future__ import annotations

import builtins
import dis
import functools
import hashlib
import inspect
import os
import shutil
import sys
import threading
import time
import types as python_types
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

try:
    import numba
    from numba import types
    from numba.core.errors import NumbaExperimentalFeatureWarning

    ENABLED = not numba.config.DISABLE_JIT
except ImportError:  # the package stays usable, slower, without Numba
    numba = None
    ENABLED = False

_PACKAGE = Path(__file__).parent
# Files without kernels, which no file with kernels imports: an edit there costs no compilation.
_NOT_KERNELS = frozenset(
    [
        "__init__.py",
        "_runs.py",
        "_warm.py",
        "animate.py",
        "diagnostics.py",
        "events.py",
        "explore.py",
        "figures.py",
        "grading",
        "orders.py",
        "plotting.py",
        "quadrotor_figures.py",
        "report_card.py",
        "solution.py",
        "solve.py",
        "sphere_figures.py",
        "step_size.py",
        "structure.py",
        "sweep.py",
        "testing",
    ]
)
_KEEP_FOLDERS, _KEEP_SECONDS = 6, 14 * 24 * 3600.0
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
_KEEP_FIELDS = 64  # readers' own fields, kept compiled in a process
_FIELDS: dict[tuple, Callable] = {}
_NOTICE_AFTER = 2.0  # seconds: a compilation longer than this is announced


def _kernel_hash() -> str:
    digest = hashlib.sha256()
    for file in sorted(_PACKAGE.rglob("*.py")):
        relative = file.relative_to(_PACKAGE)
        # The first part: of the files __init__.py only the package's own.
        if relative.parts[0] not in _NOT_KERNELS:
            digest.update(str(relative).encode() + b"\0" + file.read_bytes())
    config = numba.config
    flags = (numba.__version__, sys.version_info[:2], config.OPT, config.BOUNDSCHECK)
    digest.update(repr(flags).encode())
    return digest.hexdigest()[:16]


def _cache_folder() -> str:
    """Folder of this version's compiled code; old versions' folders beside it are pruned."""
    base = os.environ.get("LIELAB_CACHE_DIR")
    if not base:
        user = os.environ.get("LOCALAPPDATA") or os.environ.get("XDG_CACHE_HOME") or "~/.cache"
        base = os.path.join(os.path.expanduser(user), "lielab")
    folder = Path(base) / _kernel_hash()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        os.utime(folder)
        others = [entry for entry in Path(base).iterdir() if entry.is_dir() and entry != folder]
        others.sort(key=lambda entry: entry.stat().st_mtime, reverse=True)
        for index, entry in enumerate(others):
            if index >= _KEEP_FOLDERS or time.time() - entry.stat().st_mtime > _KEEP_SECONDS:
                shutil.rmtree(entry, ignore_errors=True)
    except OSError:  # read-only home: Numba falls back to a folder it can write
        return ""
    return str(folder)


if ENABLED:
    _FOLDER = _cache_folder()
    _OPTIONS = {"nogil": True, "error_model": "numpy"}

    F8, I8, BOOL = types.float64, types.int64, types.boolean
    VEC, MAT, CUBE = types.float64[::1], types.float64[:, ::1], types.float64[:, :, ::1]
    INTS = types.int64[::1]

    def pointer(result: Any, *arguments: Any) -> Any:
        """Type of a function pointer."""
        return types.FunctionType(result(*arguments))

else:
    F8 = I8 = BOOL = VEC = MAT = CUBE = INTS = None

    def pointer(result: Any, *arguments: Any) -> Any:
        """Without Numba a pointer has no type."""
        return None


FIELD = pointer(VEC, F8, VEC, VEC)  # field(t, y, p) -> algebra vector
ACT = pointer(VEC, VEC, VEC)  # exp_act(xi, y) -> y;  dexpinv(u, v) -> v;  generator(xi, y) -> y'
UNARY = pointer(BOOL, VEC, VEC)  # group kernel (x, out) -> inside its domain?
BINARY = pointer(BOOL, VEC, VEC, VEC)


def jit(function: Callable) -> Callable:
    """Compile a kernel lazily, with its machine code cached on disk."""
    if not ENABLED:
        return function
    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = _FOLDER
    try:
        return numba.njit(cache=True, **_OPTIONS)(function)
    finally:
        numba.config.CACHE_DIR = before


@contextmanager
def notice(what: str) -> Iterator[None]:
    """Say once, on stderr, that a compilation takes long; short ones stay silent.

    The tests and the book's build set LIELAB_QUIET: how long a compilation takes is no output to compare.
    """

    def say() -> None:
        if not notice.said and not os.environ.get("LIELAB_QUIET"):
            notice.said = True
            print(
                f"lielab: compiling {what} for this machine (once; later runs load it from disk)",
                file=sys.stderr,
            )

    timer = threading.Timer(_NOTICE_AFTER, say)
    timer.daemon = True
    timer.start()
    try:
        with warnings.catch_warnings():
            # Function pointers are marked experimental; the tests pin what is relied on.
            warnings.simplefilter("ignore", NumbaExperimentalFeatureWarning)
            yield
    finally:
        timer.cancel()


notice.said = False


def compiled(kernel: Callable, kind: Any) -> Callable:
    """Make sure that a jitted kernel has machine code for the pointer type `kind`; returns the kernel."""
    if ENABLED and hasattr(kernel, "overloads"):
        signature = kind.signature.args
        if signature not in kernel.overloads:
            with notice(kernel.__name__):
                kernel.compile(signature)
    return kernel


class Loop:
    """A compiled function with one signature that takes kernels as function pointers."""

    def __init__(self, function: Callable, arguments: tuple) -> None:
        self.__doc__, self.__name__ = function.__doc__, function.__name__
        self._arguments = arguments
        self._function = jit(function)
        self._lock = threading.Lock()
        self._ready = not ENABLED

    def _compile(self) -> None:
        with self._lock:
            if not self._ready:
                with notice(self.__name__):
                    self._function.compile(self._arguments)
                    self._function.disable_compile()
                self._ready = True

    def __call__(self, *arguments: Any) -> Any:
        """Run it; kernels among the arguments are compiled first where they are new."""
        if not self._ready:
            self._compile()
        if ENABLED:
            for value, kind in zip(arguments, self._arguments, strict=True):
                if isinstance(kind, types.FunctionType):
                    compiled(value, kind)
        return self._function(*arguments)


def loop(*arguments: Any) -> Callable[[Callable], Loop]:
    """Decorator: compile for these argument types at the first call, never for others."""
    return lambda function: Loop(function, arguments)


def is_kernel(function: Callable) -> bool:
    """True for functions that are compiled already (or need not be, without Numba)."""
    return not ENABLED or isinstance(function, numba.core.dispatcher.Dispatcher)


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
    if size is None:
        try:
            size = np.size(function(*map(np.copy, example)))
        except ArithmeticError:  # not defined there, such as 1 / t: any length will do
            size = -1
    message = (
        f"field {name!r} must return {size} numbers at every t and y; it returned more or fewer"
    )

    def python(t: float, y: np.ndarray, p: np.ndarray) -> np.ndarray:
        result = np.array(function(t, y.copy(), p.copy()), dtype=np.float64).ravel()
        if len(result) != size and size >= 0:
            raise ValueError(message)
        return result

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
        reason = str(error).strip().splitlines()[-1] if str(error).strip() else type(error).__name__
        for line in str(error).splitlines():
            if (
                "Unknown attribute" in line
                or "Untyped global" in line
                or "unsupported" in line.lower()
            ):
                reason = line.strip()
                break
        function(
            *map(np.copy, example)
        )  # a plain mistake in the function is raised here, as itself
        warnings.warn(
            f"field {name!r} could not be compiled and runs as Python, about 100 times slower: {reason}",
            RuntimeWarning,
            stacklevel=3,
        )

    @numba.njit(error_model="numpy")
    def python_field(t, y, p):
        with numba.objmode(result="float64[::1]"):
            result = python(t, y, p)
        return result

    return compiled(python_field, FIELD)


def _readers(function: Callable) -> Callable:
    """A reader's function for Numba to compile; TypeError where it is an object that Numba cannot.

    It looks at every index: compiled code would read past the end of an array. Never cached on disk: what
    it refers to may change unseen.
    """
    if is_kernel(function):
        return function
    if not inspect.isfunction(function):
        raise TypeError(f"unsupported: it is of type {type(function).__name__}, no plain function")
    return numba.njit(boundscheck=True, **_OPTIONS)(function)


def _compiled_field(function: Callable, size: int, message: str) -> Callable:
    inner = _readers(function)

    if _only_reads(inner):

        @numba.njit(**_OPTIONS)
        def lean(t, y, p):
            values = inner(t, y, p)
            if len(values) != size and size >= 0:
                raise ValueError(message)
            return values

        return compiled(lean, FIELD)

    @numba.njit(**_OPTIONS)
    def field(t, y, p):
        values = np.asarray(inner(t, y.copy(), p.copy()))
        if len(values) != size and size >= 0:
            raise ValueError(message)
        result = np.empty(len(values))
        for i in range(len(values)):
            result[i] = values[i]
        return result

    return compiled(field, FIELD)


def _only_reads(inner: Callable) -> bool:
    """True where a reader's field provably writes neither into y nor p, and returns an array of its own.

    Such a field needs no copy of y and none of its result, half of what a small one costs. The proof: it compiles
    for arrays that may not be written to, and speaks of nothing by which Numba forgets that.
    """
    if not _speaks_of_reading(inner, set()):
        return False
    vector = VEC.copy(readonly=True)
    proof = numba.njit(**_OPTIONS)(inner.py_func)
    try:
        proof.compile((F8, vector, vector))
        inner.compile((F8, VEC, VEC))  # with the reader's own options it may return another type
    except Exception:  # it writes, or cannot be compiled for these: the caller finds out which
        return False
    (found,) = proof.overloads.values()
    own = inner.overloads.get((F8, VEC, VEC))
    return (
        found.signature.return_type == VEC and own is not None and own.signature.return_type == VEC
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


def _refers(plain: Callable) -> list[tuple[str, Any]]:
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
        and all(_reads(value, seen) for _, value in _refers(plain))
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
    if (plain.__module__ or "").split(".")[0] == __package__:
        return (*parts, id(plain))  # a kernel of ours refers to constants only
    defaults = [("default", value) for value in plain.__defaults__ or ()]
    for name, value in [*_refers(plain), *defaults]:
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
    """Decorator: a property that is kept while the reader's functions of these names mean the same.

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


def closure(function: Callable) -> Callable:
    """Compile a function that closes over other kernels; never cached on disk, they may change unseen.

    A kernel is passed through.
    """
    return function if is_kernel(function) else numba.njit(**_OPTIONS)(function)


def point_kernel(function: Callable, shape: tuple[int, ...], example: tuple) -> Callable:
    """A reader's function(x, p) of a point x of that shape as a kernel (t, y, p) -> flat float array.

    x is a copy of the head of y. The result may be a number or an array of any shape. Where Numba cannot compile
    the function it is called as Python, with one warning that says why. `example` = (x, p) to try it with.
    """
    size, name = int(np.prod(shape)), getattr(function, "__name__", "function")
    value = function(
        *map(np.copy, example)
    )  # a plain mistake in the function is raised here, as itself
    scalar, total = np.ndim(value) == 0, np.size(value)
    message = f"{name!r} must return {total} numbers everywhere; it returned more or fewer"

    def python(t: float, y: np.ndarray, p: np.ndarray) -> np.ndarray:
        x = y[:size].copy().reshape(shape)
        result = np.array(function(x, p.copy()), dtype=np.float64).reshape(-1)
        if len(result) != total:
            raise ValueError(message)
        return result

    if not ENABLED:
        return python

    # Loops in place of slices, copies and astype: these are slow to compile.
    @numba.njit(**_OPTIONS)
    def head(y):
        x = np.empty(shape)
        for i, index in enumerate(np.ndindex(shape)):
            x[index] = y[i]
        return x

    try:
        inner = _readers(function)
        if scalar:

            @numba.njit(**_OPTIONS)
            def kernel(t, y, p):
                out = np.empty(1)
                out[0] = inner(head(y), p.copy())
                return out

        else:

            @numba.njit(**_OPTIONS)
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
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        telling = ("Unknown attribute", "Untyped global", "nsupported")
        reason = next((line for line in lines if any(mark in line for mark in telling)), lines[-1])
        warnings.warn(
            f"{name!r} could not be compiled and runs as Python, about 100 times slower: {reason}",
            RuntimeWarning,
            stacklevel=4,
        )

    @numba.njit(error_model="numpy")
    def python_kernel(t, y, p):
        with numba.objmode(result="float64[::1]"):
            result = python(t, y, p)
        return result

    return compiled(python_kernel, FIELD)
