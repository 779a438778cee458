"""Student copies: nothing of a solution or a hidden test gets out, and nobody's work is overwritten."""

import copy
import json
import secrets

import pytest

from lielab.grading.__main__ import main
from lielab.grading.notebook import (
    BEGIN_HIDDEN,
    BEGIN_SOLUTION,
    END_HIDDEN,
    END_SOLUTION,
    NotebookError,
    find_masters,
    is_read_only,
    mark,
    read,
    read_master,
    regions,
    source,
)
from lielab.grading.release import release, student_copy
from tests.grading.util import EXERCISES

NAMES = list(find_masters(EXERCISES))


@pytest.fixture(params=NAMES)
def master(request):
    return read_master(find_masters(EXERCISES)[request.param])


def canaries(master):
    """A copy of a master with a random word at every place that must stay behind, and the words."""
    words = []

    def word():
        words.append("canary" + secrets.token_hex(8))
        return words[-1]

    notebook = copy.deepcopy(master.notebook)
    notebook["metadata"]["private"] = {word(): word()}
    notebook["metadata"].setdefault("lielab", {})["answers"] = word()
    notebook["metadata"]["kernelspec"] = {"display_name": word(), "name": word(), "env": word()}
    notebook["private"] = word()
    for cell in notebook["cells"]:
        cell["metadata"][word()] = word()
        cell["metadata"]["tags"] = [word()]
        cell["metadata"]["nbgrader"]["checksum"] = word()
        cell["id"] = word()
        if not (mark(cell)["locked"] and cell["cell_type"] == "markdown"):
            cell["attachments"] = {"a.png": {"image/png": word()}}
        if cell["cell_type"] != "code":
            continue
        output = {"output_type": "stream", "name": "stdout", "text": [word()]}
        cell["outputs"] = [
            output,
            {"output_type": "error", "traceback": [word()], "evalue": word()},
        ]
        cell["execution_count"] = 1
        lines = []
        for line in source(cell).split("\n"):
            lines.append(line)
            if line.strip() in (BEGIN_SOLUTION, BEGIN_HIDDEN):
                indent = line[: len(line) - len(line.lstrip())]
                lines += [
                    f"{indent}# {word()}",
                    f"{indent}{word()} = '{word()}'",
                    f"{indent}'''{word()}'''",
                ]
        cell["source"] = "\n".join(lines)
        if mark(cell)["locked"] and not mark(cell)["grade"]:
            del cell["attachments"]  # a read-only cell with attachments is refused, see below
    unmarked = [
        {"cell_type": "code", "metadata": {}, "source": word(), "outputs": []},
        {"cell_type": "markdown", "metadata": {}, "source": word()},
        {"cell_type": "raw", "metadata": {}, "source": word()},
        {"cell_type": "markdown", "metadata": {"nbgrader": {"grade_id": word(), "locked": True}}, "source": word()},
    ]  # fmt: skip
    notebook["cells"] = unmarked[:2] + notebook["cells"] + unmarked[2:]
    master.notebook = notebook
    return master, words


def test_canaries_do_not_survive(master):
    sown, words = canaries(master)
    released, left = student_copy(sown)
    text = json.dumps(released)
    assert len(words) > 200
    assert [word for word in words if word in text] == []
    assert len(left) == 3  # the unmarked ones are named


def test_a_canary_in_released_text_would_be_found(master):
    for cell in master.notebook["cells"]:
        if mark(cell)["locked"] and not mark(cell)["grade"]:
            cell["source"] = source(cell) + "\ncanary"
    assert "canary" in json.dumps(student_copy(master)[0])


def test_no_line_of_a_solution_or_hidden_test_is_released(master):
    cells = student_copy(master)[0]["cells"]
    shown = {source(cell) for cell in master.notebook["cells"] if is_read_only(cell)}
    released = "\n".join(source(cell) for cell in cells if source(cell) not in shown)
    hidden = []
    for cell in master.notebook["cells"]:
        for begin, end in ((BEGIN_SOLUTION, END_SOLUTION), (BEGIN_HIDDEN, END_HIDDEN)):
            if begin in source(cell):
                rows = [
                    line.strip() for inside, line in regions(source(cell), begin, end, "") if inside
                ]
                hidden += [row for row in rows if len(row) > 25]
    assert len(hidden) > 20
    assert [row for row in hidden if row in released] == []
    assert "BEGIN SOLUTION" not in released
    assert "HIDDEN" not in released


def test_the_copy_is_a_notebook_with_the_questions_and_the_install_cell(master):
    released, left = student_copy(master)
    assert left == []
    assert released["metadata"]["lielab"] == {"assignment": master.name}
    ids = [cell["id"] for cell in released["cells"]]
    assert len(set(ids)) == len(ids)
    kept = [mark(cell)["grade_id"] for cell in released["cells"] if mark(cell)["solution"]]
    assert kept == list(master.solutions)
    first = next(source(cell) for cell in released["cells"] if cell["cell_type"] == "code")
    assert '"git+https://github.com/' in first
    assert f'grading.load("{master.name}")' in first
    for cell in released["cells"]:
        assert set(cell) <= {"cell_type", "id", "metadata", "source", "execution_count", "outputs"}
        assert set(cell["metadata"]) == {"nbgrader"}
        if mark(cell)["solution"]:
            assert "still to be written" in source(cell)
            if cell["cell_type"] == "code":
                assert "NotImplementedError" in source(cell)
                compile(source(cell), "cell", "exec")
    nbformat = pytest.importorskip("nbformat")
    nbformat.validate(nbformat.from_dict(released))


def test_nbgraders_metadata_is_complete(master):
    for cell in master.notebook["cells"]:
        found = mark(cell)
        keys = {"grade", "grade_id", "locked", "schema_version", "solution", "task"}
        assert set(found) - {"points", "cell_type", "checksum"} == keys
        assert found["schema_version"] == 3
        assert ("points" in found) == found["grade"]
        assert found["locked"] != found["solution"]


def test_existing_files_are_never_touched(tmp_path, capsys):
    first = release(EXERCISES, tmp_path)
    assert {item.state for item in first} == {"written"}
    assert {item.state for item in release(EXERCISES, tmp_path)} == {"unchanged"}
    mine = first[0].path
    mine.write_text("my work")
    assert main(["release", "--masters", str(EXERCISES), "--out", str(tmp_path)]) == 0
    assert mine.read_text() == "my work"
    assert "kept" in capsys.readouterr().out
    mine.unlink()
    mine.symlink_to(tmp_path / "elsewhere")
    release(EXERCISES, tmp_path)
    assert not (tmp_path / "elsewhere").exists()


def cell(text, **marks):
    base = {"grade": False, "grade_id": "x", "locked": True, "schema_version": 3, "solution": False}
    return {
        "cell_type": "code",
        "metadata": {"nbgrader": {**base, "task": False, **marks}},
        "source": text,
    }


TEST = cell("assert f()", grade=True, grade_id="q1_test", points=1)
SOLUTION = {"solution": True, "locked": False, "grade_id": "q1"}
BAD = {
    "not closed": cell(f"def f():\n    {BEGIN_SOLUTION}\n    return 1", **SOLUTION),
    "not opened": cell(f"def f():\n    return 1\n    {END_SOLUTION}", **SOLUTION),
    "opened twice": cell(f"{BEGIN_SOLUTION}\n{BEGIN_SOLUTION}\nx = 1\n{END_SOLUTION}", **SOLUTION),
    "misspelt": cell("x = 1\n###begin solution\ny = 1\n###end solution", **SOLUTION),
    "no marker": cell("def f(): return 1", **SOLUTION),
    "solution in a read-only cell": cell(f"{BEGIN_SOLUTION}\nx = 1\n{END_SOLUTION}"),
    "test in a read-only cell": cell(f"{BEGIN_HIDDEN}\nx = 1\n{END_HIDDEN}"),
    "marker with a comment": cell(
        f"{BEGIN_HIDDEN}  # why\nx = 1\n{END_HIDDEN}", grade=True, points=1
    ),
    "attachment": {**cell("see"), "cell_type": "markdown", "attachments": {"a.png": {}}},
    "used twice": cell("x", grade_id="q1_test"),
    "no points": cell("x", grade=True),
    "strange id": cell("x = 1", grade_id="<b>"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_doubtful_master_is_refused_and_nothing_is_written(tmp_path, name):
    folder = tmp_path / "masters" / "99_bad"
    folder.mkdir(parents=True)
    notebook = {"cells": [TEST, BAD[name]], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (folder / "99_bad.ipynb").write_text(json.dumps(notebook))
    with pytest.raises(NotebookError, match="99_bad.ipynb"):
        release(tmp_path / "masters", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_masters_elsewhere_and_wrong_folders(tmp_path, capsys):
    with pytest.raises(ValueError, match="holds no notebook"):
        release(tmp_path, tmp_path / "out")
    with pytest.raises(ValueError, match="is not a folder"):
        release(tmp_path / "no", tmp_path / "out")
    with pytest.raises(ValueError, match="folder of the masters"):
        release(EXERCISES, EXERCISES)
    assert main(["release", "--masters", str(tmp_path)]) == 2
    assert "holds no notebook" in capsys.readouterr().err


def test_masters_carry_no_outputs():
    for path in find_masters(EXERCISES).values():
        for number, found in enumerate(read(path)["cells"]):
            assert not found.get("outputs"), (path, number)
            assert not found.get("attachments"), (path, number)
