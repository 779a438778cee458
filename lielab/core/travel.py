"""How objects are compared, copied and sent to other processes: by their data, or by the call that made them."""

from __future__ import annotations

import functools
import importlib
import inspect
import math
import pickle
import sys
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any, TypeVar

import numpy as np

Maker = TypeVar("Maker", bound=Callable)

# Picklers that send functions by value: what they cannot do they say themselves.
_BY_VALUE = ("cloudpickle", "dill", "joblib.externals.cloudpickle")


class GroupModule(ModuleType):
    """A group that is a module of the package, such as `lielab.so3`: other processes get it by its name."""

    def __reduce__(self) -> Any:
        return importlib.import_module, (self.__name__,)


class Value:
    """Base of objects that never change. A copy is the object itself; other processes repeat the call that made it."""

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, memo: dict) -> Any:
        return self

    def __reduce_ex__(self, protocol: Any) -> Any:
        made = vars(self).get("_made")
        if made is None:
            sendable(type(self).__name__, vars(self))
            return super().__reduce_ex__(protocol)
        maker, arguments, keywords = made
        named = {f"argument {i + 1}": value for i, value in enumerate(arguments)}
        sendable(f"{maker.__name__}(...)", {**named, **keywords})
        return _again, made


def _again(maker: Callable, arguments: tuple, keywords: dict) -> Any:
    return maker(*arguments, **keywords)


def made_by(value: Any, maker: Callable, *arguments: Any, **keywords: Any) -> Any:
    """The value, which remembers the call that makes it; `maker` is found by its name in its module."""
    object.__setattr__(value, "_made", (maker, arguments, keywords))  # it may be frozen
    return value


def recorded(maker: Maker) -> Maker:
    """Decorator of a function that makes a `Value` out of closures: what it returns remembers the call."""

    @functools.wraps(maker)
    def make(*arguments: Any, **keywords: Any) -> Any:
        value = maker(*arguments, **keywords)
        # Copies: the caller may change an array later.
        kept = [_own(x) for x in arguments], {name: _own(x) for name, x in keywords.items()}
        return made_by(value, make, *kept[0], **kept[1])

    return make  # type: ignore[return-value]


def _own(value: Any) -> Any:
    if isinstance(value, list):
        return [_own(one) for one in value]
    return value.copy() if isinstance(value, np.ndarray) else value


def sendable(owner: str, named: Mapping[str, Any]) -> None:
    """PicklingError that says which function has no name by which another process could find it."""
    if any(name in sys.modules for name in _BY_VALUE):
        return
    for name, value in named.items():
        if isinstance(value, Mapping):
            sendable(owner, {f"{name}[{key!r}]": one for key, one in value.items()})
            continue
        value = _innermost(value)
        if inspect.isfunction(value) and _found(value) is not value:
            what = "a lambda" if value.__name__ == "<lambda>" else f"{value.__qualname__}"
            raise pickle.PicklingError(
                f"{name} of {owner} is {what}, which other processes cannot find by its name; "
                "define it with def at the top level of a module"
            )


def _innermost(value: Any) -> Any:
    """The function inside a kernel, an event or a functools.partial."""
    while not inspect.isfunction(value):
        inner = getattr(value, "func", None) or getattr(value, "function", None)
        if not callable(inner):
            break
        value = inner
    return value


def _found(function: Callable) -> Any:
    found: Any = sys.modules.get(function.__module__)
    for part in function.__qualname__.split("."):
        found = getattr(found, part, None)
    return found


def same(a: Any, b: Any) -> bool:
    """Whether two values are equal: arrays entry by entry, NaN equal to NaN, containers item by item."""
    if a is b:
        return True
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        if type(a) is not type(b) or a.shape != b.shape or a.dtype != b.dtype:
            return False
        return np.array_equal(a, b, equal_nan=a.dtype.kind in "fc")
    if type(a) is not type(b):
        return bool(a == b)
    if isinstance(a, Mapping):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, (tuple, list)):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, float) and math.isnan(a):
        return math.isnan(b)
    return bool(a == b)
