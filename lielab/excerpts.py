"""A few lines of this package's own source, printed where a text explains the formula that they are."""

from __future__ import annotations

import importlib
import inspect
import textwrap
from pathlib import Path
from typing import Any


def excerpt(of: Any, containing: str, lines: int = 1) -> None:
    """Print the lines of the source from the one that contains a text on, unindented, with their file above.

    of: a function, a class or a module of lielab, or the dotted name of a module ("lielab.groups.so3").
    containing: a text that stands in exactly one of its lines; lines: how many are printed (1 or more).
    The text is looked for at each call, so what is printed is what runs. ValueError where it is in no line or in
    several.
    """
    if isinstance(of, str):
        of = importlib.import_module(of)
    of = getattr(of, "py_func", of)  # of a compiled function
    if not isinstance(lines, int) or lines < 1:
        raise ValueError(f"lines must be a positive whole number, got {lines!r}")
    try:
        source, file = inspect.getsource(of).splitlines(), inspect.getsourcefile(of)
    except TypeError:
        raise ValueError(
            f"of must be a function, a class or a module, or a module's dotted name; got {of!r}"
        ) from None
    found = [number for number, line in enumerate(source) if containing in line]
    if len(found) != 1:
        raise ValueError(
            f"containing: {containing!r} stands in {len(found)} lines of {getattr(of, '__name__', of)}; "
            "give a text that stands in one"
        )
    path = Path(str(file))
    package = next((p for p in path.parents if p.name == "lielab"), path.parent)
    print(f"# {path.relative_to(package.parent).as_posix()}")
    print(textwrap.dedent("\n".join(source[found[0] : found[0] + lines])))
