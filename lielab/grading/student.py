"""The student's side: `check = load("01_rotations")`, then `check("q1")` in a cell.

Runs anywhere the package is installed, also on Windows and in Colab. It helps honest work along; the grade comes from
the hidden tests, which do not run in this process. What the grade refuses is refused here as well: packages that are
not allowed, values that are no numbers.
"""

from __future__ import annotations

import builtins
import dis
import importlib
import importlib.util
import inspect
import linecache
import pkgutil
import sys
import types
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

import numpy as np

from . import wire
from .notebook import ALLOW, OWN_CHECKS
from .testing import Failed, context


def assignments() -> list[str]:
    """The assignments that have public checks in the package, by their full names: `01_rotations`, ..."""
    from . import checks

    found = [module.name for module in pkgutil.iter_modules(checks.__path__)]
    return sorted(f"{checks.NUMBERS[name]:02d}_{name}" for name in found)


def checks_module(assignment: str, folder: Path | None = None) -> ModuleType:
    """The public checks of an assignment: `01_rotations` is in `lielab/grading/checks/rotations.py`.

    Those of a course's own assignment, or variant of one, are the file `checks.py` in `folder`, by default the current
    one.
    """
    own = (folder or Path.cwd()) / OWN_CHECKS
    module = own_checks(own) if own.is_file() else None
    if module is not None and getattr(module, "ASSIGNMENT", None) == assignment:
        return module
    name = assignment.lstrip("0123456789").lstrip("_") if isinstance(assignment, str) else ""
    known = assignments()
    if name in [full.split("_", 1)[1] for full in known]:
        return importlib.import_module(f"{__package__}.checks.{name}")
    raise ValueError(
        f"assignment={assignment!r} is not known; there are: {', '.join(known)}; "
        f"the checks of another one are a file {OWN_CHECKS} beside its notebook"
    )


def own_checks(path: Path) -> ModuleType:
    """A file of checks as a module."""
    spec = importlib.util.spec_from_file_location("lielab_own_checks", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class _Watched:
    """A student's function as the grade sees it: it gets copies, and what it returns is made of plain numbers."""

    def __init__(self, name: str, function: Callable) -> None:
        self.__name__, self.function = name, function
        self.changed: list[int] = []  # which arguments the last call changed
        self.ever: set[int] = set()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        given = [np.copy(x) if isinstance(x, np.ndarray) else x for x in args]
        value = self.function(*given, **kwargs)
        pairs = enumerate(zip(given, args, strict=True))
        self.changed = [k for k, (x, y) in pairs if isinstance(x, np.ndarray) and _differ(x, y)]
        self.ever.update(self.changed)
        try:
            data = wire.pack(value)
        except wire.WireError as error:
            raise Failed(f"{self.__name__} returns numbers", f"it returned {error}") from None
        text, raw = wire.lengths(data[: wire.HEAD.size])
        body = data[wire.HEAD.size :]
        return wire.unpack(body[:text], body[text : text + raw])


def _differ(x: np.ndarray, y: np.ndarray) -> bool:
    return x.shape != y.shape or x.tobytes() != y.tobytes()


def _names(code: CodeType) -> Iterator[str]:
    """The global names that a piece of code takes (attributes are not)."""
    yield from (step.argval for step in dis.get_instructions(code) if step.opname == "LOAD_GLOBAL")
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _foreign(function: Callable, allowed: set[str]) -> str:
    """A package that a function, or one of the same notebook that it calls, takes a name from and may not."""
    waiting, seen = [function], set()
    while waiting:
        function = waiting.pop()
        if not isinstance(function, types.FunctionType) or function in seen:
            continue
        seen.add(function)
        cells = inspect.getclosurevars(function).nonlocals
        for name in {*_names(function.__code__), *cells}:
            value = cells.get(name, function.__globals__.get(name))
            if getattr(value, "__globals__", None) is function.__globals__:
                waiting.append(value)
                continue
            home = (
                value.__name__
                if isinstance(value, ModuleType)
                else getattr(value, "__module__", "")
            )
            top = str(home or "").split(".")[0]
            own = top in ("", "__main__", function.__globals__.get("__name__", "").split(".")[0])
            if not own and top not in allowed:
                return top
    return ""


@contextmanager
def _only(allowed: set[str], places: set[str]) -> Iterator[None]:
    """Refuse imports by the student's code of what the assignment does not allow."""
    real = builtins.__import__

    def guarded(name: str, globals: Any = None, *rest: Any, **more: Any) -> Any:
        top = name.split(".")[0]
        if globals and globals.get("__name__") in places and top and top not in allowed:
            raise ImportError(f"this assignment is to be solved without {top}")
        return real(name, globals, *rest, **more)

    builtins.__import__ = guarded
    try:
        yield
    finally:
        builtins.__import__ = real


def _line(error: BaseException, places: set[str]) -> str:
    """The student's line that an exception went through last."""
    found, trace = "", error.__traceback__
    while trace is not None:
        frame = trace.tb_frame
        if frame.f_globals.get("__name__") in places:
            line = linecache.getline(frame.f_code.co_filename, trace.tb_lineno, frame.f_globals)
            found = line.strip() or f"{frame.f_code.co_name}, line {trace.tb_lineno}"
        trace = trace.tb_next
    return found


class Check:
    """The public checks of one assignment; call it with the name of a question."""

    def __init__(self, assignment: str, folder: Path | None = None) -> None:
        self.assignment, self.module = assignment, checks_module(assignment, folder)
        self.questions: dict[str, Callable] = {
            name: value
            for name, value in vars(self.module).items()
            if name[0] == "q" and name[1:].isdigit() and inspect.isfunction(value)
        }
        allow = getattr(self.module, "ALLOW", ALLOW)
        self.allowed = {*allow, *sys.stdlib_module_names, "mpl_toolkits", "pylab"}
        self._tries: dict[str, int] = {}

    def __repr__(self) -> str:
        return f"check of {self.assignment}: call it with one of {', '.join(self.questions)}"

    def __call__(self, question: str) -> None:
        """Check the functions as they are defined now, and print what holds and what does not."""
        frame = sys._getframe(1)
        space = {**frame.f_globals, **frame.f_locals}
        passed, lines = self.run(question, space, hints=self._tries.get(question, 0) > 0)
        failed = any(line.startswith("  FAILED") for line in lines)  # a stub is no try
        self._tries[question] = 0 if passed else self._tries.get(question, 0) + failed
        print("\n".join(lines))

    def run(
        self, question: str, namespace: Mapping[str, Any], hints: bool = True
    ) -> tuple[bool, list[str]]:
        """Whether all properties of `question` hold for the functions in `namespace`, and the lines that say so."""
        if question not in self.questions:
            raise ValueError(
                f"question={question!r} is not in {self.assignment}; there are: {', '.join(self.questions)}"
            )
        function = self.questions[question]
        title, _, besides = inspect.cleandoc(function.__doc__ or "").partition("\n")
        lines = [f"{question}: {title}"]
        names = list(inspect.signature(function).parameters)
        missing = [name for name in names if name not in namespace]
        if missing:
            return False, [
                *lines,
                f"  not yet: {', '.join(missing)} is not defined; run the cell that defines it",
            ]
        own = {
            n: _Watched(n, namespace[n]) if callable(namespace[n]) else namespace[n] for n in names
        }
        spaces = [getattr(namespace[name], "__globals__", {}) for name in names]
        places = {space.get("__name__") for space in spaces} - {None}
        with context(seed=0, part=question) as seen, _only(self.allowed, places):
            trouble = self._trouble(function, own, places, hints)
        lines += [f"  holds   {what}" for what in seen.passed] + trouble
        for name, watched in own.items():
            for k in sorted(getattr(watched, "ever", ())):
                lines.append(
                    f"  note    {name} changes its argument number {k + 1}: work on a copy"
                )
        if not trouble:
            lines.append("  All public checks hold. The grade uses other inputs.")
            lines += [f"  {line}" for line in besides.strip().splitlines()]
        return not trouble, lines

    def _trouble(
        self, function: Callable, own: dict[str, Any], places: set[str], hints: bool
    ) -> list[str]:
        """What does not hold, in lines; empty if all does."""
        for watched in (w for w in own.values() if isinstance(w, _Watched)):
            if top := _foreign(watched.function, self.allowed):
                return [f"  FAILED  {watched.__name__} uses {top}: solve this without it"]
        try:
            function(**own)
        except Failed as error:
            lines = [f"  FAILED  {error}"]
            hint = error.hint or getattr(self.module, "HINTS", {}).get(error.what, "")
            if hint:
                lines.append(f"  hint    {hint if hints else 'comes with the next try'}")
            return lines
        except NotImplementedError as error:
            return [f"  not yet: {str(error) or 'the function is still to be written'}"]
        except Exception as error:
            lines = [f"  FAILED  your code raised {type(error).__name__}: {error}"]
            line = _line(error, places)
            return lines + ([f"          at: {line}"] if line else [])
        return []


def load(assignment: str) -> Check:
    """The public checks of an assignment, for example `check = load("01_rotations")`.

    A course's own assignment brings its checks along as a file `checks.py` beside the notebook. Raises `ValueError`
    with the list of assignments if there is none of this name.
    """
    return Check(assignment)
