"""What a call costs beyond its steps, and what many runs gain from cores.

    python -m benchmarks.many [--workers N]

Processor time of one short run by `solve` and by a prepared solver, in microseconds and in RKMK4 steps of the free
body; then `solve_many` with 1 and N threads, RKMK4 on runs of three lengths, and two other methods, one of them
adaptive: the efficiency is the time of one thread over N times that of N threads, best of several. It needs N cores
that nothing else uses; the processor seconds, which need none, tell what the threads cost each other. The same runs
in N processes of one thread each at the same time tell what the lock of Python costs, whatever else the machine does.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from functools import partial
from statistics import median

import numpy as np

import lielab
from benchmarks._timing import best
from lielab.systems import FreeRigidBody

BODY = FreeRigidBody(attitude=True)
RKMK4 = {"method": "RKMK4", "h": 1e-3}
CASES = (  # of a run the span, what `solve` is asked for, and how many runs
    (0.1, RKMK4, 4000),
    (1.0, RKMK4, 2000),
    (10.0, RKMK4, 200),
    (1.0, {"method": "VLV", "h": 1e-3}, 1000),
    (20.0, {"method": "RKMK54"}, 2000),
)
REPEATS = 7
H = 1e-3


def starts(count: int) -> np.ndarray:
    """Random attitudes and momenta (count, 12)."""
    rng = np.random.default_rng(0)
    R, mu = lielab.so3.random(rng, (count,)), rng.normal(size=(count, 3))
    return BODY.pack(R=R, mu=mu)


def calls() -> None:
    """One short run, by solve and prepared."""
    y, span = BODY.y0, (0.0, H)
    steps = best(
        lambda: lielab.solve(
            BODY, (0.0, 1e5 * H), y, "RKMK4", h=H, save_every=10**5, max_steps=10**6
        ),
        repeats=REPEATS,
    )
    step = steps / 1e5
    cases = {
        "RKMK4, a step": {"method": "RKMK4", "h": H},
        "VLV, a step": {"method": "VLV", "h": H},
        "RKMK54, adaptive": {"method": "RKMK54"},
    }
    print(f"{'microseconds':20s}{'solve':>10s}{'prepare':>10s}{'run':>10s}{'run in steps':>14s}")
    for name, asked in cases.items():
        solver = lielab.prepare(BODY, **asked)
        each = [
            best(call, 500, REPEATS)
            for call in (
                lambda asked=asked: lielab.solve(BODY, span, y, **asked),
                lambda asked=asked: lielab.prepare(BODY, **asked),
                lambda solver=solver: solver.run(span, y),
            )
        ]
        print(f"{name:20s}" + "".join(f"{1e6 * t:10.1f}" for t in each) + f"{each[2] / step:14.0f}")


def work(case: int, runs: int, workers: int) -> None:
    end, asked, _ = CASES[case]
    lielab.solve_many(BODY, starts(runs), (0.0, end), workers=workers, **asked)


def ensembles(workers: int) -> None:
    """Efficiency on so many cores, and threads beside processes."""
    command = [sys.executable, "-m", "benchmarks.many", "--serve"]
    others = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(workers)
    ]

    def in_processes(case: int, runs: int) -> None:
        for other in others:
            other.stdin.write(f"{case} {runs // workers}\n")
            other.stdin.flush()
        for other in others:
            other.stdout.readline()

    for case, (end, asked, runs) in enumerate(CASES):
        in_processes(case, 2 * workers)  # they have loaded everything
        alone, shared = (partial(work, case, runs, w) for w in (1, workers))
        one, together = (
            best(call, repeats=REPEATS, clock=time.perf_counter) for call in (alone, shared)
        )
        cpu = [best(call, repeats=REPEATS) for call in (alone, shared)]
        pairs = []
        for _ in range(REPEATS):
            began = time.perf_counter()
            in_processes(case, runs)
            between = time.perf_counter()
            work(case, runs, workers)
            pairs.append((between - began) / (time.perf_counter() - between))
        steps = f"{end / asked['h']:.0f} steps" if "h" in asked else f"{end:g} s, adaptive"
        print(
            f"{runs} runs of {asked['method']}, {steps}: {1e6 * one / runs:.0f} microseconds a run; efficiency on "
            f"{workers} cores {one / (workers * together):.2f}; processor time of one thread over that of {workers} "
            f"{cpu[0] / cpu[1]:.2f}; processes over threads {median(pairs):.2f}",
            flush=True,
        )
    for other in others:
        other.stdin.close()
        other.wait()


def serve() -> None:
    """A process with one thread, which works as it is told."""
    for line in sys.stdin:
        case, runs = map(int, line.split())
        work(case, runs, 1)
        print("done", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--serve", action="store_true")
    chosen, _ = parser.parse_known_args()
    if chosen.serve:
        serve()
    else:
        calls()
        ensembles(chosen.workers)
