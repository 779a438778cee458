"""Graded exercises: checks for students, release and grading for teachers.

Student, in the released notebook::

    from lielab import grading
    check = grading.load("01_rotations")
    check("q1")                             # at once: what holds, what does not, the number; a hint at the second try

Teacher::

    python -m lielab.grading release                    # student copies of exercises/*, into released/
    python -m lielab.grading grade FOLDER               # grades.csv, grades.json, a report for each student
    python -m lielab.grading export                     # gradebooks, feedback pages, a summary of the class
    python -m lielab.grading similar FOLDER             # pairs with much in common
    python -m lielab.grading new 21_my_topic            # an assignment of your own to start from

The page "Teaching with this book" has the whole story, from set-up to how to write a question that cannot be gamed.

How a grade is made
-------------------
Each submission runs in a child process, behind bubblewrap's walls where that works (`sandbox.py`, with all limits). The
hidden tests run in the grader's own process against proxies of the student's functions. Arguments and results cross as
plain numbers, strings, arrays, tuples, lists and dictionaries (`wire.py`), never as pickles; so whatever a submission
patches, the comparison is not touched by it. A function that a test passes (a field to integrate) stays with the
grader: the submission gets a stub that asks for each value. So nothing of a test or of an answer is ever in the
student's process. A part that fails is judged once more with right functions of the earlier questions in place of the
student's: they run in a child of their own and are asked through the same stubs. The repository is public and so are
its masters; a course that wants private ones keeps variants elsewhere and passes `--masters PATH`.

How to write an assignment
--------------------------
Two files: a master notebook and a module of public checks.

**The master**, `exercises/NN_name/NN_name.ipynb`, has nbgrader's metadata and markers, so a course that runs nbgrader
can adopt it. The `grade_id` of a cell begins with its question:

- text, set-up and `check("q1")`: read-only (`locked: true, grade: false, solution: false`), any grade_id. Only cells
  that are marked are released; an unmarked cell stays behind. In a submission, read-only code is put back as it was.
- the solution, grade_id `q1`: `solution: true`; the answer stands between `### BEGIN SOLUTION` and `### END SOLUTION`
  (repeat them for several functions). The functions and variables that its top level defines are what tests can use.
- hidden tests, grade_id `q1_values`, `q1_small`, ...: `grade: true, points: 1`, between `### BEGIN HIDDEN TESTS` and
  `### END HIDDEN TESTS`. A cell earns all its points or none; several cells give partial credit. They are written with
  `lielab.grading.testing` (`close`, `close_up_to_sign`, `holds`, `array`, `arrays`, `unchanged`, `raises`, `rng`) or
  plain `assert`, run in the order of the notebook and share one namespace (`np` is there), so a cell of 0 points can
  hold reference solutions for the others. A function of a test gets at most 1000 numbers at a time.
- an answer that a person reads: `grade: true, solution: true, points: 4`, code or Markdown. Its column of `grades.csv`
  is filled in by hand.
- `metadata.lielab.allow: ["numpy", "matplotlib"]` names the packages that a solution may import, beside Python's own
  library; these two are the default.

Test values at random points and at the edges, not only properties: the identity satisfies most properties. Questions
come in the order in which they build on each other: a right function helps the later ones only.

**The public checks**, `lielab/grading/checks/name.py` for the book's own, `checks.py` beside any other master: one
function for each question, whose parameters are the names of the student's functions (see `checks/rotations.py`), and
the name of the assignment, `ASSIGNMENT`. A release adds what the master allows to `checks.py`.

**Its tests**: `tests/grading/util.py` builds submissions from the master with some answers replaced and grades them all
in one run; a table of typical wrong answers and their expected points is about 20 lines (`test_rotations.py`).

It imports from `solve` and what is below it, and only inside its checks; nothing imports from here.
"""

from .student import Check, load

__all__ = ["Check", "load"]
