"""The only room that knows about Numba: compiled when it is there, the same source in Python when it is not.

`jit` compiles a kernel lazily and caches it on disk across processes. `loop(...)` marks the few functions
that take kernels as *function pointers*; each is compiled once, for its one signature. With
`NUMBA_DISABLE_JIT=1`, or without Numba installed, every function here runs as plain Python.

What is on disk belongs to a version: a hash of all kernel sources and of Numba's flags. Numba itself looks only at
the file of the function that is called, and would serve stale code after an edit of a callee in another file. Where
it is kept, and how, is told in `lielab.core._cache`.
"""

from __future__ import annotations

import functools
import hashlib
import importlib
import itertools
import math
import os
import signal
import sys
import threading
import warnings
from collections import namedtuple
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

try:
    import numba
    from numba import types
    from numba.core.errors import NumbaExperimentalFeatureWarning

    from ._cache import Store, folders, tell_apart
    from ._low_level import Pointer, addresses, lent

    ENABLED = not numba.config.DISABLE_JIT
except ImportError:  # the package stays usable, slower, without Numba
    numba = None
    ENABLED = False
if not ENABLED:

    def lent(array: Any) -> Any:
        """The array, or the record, itself: Python counts as it must."""
        return array


_PACKAGE = Path(__file__).parent.parent
# Rooms and files without kernels, which no file with kernels imports: an edit there costs no compilation.
_NOT_KERNELS = frozenset(
    [
        "__init__.py",
        "_blocks.py",
        "_names.py",
        "_runs.py",
        "_warm.py",
        "events.py",
        "excerpts.py",
        "grading",
        "many.py",
        "prepared.py",
        "show",
        "solution.py",
        "solve.py",
        "splines.py",
        "step_size.py",
        "study",
        "sweep.py",
        "testing",
    ]
)
_NOTICE_AFTER = 2.0  # seconds: a compilation longer than this is announced


def _kernel_hash() -> str:
    digest = hashlib.sha256()
    for file in sorted(_PACKAGE.rglob("*.py")):
        relative = file.relative_to(_PACKAGE)
        # The first part: of the files __init__.py only the package's own.
        if relative.parts[0] not in _NOT_KERNELS:
            digest.update(str(relative).encode() + b"\0" + file.read_bytes())
    config = numba.config
    versions = (numba.__version__, np.__version__, sys.version_info[:2])
    flags = (*versions, config.OPT, config.BOUNDSCHECK)
    digest.update(repr(flags).encode())
    return digest.hexdigest()[:16]


class _AsCompiled:
    """The module `math` with the results of compiled code: NaN outside a domain, infinity beyond the largest number."""

    def __getattr__(self, name: str) -> Any:
        value = getattr(math, name)
        if not callable(value):
            return value

        @functools.wraps(value)
        def function(*arguments: float) -> Any:
            try:
                return value(*arguments)
            except OverflowError:
                return math.inf
            except ValueError:
                return -math.inf if name.startswith("log") and arguments[0] == 0.0 else math.nan

        setattr(self, name, function)
        return function


as_compiled = _AsCompiled()
OPTIONS = {"nogil": True, "error_model": "numpy"}
_INNER = {"forceinline": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}

if ENABLED:
    _VERSION = _kernel_hash()  # now: sources edited later are not those that run here

    F8, I8, BOOL, VOID = types.float64, types.int64, types.boolean, types.void
    VEC, MAT, CUBE = types.float64[::1], types.float64[:, ::1], types.float64[:, :, ::1]
    INTS = types.int64[::1]

    def pointer(result: Any, *arguments: Any) -> Any:
        """Type of a function pointer."""
        return Pointer(result(*arguments))

else:
    F8 = I8 = BOOL = VOID = VEC = MAT = CUBE = INTS = None

    def pointer(result: Any, *arguments: Any) -> Any:
        """Without Numba a pointer has no type."""
        return None


def record(name: str, **kinds: Any) -> Any:
    """A namedtuple whose fields have these types, for what a loop takes whole: its kernels, or its arrays.

    No two have the same name, by which Numba tells them apart. `kind` is the type of the whole.
    """
    made = namedtuple(name, kinds, module=sys._getframe(1).f_globals["__name__"])
    made.kind = types.BaseTuple.from_types(tuple(kinds.values()), made) if ENABLED else None
    return made


FIELD = pointer(VEC, F8, VEC, VEC)  # field(t, y, p) -> algebra vector
ACT = pointer(VOID, VEC, VEC, VEC)  # a `Kernel`: exp_act(xi, y, out), dexpinv(u, v, out), ...
UNARY = pointer(BOOL, VEC, VEC)  # group kernel (x, out) -> inside its domain?
BINARY = pointer(BOOL, VEC, VEC, VEC)


def jit(function: Callable) -> Callable:
    """Compile a kernel lazily, with its machine code cached on disk. It may close over constants and kernels."""
    if not ENABLED:
        own = function.__globals__
        if own.get("math") is math and own is not globals():
            own["math"] = as_compiled
        return function
    tell_apart(function)
    kernel = numba.njit(**OPTIONS)(function)
    kernel._cache = Store(function, _VERSION)
    return kernel


def inner(function: Callable) -> Callable:
    """Compile a kernel that other kernels call, and Python never: inside of them, in half the time, kept with them."""
    if not ENABLED:
        return jit(function)
    tell_apart(function)
    kernel = numba.njit(**OPTIONS, **_INNER)(function)
    kernel._insert = lambda *_: None  # where Python would find an entry
    kernel._compile_for_args = functools.partial(_refuse, function.__name__)
    return kernel


def _refuse(name: str, *_: Any, **__: Any) -> None:
    raise TypeError(f"{name} is part of other kernels; with NUMBA_DISABLE_JIT=1 Python can call it")


def plain(number: int) -> int:
    """A whole number, or a bool, for kernels to close over that hand it on: no part of a type.

    Of a constant Numba makes a type of its own, and compiles what is called with it anew for each.
    """
    if not ENABLED:
        return number
    return np.bool_(number) if isinstance(number, bool) else np.int64(number)


_ZERO = plain(0)


@inner
def begin():
    """Three zeros, where a walk over factors begins, which are no part of a type either."""
    return _ZERO, _ZERO, _ZERO


def cache_folders() -> list[Path]:
    """The folders that hold this version's compiled code."""
    return folders(_VERSION) if ENABLED else []


@contextmanager
def notice(what: str, kept: bool = True) -> Iterator[None]:
    """Say once, on stderr, that a compilation takes long; short ones stay silent.

    The tests and the book's build set LIELAB_QUIET: how long a compilation takes is no output to compare.
    """

    def say() -> None:
        if not notice.said and not os.environ.get("LIELAB_QUIET"):
            notice.said = True
            often = (
                "once; later runs load it from disk" if kept else "in every process that uses it"
            )
            print(f"lielab: compiling {what} for this machine ({often})", file=sys.stderr)

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
    if ENABLED:
        if not is_kernel(kernel):
            name = getattr(kernel, "__name__", repr(kernel))
            raise ValueError(
                f"a formulation needs compiled functions, got {name!r}; make it one with "
                "lielab.systems.field_kernel(function, example)"
            )
        signature = kind.signature.args
        if signature not in kernel.overloads:
            kept = isinstance(kernel._cache, Store)  # a reader's own function is not
            with notice(kernel.__name__, kept), interrupts_kept():
                kernel.compile(signature)
    return kernel


_waiting: list[bool] = []  # an interrupt that may be lost
_called_back: set[Any] = set()  # code of Python functions that compiled code calls


def raise_waiting() -> None:
    """Raise the interrupt that waits, in the main thread."""
    if _waiting and threading.current_thread() is threading.main_thread():
        _waiting.clear()
        raise KeyboardInterrupt


def in_python(function: Callable) -> Callable:
    """Mark a Python function that compiled code calls: inside it an interrupt is raised at once."""
    _called_back.add(function.__code__)
    return function


def _keep_and_raise(signum: int, frame: Any) -> None:
    _waiting.append(True)
    while frame is not None:
        if frame.f_code in _called_back:
            raise KeyboardInterrupt
        frame = frame.f_back


try:  # what `signal` wraps: there, looking up the name of a handler costs more than a run of a few steps
    _signals: Any = importlib.import_module("_signal")
except ImportError:
    _signals = signal
_signal, _getsignal = _signals.signal, _signals.getsignal
_SIGINT, _usual = int(signal.SIGINT), signal.default_int_handler


class interrupts_kept:
    """Keep Ctrl-C from getting lost between compiled code and Python.

    Numba runs a line of Python of its own when it hands arrays to a reader's Python field, and does not look whether
    that raised: the interrupt would end as a TypeError or SystemError. It waits, and is raised in the field or at
    the end; so is one that a callback of the garbage collector swallowed, or one of LLVM while it compiles.
    """

    __slots__ = ("_keeps",)

    def __enter__(self) -> None:
        main = ENABLED and threading.current_thread() is threading.main_thread()
        self._keeps = main and _getsignal(_SIGINT) is _usual
        if self._keeps:
            _signal(_SIGINT, _keep_and_raise)

    def __exit__(self, kind: type[BaseException] | None, *_: Any) -> None:
        if not self._keeps:
            return
        if kind is not None and issubclass(kind, KeyboardInterrupt):
            _waiting.clear()
        _signal(_SIGINT, _usual)
        if _waiting:
            raise_waiting()


class Loop:
    """A compiled function with one signature that takes kernels as function pointers.

    A call enters the machine code directly: Numba's own way there, which finds out the type of every argument and
    looks up every kernel anew, costs as much as hundreds of steps. `Bound` keeps what is looked up.
    """

    def __init__(self, function: Callable, arguments: tuple) -> None:
        self.__doc__, self.__name__ = function.__doc__, function.__name__
        self._arguments = arguments
        self._function = jit(function)
        self._lock = threading.Lock()
        self._enter: Callable | None = None
        self._readers = [
            _reader(kind, f"argument {place} of {self.__name__}")
            for place, kind in enumerate(arguments if ENABLED else ())
        ]

    def _compile(self) -> Callable:
        with self._lock:
            if self._enter is None:
                with notice(self.__name__), interrupts_kept():
                    self._function.compile(self._arguments)
                    self._function.disable_compile()
                (result,) = self._function.overloads.values()
                self._enter = result.entry_point
        return self._enter

    def __call__(self, *arguments: Any) -> Any:
        """Run it; kernels among the arguments are compiled first where they are new."""
        return Bound(self, arguments)()

    def entry(self) -> Callable:
        """What a call enters: the machine code, or without Numba the function itself."""
        return (self._enter or self._compile()) if ENABLED else self._quietly

    def _quietly(self, *arguments: Any) -> Any:
        with np.errstate(all="ignore"):  # compiled code says nothing either
            return self._function(*arguments)

    def read(self, first: list) -> list:
        """The first arguments as the machine code takes them; TypeError for an array that is not as declared."""
        return (
            [read(x) for read, x in zip(self._readers, first, strict=False)] if ENABLED else first
        )


def _reader(kind: Any, where: str) -> Callable:
    """What makes of a value of this type what the machine code takes: of a record field by field."""
    if isinstance(kind, types.BaseTuple):
        make = kind.instance_class
        fields = [
            _reader(one, f"{name} in {where}") for name, one in zip(kind.fields, kind, strict=True)
        ]
        return lambda record: make(*(read(x) for read, x in zip(fields, record, strict=True)))
    if isinstance(kind, Pointer):
        return lambda kernel: _addresses(kernel, kind)
    if not isinstance(kind, types.Array):
        return lambda value: value
    dtype, ndim = np.dtype(str(kind.dtype)), kind.ndim

    def checked(x: np.ndarray) -> np.ndarray:
        if x.dtype != dtype or x.ndim != ndim or not x.flags.c_contiguous:
            raise TypeError(f"{where} must be {kind}")
        return x

    return checked


def _each(change: Callable, value: Any) -> Any:
    """The value changed; of a record each of its fields."""
    if isinstance(value, tuple) and hasattr(value, "_make"):
        return value._make([_each(change, x) for x in value])
    return change(value)


def _filling(kernel: Any) -> Any:
    """Of a `Kernel` the compiled function that fills; anything else itself."""
    return getattr(kernel, "into", kernel)


def _own(x: Any) -> Any:
    return x.copy() if isinstance(x, np.ndarray) else x


def _arrays(value: Any) -> list[np.ndarray]:
    """The arrays of an argument, those in a record one after the other."""
    if isinstance(value, tuple) and hasattr(value, "_make"):
        return [array for one in value for array in _arrays(one)]
    return [value] if isinstance(value, np.ndarray) else []


class Bound:
    """A loop whose first arguments are given once: checked, and the addresses of their code looked up.

    A call takes the others and costs a microsecond or two. Arrays among these are not looked at; they must be as the
    loop was declared. The loop may be a plain function, as that of an adjoint.

    The arrays of one that is `renewable` lie in one piece of memory, so that they are set back all at once.
    """

    __slots__ = ("_compiled", "_enter", "_first", "_held", "_kept", "memory", "pristine")

    def __init__(self, loop: Callable, first: Sequence[Any]) -> None:
        self._kept = [_each(_filling, x) for x in first]  # their code must stay alive
        known = isinstance(loop, Loop)
        self._compiled = ENABLED and known
        self._enter = loop.entry() if known else loop
        self._first = loop.read(self._kept) if known else self._kept
        self._held = [bool(_arrays(x)) for x in self._first]
        self.memory: np.ndarray | None = None
        self.pristine: np.ndarray | None = None

    def copied(self, own: Callable = _own) -> Bound:
        """The same with arrays of its own, for a run that shares none with others."""
        new = object.__new__(Bound)
        new._compiled, new._enter, new._kept = self._compiled, self._enter, self._kept
        new._held, new.memory, new.pristine = self._held, None, None
        pairs = zip(self._first, self._held, strict=True)
        new._first = [_each(own, x) if held else x for x, held in pairs]
        return new

    def renewable(self) -> Bound:
        """A copy whose arrays `renew` sets back to what they are now."""
        arrays = [array for x in self._first for array in _arrays(x)]
        words = [-(-x.nbytes // 8) for x in arrays]
        # A cache line on each side: those of two threads share none.
        memory = np.zeros(sum(words) + 16)
        starts = iter(itertools.accumulate(words, initial=8))

        def placed(x: Any) -> Any:
            if not isinstance(x, np.ndarray):
                return x
            own: np.ndarray = np.ndarray(x.shape, x.dtype, memory, 8 * next(starts))
            own[...] = x
            return own

        new = self.copied(placed)
        new.memory, new.pristine = memory, memory.copy()
        return new

    def renew(self) -> None:
        """As if it had never run."""
        self.memory[:] = self.pristine  # type: ignore[index]

    def __call__(self, *others: Any) -> Any:
        if not self._compiled:
            return self._enter(*self._first, *others)
        with interrupts_kept():
            return self._enter(*self._first, *others)


def _addresses(kernel: Callable, kind: Any) -> tuple[int, int]:
    """The addresses of a kernel's code, looked up once."""
    known = getattr(kernel, "_lielab_addresses", None)
    if known is None:
        compiled(kernel, kind)  # says so where it is none
        known = kernel._lielab_addresses = {}
    # A type takes long to compare; it is kept, so that no other gets its place.
    found = known.get(id(kind))
    if found is None:
        found = known[id(kind)] = kind, addresses(compiled(kernel, kind), kind)
    return found[1]


def loop(*arguments: Any) -> Callable[[Callable], Loop]:
    """Decorator: compile for these argument types at the first call, never for others."""
    return lambda function: Loop(function, arguments)


def is_kernel(function: Callable) -> bool:
    """True for functions that are compiled already (or need not be, without Numba)."""
    return not ENABLED or isinstance(function, numba.core.dispatcher.Dispatcher)


def closure(function: Callable) -> Callable:
    """Compile a function that closes over other kernels; never cached on disk, they may change unseen.

    A kernel is passed through.
    """
    return function if is_kernel(function) else numba.njit(**OPTIONS)(function)
