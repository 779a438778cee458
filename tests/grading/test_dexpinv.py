"""Assignment 03: what typical answers earn."""

from tests.grading.assignment import AssignmentTests

_SERIES = """
def dexpinv_series(u, n):
    total, power, f = np.zeros((6, 6)), np.eye(6), 1.0
    for k in range(n + 1):
        total = total + bernoulli(k) / f * power
        power, f = power @ ad(u), f * {f}
    return total
"""
_BERNOULLI = """
def bernoulli(m):
    B = [1, {half}, 1 / 6, 0, -1 / 30, 0, 1 / 42, 0, -1 / 30, 0, 5 / 66, 0, -691 / 2730, 0, 7 / 6]
    return float(B[m]) if m < 15 else 0.0
"""
_CLOSED = """
def dexpinv(u):
    A, a = hat(u[:3]), hat(u[3:])
    x = u[:3] @ u[:3]; t = np.sqrt(x)
    if x < {switch}:
        c = 1 / 12 + x / 720 + x**2 / 30240 + x**3 / 1209600 + x**4 / 47900160
        slope = 1 / 720 + x / 15120 + x**2 / 403200
    else:
        cot, s = 1 / np.tan(t / 2), np.sin(t / 2)
        c = (1 - t / 2 * cot) / x
        slope = (1 / (8 * s**2) - cot / (4 * t) - c) / x
    D = np.eye(3) {sign} A / 2 + c * A @ A
    low = {sign} a / 2 + c * (a @ A + A @ a) {last}
    return np.block([[D, np.zeros((3, 3))], [low, D]])
"""
_LAST = "+ 2 * (u[:3] @ u[3:]) * slope * A @ A"


class TestDexpinv(AssignmentTests):
    NAME = "03_dexpinv"
    WRONG = {
        "identity": {
            "q1": "def ad(u): return np.eye(6)",
            "q2": "def bernoulli(m): return 1.0\ndef dexpinv_series(u, n): return np.eye(6)",
            "q3": "def dexpinv(u): return np.eye(6)",
            "q4": "def commutators_needed(p): return 0",
        },
        "zero": {
            "q1": "def ad(u): return np.zeros((6, 6))",
            "q2": "def bernoulli(m): return 0.0\ndef dexpinv_series(u, n): return np.zeros((6, 6))",
            "q3": "def dexpinv(u): return np.zeros((6, 6))",
            "q4": "def commutators_needed(p): return p",
        },
        "cut series": {
            "q3": "def dexpinv(u):\n    A, a = hat(u[:3]), hat(u[3:])\n"
            "    Z = np.block([[A, np.zeros((3, 3))], [a, A]])\n    return np.eye(6) - Z / 2 + Z @ Z / 12",
            "q4": "def commutators_needed(p): return p - 1",
        },
        "other trivialisation": {"q3": _CLOSED.format(sign="+", last=_LAST, switch="0.05")},
    }
    # The series is built on ad and bernoulli, the closed form on bernoulli: each is judged with right ones, too.
    PARTLY = {
        "translation first": (
            {"q1": "def ad(u):\n    A, a = hat(u[3:]), hat(u[:3])\n"
             "    return np.block([[A, a], [np.zeros((3, 3)), A]])"},
            {"q1": 0.0},
        ),
        "transpose": (
            {"q1": "def ad(u):\n    A, a = hat(u[:3]), hat(u[3:])\n"
             "    return np.block([[A, a], [np.zeros((3, 3)), A]])"},
            {"q1": 0.0},
        ),
        "B_1 = +1/2": (
            {"q2": _BERNOULLI.format(half="1 / 2") + _SERIES.format(f="(k + 1)"), "q3": None},
            {"q2": 0.0, "q3": 0.0},
        ),
        "no factorial": (
            {"q2": _BERNOULLI.format(half="-1 / 2") + _SERIES.format(f="1")},
            {"q2": 1.0},
        ),
        "the last term lost": ({"q3": _CLOSED.format(sign="-", last="", switch="0.05")}, {"q3": 0.0}),
        "no series": ({"q3": _CLOSED.format(sign="-", last=_LAST, switch="0")}, {"q3": 3.0}),
    }  # fmt: skip
