"""Many runs: one function over many cases, with threads, processes or a cluster, and a checkpoint to resume from."""

from __future__ import annotations

import errno
import hashlib
import inspect
import json
import os
import pickle
import threading
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    Executor,
    Future,
    ProcessPoolExecutor,
    wait,
)
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field, fields, is_dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from .core.arguments import count, real_array
from .core.readers import refers

fcntl: ModuleType | None
msvcrt: ModuleType | None
try:
    import fcntl
except ImportError:  # Windows
    fcntl = None
try:
    import msvcrt
except ImportError:
    msvcrt = None

_stopped: set[str] = set()  # interrupted sweeps: their threads leave the rest of a chunk
_in_use: set[str] = set()  # checkpoints that a sweep of this process writes to
_guard = threading.Lock()
_LOCKED_BYTE = 2**62  # on Windows a locked byte cannot be read: one far behind the end
_PENDING_PER_WORKER = 4  # enough to keep a worker busy, few enough to interrupt soon
_WORKERS_UNKNOWN = 16
# Seconds: between two looks for an interrupt, and for running cases after one.
_LOOK, _GRACE = 0.1, 0.5


@dataclass
class SweepResult:
    """Values (n, ...) in the order of the cases, NaN where a case failed or did not run; `errors` index -> message."""

    values: np.ndarray
    done: np.ndarray
    errors: dict[int, str] = field(default_factory=dict)

    @property
    def success(self) -> bool:
        """Whether every case ran and none failed."""
        return bool(self.done.all()) and not self.errors


def sweep(
    function: Callable[[Any], Any],
    cases: Sequence[Any],
    *,
    executor: Executor | None = None,
    chunk: int = 1,
    progress: bool = True,
    checkpoint: str | os.PathLike | None = None,
) -> SweepResult:
    """Evaluate `function(case)` for every case; the value is a number or an array of numbers, of one shape throughout.

    `executor`: any `concurrent.futures.Executor`: none (one after the other), threads (compiled code of this package
    runs in parallel there), processes or `dask.distributed.Client(...).get_executor()`; the latter two need a function
    that can be imported, not a lambda. `chunk` cases travel together. A case that raises is recorded in `errors` and
    is NaN in `values`.

    `checkpoint` names a file to which every finished chunk is added at once; the same call resumes from it after a
    kill and runs only what is missing (failed cases again). A file written for other cases or another function is
    refused, and so is one that another sweep is writing to. Interrupted, the exception carries `.result`; an executor
    ends with the cases that it is at, and a pool of processes, whose workers Ctrl-C has reached as well, is shut down.
    """
    if not callable(function):
        raise ValueError(f"function must be a function of one case, got {function!r}")
    try:
        cases = list(cases)
    except TypeError:
        raise ValueError(f"cases must be a sequence of cases, got {cases!r}") from None
    chunk = count("chunk", chunk)
    if executor is not None and not hasattr(executor, "submit"):
        raise ValueError(
            f"executor must be a concurrent.futures.Executor or None, got {executor!r}; for dask pass "
            "client.get_executor()"
        )
    found: dict[int, np.ndarray] = {}
    errors: dict[int, str] = {}
    journal = None
    if checkpoint is not None:
        if not isinstance(checkpoint, (str, os.PathLike)):
            raise ValueError(f"checkpoint must be the name of a file, got {checkpoint!r}")
        journal = _Journal(Path(checkpoint), _identity(function, cases), len(cases))
        found.update(journal.read())
    missing = [i for i in range(len(cases)) if i not in found]
    chunks = [missing[k : k + chunk] for k in range(0, len(missing), chunk)]
    bar = bar_of(len(cases), "case", progress, len(found))
    try:
        runs = (
            _serial(function, cases, chunks)
            if executor is None
            else _parallel(function, cases, chunks, executor)
        )
        for indices, values, messages in runs:
            fresh = {}
            for i, value, message in zip(indices, values, messages, strict=True):
                shape = next(iter(found.values())).shape if found else None
                if message is None and shape not in (None, value.shape):
                    message = f"ValueError: value of shape {value.shape} where others have {shape}"
                if message is None:
                    found[i] = fresh[i] = value
                else:
                    errors[i] = message
            if journal:
                journal.add(fresh)
            bar.update(len(indices))
    except BaseException as error:  # whatever ends a sweep, its finished cases stay
        error.result = _result(cases, found, errors)  # type: ignore[attr-defined]
        raise
    finally:
        bar.close()
        if journal:
            journal.close()
    return _result(cases, found, errors)


def _attempt(function: Callable, cases: list, name: str = "") -> tuple[list, list]:
    """Values and messages of a chunk; runs in the worker, so that an exception never has to travel.

    Fewer than there are cases where the sweep of this name was stopped meanwhile.
    """
    found: list[tuple] = []
    for case in cases:
        if name in _stopped:
            break
        found.append(_one(function, case))
    return [value for value, _ in found], [message for _, message in found]


def _one(function: Callable, case: Any) -> tuple[np.ndarray | None, str | None]:
    """(value, None) or (None, message)"""
    try:
        return _numbers(function(case)), None
    except Exception as error:
        return None, f"{type(error).__name__}: {error}"


def _numbers(value: Any) -> np.ndarray:
    if value is None:
        raise ValueError("the function returned None; does it end with `return`?")
    try:
        return real_array(value)
    except (TypeError, ValueError):
        raise ValueError(f"the function must return real numbers, got {value!r}") from None


def _serial(function: Callable, cases: list, chunks: list[list[int]]) -> Iterator[tuple]:
    for indices in chunks:
        found: list[tuple] = []
        try:
            for i in indices:
                found.append(_one(function, cases[i]))
        finally:  # an interrupt leaves the chunk's finished cases
            yield (
                indices[: len(found)],
                [value for value, _ in found],
                [message for _, message in found],
            )


def _parallel(
    function: Callable, cases: list, chunks: list[list[int]], executor: Executor
) -> Iterator[tuple]:
    limit = _PENDING_PER_WORKER * (getattr(executor, "_max_workers", None) or _WORKERS_UNKNOWN)
    pending: dict[Future, list[int]] = {}
    waiting, name = iter(chunks), uuid.uuid4().hex
    try:
        while True:
            while len(pending) < limit and (indices := next(waiting, None)) is not None:
                chunk = [cases[i] for i in indices]
                pending[executor.submit(_attempt, function, chunk, name)] = indices
            if not pending:
                return
            # Windows hands an interrupt over between two waits only.
            for future in wait(pending, timeout=_LOOK, return_when=FIRST_COMPLETED).done:
                indices = pending.pop(future)
                yield (indices, *_collect(future, function))
    except KeyboardInterrupt:  # what is done, or will be at once, is kept
        _stopped.add(name)
        for future in wait(_called_off(executor, pending), timeout=_GRACE).done:
            if not future.cancelled() and future.exception() is None:
                values, messages = future.result()
                yield pending[future][: len(values)], values, messages
        pending.clear()
        raise
    except RuntimeError as error:
        if isinstance(error.__cause__ or error, BrokenExecutor):
            pending.clear()  # the pool ends them itself
        raise
    finally:
        if pending:
            _stopped.add(name)
        for future in pending:
            future.cancel()


def _called_off(executor: Executor, pending: Iterable[Future]) -> list[Future]:
    """What is done or under way; the rest is not begun.

    Ctrl-C in a terminal goes to the workers too. Where one has died of it, the process pool of Python 3.11 stumbles
    over futures that somebody else has cancelled, and never ends: it is told to do so itself.
    """
    if isinstance(executor, ProcessPoolExecutor):
        left = [future for future in pending if future.running() or future.done()]
        executor.shutdown(wait=False, cancel_futures=True)
        return left
    return [future for future in pending if not future.cancel()]


def _collect(future: Future, function: Callable) -> tuple[list, list]:
    try:
        return future.result()
    except BrokenProcessPool as error:
        raise RuntimeError(
            "a worker process died (out of memory, or killed); the finished cases are in .result of this "
            "exception and in the checkpoint: make a new executor and call sweep again"
        ) from error
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise ValueError(
            f"function or cases could not be sent to another process ({error}); define {function!r} at the top level "
            "of a module, or use threads"
        ) from error


def bar_of(total: int, unit: str, progress: bool, done: int = 0) -> Any:
    """A progress bar over so many, of which some are done; nothing is seen of it without `progress`."""
    from tqdm.auto import tqdm

    return tqdm(total=total, initial=done, disable=not progress, unit=unit)


def _result(cases: list, found: dict[int, np.ndarray], errors: dict[int, str]) -> SweepResult:
    shape = next(iter(found.values())).shape if found else ()
    values, done = np.full((len(cases), *shape), np.nan), np.zeros(len(cases), dtype=bool)
    for i, value in found.items():
        values[i], done[i] = value, True
    done[list(errors)] = True
    return SweepResult(values, done, dict(sorted(errors.items())))


def _identity(function: Callable, cases: list) -> str:
    """What a checkpoint belongs to: the cases, the source of the function, and the numbers it refers to."""
    inner = getattr(function, "func", function)  # of a functools.partial
    bound = (getattr(function, "args", ()), getattr(function, "keywords", {}))
    text = "\0".join((_told(inner, set()), _spelt(bound), _spelt(cases)))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _told(function: Any, seen: set) -> str:
    """Name and source of a function, and the same of the functions and data of its module that it refers to.

    Objects are left out, since their text may hold an address, which is another in the next process.
    """
    plain = getattr(function, "py_func", function)  # of a compiled function
    try:
        source = inspect.getsource(plain)
    except (OSError, TypeError):
        source = ""
    told = [getattr(plain, "__qualname__", type(plain).__name__), source]
    if inspect.isfunction(plain) and plain not in seen:
        seen.add(plain)
        told.append(_spelt(plain.__defaults__))
        for name, value in refers(plain):
            inside = getattr(value, "py_func", value)
            if inspect.isfunction(inside) and inside.__module__ == plain.__module__:
                told += [name, _told(inside, seen)]
            elif is_dataclass(value) and not isinstance(value, type):  # a system
                held = [getattr(value, one.name) for one in fields(value)]
                told += [name, type(value).__qualname__, _spelt([v for v in held if _is_data(v)])]
            elif _is_data(value):
                told += [name, _spelt(value)]
    return "\0".join(told)


def _is_data(value: Any) -> bool:
    if isinstance(value, (list, tuple)):
        return bool(value) and all(map(_is_data, value))
    if isinstance(value, dict):
        return all(map(_is_data, (*value, *value.values())))
    array = isinstance(value, np.ndarray) and value.dtype != object
    return array or isinstance(value, (int, float, complex, str, bytes, np.generic))


def _spelt(value: Any) -> str:
    """The value in full: NumPy shortens long arrays in their repr."""
    if isinstance(value, np.ndarray):
        return f"{value.dtype}{_spelt(value.tolist())}"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(map(_spelt, value)) + "]"
    if isinstance(value, dict):
        return (
            "{" + ",".join(f"{key!r}:{_spelt(value[key])}" for key in sorted(value, key=repr)) + "}"
        )
    return repr(value)


class _Journal:
    """A head that says what the file belongs to, then one JSON line a chunk. A line torn by a kill is dropped."""

    def __init__(self, path: Path, identity: str, count: int) -> None:
        self.path, self.head, self.count = path, json.dumps({"sweep": identity}), count
        if path.is_dir():
            raise ValueError(f"checkpoint {str(path)!r} is a folder; give the name of a file")
        self.file: Any = None  # until it is read
        self.place = ""

    def read(self) -> dict[int, np.ndarray]:
        """The values that are there; from here on the file is this sweep's alone."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        place = os.path.realpath(self.path)
        with _guard:
            if (
                place in _in_use
            ):  # looked up before the file is opened: closing it would undo the other's lock
                raise self._busy()
            _in_use.add(place)
        self.place = place
        try:
            self.file = open(self.path, "a+b")  # noqa: SIM115 (close() closes it)
            self._lock()
            return self._found()
        except BaseException:
            self.close()
            raise

    def _busy(self) -> ValueError:
        return ValueError(
            f"checkpoint {str(self.path)!r} is in use by another sweep that is still running; wait for it, or give "
            "another file name"
        )

    def _lock(self) -> None:
        """Two sweeps that write to one file would run every case twice, and each cut off what the other writes.

        The system lets go of the lock when the process ends, however it does; workers do not inherit it.
        """
        try:
            if fcntl is not None:
                fcntl.lockf(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            elif msvcrt is not None:
                self.file.seek(_LOCKED_BYTE)
                msvcrt.locking(self.file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError as error:
            if error.errno in (errno.EACCES, errno.EAGAIN, errno.EDEADLK):
                raise self._busy() from None
            # else a file system without locks: there it is the reader's care

    def _found(self) -> dict[int, np.ndarray]:
        found: dict[int, np.ndarray] = {}
        self.file.seek(0)
        text = self.file.read()
        lines = text.split(b"\n")[:-1]  # what follows the last newline was torn
        if lines:
            if lines[0].decode(errors="replace") != self.head:
                raise ValueError(
                    f"checkpoint {str(self.path)!r} was written for other cases or another function (or one that "
                    "refers to other numbers); give another file name, or delete it"
                )
            for number, line in enumerate(lines[1:], start=2):
                try:
                    found.update(
                        {int(i): real_array(value) for i, value in json.loads(line).items()}
                    )
                    if not all(0 <= i < self.count for i in found):
                        raise ValueError
                    if len({value.shape for value in found.values()}) > 1:
                        raise ValueError
                except (ValueError, TypeError, AttributeError):
                    raise ValueError(
                        f"checkpoint {str(self.path)!r} is damaged in line {number}; delete that line (its cases "
                        "then run again) or the file"
                    ) from None
        elif text and not self.head.encode().startswith(text):
            raise ValueError(
                f"checkpoint {str(self.path)!r} is no checkpoint of a sweep; give another file name"
            )
        self.file.truncate(sum(len(line) + 1 for line in lines))
        self.file.seek(0, os.SEEK_END)
        if not lines:
            self._write(self.head)
        return found

    def add(self, values: dict[int, np.ndarray]) -> None:
        if values:
            self._write(json.dumps({str(i): value.tolist() for i, value in values.items()}))

    def _write(self, line: str) -> None:
        self.file.write(line.encode() + b"\n")
        self.file.flush()  # to the system: survives a killed process

    def close(self) -> None:
        """Closing lets go of the lock as well."""
        if self.file:
            self.file.close()
        if self.place:
            with _guard:
                _in_use.discard(self.place)
            self.place = ""
