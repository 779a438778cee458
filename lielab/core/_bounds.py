"""Readers' functions compiled so that every index is looked at, also in the compiled functions that they call."""

from __future__ import annotations

import inspect
import types as python_types
from collections.abc import Callable
from typing import Any

from .jit import OPTIONS, numba


def ours(function: Callable) -> bool:
    """Whether a function is of this package, or of Numba."""
    home = getattr(function, "__module__", None) or ""
    return home.split(".")[0] in ("numba", "lielab")


def guarded(function: Callable) -> Callable:
    """A reader's function for Numba to compile, with bounds checks; TypeError where it is an object that Numba cannot.

    Compiled code would read, and write, past the end of an array. Numba checks a function only, not what it calls: so
    the compiled functions that it refers to by name are compiled anew for it, with the options that the reader gave
    them; `boundscheck=False` among them stands. Never cached on disk: what it refers to may change unseen.
    """
    return _guarded(function, {})


def _guarded(function: Callable, made: dict) -> Callable:
    plain = getattr(function, "py_func", function)
    if not inspect.isfunction(plain):
        raise TypeError(f"unsupported: it is of type {type(plain).__name__}, no plain function")
    if plain in made:
        return made[plain]
    options = dict(getattr(function, "targetoptions", OPTIONS))
    if (function is not plain and ours(plain)) or options.get("boundscheck") is False:
        made[plain] = function
        return function
    options.pop("nopython", None)
    options["boundscheck"] = True
    types = () if getattr(function, "_can_compile", True) else (function.nopython_signatures,)
    fresh, names, cells = plain, {}, []
    if _calls(plain):
        fresh, names, cells = _rebound(plain)
    if not types:
        made[plain] = numba.njit(**options)(fresh)  # known before its helpers, which may call it
    for name, value in names.items():
        fresh.__globals__[name] = _guarded(value, made)
    for cell, value in cells:
        cell.cell_contents = _guarded(value, made)
    if types:
        made[plain] = numba.njit(*types, **options)(fresh)
    return made[plain]


def _calls(plain: Callable) -> bool:
    """Whether it refers to any compiled function."""
    names = plain.__code__.co_names
    cells = (cell.cell_contents for cell in plain.__closure__ or () if _filled(cell))
    return any(map(_is_compiled, cells)) or any(
        _is_compiled(plain.__globals__.get(name)) for name in names
    )


def _rebound(plain: Callable) -> tuple[Callable, dict, list]:
    """The same function with globals and cells of its own, and those of them that hold compiled functions."""
    own = dict(plain.__globals__)
    closed, cells = [], []
    for cell in plain.__closure__ or ():
        new = python_types.CellType()
        if _filled(cell):
            new.cell_contents = cell.cell_contents
            if _is_compiled(cell.cell_contents):
                cells.append((new, cell.cell_contents))
        closed.append(new)
    code = plain.__code__
    fresh = python_types.FunctionType(code, own, plain.__name__, plain.__defaults__, tuple(closed))
    fresh.__kwdefaults__, fresh.__module__ = plain.__kwdefaults__, plain.__module__
    fresh.__qualname__ = plain.__qualname__
    names = {name: own[name] for name in code.co_names if _is_compiled(own.get(name))}
    return fresh, names, cells


def _is_compiled(value: Any) -> bool:
    return isinstance(value, numba.core.dispatcher.Dispatcher) and not ours(value.py_func)


def _filled(cell: Any) -> bool:
    try:
        return cell.cell_contents is not cell
    except ValueError:
        return False
