"""What Numba offers only to extensions: arrays without a reference count, and function pointers made from addresses."""

from __future__ import annotations

from typing import Any

from numba import types
from numba.core import cgutils
from numba.core.datamodel import register_default
from numba.experimental.function_type import FunctionModel
from numba.extending import NativeValue, intrinsic, unbox
from numba.np.arrayobj import make_array


@intrinsic
def lent(typing: Any, array: Any) -> tuple:
    """The same array, uncounted: a kernel it is handed to then neither takes nor gives back a reference.

    Counting costs as much as a small kernel. Only for arguments of a loop, which outlive it: an array made in the
    loop would be freed while it is still in use. Of a record all arrays are lent.
    """

    def one(context: Any, builder: Any, kind: Any, value: Any) -> Any:
        if not isinstance(kind, types.Array):
            return value
        given, made = (make_array(kind)(context, builder, *own) for own in ((value,), ()))
        for name in ("nitems", "itemsize", "data", "shape", "strides"):
            setattr(made, name, getattr(given, name))
        made.meminfo = cgutils.get_null_value(made.meminfo.type)
        made.parent = cgutils.get_null_value(made.parent.type)
        return made._getvalue()

    def build(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        if not isinstance(array, types.BaseTuple):
            return one(context, builder, array, arguments[0])
        fields = cgutils.unpack_tuple(builder, arguments[0])
        made = [one(context, builder, kind, field) for kind, field in zip(array, fields)]  # noqa: B905
        return context.make_tuple(builder, signature.return_type, made)

    return array(array), build


class Pointer(types.FunctionType):
    """Type of a function pointer. Numba looks the address of a function up in every call; this one is handed it."""


register_default(Pointer)(FunctionModel)


@unbox(Pointer)
def _from_addresses(kind: Any, pair: Any, c: Any) -> NativeValue:
    """From a tuple of two whole numbers, see `addresses`."""
    made = cgutils.create_struct_proxy(kind)(c.context, c.builder)
    made.c_addr = c.pyapi.long_as_voidptr(c.pyapi.tuple_getitem(pair, 0))
    made.jit_addr = c.pyapi.long_as_voidptr(c.pyapi.tuple_getitem(pair, 1))
    made.py_addr = cgutils.get_null_value(made.py_addr.type)
    return NativeValue(made._getvalue())


def addresses(kernel: Any, kind: Pointer) -> tuple[int, int]:
    """Where the code of a compiled kernel begins, with and without the calling convention of C.

    Compiled first where it is not; Numba's error where it cannot be, TypeError where it returns another type.
    """
    result = kernel.get_compile_result(kind.signature)
    given, wanted = types.unliteral(result.signature.return_type), kind.signature.return_type
    if given != wanted:  # Numba below 0.68 would take it for the other
        raise TypeError(
            f"{kernel.__name__!r} must return {wanted}, its compiled code returns {given}"
        )
    names = result.fndesc.llvm_cfunc_wrapper_name, result.fndesc.llvm_func_name
    c, jit = (result.library.get_pointer_to_function(name) for name in names)
    return c, jit
