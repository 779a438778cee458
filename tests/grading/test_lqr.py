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


_SECOND = """
def second_derivatives(J, x, h):
    def end(s):
        m = J @ x / {h}
        inverse = np.eye(3) - s / 2 * hat(x) + np.outer(x, x) / 4
        moved = {lost} * (-s / 2 * hat(m) + ((x @ m) * np.eye(3) + {dyad}) / 4)
        return inverse, inverse{T} @ J / {h} + moved
    (A, F), (B, G) = end(1), end({other})
    return F @ {A}, {sign}F @ {B}, G @ {B}
"""
_STEP = {
    "h": "h", "lost": "1", "dyad": "np.outer(x, m)", "T": ".T", "other": "-1", "A": "A", "B": "B", "sign": "-"
}  # fmt: skip


def _second(**changes):
    return _SECOND.format(**{**_STEP, **changes})


_ERROR = """
def error(R_d, p_d, R, p):
    before, rows = np.zeros(3), []
    for k in range(len(R)):
        eta = log({turn})
        size = np.linalg.norm(eta)
        axis = eta / size if size > 1e-9 else before / max(np.linalg.norm(before), 1e-300)
        turns = {wrap} * (k > 0) * np.round((before @ axis - size) / (2 * np.pi))
        before = eta + 2 * np.pi * turns * axis
        rows.append(before)
    return np.hstack([rows, {p}])
"""
_LOOP = """
def regulate(A, B, K, x0, u_d, limit, slew):
    states, torques, last = [x0], [], 0 * u_d[0]
    for gain, reference in zip(K, u_d):
        u = {u}
        u = np.clip(np.clip(u, last - slew, last + slew), -limit, limit)
        states.append(A @ states[-1] + B @ ({u2}))
        torques.append(u)
        last = u
    return np.array(states), np.array(torques)
"""


class TestLQR(AssignmentTests):
    NAME = "13_lqr"
    WRONG = {
        "zero": {
            "q1": "def error(R_d, p_d, R, p): return np.zeros((len(R), 6))",
            "q2": "def second_derivatives(J, x, h): return (np.zeros((3, 3)),) * 3",
            "q3": "def assemble(D1D1, D2D1, D2D2): return np.eye(2 * len(D1D1))",
            "q4": "def riccati(A, B, Q, R, QN, steps): return np.zeros((steps, B.shape[1], len(A))), Q",
            "q5": "def regulate(A, B, K, x0, u_d, limit, slew):\n"
            "    return np.tile(x0, (len(K) + 1, 1)), 0 * u_d",
        },
        "sign": {
            "q1": _ERROR.format(turn="R[k].T @ R_d[k]", p="p_d - p", wrap="1"),
            "q3": _ASSEMBLE.format(sign="", mixed="D2D1.T"),
            "q4": _RICCATI.format(**{**_RIGHT, "sign": "+"}),
            "q5": _LOOP.format(u="reference + gain @ states[-1]", u2="u - reference"),
        },
        "transpose": {
            "q1": _ERROR.format(turn="R[k] @ R_d[k].T", p="p - p_d", wrap="1"),
            "q2": _second(T=""),
        },
        "weight of the input omitted": {"q4": _RICCATI.format(**{**_RIGHT, "weight": "0 * R"})},
        "the term that gets lost": {"q2": _second(lost="0")},
        "as in flat space": {"q2": "def second_derivatives(J, x, h): return J / h, -J / h, J / h"},
        "eta as the change of x": {"q2": _second(A="np.eye(3)", B="np.eye(3)")},
        "m without h": {"q2": _second(h="1")},
        "the wrong dyad": {"q2": _second(dyad="np.outer(m, x)")},
        "begins with Q": {"q4": _RICCATI.format(**{**_RIGHT, "start": "Q"})},
    }
    PARTLY = {
        "gains in the order in which they are found": (
            {"q4": _RICCATI.format(**{**_RIGHT, "keep": "append(K)"})}, {"q4": 1.0}
        ),
        "P of the end": ({"q4": _RICCATI.format(**{**_RIGHT, "cost": "QN"})}, {"q4": 1.0}),
        "the sign of D2D1": ({"q2": _second(sign="")}, {"q2": 1.0}),
        "the same x at both ends": ({"q2": _second(other="1")}, {"q2": 0.0}),
        "an error that jumps": (
            {"q1": _ERROR.format(turn="R_d[k].T @ R[k]", p="p - p_d", wrap="0")}, {"q1": 1.0}
        ),
        "not clipped": (
            {"q5": "def regulate(A, B, K, x0, u_d, limit, slew):\n    xs, us = [x0], []\n"
             "    for G, r in zip(K, u_d):\n        us.append(r - G @ xs[-1])\n"
             "        xs.append(A @ xs[-1] + B @ (us[-1] - r))\n"
             "    return np.array(xs), np.array(us)"}, {"q5": 1.0}
        ),
        "the state feels the whole torque": (
            {"q5": _LOOP.format(u="reference - gain @ states[-1]", u2="u")}, {"q5": 0.0}
        ),
        "the mixed derivative not transposed": (
            {"q3": _ASSEMBLE.format(sign="-", mixed="D2D1")}, {"q3": 0.0}
        ),
    }  # fmt: skip
