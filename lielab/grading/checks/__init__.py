"""Public checks, one module for each assignment: `01_rotations` is checked by `rotations.py`.

A module holds one function for each question, named `q1`, `q2`, ...; its parameters are the names of the student's
functions that it needs, the first line of its docstring is the title, its body is calls of `lielab.grading.testing`.
Tolerances of the assignment stand at the top, with their reasons; the hidden tests import them from there.
"""

# Number of the assignment that each module checks: the folder is exercises/NN_name.
NUMBERS = {
    "rotations": 1,
    "rigid_motions": 2,
    "dexpinv": 3,
    "actions": 4,
    "rkmk": 5,
    "commutator_free": 6,
    "step_size": 7,
    "variational": 8,
    "riemannian": 9,
    "drift_detective": 10,
    "chains": 11,
    "spins_and_vortices": 12,
    "lqr": 13,
    "capstone": 14,
}
