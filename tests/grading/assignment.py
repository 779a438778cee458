"""What holds of every assignment: a test module sets NAME, WRONG and PARTLY and inherits these tests.

WRONG: kind -> {question: wrong answer}, each of which earns nothing in its question. PARTLY: kind -> (answers,
{question: points}), where every question that is not named earns its full points.
"""

from __future__ import annotations

from typing import ClassVar

import pytest

from lielab import grading
from lielab.grading.notebook import read_master
from lielab.grading.testing import context
from tests.grading.util import EXERCISES, full, scores, submission


class AssignmentTests:
    NAME: ClassVar[str]
    TOTAL: ClassVar[int] = 10
    SEEDS: ClassVar[int] = 20
    WRONG: ClassVar[dict[str, dict[str, str]]]
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
            for part in read_master(self.master()).parts:
                with context(seed, part.name):
                    exec(part.source, space)
        assert "FAILED" not in capsys.readouterr().out

    def test_public_checks_hold_for_the_master_and_name_what_fails(self):
        check, space = grading.load(self.NAME), self.solved()
        for question in full(self.NAME):
            passed, lines = check.run(question, space)
            assert passed, lines
        for name, answers in self.WRONG.items():
            for question, text in answers.items():
                wrong = dict(space)
                exec(text, wrong)
                passed, lines = check.run(question, wrong)
                assert not passed, (name, question)
                assert any(line.startswith("  FAILED") for line in lines), lines
