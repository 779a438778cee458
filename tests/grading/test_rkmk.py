"""Assignment 05: what typical answers earn."""

from tests.grading.assignment import AssignmentTests

_RKMK4 = """
def rkmk4_step(f, t, y, h):
    k1 = f(t, y)
    u = h / 2 * k1
    k2 = {d} @ f(t + {half}, exp(u) @ y)
    u = h / 2 * k2
    k3 = {d} @ f(t + {half}, exp(u) @ y)
    u = h * k3
    k4 = {d} @ f(t + {one}, exp(u) @ y)
    return exp(h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)) @ y
"""
_TIMES = {"half": "h / 2", "one": "h"}
_ANY = """
def rkmk_step(a, b, f, t, y, h):
    k = np.zeros((len(b), 3))
    for i in range(len(b)):
        u = h * a[i] @ k
        k[i] = {d} @ f(t + {c} * h, exp(u) @ y)
    return exp(h * b @ k) @ y
"""
_RK4 = """
def rkmk4_step(f, t, y, h):
    g = lambda s, z: np.cross(f(s, z), z)
    k1 = g(t, y); k2 = g(t + h / 2, y + h / 2 * k1); k3 = g(t + h / 2, y + h / 2 * k2); k4 = g(t + h, y + h * k3)
    return y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
"""


class TestRKMK(AssignmentTests):
    NAME = "05_rkmk"
    WRONG = {
        "identity": {
            "q1": "def lie_euler_step(f, t, y, h): return y",
            "q2": "def rkmk4_step(f, t, y, h): return y",
            "q3": "def rkmk_step(a, b, f, t, y, h): return y",
            "q4": "def observed_order(h, errors, low, high): return 1.0",
        },
        "flat": {
            "q1": "def lie_euler_step(f, t, y, h): return y + h * np.cross(f(t, y), y)",
            "q2": _RK4,
        },
        "transpose": {"q1": "def lie_euler_step(f, t, y, h): return exp(h * f(t, y)).T @ y"},
        "dexpinv omitted": {
            "q2": _RKMK4.format(d="np.eye(3)", **_TIMES),
            "q3": _ANY.format(d="np.eye(3)", c="a[i].sum()"),
        },
        "bracket flipped": {
            "q2": _RKMK4.format(d="dexpinv(-u)", **_TIMES),
            "q3": _ANY.format(d="dexpinv(-u)", c="a[i].sum()"),
        },
        "one commutator": {"q2": _RKMK4.format(d="(np.eye(3) - hat(u) / 2)", **_TIMES)},
    }
    PARTLY = {
        "stages all at t": ({"q2": _RKMK4.format(d="dexpinv(u)", half="0", one="0")}, {"q2": 2.0}),
        "nodes of the classical tableau for any": (
            {"q3": _ANY.format(d="dexpinv(u)", c="(0, 0.5, 0.5, 1, 1)[i]")}, {"q3": 1.0}
        ),
        "a line through all points": (
            {"q4": "def observed_order(h, errors, low, high):\n"
             "    return float(np.polyfit(np.log(h), np.log(errors), 1)[0])"},
            {"q4": 0.0},
        ),
        "a line through two points": (
            {"q4": "def observed_order(h, errors, low, high):\n    good = (errors > low) & (errors < high)\n"
             "    if good.sum() < 3: return float('nan')\n    h, e = h[good], errors[good]\n"
             "    i, j = np.argmin(h), np.argmax(h)\n    return float(np.log(e[j] / e[i]) / np.log(h[j] / h[i]))"},
            {"q4": 1.0},
        ),
    }  # fmt: skip
