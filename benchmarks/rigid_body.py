"""ELN and VLV on the rigid body in the well against the same algorithm in C (gcc -O2): python -m benchmarks.rigid_body.

Prints the time of a step and the ratio, each the best of several repeats taken in turn in one run; compile time is
not included, the final states must agree.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np

import lielab
from lielab.systems import RigidBodyInWell

HERE = Path(__file__).parent
STEPS, H, REPEATS = 200_000, 0.125, 9
AGREE = 500  # steps after which the states are compared: round-off grows along the motion
WELL = RigidBodyInWell()


def ours(method: str, steps: int) -> tuple[np.ndarray, float]:
    """Final state and processor seconds of one solve."""
    began = time.process_time()
    sol = lielab.solve(WELL, (0, steps * H), method=method, h=H, save_every=steps)
    return sol.y[-1], time.process_time() - began


def theirs(program: str, method: str, steps: int) -> tuple[np.ndarray, float]:
    """The same of the program in C."""
    numbers = [*WELL.y0, *WELL.params[4:]]
    command = [program, method, str(steps), repr(H), *(repr(float(x)) for x in numbers)]
    values = np.array(subprocess.check_output(command, text=True).split(), dtype=float)
    return values[:12], values[12]


def pairs() -> dict[str, list[tuple[float, float]]]:
    """Seconds of lielab and of C, for ELN and VLV, a pair a round; empty without gcc."""
    gcc = shutil.which("gcc")
    if gcc is None:
        return {}
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        program = str(Path(folder) / "rigid_body")
        source = str(HERE / "rigid_body.c")
        subprocess.run([gcc, "-O2", "-o", program, source, "-lm"], check=True)
        for method in ("ELN", "VLV"):
            mine, other = ours(method, AGREE)[0], theirs(program, method, AGREE)[0]
            np.testing.assert_allclose(mine, other, rtol=0, atol=1e-11)
            found[method] = [
                (ours(method, STEPS)[1], theirs(program, method, STEPS)[1]) for _ in range(REPEATS)
            ]
    return found


def compare() -> dict[str, tuple[float, float]]:
    """Seconds a step of lielab and of C, each the best of the rounds; empty without gcc."""
    best = {method: np.min(times, axis=0) / STEPS for method, times in pairs().items()}
    return {method: (float(mine), float(other)) for method, (mine, other) in best.items()}


def main() -> None:
    """Print one line a method."""
    found = compare()
    if not found:
        print("no gcc")
    for method, (mine, other) in found.items():
        print(
            f"{method}: {1e6 * mine:.3f} us a step, C {1e6 * other:.3f} us, ratio {mine / other:.2f}"
        )


if __name__ == "__main__":
    main()
