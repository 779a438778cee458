"""Assignment 13: what typical answers earn."""

from tests.grading.assignment import AssignmentTests

_RICCATI = """
def riccati(A, B, Q, R, QN, steps):
    P, gains = {start}, []
    for _ in range(steps):
        K = np.linalg.solve({weight} + B.T @ P @ B, B.T @ P @ A)
        P = Q + A.T @ P @ (A {sign} B @ K)
        gains.{keep}
    return np.array(gains), {cost}
"""
_RIGHT = {"start": "QN", "weight": "R", "sign": "-", "keep": "insert(0, K)", "cost": "P"}
_ASSEMBLE = """
def assemble(D1D1, D2D1, D2D2):
    n = len(D1D1)
    top = {sign}np.linalg.solve(D2D1, np.hstack([D1D1, np.eye(n)]))
    return np.vstack([top, np.hstack([{mixed}, np.zeros((n, n))]) + D2D2 @ top])
"""


class TestLQR(AssignmentTests):
    NAME = "13_lqr"
    WRONG = {
        "zero": {
            "q1": "def error(R_d, p_d, R, p): return np.zeros(6)",
            "q2": "def slope(x, m): return np.zeros((3, 3))",
            "q3": "def assemble(D1D1, D2D1, D2D2): return np.eye(2 * len(D1D1))",
            "q4": "def riccati(A, B, Q, R, QN, steps): return np.zeros((steps, B.shape[1], len(A))), Q",
            "q5": "def feedback(K, x, u_d, limit): return np.zeros(len(u_d))",
        },
        "sign": {
            "q1": "def error(R_d, p_d, R, p): return np.concatenate([log(R.T @ R_d), p_d - p])",
            "q2": "def slope(x, m): return hat(m) / 2 + ((x @ m) * np.eye(3) + np.outer(x, m)) / 4",
            "q3": _ASSEMBLE.format(sign="", mixed="D2D1.T"),
            "q4": _RICCATI.format(**{**_RIGHT, "sign": "+"}),
            "q5": "def feedback(K, x, u_d, limit): return np.clip(u_d + K @ x, -limit, limit)",
        },
        "transpose": {
            "q1": "def error(R_d, p_d, R, p): return np.concatenate([log(R @ R_d.T), p - p_d])",
            "q2": "def slope(x, m): return -hat(m) / 2 + ((x @ m) * np.eye(3) + np.outer(m, x)) / 4",
        },
        "weight of the input omitted": {"q4": _RICCATI.format(**{**_RIGHT, "weight": "0 * R"})},
        "dcayinv instead of its derivative": {
            "q2": "def slope(x, m): return np.eye(3) + hat(x) / 2 + np.outer(x, x) / 4"
        },
        "begins with Q": {"q4": _RICCATI.format(**{**_RIGHT, "start": "Q"})},
    }
    PARTLY = {
        "gains in the order in which they are found": (
            {"q4": _RICCATI.format(**{**_RIGHT, "keep": "append(K)"})}, {"q4": 1.0}
        ),
        "P of the end": ({"q4": _RICCATI.format(**{**_RIGHT, "cost": "QN"})}, {"q4": 2.0}),
        "not clipped": ({"q5": "def feedback(K, x, u_d, limit): return u_d - K @ x"}, {"q5": 1.0}),
        "clipped before the reference is added": (
            {"q5": "def feedback(K, x, u_d, limit): return u_d + np.clip(-K @ x, -limit, limit)"}, {"q5": 1.0}
        ),
        "the mixed derivative not transposed": (
            {"q3": _ASSEMBLE.format(sign="-", mixed="D2D1")}, {"q3": 0.0}
        ),
    }  # fmt: skip
