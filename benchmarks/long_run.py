"""A billion steps of VLV in the well of the drift test: flat memory, the energy's verdict, restarts bit for bit.

    python -m benchmarks.long_run                   10^9 steps, ten minutes or so; stopped, the same command goes on
    python -m benchmarks.long_run --steps 2e8       fewer; a longer run later goes on from there

The steps are taken in legs, each one call of `solve` with `save_every`. A leg that is done goes to a checkpoint, which
is replaced as a whole; the next one starts from the state there. The step is a power of two, so that times are exact
and a leg is the same whether the one before it ran in this process or in another: at the end one leg of the middle is
run again from its stored start and compared bit for bit. Runs of 10^8 steps and more are kept in
benchmarks/results/long_run.json, which a page quotes.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import sys
from pathlib import Path

import numba
import numpy as np

import lielab
from lielab.study.structure import drift_row
from lielab.systems import RigidBodyInWell

WELL, METHOD, H = RigidBodyInWell(), "VLV", 0.25  # s
STEPS, LEG, ROWS = 10**9, 5 * 10**7, 2500  # rows: energies that are kept of a leg
KEPT = 10**8  # steps of a run that is quoted
WARM = 10**6  # steps after which a run has all its buffers
FOLDER, RESULTS = Path(".cache"), Path(__file__).parent / "results" / "long_run.json"


def peak() -> float:
    """The most memory that this process has held so far, in MB; NaN on Windows."""
    try:
        import resource
    except ImportError:
        return float("nan")
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / (2**20 if sys.platform == "darwin" else 2**10)


def leg(y: np.ndarray, steps: int, every: int) -> tuple[np.ndarray, np.ndarray, float]:
    """The state after so many steps from y, the energies on the way, and the largest defect."""
    sol = lielab.solve(
        WELL, (0.0, steps * H), y, method=METHOD, h=H, save_every=every, max_steps=steps
    )
    if not sol.success:
        raise SystemExit(sol.message)
    return sol.y[-1], sol.energy()[1:], float(sol.defect().max())


def digest(y: np.ndarray) -> str:
    """A name for these bits."""
    return hashlib.sha256(y.tobytes()).hexdigest()[:16]


def save(file: Path, states: list, energies: list, defects: list, steps: int) -> None:
    """All of it or nothing, so that a run may be killed at any time; `steps` are those of a leg."""
    file.parent.mkdir(parents=True, exist_ok=True)
    partial = file.with_suffix(".partial.npz")
    np.savez(partial, steps=steps, states=states, energies=energies, defects=defects)
    os.replace(partial, file)


def load(file: Path, steps: int, legs: int) -> tuple[list, list, list]:
    """States at the ends of the legs that are done, their energies and defects; of legs of another length nothing."""
    if file.exists():
        with np.load(file) as kept:
            if int(kept["steps"]) == steps:
                states, energies, defects = (
                    list(kept[name]) for name in ("states", "energies", "defects")
                )
                return states[: legs + 1], energies[:legs], defects[:legs]
            print(f"{file} belongs to legs of another length: begun anew")
    return [WELL.y0], [], []


def main(given: list[str] | None = None) -> dict:
    """Run what is missing, and say what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=float, default=STEPS, help="in all, 1e9 as it stands")
    parser.add_argument("--leg", type=float, default=LEG, help="steps between two checkpoints")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="of the checkpoint")
    parser.add_argument("--stop-after", type=int, default=0, help="so many legs, as if stopped")
    args = parser.parse_args(given)
    steps, legs = round(args.leg), round(args.steps / args.leg)
    every, file = max(1, steps // ROWS), args.folder / "long_run.npz"
    if steps % every or steps * legs != round(args.steps):
        parser.error(f"--steps must be a multiple of --leg, and --leg one of {every}")

    leg(WELL.y0, min(WARM, steps), every)
    states, energies, defects = load(file, steps, legs)
    before, began_with = peak(), len(states) - 1
    while len(states) <= legs:
        y, energy, defect = leg(states[-1], steps, every)
        states.append(y)
        energies.append(energy)
        defects.append(defect)
        save(file, states, energies, defects, steps)
        print(f"{(len(states) - 1) * steps:14,d} steps, at most {peak():.0f} MB", flush=True)
        if len(states) - 1 - began_with == args.stop_after:
            return {}
    after = peak()

    middle = legs // 2
    again, _, _ = leg(states[middle], steps, every)
    values = np.concatenate([[WELL.energy(WELL.y0)], *energies])
    t = H * every * np.arange(len(values))
    row = drift_row(t, values, METHOD, H, float("nan"))
    found = {
        "steps": steps * legs,
        "legs": legs,
        "h": H,
        "rows": len(values),
        "peak before, MB": round(before, 1),
        "peak after, MB": round(after, 1),
        "legs of this process": legs - began_with,
        "verdict": row.verdict,
        "slope, J/s": row.slope,
        "its standard error": row.slope_error,
        "largest energy error, J": row.largest,
        "largest defect": max(defects),
        "final state": digest(states[-1]),
        "leg from its checkpoint": "the same bits"
        if np.array_equal(again, states[middle + 1])
        else "other bits",
        "python": platform.python_version(),
        "numpy": np.__version__,
        "numba": numba.__version__,
        "machine": platform.machine(),
    }
    print(json.dumps(found, indent=1))
    if found["steps"] >= KEPT:
        RESULTS.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return found


if __name__ == "__main__":
    main()
