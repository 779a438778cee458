"""Cost of the chain's equations of motion against the number of links, and against the dense solve.

    python -m benchmarks.chain_cost

Prints seconds a call for n = 10^2 ... 10^5, the fitted exponent, and the ratio to a 3n x 3n NumPy solve; each
time is the best of several, compile time is not included.
"""

from __future__ import annotations

import numpy as np

from benchmarks._timing import best
from lielab.systems import PendulumChain

SIZES = (100, 300, 1000, 3000, 10_000, 30_000, 100_000)
DENSE = (20, 100, 300)
REPEATS = 7


def field_seconds(n: int, formulation: str) -> float:
    chain = PendulumChain.beam(n, formulation=formulation)
    form, y = chain.formulations["action"], chain.y0
    params = form.params
    form.field(0.0, y, params)
    return best(lambda: form.field(0.0, y, params), max(3, 100_000 // n), REPEATS)


def dense_seconds(n: int) -> float:
    """Assembly by broadcasting and np.linalg.solve of R(q) w' = g (celledoni 5.2)."""
    chain = PendulumChain.beam(n)
    q, w = chain.y0.reshape(n, 2, 3).transpose(1, 0, 2)
    L, above = np.array(chain.lengths), np.cumsum(np.array(chain.masses)[::-1])[::-1]
    M = above[np.maximum.outer(np.arange(n), np.arange(n))] * np.outer(L, L)

    def solve() -> np.ndarray:
        hats = np.zeros((n, 3, 3))
        hats[:, 0, 1], hats[:, 0, 2], hats[:, 1, 2] = -q[:, 2], q[:, 1], -q[:, 0]
        hats -= hats.transpose(0, 2, 1)
        blocks = M[:, :, None, None] * np.einsum("iba,jbc->ijac", hats, hats)
        blocks[np.arange(n), np.arange(n)] = np.diag(M)[:, None, None] * np.eye(3)
        pull = (M - np.diag(np.diag(M))) @ ((w * w).sum(-1)[:, None] * q)
        pull[:, 2] -= above * L * chain.g
        right = np.cross(q, pull)
        return np.linalg.solve(blocks.transpose(0, 2, 1, 3).reshape(3 * n, 3 * n), right.ravel())

    return best(solve, 1, REPEATS)


def main() -> None:
    for formulation in ("omega", "momentum"):
        seconds = [field_seconds(n, formulation) for n in SIZES]
        slope = np.polyfit(np.log(SIZES), np.log(seconds), 1)[0]
        print(f"{formulation} form: exponent {slope:.3f} from n = {SIZES[0]} to {SIZES[-1]}")
        for n, s in zip(SIZES, seconds, strict=True):
            print(f"  n = {n:6d}: {1e6 * s:9.1f} us, {1e9 * s / n:6.1f} ns a link")
    for n in DENSE:
        ratio = dense_seconds(n) / field_seconds(n, "omega")
        print(f"dense NumPy solve at n = {n:3d}: {ratio:.0f} times the tension solve")


if __name__ == "__main__":
    main()
