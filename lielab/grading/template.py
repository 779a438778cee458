"""`python -m lielab.grading new NAME`: an assignment that works, to be rewritten.

It has one of each: a question with values, one whose function takes a function, one that is graded by hand, public
checks beside the master. Its comments say what to look after.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

_SETUP = """import numpy as np

from lielab import grading

check = grading.load("{name}")"""

_INTRO = """# {title}

Why anybody should want to know this, in three sentences.

| question | function | points |
|---|---|---|
| q1 | `kinetic_energy` | 2 |
| q2 | `euler_step` | 2 |
| q3 | a page of text | 3 |

Allow about an hour. NumPy, Matplotlib and Python's own library may be imported."""

_Q1 = """def kinetic_energy(J, omega):
    \"\"\"The energy omega . J omega / 2 of a rigid body.\"\"\"
    ### BEGIN SOLUTION
    return float(omega @ J @ omega / 2)
    ### END SOLUTION"""

_Q1_TEST = """### BEGIN HIDDEN TESTS
# `checks` is the module of public checks beside this notebook; `rng()` follows the grader's seed.
from lielab.grading.testing import close, rng

stream = rng()
for _ in range(5):
    J, omega = stream.normal(size=(3, 3)), stream.normal(size=3)
    want = sum(omega[i] * J[i, j] * omega[j] for i in range(3) for j in range(3)) / 2  # another road
    close("the energy at random values", kinetic_energy(J, omega), want, checks.ROUNDING)
### END HIDDEN TESTS"""

_Q2 = """def euler_step(f, t, y, h):
    \"\"\"One step of Euler's method for y' = f(t, y).\"\"\"
    ### BEGIN SOLUTION
    return y + h * f(t, y)
    ### END SOLUTION"""

_Q2_TEST = """### BEGIN HIDDEN TESTS
from lielab.grading.testing import close, rng

stream = rng()
for _ in range(3):
    M, y, (t, h) = stream.normal(size=(2, 2)), stream.normal(size=2), stream.uniform(0.1, 1, size=2)

    def field(t, y, M=M):  # a function is passed as it is: it stays with the grader
        return M @ y + t

    want = y + h * (M @ y + t)
    close("a step with a random field", euler_step(field, float(t), y, float(h)), want, checks.ROUNDING)
### END HIDDEN TESTS"""

_Q3 = """### BEGIN SOLUTION
What a good answer says, and what each sentence of it is worth.
### END SOLUTION"""

_CHECKS = '''"""Public checks of {name}: what a student sees at once."""

import numpy as np

from lielab.grading.testing import close

ASSIGNMENT = "{name}"
ROUNDING = 1e-12  # some roundings of numbers of size 1


def q1(kinetic_energy):
    """the energy
    The grade looks at other values."""
    J, omega = np.diag([1.0, 2.0, 3.0]), np.array([1.0, 1.0, 2.0])
    close("diag(1, 2, 3) and (1, 1, 2)", kinetic_energy(J, omega), 7.5, ROUNDING, "the sum of J_i omega_i^2 / 2",
          slips=((15.0, "half of it"),))


def q2(euler_step):
    """a step"""
    got = euler_step(lambda t, y: np.array([t, -y[0]]), 2.0, np.array([1.0, 0.0]), 0.5)
    close("y + h f(t, y)", got, [2.0, -0.5], ROUNDING)
'''


def _cell(grade_id: str, text: str, kind: str = "code", **marks: Any) -> dict[str, Any]:
    base = {"grade": False, "grade_id": grade_id, "locked": True, "solution": False, "task": False}
    cell = {
        "cell_type": kind,
        "id": grade_id,
        "metadata": {"nbgrader": {**base, "schema_version": 3, **marks}},
        "source": text,
    }
    return cell | ({"execution_count": None, "outputs": []} if kind == "code" else {})


def new(name: str, masters: Path) -> list[Path]:
    """Write `masters/NAME/NAME.ipynb` and `checks.py`; refuses a name that is there or unfit."""
    if not re.fullmatch(r"\d\d_[a-z][a-z0-9_]*", name):
        raise ValueError(
            f"name={name!r} should look like 21_my_topic: two digits and small letters"
        )
    folder = masters / name
    if folder.exists():
        raise ValueError(f"{str(folder)!r} is there already; choose another name")
    own, test = {"solution": True, "locked": False}, {"grade": True}
    cells = [
        _cell("intro", _INTRO.format(title=name[3:].replace("_", " ").capitalize()), "markdown"),
        _cell("setup", _SETUP.format(name=name)),
        _cell("q1_text", "## q1. The energy (2 points)", "markdown"),
        _cell("q1", _Q1, **own),
        _cell("q1_check", 'check("q1")'),
        _cell("q1_values", _Q1_TEST, **test, points=2),
        _cell("q2_text", "## q2. A step (2 points)", "markdown"),
        _cell("q2", _Q2, **own),
        _cell("q2_check", 'check("q2")'),
        _cell("q2_values", _Q2_TEST, **test, points=2),
        _cell("q3_text", "## q3. What did you see? (3 points, read by a person)", "markdown"),
        _cell("q3_page", _Q3, "markdown", **own, grade=True, points=3),
    ]
    notebook = {
        "cells": cells,
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "lielab": {"allow": ["numpy", "matplotlib"]},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    folder.mkdir(parents=True)
    texts = {
        f"{name}.ipynb": json.dumps(notebook, indent=1) + "\n",
        "checks.py": _CHECKS.format(name=name),
    }
    for file, text in texts.items():
        (folder / file).write_text(text, encoding="utf-8")
    return [folder / file for file in texts]
