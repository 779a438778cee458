"""The linear-quadratic regulator in discrete time, on a finite horizon or an infinite one."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..core.arguments import count, named_array

_CIRCLE = 1e-12  # modes whose modulus is 1 up to this neither grow nor decay
_SYMMETRY = 1e-10  # relative; beyond it a weight is taken for a mistake
_SEMIDEFINITE = 1e-12
MOST_STEPS = 10**7  # of a horizon: every step keeps a gain


class Regulator(NamedTuple):
    """Gains K (N, m, n) or (m, n) of u = u_d - K x, and cost matrices P (N + 1, n, n) or (n, n): x . P x is the cost
    that remains."""

    K: np.ndarray
    P: np.ndarray


def lqr(
    A: np.ndarray,
    B: np.ndarray,
    Q: np.ndarray,
    R: np.ndarray,
    QN: np.ndarray | None = None,
    steps: int | None = None,
) -> Regulator:
    """Minimise sum_k (x_k . Q x_k + u_k . R u_k) [+ x_N . QN x_N] over x_{k+1} = A_k x_k + B_k u_k.

    A (N, n, n) and B (N, n, m) are a time-varying problem over N steps, A (n, n) and B (n, m) an invariant one: over
    `steps` of them where given, else on the infinite horizon (SciPy's `solve_discrete_are`). Q (n, n) positive
    semidefinite and R (m, m) positive definite are constant; QN defaults to Q. The sums carry no factor of the step
    size. A may be singular. Source: fan (20)-(21) and the Riccati recursion below them,

        K_k = (R + B' P B)^-1 B' P A,    P_k = K_k' R K_k + Q + (A - B K_k)' P (A - B K_k),    P = P_{k+1},

    in the short form P_k = Q + A' P (A - B K_k), which leaves out K_k' ((R + B' P B) K_k - B' P A) = 0.
    """
    A, B = named_array("A", A), named_array("B", B)
    n, m = _sizes(A, B, steps)
    Q = _weight("Q", Q, n)
    R = _weight("R", R, m, definite=True)
    if A.ndim == 2 and steps is None:
        if QN is not None:
            raise ValueError(
                "QN has no meaning on the infinite horizon; give steps, or leave QN out"
            )
        return _infinite(A, B, Q, R)
    horizon = len(A) if A.ndim == 3 else steps
    A, B = np.broadcast_to(A, (horizon, n, n)), np.broadcast_to(B, (horizon, n, m))
    K, P = np.empty((horizon, m, n)), np.empty((horizon + 1, n, n))
    P[-1] = Q if QN is None else _weight("QN", QN, n)
    for k in range(horizon - 1, -1, -1):
        BP = B[k].T @ P[k + 1]
        K[k] = np.linalg.solve(R + BP @ B[k], BP @ A[k])  # the gain below fan (21)
        P[k] = Q + A[k].T @ P[k + 1] @ (A[k] - B[k] @ K[k])  # Riccati, below fan (21)
        # P is symmetric; round-off would leave it so to some digits only.
        P[k] = 0.5 * (P[k] + P[k].T)
    return Regulator(K, P)


def _infinite(A: np.ndarray, B: np.ndarray, Q: np.ndarray, R: np.ndarray) -> Regulator:
    from scipy.linalg import LinAlgError, solve_discrete_are

    _stabilisable(A, B)
    try:
        P = solve_discrete_are(A, B, Q, R)
    except LinAlgError as error:
        raise ValueError(
            f"A, B, Q, R have no stabilising solution ({error}): Q must see every mode of A on the unit circle; "
            "give such modes a weight"
        ) from error
    BP = B.T @ P
    K = np.linalg.solve(R + BP @ B, BP @ A)
    slowest = np.abs(np.linalg.eigvals(A - B @ K)).max()
    if not slowest < 1.0 - _CIRCLE:  # SciPy returns such a P without a word, 0 where Q is 0
        raise ValueError(
            f"Q must see every mode of A on the unit circle: the gain found leaves an eigenvalue of modulus "
            f"{slowest:.6g}; give such modes a weight, or a finite number of steps"
        )
    return Regulator(K, P)


def _stabilisable(A: np.ndarray, B: np.ndarray) -> None:
    """Hautus' test for the modes that do not decay by themselves."""
    n = len(A)
    for value in np.linalg.eigvals(A):
        if abs(value) >= 1.0 - _CIRCLE:
            pencil = np.hstack([A - value * np.eye(n), B])
            if np.linalg.matrix_rank(pencil, tol=1e-10 * np.linalg.norm(pencil)) < n:
                raise ValueError(
                    f"A and B are not stabilisable: no input reaches the mode with eigenvalue {value:.6g}; "
                    "add an input, or take that part out of the state"
                )


def _sizes(A: np.ndarray, B: np.ndarray, steps: int | None) -> tuple[int, int]:
    if A.ndim not in (2, 3) or A.shape[-1] != A.shape[-2] or A.shape[-1] == 0:
        raise ValueError(f"A must have shape (n, n) or (N, n, n), got {A.shape}")
    if B.ndim != A.ndim or B.shape[:-1] != A.shape[:-1] or B.shape[-1] == 0:
        raise ValueError(
            f"B must have shape {A.shape[:-1]} + (m,) beside A {A.shape}, got {B.shape}"
        )
    for name, value in (("A", A), ("B", B)):
        if not np.isfinite(value).all():
            raise ValueError(f"{name} must be finite, got NaN or infinity")
    if steps is not None:
        if A.ndim == 3:
            raise ValueError(f"steps={steps} beside {len(A)} matrices A; leave steps out")
        count("steps", steps, most=MOST_STEPS)
    return A.shape[-1], B.shape[-1]


def _weight(name: str, value: np.ndarray, size: int, definite: bool = False) -> np.ndarray:
    value = named_array(name, value)
    if value.shape != (size, size):
        raise ValueError(f"{name} must have shape ({size}, {size}), got {value.shape}")
    if not np.isfinite(value).all():
        raise ValueError(f"{name} must be finite, got NaN or infinity")
    scale = np.abs(value).max(initial=0.0)
    if np.abs(value - value.T).max() > _SYMMETRY * scale:
        raise ValueError(f"{name} must be symmetric; use ({name} + {name}.T)/2 if that is meant")
    value = 0.5 * (value + value.T)
    least = np.linalg.eigvalsh(value)[0]
    if definite and least <= _SEMIDEFINITE * scale:
        raise ValueError(f"{name} must be positive definite, got an eigenvalue {least:.3g}")
    if least < -_SEMIDEFINITE * scale:
        raise ValueError(f"{name} must be positive semidefinite, got an eigenvalue {least:.3g}")
    return value
