"""The rooms of the package: who may import from whom, and that the names users know stay where they are."""

from __future__ import annotations

import ast
import pickle
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

import lielab
from lielab._names import NAMES

PACKAGE = Path(lielab.__file__).parent
# Each imports from those of a lower number; systems and methods meet in the formulations and do not know each other.
# "" are the files at the top that a user calls: solve, solution, events, ...
FLOORS = {
    "core": 0,
    "groups": 1,
    "actions": 2,
    "tableaus": 2,
    "formulations": 3,
    "systems": 4,
    "methods": 4,
    "": 5,
    "control": 6,
    "study": 7,
    "show": 8,
    "testing": 8,
    "grading": 8,
    "whole": 9,  # the package's own __init__.py and what fills the cache: they may use everything
}
AT_THE_TOP = {
    "__init__",
    "_blocks",
    "_names",
    "_runs",
    "_warm",
    "events",
    "excerpts",
    "many",
    "prepared",
    "solution",
    "solve",
    "splines",
    "step_size",
    "sweep",
}


def modules() -> dict[str, Path]:
    """Dotted name -> file, of every module of the package."""
    found = {}
    for file in PACKAGE.rglob("*.py"):
        parts = file.relative_to(PACKAGE.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    return found


MODULES = modules()


def room(module: str) -> str:
    if module in ("lielab", "lielab._warm"):
        return "whole"
    first = module.split(".")[1]
    return first if (PACKAGE / first).is_dir() else ""


def imports(module: str) -> Iterator[tuple[str, str, bool]]:
    """(module, name, at once?) for what a module imports from the package, inside its functions too."""
    file = MODULES[module]
    package = module if file.name == "__init__.py" else module.rpartition(".")[0]
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        at_once = getattr(node, "col_offset", 1) == 0
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names if alias.name.split(".")[0] == "lielab"]
            yield from ((name, "", at_once) for name in names)
        elif isinstance(node, ast.ImportFrom):
            parts = package.split(".")
            above = ".".join(parts[: len(parts) + 1 - node.level]) if node.level else ""
            base = ".".join(part for part in (above, node.module) if part)
            for alias in node.names if base.split(".")[0] == "lielab" else ():
                inside = f"{base}.{alias.name}"
                if inside in MODULES and not (base == "lielab" and alias.name == "solve"):
                    yield inside, "", at_once
                else:
                    yield base, alias.name, at_once


def test_every_room_has_a_floor_and_says_what_lives_there() -> None:
    rooms = {path.parent.name: path for path in PACKAGE.glob("*/__init__.py")}
    assert set(rooms) == set(FLOORS) - {"", "whole"}
    for name, path in rooms.items():
        said = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
        assert len(said.splitlines()) >= 4, name
        assert "mport" in said, f"{name} does not say what it imports"


def test_only_what_a_user_calls_lies_at_the_top() -> None:
    assert {path.stem for path in PACKAGE.glob("*.py")} == AT_THE_TOP


def test_imports_point_downward() -> None:
    wrong = [
        f"{module} imports {name} from {other}"
        for module in MODULES
        for other, name, _ in imports(module)
        if room(other) != room(module) and not FLOORS[room(other)] < FLOORS[room(module)]
    ]
    assert wrong == []


def test_what_is_private_to_a_room_stays_there() -> None:
    wrong = [
        f"{module} imports {name} from {other}"
        for module in MODULES
        for other, name, _ in imports(module)
        if room(other) != room(module) != "whole"
        and any(part.startswith("_") for part in [*other.split("."), name])
    ]
    assert wrong == []


# Functions with more than ten parameters; keyword-only options of what users call do not count. This list only shrinks.
LONG: set[str] = set()


def test_no_function_takes_more_than_ten_parameters() -> None:
    long = set()
    for module, file in MODULES.items():
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
                given = node.args
                count = len(given.posonlyargs) + len(given.args)
                name = getattr(node, "name", "lambda")
                if name.startswith("_"):
                    count += len(given.kwonlyargs)
                if count > 10:
                    long.add(f"{module}.{name}")
    assert long == LONG


def test_no_kernel_makes_a_tuple_of_function_pointers() -> None:
    """Numba below 0.68 takes the pointers of a plain tuple for one kind; a record is taken apart as it is."""
    wrong = []
    for module, file in MODULES.items():
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Tuple) and len(node.elts) > 3:  # shorter ones are never built
                parts = [ast.unparse(part) for part in node.elts]
                if all(part.startswith("kernels.") for part in parts):
                    wrong.append(f"{module}:{node.lineno}: {', '.join(parts)}")
    assert not wrong


def own_nodes(function: ast.FunctionDef) -> Iterator[ast.AST]:
    """The nodes of a function, without those of functions inside it."""
    left: list[ast.AST] = list(function.body)
    while left:
        node = left.pop()
        yield node
        if not isinstance(node, ast.FunctionDef | ast.Lambda):
            left += ast.iter_child_nodes(node)


def test_only_arguments_are_lent() -> None:
    """An array made in a function is freed after its last counted use: lent, it would be read when it is no more."""
    wrong = []
    for path in sorted(PACKAGE.rglob("*.py")):
        for function in ast.walk(ast.parse(path.read_text())):
            if not isinstance(function, ast.FunctionDef):
                continue
            given = {argument.arg for argument in function.args.args}
            for node in own_nodes(function):
                if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "lent":
                    (lent,) = node.args
                    while isinstance(lent, ast.Attribute | ast.Subscript):
                        lent = lent.value
                    if not (isinstance(lent, ast.Name) and lent.id in given):
                        wrong.append((path.name, function.name, ast.unparse(node)))
    assert wrong == []


def test_records_have_names_of_their_own() -> None:
    """Numba takes two with one name and fields of the same types for the same."""
    names = [
        call
        for file in MODULES.values()
        for call in re.findall(r"\brecord\(\s*\"(\w+)\"", file.read_text(encoding="utf-8"))
    ]
    assert len(names) == len(set(names)) > 20


def test_no_circles() -> None:
    """Of the imports at the head of a file none leads back to it."""
    edges = {
        module: {other for other, _, at_once in imports(module) if at_once and other != module}
        for module in MODULES
    }
    done: set[str] = set()

    def walk(module: str, way: tuple[str, ...]) -> None:
        assert module not in way, " -> ".join((*way[way.index(module) :], module))
        if module not in done:
            for other in sorted(edges[module]):
                walk(other, (*way, module))
            done.add(module)

    for module in sorted(MODULES):
        walk(module, ())


@pytest.mark.parametrize(("public", "home"), NAMES.items())
def test_public_names_are_the_modules_themselves(public: str, home: str) -> None:
    module = import_module(public)
    assert module is import_module(home)
    assert module.__name__ == module.__spec__.name == home
    above, _, name = public.rpartition(".")
    assert getattr(import_module(above), name) is module


def test_type_checkers_find_the_same_modules() -> None:
    """They run no code: a stub of one line for each name, and no others."""
    stubs = {
        ".".join(file.relative_to(PACKAGE.parent).with_suffix("").parts): file.read_text("utf-8")
        for file in PACKAGE.rglob("*.pyi")
    }
    assert stubs == {name: f"from {home} import *\n" for name, home in NAMES.items()}


@pytest.mark.parametrize(
    "line", ["import lielab.{0}", "from lielab.{0} import __doc__", "lielab.{0}"]
)
def test_every_way_to_import_them_works_first(line: str) -> None:
    """In a process that has not loaded the module by its home."""
    names = [
        name.removeprefix("lielab.") for name in NAMES if line[0] != "l" or name.count(".") == 1
    ]
    script = "\n".join(["import lielab", *(line.format(name) for name in names)])
    subprocess.run([sys.executable, "-c", script], check=True)


def test_importing_the_package_loads_no_study_and_no_drawing() -> None:
    script = (
        "import lielab, sys; print([m for m in sys.modules if m.startswith(('lielab.study', "
        "'lielab.show', 'lielab.grading', 'lielab.testing', 'matplotlib', 'ipywidgets'))])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


def test_what_lives_in_a_room_is_pickled_by_its_home() -> None:
    from lielab import diagnostics
    from lielab.control import basin

    for thing in (basin.caught, diagnostics.order, diagnostics.Drift):
        assert pickle.loads(pickle.dumps(thing)) is thing
        assert thing.__module__.startswith("lielab.study.")
