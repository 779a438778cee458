"""Submissions that cheat, break or attack: what they earn, with bubblewrap's walls and without.

`LAPSES` are the attacks that succeed without walls; the test says so, as the grader's warning does.
"""

import os
import time

import pytest

from lielab.grading import sandbox
from tests.grading.hostile import CASES, FULL, LAPSES, NAME, ONLY_WITH_WALLS, SAME, without
from tests.grading.util import EXERCISES, has_bubblewrap, results, submission


def cases(kind):
    if kind == "bubblewrap":
        return CASES | SAME | ONLY_WITH_WALLS
    return CASES if not has_bubblewrap() else CASES | SAME


@pytest.fixture(scope="module", params=["bubblewrap", "none"])
def found(request):
    if request.param == "bubblewrap" and has_bubblewrap():
        pytest.skip(f"no walls to test: {has_bubblewrap()}")
    os.environ["LIELAB_TEST_SECRET"] = "environment-of-the-grader"
    batch = {name: content for name, (content, _) in cases(request.param).items()} | LAPSES
    batch["shows its environment"] = submission(NAME, "import os; print(dict(os.environ))")
    try:
        graded = results(batch, sandbox=request.param)
    finally:
        del os.environ["LIELAB_TEST_SECRET"]
        (EXERCISES / ".written").unlink(missing_ok=True)
    return request.param, graded


WORDS = {  # in the report of a submission
    "fork bomb": "processes and threads",
    "thread bomb": "thread",  # the limit, or Python's own error about the address space
    "memory of many": "MB of memory",
    "large folder": "MB of files",
    "many files": "200 files",
    "endless loop": "stopped",
    "syntax error": "SyntaxError",
    "not a notebook": "not a notebook",
    "equals anything": "a Magic, not a number",
    "generator": "a generator",
    "nan": "NaN",
    "complex": "complex",
}


def points(result):
    return {name: earned for name, (earned, _) in result.questions.items()}


def test_every_submission_earns_what_it_should(found):
    kind, graded = found
    expected = {name: points for name, (_, points) in cases(kind).items()}
    expected |= dict.fromkeys(LAPSES, without("q2") if kind == "bubblewrap" else FULL)
    if kind == "none":  # the library's last digits, not ours
        expected["removes the import hook"] = points(graded["removes the import hook"])
        assert expected["removes the import hook"]["q2"] > 0
    got = {name: points(graded[name]) for name in expected}
    wrong = {
        n: (got[n], graded[n].notes, graded[n].complaints)
        for n in expected
        if got[n] != expected[n]
    }
    assert wrong == {}
    assert not any(result.failed for result in graded.values())


def test_reports_say_why_and_carry_no_control_characters(found):
    _, graded = found

    def text(name):
        result = graded[name]
        return " ".join(
            [*result.notes, *result.complaints.values(), *(s.message for s in result.parts)]
        )

    for name, words in WORDS.items():
        if name in graded:
            assert words in text(name), name
    for result in graded.values():
        everything = text(result.student) + result.log
        assert all(c in "\n\t" or c.isprintable() for c in everything)
        assert len(everything) < 60_000


def test_nothing_is_left_and_nothing_leaks(found):
    _, graded = found
    time.sleep(0.2)
    assert sandbox.marked("LIELAB_GRADE_") == []
    assert list(sandbox.temporary_folders()) == []
    assert "environment-of-the-grader" not in graded["shows its environment"].log
    assert "LIELAB_GRADE_" in graded["shows its environment"].log


def test_the_sandbox_says_what_lapses(found):
    kind, _ = found
    box = sandbox.Sandbox(kind)
    if kind == "bubblewrap":
        assert box.lapses == []
    else:
        assert len(box.lapses) >= len(sandbox.WITHOUT_WALLS)
