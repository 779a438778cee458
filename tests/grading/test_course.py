"""A course: the table that is only added to, whose file it is, late work, gradebooks, feedback, similar work.

The grading itself is replaced here: what a submission earns is written into its first cell.
"""

import csv
import datetime
import json
import os
import re
import threading
import zipfile
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import pytest

from lielab import grading
from lielab.grading import export, sandbox, store, wire
from lielab.grading import grade as grading_run
from lielab.grading.__main__ import main
from lielab.grading.collect import Roster, collect, owner, read_deadlines
from lielab.grading.notebook import find_masters, read, read_master, source
from lielab.grading.result import PartScore, Result
from lielab.grading.template import new
from tests.grading.util import EXERCISES, SHORT, results, submission

NAME = "01_rotations"


@pytest.fixture
def counted(monkeypatch):
    """Grading is replaced: the first cell says how many points of each part are earned; counts the calls."""
    calls = []

    def fake(path, student, masters, box, seed, only=None, origin=""):
        calls.append(student)
        notebook, master, trouble = grading_run.identify(path, masters, only, origin)
        if notebook is None:
            return Result(student, path, master.name if master else "", notes=[trouble])
        share = float(source(notebook["cells"][0]) or 1)
        parts = [
            PartScore(part, 0.0 if part.by_hand else share * part.points) for part in master.parts
        ]
        return Result(student, path, master.name, parts)

    monkeypatch.setattr(grading_run, "grade_notebook", fake)
    monkeypatch.setattr(grading_run, "_must_be_right", lambda *args: None)
    monkeypatch.setattr(sandbox.Sandbox, "_try_bubblewrap", lambda self: "")  # nothing runs in it
    return calls


def paper(share=1.0, assignment=NAME):
    cells = [{"cell_type": "raw", "metadata": {}, "source": str(share)}]
    return json.dumps(
        {"cells": cells, "metadata": {"lielab": {"assignment": assignment}}, "nbformat": 4}
    )


def put(path, text=None, day=None):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text or paper())
    if day:
        moment = datetime.datetime(2027, 3, day, 12).timestamp()
        os.utime(path, (moment, moment))


def run(tmp_path, masters=EXERCISES, **options):
    said = []
    out = tmp_path / "out"
    found = grading_run.grade(tmp_path / "class", masters, out, say=said.append, **options)
    return found, said, out


def rows(out):
    with open(out / "grades.csv", newline="") as file:
        return {(row["student"], row["assignment"]): row for row in csv.DictReader(file)}


# ---------------------------------------------------------------- nothing lost


def test_a_late_student_a_second_assignment_and_a_second_run_remove_no_line(tmp_path, counted):
    for name in ("ann", "bob"):
        put(tmp_path / "class" / f"{name}.ipynb")
    run(tmp_path)
    for path in (tmp_path / "class").iterdir():
        path.unlink()
    put(tmp_path / "class" / "late.ipynb")
    put(tmp_path / "class" / "ann.ipynb", paper(0.5, "05_rkmk"))
    _, _, out = run(tmp_path)
    assert set(rows(out)) == {("ann", NAME), ("bob", NAME), ("late", NAME), ("ann", "05_rkmk")}
    assert sorted(counted[:2]) == ["ann", "bob"]  # several at a time: in any order
    assert sorted(counted[2:]) == ["ann", "late"]


def test_only_what_changed_is_graded_again_unless_asked_for(tmp_path, counted):
    for name in ("ann", "bob", "cem"):
        put(tmp_path / "class" / f"{name}.ipynb")
    run(tmp_path)
    table = (tmp_path / "out" / "grades.csv").read_text()
    found, said, out = run(tmp_path)
    assert sorted(counted) == ["ann", "bob", "cem"]
    assert [r.student for r in found] == ["ann", "bob", "cem"]
    assert "3 are in the table as they are" in said
    assert (out / "grades.csv").read_text() == table  # same seed, same table
    put(tmp_path / "class" / "bob.ipynb", paper(0.5))
    run(tmp_path)
    assert counted[3:] == ["bob"]
    run(tmp_path, again=True, students=["cem"])
    assert counted[4:] == ["cem"]
    run(tmp_path, again=True)
    assert sorted(counted[5:]) == ["ann", "bob", "cem"]
    with pytest.raises(ValueError, match="'dan'.* handed in nothing"):
        run(tmp_path, students=["dan"])


def test_a_mended_test_grades_again_with_the_same_seed(tmp_path, counted):
    master = tmp_path / "masters" / NAME / f"{NAME}.ipynb"
    put(master, (EXERCISES / NAME / f"{NAME}.ipynb").read_text())
    put(tmp_path / "class" / "ann.ipynb")
    run(tmp_path, tmp_path / "masters")
    seed = json.loads((tmp_path / "out" / "grades.json").read_text())["results"][0]["seed"]
    master.write_text(master.read_text().replace("for _ in range(5)", "for _ in range(6)"))
    run(tmp_path, tmp_path / "masters")
    assert counted == ["ann", "ann"]
    # Hidden tests take tolerances from there.
    put(master.with_name("checks.py"), "ROUNDING = 1e-9\n")
    run(tmp_path, tmp_path / "masters")
    run(tmp_path, tmp_path / "masters")
    assert counted == ["ann", "ann", "ann"]
    assert json.loads((tmp_path / "out" / "grades.json").read_text())["results"][0]["seed"] == seed


def test_a_run_that_dies_in_the_middle_loses_nothing_and_goes_on(tmp_path, counted, monkeypatch):
    for k in range(12):
        put(tmp_path / "class" / f"s{k:02d}.ipynb")
    real, limit = store.Store.put, [4]

    def put_some(self, *args):
        if not limit[0]:
            raise KeyboardInterrupt
        limit[0] -= 1
        real(self, *args)

    monkeypatch.setattr(store.Store, "put", put_some)
    for _ in range(2):  # killed twice on the way
        limit[0] = 4 if not (tmp_path / "out").exists() else 8
        with pytest.raises(KeyboardInterrupt):
            run(tmp_path)
    assert len(rows(tmp_path / "out")) == 8
    monkeypatch.setattr(store.Store, "put", real)
    run(tmp_path)
    assert len(rows(tmp_path / "out")) == 12


def test_what_a_teacher_writes_into_the_table_survives(tmp_path, counted):
    put(tmp_path / "class" / "=ann.ipynb")
    put(tmp_path / "class" / "bob.ipynb", paper(0.5))
    _, _, out = run(tmp_path)
    text = list(csv.reader((out / "grades.csv").read_text().splitlines()))
    head = text[0]
    line = next(row for row in text if row[0] == "bob")
    line[head.index("override")], line[head.index("comment")] = "7,5", "after a talk"
    with open(out / "grades.csv", "w", newline="") as file:
        csv.writer(file).writerows(text)
    put(tmp_path / "class" / "late.ipynb")
    run(tmp_path, again=True)
    found = rows(out)
    assert (found["bob", NAME]["points"], found["bob", NAME]["final"]) == ("5", "7.5")
    assert found["bob", NAME]["comment"] == "after a talk"
    assert found["'=ann", NAME]["final"] == found["late", NAME]["final"] == "10"


def spreadsheet(path, encoding="utf-8", delimiter=",", **written):
    """Open `grades.csv`, write into the line of bob, and save it in another dialect."""
    with open(path, newline="", encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    for line in lines:
        line.update(written if line["student"] == "bob" else {})
    with open(path, "w", newline="", encoding=encoding) as file:
        table = csv.DictWriter(file, list(lines[0]), delimiter=delimiter)
        table.writeheader()
        table.writerows(lines)


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252"])
def test_what_a_teacher_writes_survives_whatever_the_spreadsheet_saves(
    tmp_path, counted, delimiter, encoding
):
    for name in ("bob", "zoë"):
        put(tmp_path / "class" / f"{name}.ipynb")
    _, _, out = run(tmp_path)
    spreadsheet(out / "grades.csv", encoding, delimiter, override="7,5", comment="- né à Zürich")
    for _ in range(3):  # what is written to keep a formula away is taken off again
        run(tmp_path)
        with store.Store(out) as base:
            [(bob, _, _)] = [line for line in base.lines() if line[0].student == "bob"]
        assert (bob.final, bob.comment) == (7.5, "- né à Zürich")
    assert set(rows(out)) == {("bob", NAME), ("zoë", NAME)}


def test_what_cannot_be_read_back_stops_the_run_and_is_left_alone(tmp_path, counted):
    put(tmp_path / "class" / "bob.ipynb")
    _, _, out = run(tmp_path)
    path = out / "grades.csv"
    for written, message in (
        ({"override": "eight"}, "override='eight' of 'bob' is no number"),
        ({"student": "robert", "comment": "well done"}, "'robert', .* is not in the table"),
    ):
        before = path.read_bytes()
        spreadsheet(path, **written)
        changed = path.read_bytes()
        with pytest.raises(ValueError, match=message):
            run(tmp_path)
        assert path.read_bytes() == changed
        path.write_bytes(before)
    path.write_text("something else\n")
    with pytest.raises(ValueError, match="needs a first line with the columns student"):
        run(tmp_path)
    path.unlink()  # the table is in the store
    run(tmp_path)
    assert rows(out)["bob", NAME]["points"] == "10"


def test_what_was_not_guaranteed_is_remembered_and_reports_are_kept_up(tmp_path, counted):
    put(tmp_path / "class" / "ann.ipynb", day=12)
    due = tmp_path / "due.csv"
    due.write_text(f"assignment,due,per_day\n{NAME},2027-03-10,0.1\n")
    run(tmp_path, sandbox="none")
    found, _, out = run(tmp_path, deadlines=due)  # kept as it is, perhaps behind walls by now
    assert counted == ["ann"]
    [entry] = json.loads((out / "grades.json").read_text())["results"]
    assert entry["lapses"]
    text = (out / "reports" / found[0].report).read_text()
    assert "Handed in 2 days late" in text
    assert "Graded without bubblewrap" in text


def test_an_interrupted_run_takes_back_what_waits_in_the_callers_executor(
    tmp_path, counted, monkeypatch
):
    for k in range(9):
        put(tmp_path / "class" / f"s{k}.ipynb")
    begun, interrupted = [], threading.Event()

    def wait(task):
        begun.append(task)
        if len(begun) > 1:
            interrupted.wait(60)
        return Result(task.submission.student, task.submission.path, NAME)

    def stop(line):
        raise KeyboardInterrupt

    monkeypatch.setattr(grading_run, "grade_task", wait)
    out = tmp_path / "out"
    with ThreadPoolExecutor(1) as pool:
        with pytest.raises(KeyboardInterrupt):
            grading_run.grade(tmp_path / "class", EXERCISES, out, say=stop, executor=pool)
        interrupted.set()
    assert len(begun) == 2
    assert set(rows(out)) == {("s0", NAME)}


@pytest.mark.parametrize("kind", [ThreadPoolExecutor, ProcessPoolExecutor])
def test_any_executor_gives_the_same_table(tmp_path, kind):
    for name, answers in (("ann", {}), ("bob", {"q2": None})):
        put(tmp_path / "class" / f"{name}.ipynb", json.dumps(submission(NAME, **answers)))
    with kind(2) as pool:
        found, _, out = run(tmp_path, executor=pool, seed=3, limits=sandbox.Limits(**SHORT))
    assert [r.earned for r in found] == [10.0, 8.0]
    assert rows(out)["bob", NAME]["q2"] == "0"


# ---------------------------------------------------------------- whose, when, what not


@pytest.mark.parametrize(
    ("origin", "whose"),
    [
        ("doejane_4711_89012_01_rotations-2.ipynb", "doejane_4711"),
        ("doejane_LATE_4711_89012_x.ipynb", "doejane_4711"),
        ("Jane Doe_4711_assignsubmission_file_/x.ipynb", "Jane Doe_4711"),
        ("Jane Doe_4711_assignsubmission_file_x.ipynb", "Jane Doe_4711"),
        # what a student calls the file, or a folder in a zip file, says nothing
        ("doejane_4711_89012_bob_4712_assignsubmission_file_.ipynb", "doejane_4711"),
        ("Jane Doe_4711_assignsubmission_file_/bob_4712_89_x.ipynb", "Jane Doe_4711"),
        ("submission_4711/submission_4712/bob_4712_89_x.ipynb", "submission_4711"),
        ("export/submission_4711/x.ipynb", "submission_4711"),
        ("ann/01_rotations.ipynb", "ann"),
        ("01_rotations_ann.ipynb", "ann"),
        ("ann-01_rotations.IPYNB", "ann"),
        ("01_rotations.ipynb", "01_rotations"),
        ("group a/ann.ipynb", "group a/ann"),
        ("-rf.ipynb", "-rf"),
    ],
)
def test_whose_file_it_is(origin, whose):
    assert owner(origin, [NAME]) == whose


def test_a_roster_finds_students_by_anything_it_knows(tmp_path):
    path = tmp_path / "roster.csv"
    path.write_text(
        "student,name,email,canvas\ndoe,Jane Doe,jd@x.org,4711\nroe,Jane Doe,r@x.org,12\n"
    )
    roster = Roster(path)
    assert roster.student("doejane_4711") == "doe"
    assert roster.student("R@X.org") == "roe"
    assert roster.student("Jane Doe") is None  # two of them
    path.write_text('student,name,id\nann,"Lee, Ann",4711\nbo,Bo Li Roe,4712\nroeboli,Rob,7\n')
    roster = Roster(path)
    assert [roster.student(x) for x in ("Ann Lee_99", "leeann_99", "Roe, Bo Li")] == [
        "ann",
        "ann",
        "bo",
    ]
    assert roster.student("leeann_4712") is None  # the name says one, the number another
    assert roster.student("roeboli_4712") == "bo"  # two have the name: the number says who
    path.write_text("name\nx\n")
    with pytest.raises(ValueError, match="needs a first line with a column `student`"):
        Roster(path)


def test_downloads_of_three_systems_and_zip_files_are_read(tmp_path, counted):
    folder, roster = tmp_path / "class", tmp_path / "roster.csv"
    roster.write_text(
        "student,email,id\nann,ann@x.org,4711\nbob,bob@x.org,4712\ncem,cem@x.org,4713\n"
    )
    put(folder / "annlee_4711_99_01_rotations.ipynb")
    put(folder / "gs" / "submission_1" / "x.ipynb")
    (folder / "gs" / "submission_metadata.yml").write_text(
        "submission_1:\n  :submitters:\n  - :name: Bob\n    :email: bob@x.org\n"
    )
    with zipfile.ZipFile(folder / "moodle.zip", "w") as archive:
        archive.writestr("Cem_4713_assignsubmission_file_/a.ipynb", paper(0.5))
        archive.writestr("Cem_4713_assignsubmission_file_/notes.txt", "hello")
        archive.writestr("../../escape.ipynb", paper())
    (folder / "broken.zip").write_text("no zip")
    put(folder / "dan.py", "x = 1")
    put(folder / "eve.ipynb")
    (folder / "elsewhere").symlink_to(tmp_path)
    found, said, out = run(tmp_path, roster=roster)
    assert {r.student for r in found} >= {"ann", "bob", "cem"}
    assert not (tmp_path.parent / "escape.ipynb").exists()
    text = (out / "skipped.csv").read_text()
    for what in (
        "dan.py,a Python file",
        "broken.zip,not a zip file",
        "notes.txt",
        "elsewhere,a link",
        "eve.ipynb,'eve' is not in the roster",
        "its name leads out of the zip file",
    ):
        assert what in text
    assert any("dan.py" in line for line in said)
    assert main(["grade", str(folder), "--masters", str(EXERCISES), "--out", str(out)]) == 3


@pytest.mark.parametrize("inside", ["bobroe_4712_99_x.ipynb", "submission_1/x.ipynb"])
@pytest.mark.parametrize("outside", ["annlee_4711_98_work.zip", "ann.zip", "ann/work.zip"])
def test_nobody_hands_in_for_somebody_else_by_the_names_in_a_zip_file(
    tmp_path, counted, outside, inside
):
    roster = tmp_path / "roster.csv"
    roster.write_text("student,name,id\nann,Ann Lee,4711\nbob,Bob Roe,4712\n")
    (tmp_path / "class" / outside).parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(tmp_path / "class" / outside, "w") as archive:
        archive.writestr(inside, paper(0.0))
        archive.writestr("submission_metadata.yml", "submission_1:\n  - :sid: '4712'\n")
    found, _, _ = run(tmp_path, roster=roster)
    assert [r.student for r in found] == ["ann"]


def test_a_gradescope_export_is_read_as_it_is(tmp_path, counted):
    roster = tmp_path / "roster.csv"
    roster.write_text("student,email\nann,ann@x.org\nbob,bob@x.org\n")
    (tmp_path / "class").mkdir()
    with zipfile.ZipFile(tmp_path / "class" / "assignment_7_export.zip", "w") as archive:
        for k in range(2):
            archive.writestr(f"assignment_7_export/submission_{k}/x.ipynb", paper())
        archive.writestr(
            "assignment_7_export/submission_metadata.yml",
            "".join(
                f"submission_{k}:\n  :submitters:\n  - :name: X\n    :email: {who}@x.org\n"
                "  - :name: Partner\n    :email: partner@x.org\n"
                for k, who in enumerate(("ann", "bob"))
            ),
        )
    found, said, _ = run(tmp_path, roster=roster)
    assert [r.student for r in found] == ["ann", "bob"]
    assert not any(line.startswith("skipped") for line in said)


def test_the_same_file_of_two_students_is_said(tmp_path, counted):
    for name in ("ann", "bob"):
        put(tmp_path / "class" / f"{name}.ipynb")
    put(tmp_path / "class" / "cem.ipynb", paper(0.5))
    _, _, out = run(tmp_path)
    assert '"ann, bob",handed in the same file' in (out / "skipped.csv").read_text()
    for path in (tmp_path / "class").iterdir():
        path.unlink()
    put(tmp_path / "class" / "late.ipynb", paper(0.5))  # of somebody in an earlier run
    run(tmp_path)
    assert '"cem, late",handed in the same file' in (out / "skipped.csv").read_text()


def test_late_work_costs_what_the_deadline_says(tmp_path, counted):
    due = tmp_path / "due.csv"
    due.write_text(f"assignment,due,per_day,most\n{NAME},2027-03-10,0.1,0.25\n")
    times = tmp_path / "times.csv"
    times.write_text(f"student,assignment,time\nsick,{NAME},2027-03-01T08:00\n")
    for name, day in (("early", 10), ("late", 11), ("later", 25), ("sick", 25)):
        put(tmp_path / "class" / f"{name}.ipynb", day=day)
    _, _, out = run(tmp_path, deadlines=due, times=times)
    final = {name: row["final"] for (name, _), row in rows(out).items()}
    assert final == {"early": "10", "late": "9", "later": "7.5", "sick": "10"}
    for text, message in (
        (f"{NAME},soon,0.1", "'soon' is no time; write 2027-03-01T23:59"),
        (f"{NAME},2027-03-10,10", "per_day and most are shares from 0 to 1, got '10'"),
        (f"{NAME},2027-03-10,much", "shares from 0 to 1, got 'much'"),
    ):
        due.write_text(f"assignment,due,per_day\n{text}\n")
        with pytest.raises(ValueError, match=message):
            read_deadlines(due)


def test_a_slip_in_a_name_of_a_deadline_or_a_time_is_said(tmp_path, counted):
    put(tmp_path / "class" / "ann.ipynb", day=11)
    due, times, roster = (tmp_path / f"{name}.csv" for name in ("due", "times", "roster"))
    due.write_text(f"assignment;due;per_day\n{NAME};2027-03-10;0,1\n")  # a spreadsheet's way
    times.write_text(f"student,assignment,time\nan,{NAME},2027-03-01T08:00\n")
    roster.write_text("student;name\nann;Ann Lee\n")
    with pytest.raises(ValueError, match="times: student='an' is not in the roster"):
        run(tmp_path, deadlines=due, times=times, roster=roster)
    _, _, out = run(tmp_path, deadlines=due, roster=roster)
    assert rows(out)["ann", NAME]["final"] == "9"
    due.write_text("assignment,due,per_day\n1_rotations,2027-03-10,0.1\n")
    with pytest.raises(ValueError, match="deadlines: assignment='1_rotations' has no master"):
        run(tmp_path, deadlines=due)
    command = ["grade", str(tmp_path / "class"), "--out", str(out), "--masters", str(EXERCISES)]
    assert main([*command, "--roster", str(tmp_path / "none.csv")]) == 2


def test_a_notebook_of_an_assignment_without_a_master_is_said(tmp_path, counted):
    """With one master it would else be graded as that one, for nothing, in silence."""
    master = tmp_path / "masters" / NAME / f"{NAME}.ipynb"
    put(master, (EXERCISES / NAME / f"{NAME}.ipynb").read_text())
    put(tmp_path / "class" / "ann.ipynb", paper(assignment="99_other"))
    _, _, out = run(tmp_path, tmp_path / "masters")
    said = "ann.ipynb,\"it says that it is '99_other', which has no master\""
    assert said in (out / "skipped.csv").read_text()
    run(tmp_path, tmp_path / "masters", assignment=NAME)  # whatever they say
    assert said not in (out / "skipped.csv").read_text()


def test_no_name_of_a_file_is_a_formula_in_a_table(tmp_path, counted):
    put(tmp_path / "class" / "ann.ipynb")
    put(tmp_path / "class" / "=1+1.py", "x = 1")
    _, _, out = run(tmp_path)
    assert "\n'=1+1.py,a Python file" in (out / "skipped.csv").read_text().replace("\r", "")


# ---------------------------------------------------------------- what comes out


def test_gradebooks_feedback_and_summary(tmp_path, counted):
    roster = tmp_path / "roster.csv"
    roster.write_text(
        "student,name,email,id\nann,Ann <b>,ann@x.org,1\nbob,Bob,bob@x.org,2\nzoe,Zoe,z@x.org,3\n"
    )
    put(tmp_path / "class" / "ann.ipynb", paper(0.5))
    put(tmp_path / "class" / "bob.ipynb")
    _, _, out = run(tmp_path)
    spreadsheet(out / "grades.csv", override="10")
    assert main(["export", "--out", str(out), "--roster", str(roster)]) == 0
    canvas = list(csv.reader((out / "canvas.csv").read_text().splitlines()))
    assert canvas[1] == ["    Points Possible", "", "", "", "", "10"]
    assert [row[-1] for row in canvas[2:]] == ["5", "10", ""]
    moodle = list(csv.DictReader((out / "moodle.csv").read_text().splitlines()))
    assert [(row["Email address"], row[NAME]) for row in moodle][:2] == [
        ("ann@x.org", "5"),
        ("bob@x.org", "10"),
    ]
    scope = [json.loads(p.read_text()) for p in sorted(out.glob("gradescope/*/results.json"))]
    assert [s["score"] for s in scope] == [5.0, 10.0]
    assert sum(t["max_score"] for t in scope[0]["tests"]) == 10
    summary = (out / "summary.html").read_text()
    assert "Nothing from: zoe" in summary
    assert "mean 75%" in summary
    pages = [p.read_text() for p in sorted((out / "feedback").iterdir())]
    assert len(pages) == 2
    assert "<svg" in pages[0]
    assert "5 of 10 points" in pages[0]
    assert ["given by hand" in page for page in pages] == [False, True]


def test_who_is_in_no_gradebook_is_said(tmp_path, counted, capsys):
    roster = tmp_path / "roster.csv"
    roster.write_text("student\nann\nbob\n")
    for name, share in (("ann", 0.2), ("bob", 0.4), ("guest", 0.6), ("other", 1.0)):
        put(tmp_path / "class" / f"{name}.ipynb", paper(share))
    _, _, out = run(tmp_path)
    assert main(["export", "--out", str(out), "--roster", str(roster)]) == 3
    assert "not in the roster, so in no gradebook: guest, other" in capsys.readouterr().out
    summary = (out / "summary.html").read_text()
    assert "in no gradebook: guest, other" in summary
    assert "median 50%" in summary  # of an even number: the mean of the two in the middle


def test_reports_hold_no_inputs_of_tests(tmp_path):
    """What a function prints or raises while it is tested is not shown: it may be the input."""
    shows = (
        "def exp(x):\n    print('secret', x, list(globals()))\n    raise ValueError(f'secret {x}')"
    )
    sees = "import builtins\ndef log(R):\n    raise KeyError(str(R))"
    result = results({"ann": submission(NAME, q2=shows, q3=sees)}, seed=1)["ann"]
    text = " ".join([result.log, *(s.message for s in result.parts), *result.notes])
    assert "ValueError" in text
    assert "secret" not in result.log
    assert not re.search(r"\d\.\d{3}", text)


def test_similar_work_is_listed_and_different_work_is_not(tmp_path):
    same = {
        "q2": "def exp(vector):\n"
        + "".join(f"    a{k} = vector * {k} + {k}\n" for k in range(9))
        + "    return a1"
    }
    renamed = {
        "q2": same["q2"]
        .replace("vector", "v")
        .replace("    a", "    b")
        .replace("return a", "# hm\n    return b")
    }
    other = {
        "q2": "def exp(x):\n    K = np.cross(np.eye(3), -x)\n    n = 0\n    while n < 5:\n        n += 1\n    return K"
    }
    for name, answers in (
        ("ann", same),
        ("bob", renamed),
        ("cem", other),
        ("dan", {}),
        ("eve", {"q3": None}),
    ):
        answers = dict.fromkeys(("q1", "q2", "q3", "q4")) | answers if answers else answers
        put(tmp_path / "class" / f"{name}.ipynb", json.dumps(submission(NAME, **answers)))
    [(path, pairs)] = export.compare(tmp_path / "class", EXERCISES, tmp_path)
    assert [(a, b) for a, b, _ in pairs if "ann" in (a, b)] == [("ann", "bob")]
    assert "ann,bob,1.00" in path.read_text()
    assert not any("cem" in pair for pair in pairs)


# ---------------------------------------------------------------- a course's own assignments


def test_an_own_assignment_is_made_released_checked_and_graded(tmp_path, capsys, monkeypatch):
    masters = tmp_path / "masters"
    new("21_my_topic", masters)
    assert main(["release", "--masters", str(masters), "--out", str(tmp_path / "released")]) == 0
    folder = tmp_path / "released" / "21_my_topic"
    notebook = json.loads((folder / "21_my_topic.ipynb").read_text())
    assert "still to be written" in json.dumps(notebook)
    assert "What a good answer says" not in json.dumps(notebook)
    monkeypatch.chdir(folder)
    check = grading.load("21_my_topic")
    space = {
        "kinetic_energy": lambda J, w: float(w @ J @ w),
        "euler_step": lambda f, t, y, h: y + h * f(t, y),
    }
    assert "hint    half of it" in "\n".join(check.run("q1", space)[1])
    assert check.run("q2", space)[0]
    master = read_master(find_masters(masters)["21_my_topic"])
    for cell in notebook["cells"]:
        name = cell["metadata"]["nbgrader"]["grade_id"]
        cell["source"] = master.solutions.get(name, cell["source"])
    put(tmp_path / "class" / "ann.ipynb", json.dumps(notebook))
    found, _, out = run(tmp_path, masters)
    assert found[0].earned == 4.0
    assert found[0].possible == 7.0
    table = (out / "grades.csv").read_text().splitlines()
    head, line = (next(csv.reader([row])) for row in table)
    line[head.index("q3_page")] = "2.5"
    with open(out / "grades.csv", "w", newline="") as file:
        csv.writer(file).writerows([head, line])
    run(tmp_path, masters)
    assert rows(out)["ann", "21_my_topic"]["final"] == "6.5"
    with pytest.raises(ValueError, match="is there already"):
        new("21_my_topic", masters)
    with pytest.raises(ValueError, match="should look like 21_my_topic"):
        new("../x", masters)


def test_what_a_master_allows_is_what_its_checks_allow(tmp_path, monkeypatch):
    masters = tmp_path / "masters"
    path, checks = new("21_my_topic", masters)
    path.write_text(path.read_text().replace('"matplotlib"', '"scipy"'))
    own = masters / NAME / f"{NAME}.ipynb"  # a course's own variant of an assignment of the book
    put(own, (EXERCISES / NAME / f"{NAME}.ipynb").read_text())
    put(own.with_name("checks.py"), checks.read_text().replace("21_my_topic", NAME))
    assert main(["release", "--masters", str(masters), "--out", str(tmp_path / "released")]) == 0
    monkeypatch.chdir(tmp_path / "released" / "21_my_topic")
    check = grading.load("21_my_topic")
    assert "scipy" in check.allowed
    assert "matplotlib" not in check.allowed
    monkeypatch.chdir(tmp_path / "released" / NAME)
    assert list(grading.load(NAME).questions) == ["q1", "q2"]  # the variant's, not the package's


def test_the_teachers_page_names_what_there_is(capsys):
    page = (EXERCISES.parent / "book" / "teaching.md").read_text()
    known = ""
    for command in ("release", "grade", "export", "similar", "new"):
        with pytest.raises(SystemExit):
            main([command, "--help"])
        known += capsys.readouterr().out
        assert f"lielab.grading {command}" in page
    options = set(re.findall(r"(?<!-)--[a-z][a-z-]*", page)) - {"--to"}  # nbconvert's
    assert {o for o in options if not re.search(rf"{o}\b(?!-)", known)} == set()
    limits = sandbox.Limits()
    for text in (
        f"{limits.total_seconds:g} s (`--time`), one call {limits.call_seconds:g} s (`--call-time`)",
        f"{limits.scratch_seconds:g} s together, {limits.cell_seconds:g} s each",
        f"{limits.memory_mb // 1024} GB of all its processes (`--memory`)",
        f"{limits.tasks} (`--tasks`)",
        f"{limits.folder_mb} MB, {limits.files} of them",
        f"{wire.MAX_RAW >> 20} MB of arrays, {wire.MAX_ITEMS} items in lists",
    ):
        assert text in page
    for name in find_masters(EXERCISES):
        assert page.count(f"`{name}`") == 1
    columns = ("name", "email", "id", "sis", "login", "section")
    assert re.findall(r"`(\w+)`", page.split("gradebooks use the columns")[1])[:6] == list(columns)
    roster, ann = Roster(None), dict.fromkeys(columns, "?")
    roster.students, roster.lines = ["ann"], {"ann": ann}
    tables = export.canvas([], roster) + export.moodle([], roster)
    assert tables.splitlines()[2] == "?,?,?,?,?"
    assert tables.splitlines()[-1] == "?,?,?"


def test_links_in_a_collection_are_not_followed(tmp_path):
    (tmp_path / "class").mkdir()
    (tmp_path / "class" / "a.zip").symlink_to(EXERCISES / NAME / f"{NAME}.ipynb")
    found = collect(tmp_path / "class", tmp_path)
    assert found.submissions == []
    assert read(EXERCISES / NAME / f"{NAME}.ipynb")["cells"]
