"""Assignment 04: what typical answers earn."""

from tests.grading.assignment import AssignmentTests

_FIELD = """
def field(y, g, l, sigma):
    q, w = y[:3], y[3:]
    up = np.array([0.0, 0.0, g / l])
    return np.concatenate([{A}, {a}])
"""


class TestActions(AssignmentTests):
    NAME = "04_actions"
    WRONG = {
        "identity": {
            "q1": "def act(u, y): return y",
            "q2": "def generator(u, y): return u",
            "q3": "def field(y, g, l, sigma): return y",
            "q4": "def isotropy(y): return np.eye(2, 6)",
        },
        "zero": {
            "q1": "def act(u, y): return np.zeros(6)",
            "q2": "def generator(u, y): return np.zeros(6)",
            "q3": "def field(y, g, l, sigma): return np.zeros(6)",
            "q4": "def isotropy(y): return np.zeros((2, 6))",
        },
        "sign flip": {
            "q1": "def act(u, y):\n    R, r = screw(u)\n    q = R @ y[:3]\n"
            "    return np.concatenate([q, R @ y[3:] - np.cross(r, q)])",
            "q2": "def generator(u, y):\n    A, a, q, w = u[:3], u[3:], y[:3], y[3:]\n"
            "    return np.concatenate([np.cross(q, A), np.cross(w, A) + np.cross(q, a)])",
            "q3": _FIELD.format(A="-w - sigma * q", a="(up @ q) * q - up - sigma * w"),
        },
        "first order": {
            "q1": "def act(u, y):\n    A, a, q, w = u[:3], u[3:], y[:3], y[3:]\n"
            "    return y + np.concatenate([np.cross(A, q), np.cross(A, w) + np.cross(a, q)])",
            "q4": "def isotropy(y): return np.array([[*y[:3], 0, 0, 0], [0, 0, 0, *y[:3]]])",
        },
        "one element twice": {
            "q4": "def isotropy(y): return np.array([[0, 0, 0, *y[:3]], [0, 0, 0, *(-2 * y[:3])]])",
        },
    }
    PARTLY = {
        "a instead of V a": (
            {"q1": "def act(u, y):\n    R, _ = screw(u)\n    q = R @ y[:3]\n"
             "    return np.concatenate([q, R @ y[3:] + np.cross(u[3:], q)])"},
            {"q1": 0.0},
        ),
        "generator by a difference": (
            {"q2": "def generator(u, y):\n    return (act(1e-6 * u, y) - act(-1e-6 * u, y)) / 2e-6"}, {"q2": 0.0}
        ),
        "the spin not made up for": (
            {"q3": _FIELD.format(A="w + sigma * q", a="up - (up @ q) * q")}, {"q3": 1.0}
        ),
        "isotropy by svd": (
            {"q4": "def isotropy(y):\n    M = np.array([generator(e, y) for e in np.eye(6)]).T\n"
             "    return np.linalg.svd(M)[2][4:]"},
            {"q4": 2.0},
        ),
    }  # fmt: skip
