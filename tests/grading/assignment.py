"""What holds of every assignment: a test module sets NAME, WRONG and PARTLY and inherits these tests.

WRONG: kind -> {question: wrong answer}, each of which earns nothing in its question. PARTLY: kind -> (answers,
{question: points}), where every question that is not named earns its full points.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pytest

from lielab import grading
from lielab.grading.notebook import read_master
from lielab.grading.testing import context
from tests.grading.util import EXERCISES, full, scores, submission

# Answers that know nothing: each replaces every function of an assignment at once.
_CHEAP = """
def _cheap(args):
    arrays = [a for a in args if isinstance(a, np.ndarray)]
    numbers = [a for a in args if isinstance(a, (int, float))]
    {body}
"""
_SPY = """
    import gc, sys, types
    found, frame = [], sys._getframe()
    while frame:
        found += [*frame.f_locals.values(), *frame.f_globals.values()]
        frame = frame.f_back
    for f in [*found, *gc.get_objects()]:
        if not isinstance(f, types.FunctionType) or f.__code__.co_filename[:1] != "<":
            continue
        if f.__name__ in OWN or f.__globals__ is not globals() and f.__module__ == "__main__":
            continue
        try:
            value = f(*args)
        except Exception:
            continue
        if value is not None:
            return value
    return 0.0"""
CHEAP = {
    "the first argument": "return args[0] if not callable(args[0]) else 0.0",
    "the second argument": "return args[1] if len(args) > 1 and not callable(args[1]) else 0.0",
    "the last argument": "return args[-1] if not callable(args[-1]) else 0.0",
    "the last array": "return arrays[-1] if arrays else 0.0",
    "two arguments": "return tuple(arrays[-2:])",
    "zeros": "return np.zeros_like(arrays[-1]) if arrays else 0.0",
    "one": "return 1.0",
    "the last array plus the last number": "return arrays[-1] + numbers[-1] if arrays and numbers else 1.0",
    "what a given function returns": (
        "given = [a for a in args if callable(a)]\n"
        "    for f in given:\n"
        "        for rest in (arrays[-1:], numbers[:1] + arrays[-1:]):\n"
        "            try: return f(*rest)\n"
        "            except Exception: pass\n"
        "    return 0.0"
    ),
    "what is found in the process": _SPY.strip("\n").strip(),
}


def cheap(assignment: str, kind: str) -> dict[str, str]:
    """Question -> answer whose functions know nothing, for every question of an assignment."""
    master = read_master(EXERCISES / assignment / f"{assignment}.ipynb")
    answers = dict.fromkeys(master.solutions, "")
    for function, question in master.functions.items():
        answers[question] += f"def {function}(*args, **kwargs): return _cheap(args)\n"
    first = next(iter(answers))
    head = f"OWN = {[*master.functions, '_cheap']!r}" + _CHEAP.format(body=CHEAP[kind])
    answers[first] = head + answers[first]
    return answers


class AssignmentTests:
    NAME: ClassVar[str]
    TOTAL: ClassVar[int] = 10
    SEEDS: ClassVar[int] = 20
    WRONG: ClassVar[dict[str, dict[str, str]]]
    # What answers that know nothing earn, where it is not nothing: decided, with the reason beside it.
    DECIDED: ClassVar[dict[str, dict[str, float]]] = {}
    PARTLY: ClassVar[dict[str, tuple[dict[str, str | None], dict[str, float]]]] = {}

    @classmethod
    def master(cls):
        return EXERCISES / cls.NAME / f"{cls.NAME}.ipynb"

    @classmethod
    def solved(cls) -> dict:
        """The namespace after the master's solution and set-up cells."""
        space: dict = {"__name__": "__main__"}
        for _, text, _ in read_master(cls.master()).cells():
            text = "\n".join(line for line in text.split("\n") if "%pip" not in line)
            exec(text.replace('if "google.colab" in sys.modules:', ""), space)
        return space

    @pytest.fixture(scope="class")
    @classmethod
    def found(cls):
        """All submissions of this class, graded in one run."""
        batch = {"right": submission(cls.NAME)}
        for name, answers in cls.WRONG.items():
            batch[f"wrong {name}"] = submission(cls.NAME, **answers)
        for question, text in next(iter(cls.WRONG.values())).items():
            batch[f"only {question}"] = submission(cls.NAME, **{question: text})
        for kind in CHEAP:
            batch[f"cheap {kind}"] = submission(cls.NAME, **cheap(cls.NAME, kind))
        for name, (answers, _) in cls.PARTLY.items():
            batch[f"partly {name}"] = submission(cls.NAME, **answers)
        # a fixed seed, so that an answer right for some inputs earns the same each time
        return scores(batch, seed=1, cell_seconds=10.0, call_seconds=8.0, total_seconds=120.0)

    def test_right_answers_earn_everything(self, found):
        assert found["right"] == full(self.NAME)
        assert sum(full(self.NAME).values()) == self.TOTAL

    def test_wrong_answers_earn_nothing_and_cost_nothing_elsewhere(self, found):
        for name, answers in self.WRONG.items():
            assert found[f"wrong {name}"] == {**full(self.NAME), **dict.fromkeys(answers, 0.0)}, (
                name
            )

    def test_answers_that_know_nothing_earn_what_was_decided(self, found):
        nothing = dict.fromkeys(full(self.NAME), 0.0)
        got = {kind: found[f"cheap {kind}"] for kind in CHEAP}
        assert got == {kind: {**nothing, **self.DECIDED.get(kind, {})} for kind in CHEAP}

    def test_each_question_wrong_in_turn_costs_nothing_in_the_others(self, found):
        tried = [name for name in found if name.startswith("only ")]
        assert tried == [f"only {question}" for question in next(iter(self.WRONG.values()))]
        for name in tried:
            assert found[name] == {**full(self.NAME), name.split()[1]: 0.0}, name

    def test_answers_right_in_part(self, found):
        for name, (_, points) in self.PARTLY.items():
            assert found[f"partly {name}"] == {**full(self.NAME), **points}, name

    def test_the_master_passes_its_own_tests_for_many_seeds(self, capsys):
        space = self.solved()
        for seed in range(self.SEEDS):
            for part in (p for p in read_master(self.master()).parts if not p.by_hand):
                with context(seed, part.name):
                    exec(part.source, space)
        assert "FAILED" not in capsys.readouterr().out

    def test_public_checks_hold_for_the_master_and_name_what_fails(self):
        check, space = grading.load(self.NAME), self.solved()
        for question in check.questions:
            passed, lines = check.run(question, space)
            assert passed, lines
        for name, answers in self.WRONG.items():
            for question, text in answers.items():
                wrong = dict(space)
                exec(text, wrong)
                passed, lines = check.run(question, wrong)
                assert not passed, (name, question)
                assert any(line.startswith("  FAILED") for line in lines), lines
                if name not in ("identity", "zero", "nothing", "constants"):  # a slip has its hint
                    assert any(line.startswith("  hint") for line in lines), (name, lines)

    def test_what_costs_points_fails_in_check_or_the_notebook_says_what_it_lacks(self):
        check, points, right = grading.load(self.NAME), full(self.NAME), self.solved()
        for name, (answers, earned) in self.PARTLY.items():
            space = dict(right)
            exec("\n".join(text for text in answers.values() if text), space)
            for question in earned:
                if answers.get(question) is None or earned[question] == points[question]:
                    continue
                with np.errstate(all="ignore"):  # wrong answers divide by zero
                    passed, lines = check.run(question, space)
                said = "\n" in (check.questions[question].__doc__ or "").strip()
                assert not passed or said, (name, question)
                text = "\n".join(lines)
                assert passed or "  hint" in text or "solve this without it" in text, (name, text)
