"""Assignment 06: what typical answers earn."""

from tests.grading.assignment import AssignmentTests

_CG = """
def crouch_grossman_step(a, b, f, t, y, h):
    k = []
    for i in range(len(b)):
        z = y
        for j in {order}:
            z = exp(h * a[i, j] * k[j]) @ z
        k.append(f(t + {c} * h, z))
    for i in {outer}:
        y = exp(h * b[i] * k[i]) @ y
    return y
"""
_CF4 = """
def cf4_step(f, t, y, h):
    k1 = f(t, y)
    y2 = exp(h / 2 * k1) @ y
    k2 = f(t + {half}, y2)
    k3 = f(t + {half}, exp(h / 2 * k2) @ y)
    k4 = f(t + {one}, exp(h * k3 - h / 2 * k1) @ {start})
    first, second = 3 * k1 + 2 * k2 + 2 * k3 - k4, -k1 + 2 * k2 + 2 * k3 + 3 * k4
    return {last} @ y
"""
_LAST = "exp(h / 12 * second) @ exp(h / 12 * first)"
_RIGHT = {"half": "h / 2", "one": "h", "start": "y2", "last": _LAST}


class TestCommutatorFree(AssignmentTests):
    NAME = "06_commutator_free"
    WRONG = {
        "identity": {
            "q1": "def crouch_grossman_step(a, b, f, t, y, h): return y",
            "q2": "def cf4_step(f, t, y, h): return y",
        },
        "Lie-Euler": {
            "q1": "def crouch_grossman_step(a, b, f, t, y, h): return exp(h * f(t, y)) @ y",
            "q2": "def cf4_step(f, t, y, h): return exp(h * f(t, y)) @ y",
            "q3": "def midpoint_step(f, t, y, h): return exp(h * f(t + h / 2, y)) @ y",
        },
        "swapped exponentials": {
            "q2": _CF4.format(**{**_RIGHT, "last": "exp(h / 12 * first) @ exp(h / 12 * second)"})
        },
        "Y4 from y_n": {"q2": _CF4.format(**{**_RIGHT, "start": "y"})},
        "one exponential": {
            "q2": _CF4.format(**{**_RIGHT, "last": "exp(h / 12 * (first + second))"})
        },
        "two rounds": {
            "q3": "def midpoint_step(f, t, y, h):\n    xi = f(t, y)\n"
            "    for _ in range(2): xi = f(t + h / 2, exp(h / 2 * xi) @ y)\n    return exp(h * xi) @ y"
        },
    }
    PARTLY = {
        "explicit, and back by memory": (
            {"q3": "been = {}\ndef midpoint_step(f, t, y, h):\n    if y.tobytes() in been: return been[y.tobytes()]\n"
             "    z = exp(h * f(t + h / 2, exp(h / 2 * f(t, y)) @ y)) @ y\n    been[z.tobytes()] = y\n    return z"},
            {"q3": 0.0},
        ),
        "the identity as midpoint": ({"q3": "def midpoint_step(f, t, y, h): return y"}, {"q3": 0.0}),
        "reversed composition": (
            {"q1": _CG.format(order="reversed(range(i))", outer="reversed(range(len(b)))", c="a[i].sum()")},
            {"q1": 0.0},
        ),
        "Crouch-Grossman, stages all at t": (
            {"q1": _CG.format(order="range(i)", outer="range(len(b))", c="0")}, {"q1": 2.0}
        ),
        "stages all at t": ({"q2": _CF4.format(**{**_RIGHT, "half": "0", "one": "0"})}, {"q2": 2.0}),
    }  # fmt: skip
