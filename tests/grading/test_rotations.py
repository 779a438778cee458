"""Assignment 01: what typical answers earn, and that the master's own answers are right."""

import pytest

from tests.grading.assignment import AssignmentTests
from tests.grading.util import EXERCISES, full

NAME = "01_rotations"
MASTER = EXERCISES / NAME / f"{NAME}.ipynb"
FULL = full(NAME)

HAT_T = """
def hat(x): return np.array([[0, x[2], -x[1]], [-x[2], 0, x[0]], [x[1], -x[0], 0]])
def vee(X): return np.array([X[1, 2], X[2, 0], X[0, 1]])
"""
SKEW = "def skew(x): return np.array([[0, -x[2], x[1]], [x[2], 0, -x[0]], [-x[1], x[0], 0]])\n"

# One wrong answer of each kind for every question: each earns nothing.
WRONG = {
    "identity": {
        "q1": "def hat(x): return np.eye(3)\ndef vee(X): return np.ones(3)",
        "q2": "def exp(x): return np.eye(3)",
        "q3": "def log(R): return np.zeros(3)",
        "q4": "def dexpinv(u): return np.eye(3)",
    },
    "zero": {
        "q1": "def hat(x): return np.zeros((3, 3))\ndef vee(X): return np.zeros(3)",
        "q2": "def exp(x): return np.zeros((3, 3))",
        "q3": "def log(R): return 0.0",
        "q4": "def dexpinv(u): return np.zeros((3, 3))",
    },
    "transpose": {
        "q1": HAT_T,
        "q2": SKEW + "def exp(x):\n    t = np.sqrt(x @ x); X = skew(x)\n"
        "    return (np.eye(3) + np.sinc(t / np.pi) * X + np.sinc(t / 2 / np.pi)**2 / 2 * X @ X).T",
        "q3": SKEW + "def log(R): return np.array([R[1, 2], R[2, 0], R[0, 1]])",
        "q4": SKEW + "def dexpinv(u):\n    t = np.sqrt(u @ u); U = skew(u)\n"
        "    c = 1 / 12 if t < 1e-2 else (1 - t / 2 / np.tan(t / 2)) / t**2\n"
        "    return (np.eye(3) - U / 2 + c * U @ U).T",
    },
    "sign flip": {
        "q1": HAT_T,
        "q2": SKEW + "def exp(x):\n    t = np.sqrt(x @ x); X = -skew(x)\n"
        "    return np.eye(3) + np.sinc(t / np.pi) * X + np.sinc(t / 2 / np.pi)**2 / 2 * X @ X",
        "q3": "def log(R):\n    a = np.array([R[1, 2] - R[2, 1], R[2, 0] - R[0, 2], R[0, 1] - R[1, 0]]) / 2\n"
        "    s = np.sqrt(a @ a)\n    return a * (np.arctan2(s, (np.trace(R) - 1) / 2) / s if s else 1)",
        "q4": SKEW + "def dexpinv(u):\n    t = np.sqrt(u @ u); U = skew(u)\n"
        "    c = 1 / 12 if t < 1e-2 else (1 - t / 2 / np.tan(t / 2)) / t**2\n"
        "    return np.eye(3) + U / 2 + c * U @ U",
    },
    "first order": {
        "q1": "def hat(x): return 1e-3 * np.eye(3)\ndef vee(X): return np.diag(X)",
        "q2": SKEW + "def exp(x): return np.eye(3) + skew(x)",
        "q3": "def log(R): return np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]) / 2",
        "q4": SKEW + "def dexpinv(u): return np.eye(3) - skew(u) / 2",
    },
    "cut series": {
        "q1": "def hat(x): return np.outer(x, x)\ndef vee(X): return X[0]",
        "q2": SKEW
        + "def exp(x):\n    X = skew(x)\n    return np.eye(3) + X + X @ X / 2 + X @ X @ X / 6",
        "q3": "def log(R):\n    A = R - np.eye(3)\n    A = A - A @ A / 2\n"
        "    return np.array([A[2, 1], A[0, 2], A[1, 0]])",
        "q4": SKEW + "def dexpinv(u):\n    U = skew(u)\n    return np.eye(3) - U / 2 + U @ U / 12",
    },
}

# Answers that are right in part, and what they earn.
PARTLY = {
    "exp without a series": (
        {"q2": "def exp(x):\n    t = np.sqrt(x @ x); X = hat(x)\n"
         "    return np.eye(3) + np.sin(t) / t * X + (1 - np.cos(t)) / t**2 * X @ X"},
        {"q2": 1.0},
    ),
    "exp that is the identity near zero": (
        {"q2": "def exp(x):\n    t = np.sqrt(x @ x); X = hat(x)\n    if t < 1e-8: return np.eye(3)\n"
         "    return np.eye(3) + np.sin(t) / t * X + (1 - np.cos(t)) / t**2 * X @ X"},
        {"q2": 1.0},
    ),
    "log by arccos": (
        {"q3": "def log(R):\n    t = np.arccos(np.clip((np.trace(R) - 1) / 2, -1, 1))\n"
         "    return (t / (2 * np.sin(t)) if t > 1e-8 else 0.5) * vee(R - R.T)"},
        {"q3": 2.0},
    ),
    "log by atan2, without the half turn": (
        {"q3": "def log(R):\n    a = vee(R - R.T) / 2\n    s = np.sqrt(a @ a)\n"
         "    return a * (np.arctan2(s, (np.trace(R) - 1) / 2) / s if s else 1)"},
        {"q3": 2.0},
    ),
    "dexpinv without a series": (
        {"q4": "def dexpinv(u):\n    t = np.sqrt(u @ u); U = hat(u)\n"
         "    return np.eye(3) - U / 2 + (1 - t / 2 / np.tan(t / 2)) / t**2 * U @ U"},
        {"q4": 2.0},
    ),
    "lists instead of arrays": (
        {"q1": "def hat(x): return [[0, -x[2], x[1]], [x[2], 0, -x[0]], [-x[1], x[0], 0]]\n"
         "def vee(X): return (X[2, 1], X[0, 2], X[1, 0])", "q2": None, "q3": None, "q4": None},
        {"q2": 0.0, "q3": 0.0, "q4": 0.0},
    ),
    "a list from hat": (
        {"q1": "def hat(x): return [[0, -x[2], x[1]], [x[2], 0, -x[0]], [-x[1], x[0], 0]]\n"
         "def vee(X): return (X[2, 1], X[0, 2], X[1, 0])"}, {}
    ),
    "only the first question": ({"q2": None, "q3": None, "q4": None}, {"q2": 0.0, "q3": 0.0, "q4": 0.0}),
    "scipy and lielab": (
        {"q2": "from scipy.linalg import expm\ndef exp(x): return expm(hat(x))",
         "q3": "from lielab import so3\ndef log(R): return so3.log(R)"},
        {"q2": 0.0, "q3": 0.0},
    ),
}  # fmt: skip


class TestRotations(AssignmentTests):
    NAME, WRONG, PARTLY = NAME, WRONG, PARTLY


@pytest.mark.slow
def test_the_master_runs_in_a_notebook_kernel():
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    notebook = nbformat.read(MASTER, as_version=4)
    nbclient.NotebookClient(notebook, timeout=60, kernel_name="python3").execute()
    printed = "".join(o.get("text", "") for c in notebook.cells for o in c.get("outputs", ()))
    assert printed.count("All public checks hold") == len(FULL)
    assert "FAILED" not in printed
