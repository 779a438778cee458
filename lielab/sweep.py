"""Many runs: one function over many cases, with threads, processes or a cluster, and a checkpoint to resume from."""

from __future__ import annotations

import hashlib
import inspect
import json
import os
import pickle
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from .systems._system import count

_PENDING_PER_WORKER = 4  # enough to keep a worker busy, few enough to interrupt soon
_WORKERS_UNKNOWN = 16


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
    refused. Interrupted, the exception carries `.result`.
    """
    cases = list(cases)
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
        journal = _Journal(Path(checkpoint), _identity(function, cases))
        found.update(journal.read())
    missing = [i for i in range(len(cases)) if i not in found]
    chunks = [missing[k : k + chunk] for k in range(0, len(missing), chunk)]
    bar = _bar(len(cases), len(found), progress)
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


def _attempt(function: Callable, cases: list) -> tuple[list, list]:
    """Values and messages of a chunk; runs in the worker, so that an exception never has to travel."""
    values, messages = [], []
    for case in cases:
        try:
            values.append(_numbers(function(case)))
            messages.append(None)
        except Exception as error:
            values.append(None)
            messages.append(f"{type(error).__name__}: {error}")
    return values, messages


def _numbers(value: Any) -> np.ndarray:
    try:
        return np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(f"the function must return numbers, got {value!r}") from None


def _serial(function: Callable, cases: list, chunks: list[list[int]]) -> Iterator[tuple]:
    for indices in chunks:
        yield (indices, *_attempt(function, [cases[i] for i in indices]))


def _parallel(
    function: Callable, cases: list, chunks: list[list[int]], executor: Executor
) -> Iterator[tuple]:
    limit = _PENDING_PER_WORKER * (getattr(executor, "_max_workers", None) or _WORKERS_UNKNOWN)
    pending: dict[Future, list[int]] = {}
    waiting = iter(chunks)
    try:
        while True:
            while len(pending) < limit and (indices := next(waiting, None)) is not None:
                pending[executor.submit(_attempt, function, [cases[i] for i in indices])] = indices
            if not pending:
                return
            for future in wait(pending, return_when=FIRST_COMPLETED).done:
                indices = pending.pop(future)
                yield (indices, *_collect(future, function))
    finally:
        for future in pending:
            future.cancel()


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


def _bar(total: int, done: int, progress: bool):
    from tqdm.auto import tqdm

    return tqdm(total=total, initial=done, disable=not progress, unit="case")


def _result(cases: list, found: dict[int, np.ndarray], errors: dict[int, str]) -> SweepResult:
    shape = next(iter(found.values())).shape if found else ()
    values, done = np.full((len(cases), *shape), np.nan), np.zeros(len(cases), dtype=bool)
    for i, value in found.items():
        values[i], done[i] = value, True
    done[list(errors)] = True
    return SweepResult(values, done, dict(sorted(errors.items())))


def _identity(function: Callable, cases: list) -> str:
    """What a checkpoint belongs to: the cases, and the name and source of the function."""
    inner = getattr(function, "func", function)  # of a functools.partial
    inner = getattr(inner, "py_func", inner)  # of a compiled function
    try:
        source = inspect.getsource(inner)
    except (OSError, TypeError):
        source = ""
    name = getattr(inner, "__qualname__", type(inner).__name__)
    bound = (getattr(function, "args", ()), getattr(function, "keywords", {}))
    return hashlib.sha256(
        "\0".join((name, source, _spelt(bound), _spelt(cases))).encode()
    ).hexdigest()


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

    def __init__(self, path: Path, identity: str) -> None:
        self.path, self.head = path, json.dumps({"sweep": identity})
        self.file = None

    def read(self) -> dict[int, np.ndarray]:
        found: dict[int, np.ndarray] = {}
        text = self.path.read_bytes() if self.path.exists() else b""
        lines = text.split(b"\n")[:-1]  # what follows the last newline was torn
        if lines:
            if lines[0].decode(errors="replace") != self.head:
                raise ValueError(
                    f"checkpoint {str(self.path)!r} was written for other cases or another function; "
                    "give another file name, or delete it"
                )
            for line in lines[1:]:
                found.update(
                    {int(i): np.array(value, dtype=float) for i, value in json.loads(line).items()}
                )
        elif text and not self.head.encode().startswith(text):
            raise ValueError(
                f"checkpoint {str(self.path)!r} is no checkpoint of a sweep; give another file name"
            )
        self.path.parent.mkdir(parents=True, exist_ok=True)
        mode = "r+b" if self.path.exists() else "w+b"
        self.file = open(self.path, mode)  # noqa: SIM115 (close() closes it)
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
        if self.file:
            self.file.close()
