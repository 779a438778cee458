"""Many runs of one system and method, on all cores.

Threads go over the runs of one prepared solver. Where the method has a compiled loop, and all runs have the same rows,
a thread does many in one compiled call, which needs no Python (`lielab._blocks`); else one after the other.
"""

from __future__ import annotations

import math
import operator
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from itertools import count as counter
from pathlib import Path
from typing import Any

import numpy as np

from ._blocks import ERROR, Blocks, numbers_of_runs
from ._runs import Wish, fixed_grid
from .core.arguments import LARGEST_COUNT, count, function_of, listed, seed_of
from .core.interrupts import given
from .methods import Method
from .prepared import TOLERANCES, Solver, drive, prepare, read_span
from .solution import Solution
from .sweep import bar_of
from .systems import System

__all__ = ["Solutions", "solve_many"]

_LOOK = (
    0.1  # seconds between two looks for an interrupt; Windows hands one over between two waits only
)
_NOT_BEGUN = "not begun: the call was interrupted before"


class _Stopped(Exception):
    """Another thread was told to stop."""


@dataclass(repr=False)
class Solutions:
    """What `solve_many` returns: n runs, one row each; `many[i]` is the `Solution` of run i, `len(many)` is n.

    t (rows,) are the times that all runs share, y (n, rows, dim) their states, NaN from where a run failed; where
    adaptive runs keep steps of their own (`save_every=k`) t is (n, rows), NaN behind the end of each. The parts of the
    states are attributes, as those of a Solution: R (n, rows, 3, 3). `last` (n, dim) is the last state of each run and
    `t_last` (n,) its time, also of one that failed between two rows.
    success (n,), status (n,) and message (n texts), nfev, nsteps and nrejected (n,) are those of `Solution`; the status
    of a run that an error ended is -10. `done` (n,) is False for runs that an interrupt cut off or that were not begun.
    `system` is the one given, `method` a name.
    """

    t: np.ndarray
    y: np.ndarray
    last: np.ndarray
    t_last: np.ndarray
    status: np.ndarray
    message: list[str]
    nfev: np.ndarray
    nsteps: np.ndarray
    nrejected: np.ndarray
    done: np.ndarray
    solver: Solver = field(repr=False)
    t_span: tuple[float, float]
    save_every: int | None
    params: Sequence[Any] | None = field(repr=False)
    h: np.ndarray = field(repr=False)  # the steps that lead to the rows after the first, as t
    h_last: np.ndarray = field(repr=False)
    rows: np.ndarray = field(repr=False)  # how many of each run are filled

    @property
    def success(self) -> np.ndarray:
        """Whether each run reached the end, (n,)."""
        return self.done & (self.status == 0)

    @property
    def system(self) -> System:
        return self.solver.system

    @property
    def method(self) -> str:
        return self.solver.method.name

    def __getattr__(self, name: str) -> np.ndarray:
        if not name.startswith("_") and "solver" in self.__dict__:
            parts = dict(self.system.parts)
            if name in parts:
                return self.system.unpack(self.y)[name]
            raise AttributeError(
                f"Solutions has no attribute {name!r}; the parts of a state: {', '.join(parts)}"
            )
        raise AttributeError(f"Solutions has no attribute {name!r}")

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *dict(self.system.parts)]

    def __len__(self) -> int:
        return len(self.status)

    def __iter__(self) -> Iterator[Solution]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        good = int(self.success.sum())
        return f"<Solutions {self.method} of {type(self.system).__name__}, {good} of {len(self)} runs succeeded>"

    def __getitem__(self, i: int) -> Solution:
        """The Solution of run i, with values between its steps; its rows are copies."""
        n = len(self)
        try:
            index = range(n)[operator.index(i)]
        except TypeError:
            raise TypeError(
                f"i must be one number, got {i!r}; y[i] are the states of several"
            ) from None
        except IndexError:
            raise IndexError(f"i must be from 0 to {n - 1}, got {i}") from None
        m = int(self.rows[index])
        shared = self.t.ndim == 1
        t, h = (self.t, self.h) if shared else (self.t[index], self.h[index])
        t, h, y = t[:m].copy(), h[: max(0, m - 1)].copy(), np.array(self.y[index, :m])
        if shared and self.solver.h is None:
            h[:] = self.h_last[index]
        if not m or self.t_last[index] != t[-1]:  # it ended between two rows
            t, y = np.append(t, self.t_last[index]), np.vstack([y, self.last[index]])
            h = np.append(h, self.h_last[index]) if m else h
        solver, system, p = self.solver.having(None if self.params is None else self.params[index])
        every = LARGEST_COUNT if self.save_every is None else self.save_every
        wish = Wish(*self.t_span, y[0], every, p)

        def again() -> Solution:
            return drive(solver.begin(wish), None, every, system)

        if solver.shows_more and self.done[index]:
            return again()
        run, nsteps = solver.begin(wish), int(self.nsteps[index])
        if solver.h is None:  # only the run itself knows the steps between its rows

            def between(*asked: Any) -> Any:
                return again().between(*asked)  # type: ignore[misc]

        else:
            run.taken, between = nsteps, run.between
        return Solution(
            t=t,
            y=y,
            h=h,
            nfev=int(self.nfev[index]),
            nsteps=nsteps,
            nrejected=int(self.nrejected[index]),
            success=bool(self.success[index]),
            status=int(self.status[index]),
            message=self.message[index],
            method=self.method,
            system=system,
            n_exponentials=run.n_exponentials,
            save_every=every,
            flow=run.flow if solver.goes_on else None,
            between=between,
        )


def solve_many(
    system: System,
    starts: Any,
    t_span: tuple[float, float],
    method: str | Method = "RKMK54",
    *,
    h: float | None = None,
    rtol: Any = TOLERANCES["rtol"],
    atol: Any = TOLERANCES["atol"],
    params: Sequence[Any] | None = None,
    seeds: Sequence[int] | None = None,
    workers: int | None = None,
    out: str | os.PathLike | None = None,
    save_every: int | None = None,
    max_steps: int = 10**8,
    action: str | None = None,
    progress: bool = False,
    **options: Any,
) -> Solutions:
    """Integrate one system from many starts over t_span = (t0, t1), on all cores; the numbers are those of `solve`.

    `starts`: states (n, dim), or a sequence of n of what `solve` takes as y0; one state (dim,) where `params` has n
    members; or a function that draws a start from a `numpy.random.Generator`, with `seeds`, n whole numbers, one for
    each run: run i is then the same whatever the other runs and the number of workers are. `params`: n members, each
    as in `Solver.run`: fields of the system, `{"mass": 2.0}`, or the numbers p of a reader's own system.

    `save_every=None` keeps the first and the last state of each run, `save_every=k` every k-th step and the last as
    `solve` does. `out` names a file (`.npy`, replaced where it is there) that holds the states in place of memory: `y`
    is then a memory map of it, and `numpy.load(out, mmap_mode="r")` reads it later. Rows of runs that were never begun
    are 0 there. `workers` threads (all cores by default) share the runs: compiled loops run side by side, many runs in
    one call where all have the same rows (the first one of a method's family compiles that call, in half a second); a
    field that Numba cannot compile, and SciPy's methods, do not, and gain nothing. The other arguments are those of
    `solve`.

    A run that fails is recorded, not raised: `success[i]` is False, `message[i]` says why, and its later rows are NaN.
    So is one whose field or parameters raise an error. Interrupted, the KeyboardInterrupt carries the `.result` so far.

    Raises ValueError for bad arguments, naming the argument, the value and the remedy.
    """
    solver = prepare(
        system,
        method,
        h=h,
        rtol=rtol,
        atol=atol,
        max_steps=max_steps,
        action=action,
        **options,
    )
    span = read_span(t_span)
    every = None if save_every is None else count("save_every", save_every)
    given_params = (
        None if params is None else listed("params", params, "parameters, one for each run")
    )
    states = _read_starts(solver, starts, seeds, given_params)
    if given_params is not None and len(given_params) != len(states):
        raise ValueError(
            f"params must have as many members as there are starts, {len(states)}, got {len(given_params)}"
        )
    workers = _cores() if workers is None else count("workers", workers)
    work = _Work(solver, span, every, states, given_params, out)
    return given(*work.done_by(min(workers, len(states)), progress))


def _cores() -> int:
    """Cores that this process may use."""
    usable = getattr(os, "sched_getaffinity", None)
    return len(usable(0)) if usable else os.cpu_count() or 1


def _read_starts(solver: Solver, starts: Any, seeds: Any, params: list | None) -> np.ndarray:
    """The starts (n, dim), all on the manifold; ValueError that names the one that is not."""
    if seeds is not None:
        draw = function_of("starts", starts, "rng") if callable(starts) else None
        if draw is None:
            raise ValueError(
                f"seeds are for starts that are drawn: starts must be a function (rng) that returns a state, got "
                f"{type(starts).__name__}; leave seeds out, or give such a function"
            )
        numbers = [
            seed_of(seed) for seed in listed("seeds", seeds, "whole numbers, one for each run")
        ]
        starts = [draw(np.random.default_rng(seed)) for seed in numbers]
    elif callable(starts):
        raise ValueError(
            "starts is a function, which needs seeds: one whole number for each run, such as seeds=range(100)"
        )
    plain = type(starts) is np.ndarray and starts.dtype == float
    if params is not None and np.shape(starts) == (solver.dim,):
        starts = np.tile(solver.read_state("starts", starts), (len(params), 1))
    elif plain and starts.ndim != 2:
        raise ValueError(
            f"starts must have shape (n, {solver.dim}), got {starts.shape}; for one run use solve, or starts[None]"
        )
    if plain and starts.shape[1:] == (solver.dim,) and len(starts) and solver.contains(starts):
        return np.array(starts, order="C")
    members = listed("starts", starts, "states, one for each run")
    if not members:
        raise ValueError(f"starts must hold at least one state, got {starts!r}")
    return np.array([solver.read_state(f"starts[{i}]", one) for i, one in enumerate(members)])


class _Single:
    """Runs one after the other, `alone(i)` each, with what threads and the bar ask of `Blocks`."""

    def __init__(self, count: int, alone: Callable[[int], None]) -> None:
        self.count, self.alone = count, alone
        self.next, self.over, self.stopped = counter(), 0, False

    def stop(self) -> None:
        """Begin no more; those under way ask for `stopped`."""
        self.stopped = True

    def finished(self) -> int:
        """Runs that are done, for the bar."""
        return self.over

    def take(self, workers: int) -> None:
        """What a thread does: the next run, until there are none."""
        while not self.stopped and (i := next(self.next)) < self.count:
            self.alone(i)
            self.over += 1  # for the bar: two threads may count as one

    def read(self) -> None:
        """Nothing: each run has written its row."""


class _Work:
    """The runs to do, shared by threads, and their results."""

    def __init__(
        self,
        solver: Solver,
        span: tuple[float, float],
        every: int | None,
        starts: np.ndarray,
        params: list | None,
        out: Any,
    ) -> None:
        n, dim = starts.shape
        self.solver, self.span, self.starts, self.params = solver, span, starts, params
        self.every = LARGEST_COUNT if every is None else every
        self.ragged = solver.h is None and every is not None
        self.kept: list[tuple] = [(np.empty(0), np.empty((0, dim)), np.empty(0))] * n
        t, h = (np.empty(0), np.empty(0)) if self.ragged else _grid(solver, span, self.every)
        if self.ragged and out is not None:
            raise ValueError(
                f"out={out!r} needs the number of rows before the runs begin, and adaptive ones with "
                f"save_every={every} have their own; give h, or leave save_every out"
            )
        shape = (n, len(t), dim)
        self.result = Solutions(
            t=t,
            y=np.empty(shape) if out is None else _mapped(out, shape),
            last=starts.copy(),
            t_last=np.full(n, span[0]),
            status=np.zeros(n, dtype=int),
            message=[_NOT_BEGUN] * n,
            nfev=np.zeros(n, dtype=int),
            nsteps=np.zeros(n, dtype=int),
            nrejected=np.zeros(n, dtype=int),
            done=np.zeros(n, dtype=bool),
            solver=solver,
            t_span=span,
            save_every=every,
            params=params,
            h=h,
            h_last=np.full(n, np.nan),
            rows=np.zeros(n, dtype=int),
        )
        self.runs = self._in_blocks() or _Single(n, self.one)

    def _in_blocks(self) -> Blocks | None:
        """The runs in blocks, None where each is to be done by itself."""
        p = None if self.params is None else numbers_of_runs(self.solver, self.params)
        ensemble = None if self.ragged else self.solver.ensemble()
        if ensemble is None or (p is None and self.params is not None):
            return None
        wish = Wish(*self.span, self.starts[0], self.every)
        return Blocks(ensemble, self.solver, wish, self.starts, p, self.result, self.one)

    def done_by(self, workers: int, progress: bool) -> tuple[Solutions, KeyboardInterrupt | None]:
        """The result, and the interrupt that ended the work early."""
        interrupt = None
        with (
            bar_of(len(self.starts), "run", progress) as bar,
            ThreadPoolExecutor(workers) as pool,
        ):
            threads = [pool.submit(self.runs.take, workers) for _ in range(workers)]
            try:
                self._wait(threads, bar)
            except KeyboardInterrupt as error:
                interrupt = error
            finally:
                self.runs.stop()
        for thread in threads:
            thread.result()
        return self._finished(), interrupt

    def _wait(self, threads: list[Future], bar: Any) -> None:
        left = set(threads)
        while left:
            finished, left = wait(left, timeout=_LOOK)
            bar.update(self.runs.finished() - bar.n)
            if any(thread.exception() for thread in finished):
                return  # raised by the caller

    def one(self, i: int) -> None:
        result = self.result
        try:
            solver, system, p = self.solver.having(None if self.params is None else self.params[i])
            if solver is not self.solver:  # what other parameters make of the manifold
                solver.read_state(f"starts[{i}]", self.starts[i])
            run = solver.begin(Wish(*self.span, self.starts[i], self.every, p))
            solution = drive(run, None, self.every, system, self._told)
            result.done[i] = True
        except Exception as error:
            found = getattr(error, "solution", None)
            result.done[i] = not isinstance(error, _Stopped)
            if found is None:  # it never began
                result.message[i], result.status[i] = f"{type(error).__name__}: {error}", ERROR
                return
            solution = found
            solution.status = solution.status or ERROR
            if not result.done[i]:
                reached = f"stopped at t = {solution.t[-1]:.6g}"
                solution.message = f"{reached}: the call was interrupted"
        self._keep(i, solution)

    def _told(self, fraction: float) -> None:
        if self.runs.stopped and fraction < 1.0:
            raise _Stopped

    def _keep(self, i: int, solution: Solution) -> None:
        result, t, y, h = self.result, solution.t, solution.y, solution.h
        result.last[i], result.t_last[i] = y[-1], t[-1]
        result.h_last[i] = h[-1] if len(h) else np.nan
        result.message[i], result.status[i] = solution.message, solution.status
        result.nfev[i], result.nsteps[i] = solution.nfev, solution.nsteps
        result.nrejected[i] = solution.nrejected
        if self.ragged:
            self.kept[i], result.rows[i] = (t, y, h), len(t)
            return
        m = len(t)
        if not solution.success and solution.nsteps % self.every:
            m -= 1  # it ended between two rows
        result.rows[i] = m
        result.y[i, :m], result.y[i, m:] = y[:m], np.nan

    def _finished(self) -> Solutions:
        result = self.result
        self.runs.read()
        if self.ragged:
            n, most, dim = len(self.kept), max(1, int(result.rows.max())), self.starts.shape[1]
            result.t, result.y = np.full((n, most), np.nan), np.full((n, most, dim), np.nan)
            result.h = np.full((n, most - 1), np.nan)
            for i, (t, y, h) in enumerate(self.kept):
                result.t[i, : len(t)], result.y[i, : len(t)], result.h[i, : len(h)] = t, y, h
                self.kept[i] = ()
        elif isinstance(result.y, np.memmap):
            result.y.flush()
        elif not result.rows.all():
            result.y[result.rows == 0] = np.nan
        return result


def _grid(solver: Solver, span: tuple[float, float], every: int) -> tuple[np.ndarray, np.ndarray]:
    """Times (rows,) that all runs keep, and the steps (rows - 1,) that lead to them: those of the loop, bit for bit."""
    t0, t1 = span
    if solver.h is None:
        return np.array(span), np.full(1, np.nan)
    steps, h = fixed_grid(t0, t1, solver.h, solver.structured, solver.method.name)
    places = np.append(np.arange(0, steps, every), steps) if every < steps else np.array([0, steps])
    t, sizes = t0 + places * h, np.full(len(places) - 1, h)
    t[-1] = t1
    sizes[-1] = t1 - (t0 + (steps - 1) * h) if steps > 1 else t1 - t0
    return t, sizes


def _mapped(out: Any, shape: tuple[int, ...]) -> np.ndarray:
    """A new file for so many numbers, mapped into memory; ValueError where there is no room or no folder for it."""
    if not isinstance(out, (str, os.PathLike)):
        raise ValueError(f"out must be the name of a file, got {out!r}")
    path, size = Path(out), 8 * math.prod(shape)
    if path.is_dir() or not path.parent.is_dir():
        what = "is a folder" if path.is_dir() else "lies in a folder that does not exist"
        raise ValueError(f"out {str(out)!r} {what}; give the name of a file in one that does")
    old = path.stat().st_size if path.exists() else 0
    room = shutil.disk_usage(path.parent).free + old
    if size > room:  # a map of a file that cannot grow ends the process
        raise ValueError(
            f"out {str(out)!r} would need {size / 1e9:.3g} GB, and its disk has {room / 1e9:.3g} GB left; keep fewer "
            "rows with save_every, or choose another disk"
        )
    return np.lib.format.open_memmap(path, mode="w+", dtype=np.float64, shape=shape)
