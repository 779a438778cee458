"""Public checks, one module for each assignment: `01_rotations` is checked by `rotations.py`.

A module holds one function for each question, named `q1`, `q2`, ...; its parameters are the names of the student's
functions that it needs, the first line of its docstring is the title, its body is calls of `lielab.grading.testing`.
Tolerances of the assignment stand at the top, with their reasons; the hidden tests import them from there.
"""
