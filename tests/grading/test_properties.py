"""`check` and the grade look at the same properties, or the notebook says what the grade looks at besides.

SAME was decided by reading: each property of a hidden test, by its name, and the property of the public check that
looks at the same thing. A property that is new, renamed or gone on either side fails here until somebody has decided
again.
"""

import contextlib
import inspect
import io
import re

import pytest

from lielab import grading
from lielab.grading.notebook import find_masters, read, read_master, source
from lielab.grading.testing import context
from tests.grading.assignment import AssignmentTests
from tests.grading.util import EXERCISES

BESIDES = "what the notebook says under `How it is checked`"
_DIGITS = "a step with h = #/#, to the last digits"

SAME = {
    "01_rotations": {
        "hat(x) at a random x": "hat((#, #, #)) is the matrix worked out by hand",
        "vee of the matrix of a random x": "vee takes it back to (#, #, #)",
        "exp(x) at a random x of length #": "exp(x) keeps its axis: exp(x) x = x",
        "exp(x) for |x| = #": "exp of a vector of length #",
        "the digits of x in exp(x) for |x| = #": "exp of a vector of length # keeps its digits",
        "log at a random rotation by #": "log of a turn by pi - # about (#, #, #)/#",
        "the digits of log of a rotation by #": "log of a turn by # keeps its digits",
        "log of a rotation by pi - #": "log of a turn by pi - # about (#, #, #)/#",
        "log of a half turn": "log of a half turn about n = (#, #, #)/# is pi n (either sign)",
        "dexpinv(u) at a random u of length #": "dexpinv of # e3, near the pole",
        "dexpinv(u) for |u| = #": "dexpinv of a vector of length #: what it does along e3 x u",
        "the term [u, v] of dexpinv(u) for |u| = #": "dexpinv of a vector of length #: the term [u, v]",
    },
    "02_rigid_motions": {
        "compose(g, h) moves a point as h, then g": "first turn, then move: the origin ends at e1",
        "inverse at a random motion": "inverse(g) g is the identity",
        "Ad(g) v is the vector of g V g^-#": "a frame that is turned and moved: a turn about e1",
        "exp at a random velocity, angle #": "more than a turn: by # rad about e3",
        "exp at angle #": "exp(#) is the identity",
        "the translation turns by half the angle, at angle #": "travel turns by half the angle #",
        "exp with a translation of size #": "travel of size #, relative",
        "the rotation does not depend on the translation": "exp of a quarter turn about e3 holds that turn",
        "log of a random motion, angle #": "log of the quarter circle",
        "the rotation of log at angle #": "log of a turn by pi - #",
        "the translation of log at angle #": "the travel of log at the angle #",
        "exp(log(g)) = g at angle pi - #": "log of a turn by pi - #",
        "its angle is pi - #": "log of a turn by pi - #",
        "log with a translation of size #": "log with travel of size #, relative",
    },
    "03_dexpinv": {
        "ad(u) at a random u": "a turn about e1 turns e2 to e3",
        "bernoulli(#)": "B_12 = #/#",
        "dexpinv_series(u, #) at a random u": "cut after #, for a turn by #: B_4 and #! as well, and nothing of ad^#",
        "dexpinv at angle #": "near the pole, at the angle #",
        "the second commutator at angle #": "the second commutator at the angle #",
        "lower left block, translation of size #": "travel of size #, relative",
        "diagonal blocks, translation of size #": "... and the lower right block is the same",
        "commutators_needed(#)": "... and so does one of order #",
    },
    "04_actions": {
        "act at a random motion and point": "turned and moved: R w + r x R q",
        "the moved q has length #": "the moved q has length #",
        "the moved w is normal to it": "the moved w is normal to it",
        "exp(-u) takes the point back": "exp(-u) leads back",
        "the point really moves": "a quarter turn about e3 turns q",
        "generator at random u and y": "it is the slope of your act at the start",
        "its generator is the velocity of the pendulum": "a x q is the change of w, (g/l) k x q",
        "A = w for sigma = #": "without spin A = w",
        "a is normal to q": "a is normal to q also then",
        "with a spin, its generator is still the velocity": "the spin does not change w': A x w + a x q is the same",
        "A = w + sigma q": "with spin A = w + sigma q",
        "no row is zero": "two independent ones",
        "a row does not move the point": "... and leave w: A x w + a x q = #",
        "the rows are independent": "two independent ones",
    },
    "05_rkmk": {
        "a Lie-Euler step": "the field is taken at the time t",
        "a step of order #, field without time": _DIGITS,
        "a step of order #, field that depends on time": _DIGITS,
        "with the classical tableau": "the classical tableau gives your rkmk4_step",
        "with a random tableau of # stages": "and has the order #",
        "the slope of errors of order #": "points outside low and high do not count",
        "NaN when fewer than three points are left": "NaN when fewer than three points are left",
        "the least-squares slope of rough errors": "errors that scatter: the least-squares line",
    },
    "06_commutator_free": {
        "a step with # stages, field without time": "the third stage turns by k_1, then by k_2",
        "a step with # stages, field that depends on time": "about a fixed axis it integrates t^# exactly",
        "a step, field without time": _DIGITS,
        "a step, field that depends on time": _DIGITS,
        "a midpoint step": _DIGITS,
        "a step with -h leads back": "a step with -h leads back to the start",
        "the point stays on the sphere": "the point stays on the sphere",
        "the step, roughly": _DIGITS,
    },
    "07_step_size": {
        "the scaled error of # components": "two components, one with an error",
        "the new step": "an error of #^# halves the step, too",
        "a tiny error: at most # times larger": "a tiny error: # times larger at most",
        "a huge error: at most # times smaller": "a huge error: # times smaller at most",
        "just good enough: a little smaller": "an error of # costs the safety factor",
        "an error of zero": "an error of zero lets it grow",
        "an error that is NaN": "a NaN shrinks it",
        "an infinite error": "an infinite error shrinks it",
        "the accepted times": "backward, with a step that doubles: all times",
        "the points at these times": "and all points",
        "the last time is t1": "it starts at t0 and ends at exactly t1",
        "the accepted times around a peak": "steps follow next_step after a rejection too",
        "the number of rejected steps": "and every rejection is counted",
        "a NaN is rejected and the step tried shorter": "a NaN is rejected, and the step shrinks by #",
        "a step that never becomes good ends in an exception": "a step that never becomes good ends in an exception",
    },
    "08_variational": {
        "both slopes at theta = #/#": "the slopes are those of L_d at theta = #",
        "both slopes for any theta": "the slopes are those of L_d at theta = #",
        "the two symplectic Euler methods": "theta = #: a kick at the old position",
        "a step that must be solved for": "p0 = -D1 L_d and p1 = D2 L_d at theta = #",
        "how much a map of the plane changes areas": "where the map is curved",
        "how much a map changes the form": "D^T Omega D, not D Omega D^T",
        "a step of a free body": "without a torque the momentum in space is kept",
        "a step of a body with a torque": "a step with h = #, to the last digits",
    },
    "09_riemannian": {
        "g1, g2 at moderate arguments": "g1 and g2 at #",
        "g1, g2 at #": "g1 is #/# and g2 is #/# at #",
        "the tangent vector of a covector": "the metric pairs it with tangent vectors as the covector does",
        "S without a potential": "a quarter of a great circle",
        "S with a potential": "the potential at both ends",
        "a step where the metric is round": "no force, round metric: a great circle",
        "a step on an ellipsoid": "a step with h = #, to the last digits",
        "w solves the first line": "the first line: dexp_w^-T J w = h pi1, to the last digits",
        "the next momentum": "the second line: pi2 = pi1 + (J w x w)/h",
    },
    "10_drift_detective": {
        "the slope": "the slope through four block means",
        "its standard error": "its standard error",
        "how far R is from a rotation": "a body that is stretched by #",
        "the error of the energy": "the energy, relative to the first",
        "the error of the momentum in space": "the momentum in space",
        "the symmetry defect of a step (free)": "drag is symmetric",
        "the symmetry defect of a step (drag)": "drag is symmetric",
        "the symmetry defect of a step (onward)": "a step that takes |h| is not symmetric",
        "the symmetry defect of a step (Euler)": "nor one that adds h^# to the velocity",
        "the reversibility defect of a step (free)": "but reversible",
        "the reversibility defect of a step (drag)": "drag is not reversible",
        "the reversibility defect of a step (onward)": "but reversible",
        "the reversibility defect of a step (Euler)": "drag is not reversible",
        "the method of a file": "a file of RATTLE",
    },
    "11_chains": {
        "the energy of # links": "two rods that turn alike: speeds # and # m/s",
        "the energy of a hundred thousand links": BESIDES,
        "the arguments are as they were": "the arguments are as they were",
        "# equations": "three equations",
        "a hundred thousand equations": BESIDES,
        "the tensions of # rods": "moving rods keep their lengths: q . q'' = -|w|^#",
        "a long chain at rest carries what hangs below": BESIDES,
        "w' of # rods": "w' of three rods that move",
        "a long straight chain let go": BESIDES,
    },
    "12_spins_and_vortices": {
        "the velocities of # vortices": "a vortex of strength zero is carried along",
        "two vortices # apart, relative": "two vortices # apart",
        "the energy of # vortices": "it does not change along the motion of q1",
        "the velocities of # spins without friction": "an easy axis",
        "the velocities of five spins with friction": "friction alone turns it towards the field",
        "a step of # points": _DIGITS,
    },
    "13_lqr": {
        "the errors of perturbed states": (
            "a turn by pi/# about the body's own e3; the error of the momentum is p - p_d"
        ),
        "errors beyond half a turn do not jump": BESIDES,
        "a whole turn counts as one": BESIDES,
        "D2D1": "if both attitudes turn alike in space, D1 L_d stays: D2D1 = -D1D1 cay(x)",
        "D1D1": "D1D1 at x = (#, #, #)",
        "D2D2": "... and D2 L_d stays: D2D2 = -D2D1^T cay(x)",
        "A moves a perturbation one step": "the first line holds for any matrices",
        "the gains of # steps, first to last": "x' = x + u: the gains of two steps",
        "P0 of # steps": "x0.P0 x0 is the cost of the run",
        "the states far from the limits": "the states of three steps, x0 first",
        "the torques far from the limits": "u = u_d - K x",
        "the states within the limits": BESIDES,
        "the torques within the limits": BESIDES,
    },
    "14_capstone": {
        "exp(#) moves nothing": "exp(#) moves nothing",
        "exp(u) exp(u/#) is exp(#u/#)": "exp(u) exp(u/#) is exp(#u/#)",
        "exp(-u) leads back": "exp(-u) leads back",
        "the points move": "exp(-u) leads back",
        "the order of two motions matters": BESIDES,
        "the defect of a point that was moved": "the defect is zero on the manifold",
        "beside the manifold the defect is not zero, and points move": "and not beside it",
        "the generator of your field is the velocity": "the generator of your field is the velocity",
        "it moves": "it moves",
        "the order is at least #": "the error falls as you say",
        "the error falls as you say": "the error falls as you say",
        "the point has moved": "the steps move the point",
        "the defect after fifty steps": BESIDES,
        "and the steps go where the motion goes": BESIDES,
        "drift is invariant along the run": "it is the change of the invariant along the run",
        "not every point has the same invariant": "not every point has the same invariant",
        "the run goes somewhere": BESIDES,
    },
}  # fmt: skip


def plain(names):
    """The names of properties without the numbers in them."""
    return {re.sub(r"(?<![\w^])-?\d+(\.\d+)?(e[+-]?\d+)?|(?<=\^)\d+", "#", name) for name in names}


def besides(check, question):
    """What the docstring of a public check says that the grade looks at besides."""
    rest = inspect.cleandoc(check.questions[question].__doc__).partition("\n")[2].strip()
    return " ".join(rest.split())


def intro(assignment):
    master = read(EXERCISES / assignment / f"{assignment}.ipynb")
    return " ".join(source(master["cells"][0]).split())


def properties(assignment):
    """Question -> the names of the properties that the grade looks at, and those of `check`, without numbers."""

    class Here(AssignmentTests):
        NAME = assignment

    with contextlib.redirect_stdout(io.StringIO()):  # the master calls `check` itself
        space = Here.solved()
    check, graded, checked = grading.load(assignment), {}, {}
    for part in (p for p in read_master(Here.master()).parts if not p.by_hand):
        with context(0, part.name) as seen:
            exec(part.source, space)
        graded.setdefault(part.question, set()).update(plain(seen.passed))
    for question in check.questions:
        _, lines = check.run(question, space)
        checked[question] = plain(line[10:] for line in lines if line.startswith("  holds"))
    graded.pop("q0", None)
    return graded, checked


@pytest.mark.parametrize("assignment", sorted(find_masters(EXERCISES)))
def test_check_looks_at_what_the_grade_looks_at_or_the_notebook_says_so(assignment):
    check, same = grading.load(assignment), SAME[assignment]
    graded, checked = properties(assignment)
    assert set().union(*graded.values()) == set(same)
    for question, names in graded.items():
        open_ones = {name for name in names if same[name] not in checked[question]}
        assert {same[name] for name in open_ones} <= {BESIDES}, (question, checked[question])
        assert bool(open_ones) <= bool(besides(check, question)), question


@pytest.mark.parametrize("assignment", sorted(find_masters(EXERCISES)))
def test_notebook_and_check_say_the_same_of_what_the_grade_looks_at_besides(assignment):
    check, text = grading.load(assignment), intro(assignment)
    said = [(q, besides(check, q)) for q in check.questions]
    want = [
        said_there.replace("The grade looks besides at", f"Besides, the grade of {q} looks at")
        for q, said_there in said
        if said_there
    ]
    assert re.findall(r"Besides, [^.]*\.", text) == want
    assert "The grade looks at the same properties, with other, random inputs." in text


@pytest.mark.parametrize("assignment", sorted(find_masters(EXERCISES)))
def test_every_notebook_says_what_a_student_has_to_know(assignment):
    master = read(EXERCISES / assignment / f"{assignment}.ipynb")
    texts = [source(cell) for cell in master["cells"] if cell["cell_type"] == "markdown"]
    whole = "\n".join(texts)
    chapter = re.search(r"The chapter to read is\s+\[[^]]+\]\(\S+/book/(\w+)\.html\)", whole)
    assert chapter
    assert (EXERCISES.parent / "book" / f"{chapter[1]}.ipynb").is_file()
    assert re.search(r"Allow about \w+ hours", whole)
    assert "NumPy, Matplotlib and Python's own\nlibrary may be imported" in whole
    assert read_master(EXERCISES / assignment / f"{assignment}.ipynb").allow == ("numpy", "matplotlib")  # fmt: skip
    assert "60 s, one call of a function 5 s" in whole
    assert "have 60 s together and 20 s each" in whole
    assert "**Memory** 2 GB" in whole
    drill = [text for text in texts if text.startswith("## On paper (no points)")]
    assert len(drill) == 1
    assert "<details><summary>Answer</summary>" in drill[0]
