"""The rails of the grader: the wire, the student's check, drivers, results, the command line."""

import csv
import json
import os
import subprocess
import sys

import numpy as np
import pytest

from lielab import grading
from lielab.grading import child, sandbox, testing, wire
from lielab.grading.__main__ import main
from lielab.grading.collect import collect
from lielab.grading.grade import grade
from lielab.grading.result import Result
from tests.grading.util import EXERCISES, SHORT, full, submission

NAME = "01_rotations"
LIMITS = sandbox.Limits(**SHORT)


def quiet(*args, **kwargs):
    return grade(*args, limits=LIMITS, say=lambda _: None, **kwargs)


# ---------------------------------------------------------------- the wire


def there_and_back(value):
    data = wire.pack(value)
    text, raw = wire.lengths(data[: wire.HEAD.size])
    body = data[wire.HEAD.size :]
    return wire.unpack(body[:text], body[text : text + raw])


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        -(2**63),
        0.1,
        float("inf"),
        1e-320,
        1 + 2j,
        "\u00e4",
        (1, [2.0, ()]),
        {"a": 1, 2: (3,)},
    ],
)
def test_plain_values_cross_exactly(value):
    back = there_and_back(value)
    assert type(back) is type(value)
    assert back == value


@pytest.mark.parametrize("kind", ["f8", "f4", "i8", "u1", "?", "c16", ">f8"])
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 0, 3), (2, 3, 4)])
def test_arrays_cross_exactly(kind, shape):
    array = np.random.default_rng(0).integers(0, 2, shape).astype(kind)
    back = there_and_back([array, array.T])
    np.testing.assert_array_equal(back[0], array)
    np.testing.assert_array_equal(back[1], array.T)
    assert type(back[0]) is np.ndarray
    back[0][...] = 0  # writable, of its own


@pytest.mark.parametrize(
    "value",
    [
        object(),
        print,
        {1, 2},
        b"x",
        2**63,
        np.array([None]),
        np.zeros(10**7),
        ["x" * 10**6] * 3,
        range(3),
        {(1,): 2},
        {1.5: 2},
        [0] * 200_000,
    ],
)
def test_other_values_do_not_cross(value):
    with pytest.raises(wire.WireError):
        wire.pack(value)


BROKEN = [
    "[" * 10**5,
    "1" * 5000,
    "[1]",
    '{"x": 1}',
    '{"d": [[[], 1]]}',
    '{"d": [[1.5, 1]]}',
    '{"f": 0}',
    '{"l": [' + ", ".join(["0"] * 200_000) + "]}",
    '{"l": ["' + "x" * 1999 + '"' + ', ""' * 20_000 + "]}",
    '"' + "x" * 3000 + '"',
    '{"c": [1]}',
    '{"a": ["<f8", [-1]]}',
    '{"a": ["<f8", [1e9]]}',
    '{"a": ["|O", [1]]}',
    '{"a": ["<f8", [4000000000, 4000000000]]}',
]


def test_broken_messages_are_refused():
    generator = np.random.default_rng(1)
    good = wire.pack({"id": 1, "value": [np.eye(3), (1, "x", None)]})
    for _ in range(3000):
        data = bytearray(good)
        for place in generator.integers(0, len(data), 3):
            data[place] = generator.integers(0, 256)
        try:
            text, raw = wire.lengths(bytes(data[: wire.HEAD.size]))
            body = bytes(data[wire.HEAD.size :])
            wire.unpack(body[:text], body[text : text + raw])
        except wire.WireError:
            pass
    for text in BROKEN:
        with pytest.raises(wire.WireError):
            wire.unpack(text.encode(), b"")


# ---------------------------------------------------------------- the student's side


def test_check_looks_at_the_functions_of_the_cell_it_is_called_in(capsys):
    check = grading.load(NAME)

    def hat(x):
        return np.eye(3)

    def vee(X):
        return X

    check("q1")
    printed = capsys.readouterr().out
    assert "FAILED  hat(x) y is the cross product" in printed
    assert "largest difference" in printed
    assert "hint    comes with the next try" in printed
    check("q1")
    assert "hint    if it is y x x" in capsys.readouterr().out
    check("q2")
    assert "not yet: exp is not defined" in capsys.readouterr().out


def test_check_explains_what_it_gets():
    check = grading.load(NAME)

    def say(function):
        return "\n".join(check.run("q2", {"exp": function})[1])

    def unwritten(x):
        raise NotImplementedError("q2: still to be written")

    assert "not yet: q2" in say(unwritten)
    assert "returned None" in say(lambda x: None)
    assert "ZeroDivisionError" in say(lambda x: 1 / 0)
    assert "asks for (3, 3)" in say(lambda x: np.zeros(3))
    assert "complex" in say(lambda x: np.eye(3) * 1j)
    assert "NaN" in say(lambda x: np.eye(3) * np.nan)
    assert "not an array of numbers" in say(lambda x: "text")


def test_check_refuses_what_the_grade_refuses_and_shows_the_students_line():
    import scipy.linalg

    check = grading.load(NAME)

    def say(function):
        return "\n".join(check.run("q2", {"exp": function})[1])

    def imports(x):
        from scipy.linalg import expm

        return expm(x)

    def uses(x):
        return scipy.linalg.expm(x)

    def blank(x):
        raise NotImplementedError

    def stumbles(x):
        return np.linalg.solve(np.zeros((2, 2)), x)  # the student's line

    def changes(x):
        x *= 2
        return np.eye(3)

    assert "to be solved without scipy" in say(imports)
    assert "uses scipy: solve this without it" in say(uses)
    assert "not yet: the function is still to be written" in say(blank)
    assert "at: return np.linalg.solve(np.zeros((2, 2)), x)" in say(stumbles)
    assert "exp changes its argument number 1" in say(changes)
    assert "returned a generator" in say(lambda x: (row for row in x))


def test_hints_fit_the_slip():
    lqr, rkmk = grading.load("13_lqr"), grading.load("05_rkmk")

    def told(check, question, **functions):
        return "\n".join(check.run(question, functions)[1])

    def integers(A, B, Q, R, QN, steps):
        return np.zeros((steps, 1, 1), dtype=int), np.ones((1, 1))

    def degrees(R_d, p_d, R, p):
        turned = np.abs(R - R_d).max() > 1e-9
        return np.array([[0, 0, 90, 1, 1, 1]]) * turned

    assert "an array of integers" in told(lqr, "q4", riccati=integers)
    assert "angles are in radians" in told(lqr, "q1", error=degrees)
    assert "the step h is missing" in told(
        rkmk, "q1", lie_euler_step=lambda f, t, y, h: turned(f(t, y)) @ y
    )


def test_hints_fit_what_is_not_a_number_and_factors_of_two():
    """Found by solving: a vortex that acts on itself was told to look at a sign."""

    def told(name, question, **functions):
        with np.errstate(all="ignore"):
            return "\n".join(grading.load(name).run(question, functions)[1])

    def on_itself(q, strengths):
        return strengths / (1 - q @ q.T) @ q / (4 * np.pi)

    def of(power, count):
        def vortex_energy(q, strengths):
            pairs = [(i, j) for i in range(len(q)) for j in range(len(q)) if i in count(j)]
            total = 0.0
            for i, j in pairs:
                distance = np.linalg.norm(q[i] - q[j])
                total -= strengths[i] * strengths[j] * np.log(distance**power) / (4 * np.pi)
            return total

        return {"vortex_energy": vortex_energy, "vortex_rates": on_itself}

    spins = "12_spins_and_vortices"
    assert "hint    the sum leaves out j = i" in told(spins, "q1", vortex_rates=on_itself)
    assert "hint    the logarithm is that of the squared" in told(spins, "q2", **of(1, range))
    twice = of(2, lambda j: {0, 1, 2, 3} - {j})
    assert "hint    every pair counts once" in told(spins, "q2", **twice)
    assert "no vortex is paired with itself" in told(spins, "q2", **of(2, lambda j: range(4)))
    undefined = told(spins, "q3", spin_rates=lambda m, *rest: np.nan * m)
    assert (
        "got NaN (of 0/0, a root or logarithm of something negative, or another NaN)" in undefined
    )


def test_a_stub_is_no_try(capsys):
    check = grading.load("12_spins_and_vortices")

    def stub(q, strengths):
        raise NotImplementedError("q1: still to be written")

    for vortex_rates, hint in (
        (stub, ""),
        (lambda q, strengths: q, "comes with the next try"),
        (lambda q, strengths: q, "the sum over the others"),
    ):
        assert callable(vortex_rates)
        check("q1")
        said = capsys.readouterr().out
        assert f"hint    {hint}" in said if hint else "not yet: q1: still to be written" in said


def turned(u):
    angle = np.linalg.norm(u)
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])


def test_names_that_do_not_exist_are_answered_with_the_list():
    with pytest.raises(ValueError, match=r"'99_nothing' is not known; there are: .*rotations"):
        grading.load("99_nothing")
    with pytest.raises(ValueError, match="q1, q2, q3, q4"):
        grading.load(NAME)("q9")


def test_a_truth_value_must_be_one():
    class Yes:
        def __bool__(self):
            return True

    for value in (Yes(), 1, "yes", np.ones(2), None):
        with pytest.raises(testing.Failed):
            testing.holds("it holds", value)
    testing.holds("it holds", np.bool_(True))


def test_random_inputs_follow_the_seed():
    def draw(seed, part):
        with testing.context(seed, part):
            return testing.rng().normal()

    assert draw(1, "q1") == draw(1, "q1")
    assert (
        len(
            {
                draw(1, "q1"),
                draw(2, "q1"),
                draw(1, "q2"),
                testing.rng().normal(),
                testing.rng().normal(),
            }
        )
        == 5
    )


def test_the_students_side_imports_nothing_heavy_of_its_own():
    code = "import sys, lielab; before = set(sys.modules); import lielab.grading; print(*set(sys.modules) - before)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    new = {name.split(".")[0] for name in done.stdout.split()}
    assert new.isdisjoint({"scipy", "matplotlib", "numba", "ipywidgets", "subprocess"})


# ---------------------------------------------------------------- cells


def test_magics_are_taken_out_and_python_is_left_alone():
    python = "x = (5\n     % 3)\ns = '''\n%not a magic\n!ls\n'''\n"
    assert child.plain_python(python) == python
    space = {}
    exec(
        child.plain_python(
            "%matplotlib inline\nx = !ls\ny = %pwd\nif 1:\n    !ls\nprint?\n?print\nz = 7 % 4"
        ),
        space,
    )
    assert (space["x"], space["y"], space["z"]) == (None, None, 3)
    exec(child.plain_python("%%time\nw = 1"), space)
    assert space["w"] == 1
    assert child.plain_python("%%html\n<b>") == ""


# ---------------------------------------------------------------- masters whose tests pass functions


def notebook(*cells):
    made = []
    for grade_id, text in cells:
        kind = {"grade": False, "solution": False, "locked": True}
        if grade_id.count("_"):
            kind = {"grade": True, "solution": False, "locked": True, "points": 1}
        elif grade_id.startswith("q"):
            kind = {"grade": False, "solution": True, "locked": False}
        marks = {**kind, "grade_id": grade_id, "schema_version": 3, "task": False}
        made.append(
            {"cell_type": "code", "metadata": {"nbgrader": marks}, "source": text, "outputs": []}
        )
    return {
        "cells": made,
        "metadata": {"lielab": {"allow": ["numpy"]}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }


EULER = "def step(f, y, h):\n    ### BEGIN SOLUTION\n    return y + h * f(y)\n    ### END SOLUTION"
VALUE = "### BEGIN SOLUTION\nanswer = 42.0\n### END SOLUTION"


@pytest.fixture
def course(tmp_path):
    """A course with masters of its own: a test that passes a function, and a number."""
    master = notebook(
        ("setup", "import numpy as np"),
        ("q1", EULER),
        (
            "q1_step",
            "### BEGIN HIDDEN TESTS\nassert abs(step(lambda y: 2.0 * y, 3.0, 0.1) - 3.6) < 1e-14\n"
            "### END HIDDEN TESTS",
        ),
        ("q2", VALUE),
        ("q2_number", "### BEGIN HIDDEN TESTS\nassert answer == 42.0\n### END HIDDEN TESTS"),
    )
    folder = tmp_path / "masters" / "77_own"
    folder.mkdir(parents=True)
    (folder / "77_own.ipynb").write_text(json.dumps(master))
    (tmp_path / "class").mkdir()
    return tmp_path


def hand_in(course, name, *cells):
    (course / "class" / f"{name}.ipynb").write_text(json.dumps(notebook(*cells)))


def test_functions_that_a_test_passes_are_called_back(course):
    hand_in(
        course, "right", ("q1", "def step(f, y, h): return y + h * f(y)"), ("q2", "answer = 42.0")
    )
    hand_in(
        course, "wrong", ("q1", "def step(f, y, h): return y - h * f(y)"), ("q2", "answer = 41.0")
    )
    hand_in(course, "raises", ("q1", "def step(f, y, h): return f(y, y)"), ("q2", "answer = [42.0"))
    hand_in(
        course, "dies", ("q1", "def step(f, y, h): import os; os._exit(1)"), ("q2", "answer = 42.0")
    )
    results = quiet(course / "class", course / "masters", course / "out")
    earned = {r.student: {name: e for name, (e, _) in r.questions.items()} for r in results}
    assert earned == {
        "right": {"q1": 1.0, "q2": 1.0},
        "wrong": {"q1": 0.0, "q2": 0.0},
        "raises": {"q1": 0.0, "q2": 0.0},
        "dies": {"q1": 0.0, "q2": 1.0},
    }


def test_a_master_that_fails_its_own_tests_stops_the_run_before_anybody_loses_points(course):
    path = course / "masters" / "77_own" / "77_own.ipynb"
    path.write_text(path.read_text().replace("answer = 42.0", "answer = 43.0"))
    hand_in(course, "right", ("q2", "answer = 42.0"))
    with pytest.raises(ValueError, match="does not earn full points itself"):
        quiet(course / "class", course / "masters", course / "out")
    assert not (course / "out" / "grades.csv").exists()


# ---------------------------------------------------------------- folders, results, command line


def put(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content))


def test_results_reports_and_repeatable_seeds(tmp_path):
    put(tmp_path / "class" / "ann" / f"{NAME}.ipynb", submission(NAME))
    put(tmp_path / "class" / "=bob.ipynb", submission(NAME, q2=None))
    put(tmp_path / "class" / ".ipynb_checkpoints" / "old.ipynb", submission(NAME))
    runs = [quiet(tmp_path / "class", EXERCISES, tmp_path / f"out{k}", seed=5) for k in range(2)]
    tables = [json.loads((tmp_path / f"out{k}" / "grades.json").read_text()) for k in range(2)]
    for table in tables:
        for row in table["results"]:
            del row["seconds"]
    assert tables[0] == tables[1]
    assert {row["seed"] for row in tables[0]["results"]} == {5}
    assert [r.student for r in runs[0]] == ["=bob", "ann"]
    with open(tmp_path / "out0" / "grades.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["student"] for row in rows] == ["'=bob", "ann"]
    assert rows[0]["q2"] == "0"
    assert float(rows[1]["points"]) == sum(full(NAME).values())
    page = (tmp_path / "out0" / "reports" / rows[0]["report"]).read_text()
    assert "8 of 10 points" in page
    assert "exp is not defined" in page


def test_links_and_pipes_are_not_followed(tmp_path):
    folder = tmp_path / "class"
    folder.mkdir()
    (folder / "link.ipynb").symlink_to(EXERCISES / NAME / f"{NAME}.ipynb")
    (folder / "masters").symlink_to(EXERCISES)
    os.mkfifo(folder / "pipe.ipynb")
    found = collect(folder, tmp_path)
    assert [item.student for item in found.submissions] == ["link", "pipe"]
    assert found.skipped == [("masters", "a link to a folder: links are not followed")]
    results = quiet(folder, EXERCISES, tmp_path / "out")
    assert [r.earned for r in results] == [0.0, 0.0]
    assert all("not an ordinary file" in r.notes[0] for r in results)


def test_a_file_without_a_student_is_graded_and_said(tmp_path):
    """The released folder as it lies, graded: its only name is the assignment's."""
    for origin in (f"{NAME}/{NAME}.ipynb", f"ann/{NAME}.ipynb", f"{NAME}_bob.ipynb"):
        path = tmp_path / "class" / origin
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("{}")
    found = collect(tmp_path / "class", tmp_path, [NAME])
    assert sorted(item.student for item in found.submissions) == sorted([NAME, "ann", "bob"])
    said = f"has no student's name in its path; put it into a folder of that name. Graded as of {NAME!r}"
    assert found.skipped == [(f"{NAME}/{NAME}.ipynb", said)]


def test_folders_that_do_not_fit_are_refused(tmp_path, capsys):
    (tmp_path / "class").mkdir()
    with pytest.raises(ValueError, match="is not a folder"):
        quiet(tmp_path / "no", EXERCISES)
    with pytest.raises(ValueError, match="inside the folder of the submissions"):
        quiet(tmp_path / "class", EXERCISES, tmp_path / "class" / "grades")
    with pytest.raises(ValueError, match="has no master"):
        quiet(tmp_path / "class", EXERCISES, tmp_path / "out", assignment="x")
    with pytest.raises(ValueError, match="choose auto"):
        sandbox.Sandbox("docker")
    assert main(["grade", str(tmp_path / "no")]) == 2
    assert "is not a folder" in capsys.readouterr().err


def test_the_command_line_grades_and_says_what_lapses(tmp_path, capsys):
    put(tmp_path / "class" / "ann.ipynb", submission(NAME))
    arguments = [
        "grade",
        str(tmp_path / "class"),
        "--masters",
        str(EXERCISES),
        "--out",
        str(tmp_path / "out"),
    ]
    assert main([*arguments, "--sandbox", "none", "--time", "30"]) == 0
    printed = capsys.readouterr().out
    assert "without bubblewrap" in printed
    for sentence in sandbox.WITHOUT_WALLS:
        assert sentence in printed
    assert "ann: 10/10" in printed


def test_windows_is_refused_politely(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(sandbox.os, "name", "nt")
    with pytest.raises(sandbox.Unavailable, match="Windows Subsystem for Linux"):
        sandbox.refuse_unknown_system()


def test_names_of_reports_are_plain_and_different():
    students = ("a/b", "a_b", "../x", "", "-", "x" * 300, "\u4f60", "a\nb")
    names = [Result(s, None, a).report for s in students for a in ("01_x", "02_y")]
    assert len(set(names)) == len(names)
    assert all(len(name) < 80 and "/" not in name and name[0] not in "-." for name in names)
