"""How Numba compiles the functions of `values`: each is run once on numbers that write LLVM instructions down.

So there is one source. Numba need not infer types inside an operator either, which would take most of the time: what
a function returns is known from a call with plain numbers. The types cross function calls, caches on disk and the
border to Python; only Numba's extension interface is used.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.imputils import lower_constant, lower_getattr_generic
from numba.core.typing.templates import (
    AbstractTemplate,
    AttributeTemplate,
    infer_getattr,
    infer_global,
    signature,
)
from numba.extending import (
    NativeValue,
    box,
    lower_builtin,
    models,
    register_model,
    typeof_impl,
    unbox,
)

F8 = types.float64


class ValueType(types.Type):
    """Numba's type of `Vec3` or `Mat3`: as many numbers as the class has names."""

    def __init__(self, value: type) -> None:
        self.value = value
        super().__init__(name=value.__name__)


@register_model(ValueType)
class _Model(models.StructModel):
    def __init__(self, manager: Any, kind: ValueType) -> None:
        super().__init__(manager, kind, [(name, F8) for name in kind.value.__slots__])


class _Number:
    """A float64 of the function that is being compiled."""

    __array_ufunc__ = None

    def __init__(self, builder: Any, value: Any) -> None:
        self.builder, self.value = builder, value

    def _apply(self, instruction: str, x: Any, y: Any) -> Any:
        if not all(isinstance(z, (float, int, _Number)) for z in (x, y)):
            return NotImplemented
        x, y = (z.value if isinstance(z, _Number) else ir.DoubleType()(z) for z in (x, y))
        return _Number(self.builder, getattr(self.builder, instruction)(x, y))

    def __add__(self, x: Any) -> Any:
        return self._apply("fadd", self, x)

    def __radd__(self, x: Any) -> Any:
        return self._apply("fadd", x, self)

    def __sub__(self, x: Any) -> Any:
        return self._apply("fsub", self, x)

    def __rsub__(self, x: Any) -> Any:
        return self._apply("fsub", x, self)

    def __mul__(self, x: Any) -> Any:
        return self._apply("fmul", self, x)

    def __rmul__(self, x: Any) -> Any:
        return self._apply("fmul", x, self)

    def __truediv__(self, x: Any) -> Any:
        return self._apply("fdiv", self, x)

    def __rtruediv__(self, x: Any) -> Any:
        return self._apply("fdiv", x, self)

    def __neg__(self) -> _Number:
        return _Number(self.builder, self.builder.fneg(self.value))


class _Index:
    """A place in an array."""

    def __init__(self, builder: Any, value: Any) -> None:
        self.builder, self.value = builder, value

    def __add__(self, i: Any) -> _Index:
        i = i.value if isinstance(i, _Index) else self.value.type(i)
        return _Index(self.builder, self.builder.add(self.value, i))


class _Array:
    """A flat array; its elements are fetched as Numba does, with its check of bounds where that is on."""

    def __init__(self, context: Any, builder: Any, kind: Any, value: Any) -> None:
        self.context, self.builder, self.kind, self.value = context, builder, kind, value

    def __getitem__(self, i: _Index) -> _Number:
        wanted = signature(F8, self.kind, types.uintp)
        get = self.context.get_function(operator.getitem, wanted)
        return _Number(self.builder, get(self.builder, (self.value, i.value)))

    def __setitem__(self, i: _Index, x: _Number) -> None:
        wanted = signature(types.none, self.kind, types.uintp, F8)
        put = self.context.get_function(operator.setitem, wanted)
        put(self.builder, (self.value, i.value, x.value))


def _trace(function: Callable) -> Callable:
    """The generator of LLVM code for a function of `values`."""

    def lower(context: Any, builder: Any, sig: Any, arguments: Any) -> Any:
        given = []
        for kind, x in zip(sig.args, arguments, strict=True):
            if isinstance(kind, ValueType):
                parts = (builder.extract_value(x, i) for i in range(len(kind.value.__slots__)))
                given.append(kind.value(*(_Number(builder, part) for part in parts)))
            elif isinstance(kind, types.Array):
                given.append(_Array(context, builder, kind, x))
            else:
                given.append((_Number if kind == F8 else _Index)(builder, x))
        result = function(*given)
        if result is None:
            return context.get_dummy_value()
        return result.value if isinstance(result, _Number) else _packed(context, builder, result)

    return lower


def _packed(context: Any, builder: Any, value: Any) -> Any:
    found = ir.Constant(context.get_value_type(KINDS[type(value)]), ir.Undefined)
    for i, x in enumerate(value):
        x = x.value if isinstance(x, _Number) else ir.DoubleType()(x)
        found = builder.insert_value(found, x, i)
    return found


KINDS: dict[type, Any] = {float: F8}
_SAMPLES: dict[type, Any] = {float: 1.0}


def declare(value: type) -> None:
    """Make a class of numbers known to Numba: as a type, a constructor, an argument, a constant and a result."""
    kind, names = ValueType(value), value.__slots__
    KINDS[value], _SAMPLES[value] = kind, value(*((1.0 + k) ** 2 for k in range(len(names))))

    @typeof_impl.register(value)
    def kind_of(found: Any, c: Any) -> ValueType:
        return kind

    entries = (F8,) * len(names)
    made = signature(kind, *entries)
    lower_builtin(value, *entries)(_trace(value))
    _infer(value, lambda arguments: made if tuple(map(_as_number, arguments)) == entries else None)


@infer_getattr
class _Names(AttributeTemplate):
    key = ValueType

    def generic_resolve(self, kind: ValueType, name: str) -> Any:
        return F8 if name in kind.value.__slots__ else None


@lower_getattr_generic(ValueType)
def _entry(context: Any, builder: Any, kind: ValueType, x: Any, name: str) -> Any:
    return builder.extract_value(x, kind.value.__slots__.index(name))


@lower_constant(ValueType)
def _constant(context: Any, builder: Any, kind: ValueType, value: Any) -> Any:
    return ir.Constant.literal_struct([ir.DoubleType()(float(x)) for x in value])


@unbox(ValueType)
def _from_python(kind: ValueType, value: Any, c: Any) -> NativeValue:
    made = cgutils.create_struct_proxy(kind)(c.context, c.builder)
    for name in kind.value.__slots__:
        entry = c.pyapi.object_getattr_string(value, name)
        number = c.pyapi.number_float(entry)
        setattr(made, name, c.pyapi.float_as_double(number))
        c.pyapi.decref(number)
        c.pyapi.decref(entry)
    failed = cgutils.is_not_null(c.builder, c.pyapi.err_occurred())
    return NativeValue(made._getvalue(), is_error=failed)


@box(ValueType)
def _to_python(kind: ValueType, value: Any, c: Any) -> Any:
    entries = [
        c.pyapi.float_from_double(c.builder.extract_value(value, i))
        for i in range(len(kind.value.__slots__))
    ]
    value_class = c.pyapi.unserialize(c.pyapi.serialize_object(kind.value))
    made = c.pyapi.call_function_objargs(value_class, entries)
    for entry in (*entries, value_class):
        c.pyapi.decref(entry)
    return made


def offer(function: Callable, count: int) -> None:
    """Compile a function of `count` numbers or values, for whatever it takes in Python."""
    known = {}
    for kinds in itertools.product(KINDS, repeat=count):
        if set(kinds) == {float}:
            continue
        try:
            result = function(*(_SAMPLES[kind] for kind in kinds))
        except (AttributeError, TypeError):
            continue
        arguments = tuple(KINDS[kind] for kind in kinds)
        known[arguments] = signature(KINDS[type(result)], *arguments)
        lower_builtin(function, *arguments)(_trace(function))
    _infer(function, lambda arguments: known.get(tuple(map(_as_number, arguments))))


def offer_access(function: Callable, result: type | None, *values: type) -> None:
    """Compile a function that reads or writes a flat array from an index on, rows some way apart where it says so."""
    leading = tuple(KINDS[value] for value in values)
    for more in ((), (types.uintp,)):
        lower_builtin(function, *leading, types.Array, types.uintp, *more)(_trace(function))

    def typed(arguments: tuple) -> Any:
        if arguments[: len(leading)] != leading:
            return None
        array, *places = arguments[len(leading) :]
        flat = isinstance(array, types.Array) and array.ndim == 1 and array.dtype == F8
        if not flat or not all(isinstance(place, types.Integer) for place in places):
            return None
        kind = types.none if result is None else KINDS[result]
        return signature(kind, *leading, array, *[types.uintp] * len(places))

    _infer(function, typed)


def _as_number(kind: Any) -> Any:
    return F8 if isinstance(kind, (types.Integer, types.Float)) else kind


def _infer(function: Callable, typed: Callable) -> None:
    """Tell Numba's type inference about a function: typed(types of arguments) is a signature, or None."""

    class Typed(AbstractTemplate):
        key = function

        def generic(self, arguments: tuple, keywords: dict) -> Any:
            return None if keywords else typed(arguments)

    infer_global(function)(Typed)
