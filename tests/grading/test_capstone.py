"""Assignment 14: what the tests of a reader's own system can tell, and what they leave to a person."""

from tests.grading.assignment import AssignmentTests

_Q1 = """
dimension = 3
start = np.array([0.6, 0.0, 0.8])
def act(u, y):
    {act}
def defect(y): return {defect}
"""
_RIGHT = (
    "K = np.cross(np.eye(3), u)\\n    t = np.linalg.norm(u)\\n"
    "    return (np.eye(3) + np.sinc(t / np.pi) * K + np.sinc(t / 2 / np.pi) ** 2 / 2 * K @ K) @ y"
).replace("\\n", "\n")


class TestCapstone(AssignmentTests):
    NAME = "14_capstone"
    TOTAL = 6
    SEEDS = 5
    WRONG = {
        "nothing moves": {
            "q1": _Q1.format(act="return y", defect="0.0"),
            "q2": "def velocity(t, y): return 0 * y\ndef field(t, y): return 0 * y",
            "q3": "order = 4\ndef step(t, y, h): return y",
            "q4": "def invariant(y): return 1.0\ndef drift(h, steps): return np.zeros(steps + 1)",
        },
        "a linear drift": {"q3": "order = 2\ndef step(t, y, h): return y + h * velocity(t, y)"},
        "signs": {"q2": "def velocity(t, y): return np.cross(y, field(t, y))\n"
                  "def field(t, y): return np.array([np.cos(t), np.sin(t), 0.5 + 1.5 * y[2]])"},
    }  # fmt: skip
    PARTLY = {
        "translations": ({"q1": _Q1.format(act="return y + u", defect="y @ y - 1")}, {"q1": 0.0}),
        "no defect": ({"q1": _Q1.format(act=_RIGHT, defect="0.0")}, {"q1": 1.0}),
        "a turn by an approximation": (
            {"q1": _Q1.format(act="return y + np.cross(u, y)", defect="y @ y - 1")}, {"q1": 0.0}
        ),
        "a frozen field": (
            {"q3": "order = 2\ndef step(t, y, h): return act(h * field(t, y), y)"}, {"q3": 1.0}
        ),
        "an order that is not there": (
            {"q3": "order = 4\ndef step(t, y, h):\n    half = act(h / 2 * field(t, y), y)\n"
             "    return act(h * field(t + h / 2, half), y)"}, {"q3": 1.0}
        ),
        "a run without its start": (
            {"q4": "def invariant(y): return y[2]\ndef drift(h, steps): return np.zeros(steps)"}, {"q4": 0.0}
        ),
    }  # fmt: skip
