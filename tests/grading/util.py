"""Build submissions from a master and grade many of them in one run: what the tests of every assignment need."""

from __future__ import annotations

import copy
import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lielab.grading.grade import Result, grade
from lielab.grading.notebook import assignment_of, find_masters, mark, read_master
from lielab.grading.release import student_copy
from lielab.grading.sandbox import Limits, Sandbox, Unavailable

EXERCISES = Path(__file__).resolve().parents[2] / "exercises"

# Small enough that a hostile submission ends soon, large enough for an honest one on a busy machine.
SHORT = {
    "total_seconds": 40.0,
    "cpu_seconds": 40.0,
    "cell_seconds": 3.0,
    "call_seconds": 1.5,
    "grace_seconds": 0.5,
    "memory_mb": 300,
    "tasks": 16,
    "folder_mb": 8,
    "files": 200,
}


def has_bubblewrap() -> str:
    """Empty if bubblewrap works here, else why not."""
    try:
        Sandbox("bubblewrap")
    except Unavailable as error:
        return str(error)
    return ""


def full(assignment: str) -> dict[str, float]:
    """Question -> points of an assignment that the tests give; 0 where a person reads the answer."""
    master = read_master(find_masters(EXERCISES)[assignment])
    by_hand = {part.question for part in master.parts if part.by_hand}
    return {q: 0.0 if q in by_hand else points for q, points in master.questions.items()}


def submission(assignment: str, /, *extra: str, **answers: str | None) -> dict[str, Any]:
    """The released notebook with the master's answers, some replaced: `q2="def exp(x): ..."`, None for an empty cell.

    Texts in `extra` become cells after the set-up cell.
    """
    master = read_master(find_masters(EXERCISES)[assignment])
    notebook, _ = student_copy(master)
    notebook = copy.deepcopy(notebook)
    texts = {**master.solutions, **{name: text or "" for name, text in answers.items()}}
    unknown = set(answers) - set(master.solutions)
    assert not unknown, f"no solution cells {unknown} in {assignment}"
    for cell in notebook["cells"]:
        if mark(cell)["solution"]:
            cell["source"] = texts[mark(cell)["grade_id"]]
    code = [k for k, cell in enumerate(notebook["cells"]) if cell["cell_type"] == "code"]
    new = [{"cell_type": "code", "metadata": {}, "outputs": [], "source": text} for text in extra]
    notebook["cells"][code[0] + 1 : code[0] + 1] = new
    return notebook


def results(
    submissions: Mapping[str, dict[str, Any] | str | bytes],
    sandbox: str = "auto",
    seed: int | None = None,
    **limits: Any,
) -> dict[str, Result]:
    """Student -> result; each submission is a notebook or the content of a file that may be none.

    All are graded as the assignment that the first notebook among them names.
    """
    notebooks = [content for content in submissions.values() if isinstance(content, dict)]
    with tempfile.TemporaryDirectory(prefix="lielab-test-") as base:
        folder = Path(base) / "submissions"
        for name, content in submissions.items():
            path = folder / f"{name}.ipynb"
            path.parent.mkdir(parents=True, exist_ok=True)
            content = json.dumps(content) if isinstance(content, dict) else content
            path.write_bytes(content.encode() if isinstance(content, str) else content)
        before = {path: path.read_bytes() for path in folder.rglob("*.ipynb")}
        box = Limits(**{**SHORT, **limits})
        out = Path(base) / "grades"
        found = grade(  # four at a time: most of those that misbehave only wait to be stopped
            folder,
            EXERCISES,
            out,
            seed=seed,
            sandbox=sandbox,
            limits=box,
            jobs=4,
            assignment=assignment_of(notebooks[0]),
            say=lambda _: None,
        )
        assert {path: path.read_bytes() for path in folder.rglob("*.ipynb")} == before
        assert len(list((out / "reports").iterdir())) == len(found)
        return {result.student: result for result in found}


def scores(*args: Any, **kwargs: Any) -> dict[str, dict[str, float]]:
    """Student -> question -> points; arguments as for `results`."""
    found = results(*args, **kwargs)
    return {
        name: {question: earned for question, (earned, _) in result.questions.items()}
        for name, result in found.items()
    }
