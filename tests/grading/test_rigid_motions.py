"""Assignment 02: what typical answers earn."""

from tests.grading.assignment import AssignmentTests

_TURN = "R, r = g[:3, :3], g[:3, 3]"
_EXP = """
def exp(u):
    A, a = u[:3], u[3:]
    t, X = np.sqrt(A @ A), hat(A)
    p, b = np.sinc(t / np.pi), np.sinc(t / 2 / np.pi) ** 2 / 2
    c = {c}
    g = np.eye(4)
    g[:3, :3] = np.eye(3) + p * X + b * X @ X
    g[:3, 3] = {r}
    return g
"""
_LOG = """
def log(g):
    A, r = log_rotation(g[:3, :3]), g[:3, 3]
    t, X = np.sqrt(A @ A), hat(A)
    return np.concatenate([A, {a}])
"""
_LOG_ROTATION = """
def log_rotation(R):
    a = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]) / 2
    s = np.sqrt(a @ a)
    return a * (np.arctan2(s, (np.trace(R) - 1) / 2) / s if s else 1)
"""


class TestRigidMotions(AssignmentTests):
    NAME = "02_rigid_motions"
    WRONG = {
        "identity": {
            "q1": "def compose(g, h): return np.eye(4)\ndef inverse(g): return np.eye(4)",
            "q2": "def Ad(g): return np.eye(6)",
            "q3": "def exp(u): return np.eye(4)",
            "q4": "def log(g): return np.zeros(6)",
        },
        "swapped order": {
            "q1": "def compose(g, h): return h @ g\n"
            f"def inverse(g):\n    {_TURN}\n    k = np.eye(4); k[:3, :3], k[:3, 3] = R.T, -r; return k",
            "q2": f"def Ad(g):\n    {_TURN}\n"
            "    return np.block([[R, hat(r) @ R], [np.zeros((3, 3)), R]])",
        },
        "transpose": {
            "q1": "def compose(g, h): return (g @ h).T\ndef inverse(g): return g.T",
            "q2": f"def Ad(g):\n    {_TURN}\n"
            "    return np.block([[R, np.zeros((3, 3))], [hat(r) @ R, R]]).T",
        },
        "translation not turned": {
            "q3": _EXP.format(c="0", r="a"),
            "q4": _LOG_ROTATION + _LOG.format(a="r"),
        },
        "left trivialised": {
            "q3": _EXP.format(
                c="(1 - p) / t**2 if t > 1e-2 else 1 / 6", r="a - b * X @ a + c * X @ X @ a"
            ),
            "q4": _LOG_ROTATION
            + _LOG.format(
                a="r + X @ r / 2 + (1 / 12 if t < 1e-2 else (1 - t / 2 / np.tan(t / 2)) / t**2) * X @ X @ r"
            ),
        },
    }
    PARTLY = {
        "Ad without the lower block": (
            {"q2": f"def Ad(g):\n    {_TURN}\n    Z = np.zeros((3, 3))\n    return np.block([[R, Z], [Z, R]])"},
            {"q2": 0.0},
        ),
        "inverse forgets to turn the translation": (
            {"q1": f"def compose(g, h): return g @ h\ndef inverse(g):\n    {_TURN}\n"
             "    k = np.eye(4); k[:3, :3], k[:3, 3] = R.T, -r; return k"},
            {"q1": 1.0},
        ),
        "exp without a series": (
            {"q3": _EXP.format(c="(t - np.sin(t)) / t**3", r="a + b * X @ a + c * X @ X @ a")},
            {"q3": 2.0},
        ),
        "log by the logarithm that fails at pi": (
            {"q4": _LOG_ROTATION + _LOG.format(
                a="r - X @ r / 2 + (1 / 12 if t < 1e-2 else (1 - t / 2 / np.tan(t / 2)) / t**2) * X @ X @ r")},
            {"q4": 2.0},
        ),
        "lielab itself": ({"q4": "from lielab import se3\ndef log(g): return se3.log(g)"}, {"q4": 0.0}),
    }  # fmt: skip
