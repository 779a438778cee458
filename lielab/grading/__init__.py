"""Graded exercises: checks for students, release and grading for teachers.

Student, in the released notebook::

    from lielab import grading
    check = grading.load("01_rotations")
    check("q1")                             # at once: what holds, what does not, the number, a hint

Teacher::

    python -m lielab.grading release                    # student copies of exercises/*, into released/
    python -m lielab.grading grade FOLDER               # grades.csv, grades.json, a report for each student

How a grade is made
-------------------
Each submission runs in a child process, behind bubblewrap's walls where that works (`sandbox.py`, with all limits). The
hidden tests run in the grader's own process against proxies of the student's functions. Arguments and results cross as
plain numbers, strings, arrays, tuples, lists and dictionaries (`wire.py`), never as pickles; so whatever a submission
patches, the comparison is not touched by it. The repository is public and so are its masters; a course that wants
private ones keeps variants elsewhere and passes `--masters PATH`.

How to write an assignment
--------------------------
Two files: a master notebook and a module of public checks.

**The master**, `exercises/NN_name/NN_name.ipynb`, has nbgrader's metadata and markers, so a course that runs nbgrader
can adopt it. The `grade_id` of a cell begins with its question:

- text, set-up and `check("q1")`: read-only (`locked: true, grade: false, solution: false`), any grade_id. Only cells
  that are marked are released; an unmarked cell stays behind.
- the solution, grade_id `q1`: `solution: true`; the answer stands between `### BEGIN SOLUTION` and `### END SOLUTION`
  (repeat them for several functions). The functions and variables that its top level defines are what tests can use.
- hidden tests, grade_id `q1_values`, `q1_small`, ...: `grade: true, points: 1`, between `### BEGIN HIDDEN TESTS` and
  `### END HIDDEN TESTS`. A cell earns all its points or none; several cells give partial credit. They are written with
  `lielab.grading.testing` (`close`, `close_up_to_sign`, `holds`, `rng`) or plain `assert`, run in the order of the
  notebook and share one namespace (`np` is there), so a cell of 0 points can hold reference solutions for the others.
- a driver, grade_id `q5_driver`, 0 points, for a question whose functions take functions (a method that calls a field).
  Functions cannot cross, so the functions of a driver run in the child, in the student's namespace, and the tests call
  them with plain numbers::

      ### BEGIN HIDDEN TESTS
      def drive_step(inertia, mu, h):
          return rkmk_step(lambda t, y: -y / inertia, 0.0, mu, h)
      ### END HIDDEN TESTS

  A driver is not secret (the submission can read it) and what it returns can be forged: let it take random inputs, let
  it return the answer, and judge that in a test.
- `metadata.lielab.forbid: ["scipy", "lielab"]` names packages the solution must do without.

Test values at random points and at the edges, not only properties: the identity satisfies most properties.

**The public checks**, `lielab/grading/checks/name.py`: one function for each question, whose parameters are the names
of the student's functions (see `checks/rotations.py`).

**Its tests**: `tests/grading/util.py` builds submissions from the master with some answers replaced and grades them all
in one run; a table of typical wrong answers and their expected points is about 20 lines (`test_rotations.py`).
"""

from .student import Check, load

__all__ = ["Check", "load"]
