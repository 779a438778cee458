"""RKMK4 on the free rigid body: lielab against the same algorithm in C, and against itself interpreted.

    python benchmarks/first_numbers.py

Prints ratios of processor times measured in one run, each the best of several repeats; compile time is not
included.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import lielab
from lielab.systems import FreeRigidBody

HERE = Path(__file__).parent
STEPS, H = 500_000, 0.01
REPEATS = 9


def run(steps: int) -> tuple[np.ndarray, float]:
    """Final state and processor seconds of one solve with `steps` fixed steps."""
    began = time.process_time()
    sol = lielab.solve(FreeRigidBody(), (0, steps * H), method="RKMK4", h=H, save_every=steps)
    return sol.y[-1], time.process_time() - began


def pairs_with_c() -> list[tuple[float, float]]:
    """Seconds of lielab and of C (gcc -O2), a pair a round; none without gcc. The final states must agree."""
    gcc = shutil.which("gcc")
    if gcc is None:
        return []
    with tempfile.TemporaryDirectory() as folder:
        program = str(Path(folder) / "free_body")
        subprocess.run([gcc, "-O2", "-o", program, str(HERE / "free_body.c"), "-lm"], check=True)
        pairs = []
        for _ in range(REPEATS):  # in turn, so that a busy machine slows both
            numbers = [
                float(x) for x in subprocess.check_output([program, str(STEPS)], text=True).split()
            ]
            state, seconds = run(STEPS)
            pairs.append((seconds, numbers[3]))
            np.testing.assert_allclose(state, numbers[:3], rtol=0, atol=1e-9)
    return pairs


def against_c() -> float | None:
    """Time of lielab over that of C, each the best, or None without gcc."""
    pairs = pairs_with_c()
    return float(np.divide(*np.min(pairs, axis=0))) if pairs else None


def pair_with_python(steps: int = 2_000) -> tuple[float, float]:
    """Seconds a step of lielab compiled, and of the same source interpreted."""
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); import first_numbers as f; "
        f"f.run(10); print(min(f.run({steps})[1] for _ in range(3)))"
    )
    env = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(HERE.parent)}
    slow = float(
        subprocess.check_output([sys.executable, "-c", code, str(HERE)], env=env, text=True)
    )
    fast = min(run(STEPS)[1] for _ in range(REPEATS))
    return fast / STEPS, slow / steps


def against_python() -> float:
    """The second over the first."""
    fast, slow = pair_with_python()
    return slow / fast


def main() -> None:
    began = time.perf_counter()
    run(10)
    print(f"first call (compiles or loads): {time.perf_counter() - began:.2f} s")
    c = against_c()
    print("RKMK4, free rigid body, time over C (gcc -O2):", "no gcc" if c is None else f"{c:.2f}")
    print(f"RKMK4, free rigid body, interpreted over compiled: {against_python():.0f}")


if __name__ == "__main__":
    main()
