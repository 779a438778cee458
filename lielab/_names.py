"""Modules that users import from the top although they live in a room: `lielab.plotting` is `lielab.show.plotting`.

One table in place of a file for each name: either name gives the same module object, so what is set, pickled or
compared through one is so through the other, and neither is loaded before it is asked for. Type checkers, which run
nothing, find each by a stub of one line beside this file.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

NAMES = {
    "lielab.animate": "lielab.show.animate",
    "lielab.control.basin": "lielab.study.basin",
    "lielab.diagnostics": "lielab.study.diagnostics",
    "lielab.explore": "lielab.show.explore",
    "lielab.figures": "lielab.show.figures",
    "lielab.plotting": "lielab.show.plotting",
    "lielab.quadrotor_figures": "lielab.show.quadrotor_figures",
    "lielab.sphere_figures": "lielab.show.sphere_figures",
}


class PublicNames(MetaPathFinder, Loader):
    """Finds the names of the table for every form of `import`; asked first, since an old file may lie about."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        return ModuleSpec(fullname, self) if fullname in NAMES else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = import_module(NAMES[spec.name])
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module: Any) -> None:
        """It has been run; what Python noted in it under the other name is put back."""
        module.__spec__ = module.__spec__.loader_state
