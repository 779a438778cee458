"""Assignment 01: what typical answers earn, and that the master's own answers are right."""

import pytest

from lielab import grading
from lielab.grading.notebook import code_cells, read
from tests.grading.util import EXERCISES, full, scores, submission

NAME = "01_rotations"
MASTER = EXERCISES / NAME / f"{NAME}.ipynb"
FULL = full(NAME)
NOTHING = dict.fromkeys(FULL, 0.0)

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
        "q2": SKEW + "right = exp if 'exp' in globals() else None\n"
        "def exp(x):\n    t = np.sqrt(x @ x); X = skew(x)\n"
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
    "only the first question": ({"q2": None, "q3": None, "q4": None}, {"q2": 0.0, "q3": 0.0, "q4": 0.0}),
    "scipy and lielab": (
        {"q2": "from scipy.linalg import expm\ndef exp(x): return expm(hat(x))",
         "q3": "from lielab import so3\ndef log(R): return so3.log(R)"},
        {"q2": 0.0, "q3": 0.0},
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def found():
    batch = {"right": submission(NAME)}
    for name, answers in WRONG.items():
        batch[name] = submission(NAME, **answers)
    for name, (answers, _) in PARTLY.items():
        batch[name] = submission(NAME, **answers)
    return scores(batch)


def test_right_answers_earn_everything(found):
    assert found["right"] == FULL
    assert sum(FULL.values()) == 10


@pytest.mark.parametrize("name", WRONG)
def test_trivial_and_typical_wrong_answers_earn_nothing(found, name):
    assert found[name] == NOTHING


@pytest.mark.parametrize("name", PARTLY)
def test_answers_right_in_part(found, name):
    assert found[name] == {**FULL, **PARTLY[name][1]}


def solved() -> dict:
    """The namespace after the master's solution and set-up cells."""
    space: dict = {"__name__": "__main__"}
    for _, text in code_cells(read(MASTER)):
        text = "\n".join(line for line in text.split("\n") if "%pip" not in line)
        exec(text.replace('if "google.colab" in sys.modules:', ""), space)
    return space


def test_the_master_runs_from_top_to_bottom_and_passes_its_own_tests_for_many_seeds(capsys):
    from lielab.grading.notebook import read_master
    from lielab.grading.testing import context

    space = solved()
    for seed in range(20):
        for part in read_master(MASTER).parts:
            with context(seed, part.name):
                exec(part.source, space)
    assert "FAILED" not in capsys.readouterr().out


@pytest.mark.slow
def test_the_master_runs_in_a_notebook_kernel():
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    notebook = nbformat.read(MASTER, as_version=4)
    nbclient.NotebookClient(notebook, timeout=60, kernel_name="python3").execute()
    printed = "".join(o.get("text", "") for c in notebook.cells for o in c.get("outputs", ()))
    assert printed.count("All public checks hold") == len(FULL)
    assert "FAILED" not in printed


def test_public_checks_hold_for_the_master_and_name_what_fails():
    check, space = grading.load(NAME), solved()
    for question in FULL:
        passed, lines = check.run(question, space)
        assert passed, lines
    for name, answers in WRONG.items():
        for question, text in answers.items():
            wrong = dict(space)
            exec(text, wrong)
            passed, lines = check.run(question, wrong)
            assert not passed, (name, question)
            assert any(line.startswith("  FAILED") for line in lines), lines
