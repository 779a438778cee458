"""The only room that knows about Numba: compiled when it is there, the same source in Python when it is not.

`jit` compiles a kernel lazily and caches it on disk across processes. `loop(...)` marks the few functions
that take kernels as *function pointers*; each is compiled once, for its one signature. With
`NUMBA_DISABLE_JIT=1`, or without Numba installed, every function here runs as plain Python.

The disk cache lives in a folder named by a hash of all kernel sources and of Numba's flags. Numba itself
looks only at the file of the function that is called, and would serve stale code after an edit of a callee
in another file.
"""

from __future__ import annotations

import hashlib
import inspect
import os
import shutil
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
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
# Ways to write into an array that Numba lets pass for one that may only be read; np.dot may, into its third argument.
_WRITERS = {"flat", "nditer", "ascontiguousarray", "asfortranarray", "fill_diagonal", "dot"}
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


def field_kernel(function: Callable, example: tuple) -> Callable:
    """A reader's own `field(t, y, p)` as a kernel.

    The result may be a list, a tuple or an array; a field that writes into y gets a copy of it, and harms
    nobody. Where Numba cannot compile the function it is called as Python from the compiled
    loop, with one warning that says why. `example` holds arguments to compile for.

    Compiled once while the function and all it refers to stay the same: a system for every value of a slider
    costs one compilation.
    """
    if not ENABLED:
        return lambda t, y, p: np.array(function(t, y.copy(), p), dtype=float).ravel()
    key = _meaning(function)
    if key in _FIELDS:
        return _FIELDS[key]
    # Neither is cached on disk: what a reader's function refers to may change unseen.
    inner = function if is_kernel(function) else numba.njit(**_OPTIONS)(function)

    @numba.njit(**_OPTIONS)
    def field(t, y, p):
        values = np.asarray(inner(t, y.copy(), p))
        result = np.empty(len(values))
        for i in range(len(values)):
            result[i] = values[i]
        return result

    if _only_reads(inner.py_func):
        field = inner
    try:
        kernel = compiled(field, FIELD)
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
        function(*example)  # a plain mistake in the function is raised here, as itself
        name = getattr(function, "__name__", "field")
        warnings.warn(
            f"field {name!r} could not be compiled and runs as Python, about 100 times slower: {reason}",
            RuntimeWarning,
            stacklevel=3,
        )

    @numba.njit(error_model="numpy")
    def python_field(t, y, p):
        with numba.objmode(result="float64[::1]"):
            result = np.array(function(t, y.copy(), p), dtype=np.float64).ravel()
        return result

    return compiled(python_field, FIELD)


def _only_reads(function: Callable) -> bool:
    """True where Numba proves that a reader's field writes neither into y nor p, and returns an array of its own.

    Such a field needs no copy of y and none of its result, half of what a small one costs. The proof: it compiles
    for arrays that may not be written to. What Numba lets pass there all the same is looked for by name.
    """
    vector = VEC.copy(readonly=True)
    proof = numba.njit(**_OPTIONS)(function)
    try:
        proof.compile((F8, vector, vector))
    except Exception:  # it writes, or it cannot be compiled at all: the caller finds out which
        return False
    (found,) = proof.overloads.values()
    return found.signature.return_type == VEC and not _names(function, set()) & _WRITERS


def _names(function: Any, seen: set) -> set[str]:
    """The attributes and globals that a function and the functions it calls speak of."""
    plain = getattr(function, "py_func", function)
    if not inspect.isfunction(plain) or plain in seen:
        return set()
    seen.add(plain)
    named = inspect.getclosurevars(plain)
    called = [*named.globals.values(), *named.nonlocals.values()]
    return set(plain.__code__.co_names).union(*(_names(value, seen) for value in called))


def _meaning(function: Any, above: tuple = ()) -> tuple | None:
    """A key that is the same while a function and all it refers to are; None where that cannot be told.

    Numba freezes the globals of a function when it compiles, so their values belong to the key.
    """
    plain = getattr(function, "py_func", function)
    if not inspect.isfunction(plain) or plain in above:
        return None
    # An identity is safe: what is kept compiled keeps everything it refers to alive.
    parts: list = [
        plain.__code__,
        repr(plain.__defaults__),
        None if plain is function else id(function),
    ]
    if (plain.__module__ or "").split(".")[0] == __package__:
        return (*parts, id(plain))  # a kernel of ours refers to constants only
    named = inspect.getclosurevars(plain)
    for name, value in sorted({**named.globals, **named.nonlocals}.items()):
        if isinstance(value, np.ndarray | np.generic) and value.dtype != object:
            part = (value.dtype.str, value.shape, value.tobytes())
        elif _is_number(value) or (isinstance(value, tuple) and all(map(_is_number, value))):
            part = (type(value), repr(value))
        elif inspect.ismodule(value) and value.__name__.split(".")[0] in ("numpy", "math"):
            part = (value.__name__,)
        else:
            part = _meaning(value, (*above, plain))
        if part is None:
            return None
        parts.append((name, part))
    return tuple(parts)


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
    size = int(np.prod(shape))
    function(*example)  # a plain mistake in the function is raised here, as itself

    def python(t: float, y: np.ndarray, p: np.ndarray) -> np.ndarray:
        x = y[:size].copy().reshape(shape)
        return np.array(function(x, p), dtype=np.float64).reshape(-1)

    if not ENABLED:
        return python
    inner = function if is_kernel(function) else numba.njit(**_OPTIONS)(function)
    scalar = np.ndim(function(*example)) == 0

    # Loops in place of slices, copies and astype: these are slow to compile.
    @numba.njit(**_OPTIONS)
    def head(y):
        x = np.empty(shape)
        for i, index in enumerate(np.ndindex(shape)):
            x[index] = y[i]
        return x

    if scalar:

        @numba.njit(**_OPTIONS)
        def kernel(t, y, p):
            out = np.empty(1)
            out[0] = inner(head(y), p)
            return out

    else:

        @numba.njit(**_OPTIONS)
        def kernel(t, y, p):
            values = inner(head(y), p)
            out = np.empty(values.size)
            i = 0
            for value in values.flat:
                out[i] = value
                i += 1
            return out

    try:
        return compiled(kernel, FIELD)
    except Exception as error:  # Numba raises many kinds; each means "cannot be compiled"
        name = getattr(function, "__name__", "function")
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
