"""The student's side: `check = load("01_rotations")`, then `check("q1")` in a cell.

Runs anywhere the package is installed, also on Windows and in Colab. It helps honest work along; the grade comes from
the hidden tests, which do not run in this process.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import sys
import traceback
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

from .testing import Failed, context


def assignments() -> list[str]:
    """The assignments that have public checks in the package, by their full names: `01_rotations`, ..."""
    from . import checks

    found = [module.name for module in pkgutil.iter_modules(checks.__path__)]
    return sorted(f"{checks.NUMBERS[name]:02d}_{name}" for name in found)


def checks_module(assignment: str) -> ModuleType:
    """The public checks of an assignment: `01_rotations` is in `lielab/grading/checks/rotations.py`."""
    name = assignment.lstrip("0123456789").lstrip("_") if isinstance(assignment, str) else ""
    known = assignments()
    if name not in [full.split("_", 1)[1] for full in known]:
        raise ValueError(f"assignment={assignment!r} is not known; there are: {', '.join(known)}")
    return importlib.import_module(f"{__package__}.checks.{name}")


class Check:
    """The public checks of one assignment; call it with the name of a question."""

    def __init__(self, assignment: str) -> None:
        self.assignment, self.module = assignment, checks_module(assignment)
        self.questions: dict[str, Callable] = {
            name: value
            for name, value in vars(self.module).items()
            if name[0] == "q" and name[1:].isdigit() and inspect.isfunction(value)
        }

    def __repr__(self) -> str:
        return f"check of {self.assignment}: call it with one of {', '.join(self.questions)}"

    def __call__(self, question: str) -> None:
        """Check the functions as they are defined now, and print what holds and what does not."""
        frame = sys._getframe(1)
        _, lines = self.run(question, {**frame.f_globals, **frame.f_locals})
        print("\n".join(lines))

    def run(self, question: str, namespace: Mapping[str, Any]) -> tuple[bool, list[str]]:
        """Whether all properties of `question` hold for the functions in `namespace`, and the lines that say so."""
        if question not in self.questions:
            raise ValueError(
                f"question={question!r} is not in {self.assignment}; there are: {', '.join(self.questions)}"
            )
        function = self.questions[question]
        lines = [f"{question}: {(function.__doc__ or '').strip().splitlines()[0]}"]
        names = list(inspect.signature(function).parameters)
        missing = [name for name in names if name not in namespace]
        if missing:
            return False, [
                *lines,
                f"  not yet: {', '.join(missing)} is not defined; run the cell that defines it",
            ]
        with context(seed=0, part=question) as seen:
            try:
                function(**{name: namespace[name] for name in names})
                trouble = []
            except Failed as error:
                trouble = [f"  FAILED  {error}"] + (
                    [f"  hint    {error.hint}"] if error.hint else []
                )
            except NotImplementedError as error:
                trouble = [f"  not yet: {error or 'the function is still to be written'}"]
            except Exception as error:
                last = traceback.extract_tb(error.__traceback__)[-1]
                trouble = [
                    f"  FAILED  your code raised {type(error).__name__}: {error}",
                    f"          at: {last.line or last.name}",
                ]
        lines += [f"  holds   {what}" for what in seen.passed] + trouble
        if not trouble:
            lines.append("  All public checks hold. The graded tests use other inputs.")
        return not trouble, lines


def load(assignment: str) -> Check:
    """The public checks of an assignment, for example `check = load("01_rotations")`.

    Raises `ValueError` with the list of assignments if there is none of this name.
    """
    return Check(assignment)
