"""The format in which arguments and results cross between the grader and a submission.

A message is a head of fixed size (magic, length of the JSON part, length of the raw part), a JSON text and the raw
bytes of the arrays. It can say: None, booleans, integers of 64 bits, floats, complex numbers, strings, arrays, tuples,
lists and dictionaries whose keys are strings or integers. Nothing in it is ever executed, which is why it is not a
pickle: whatever a submission sends, the grader ends up with plain numbers, never with an object that says it equals
everything. A function crosses as a number, which the side that lent it looks up when it is called back.

This file is also copied beside `child.py`: it needs NumPy and nothing of lielab.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from json import dumps, loads  # bound here: a submission that patches the module breaks less
from typing import Any

import numpy as np

MAGIC = b"LLG1"
HEAD = struct.Struct("<4sIQ")
MAX_JSON = 1 << 20  # 1 MB of text: a traceback, or some ten thousand numbers outside arrays
MAX_SENT = 1 << 22  # 4 MB from the grader: a whole notebook
MAX_RAW = 1 << 24  # 16 MB of arrays: a trajectory of 10^5 points in SE(3)
MAX_ITEMS = 100_000  # of all lists, tuples and dictionaries together
MAX_STRING = 2000  # characters; a name, a sentence, an error
# An array made of a list has room for the longest string in each of its places: 400 characters in 1e5 places, 160 MB.
MAX_PLACES = 10_000_000  # longest string times items
MAX_DEPTH = 12
MAX_INT = 2**63
# What arrays may hold, and as what it travels.
KINDS = {"f": "<f8", "i": "<i8", "u": "<i8", "b": "|b1", "c": "<c16"}


class WireError(ValueError):
    """A value that cannot cross, or bytes that are not a message."""


def pack(value: Any, lend: Callable[[Callable], int] | None = None, most: int = MAX_JSON) -> bytes:
    """Bytes of one message; raises `WireError` with the reason if `value` cannot cross.

    `lend` gives a function its number; without it functions do not cross. `most` is for the text.
    """
    raw: list[bytes] = []
    text = dumps(_write(value, raw, lend, 0)).encode()
    size = sum(map(len, raw))
    if len(text) > most or size > MAX_RAW:
        raise WireError(
            f"too large ({(len(text) + size) / 1e6:.1f} MB); at most {MAX_RAW / 1e6:.0f} MB of arrays can be returned"
        )
    return HEAD.pack(MAGIC, len(text), size) + text + b"".join(raw)


def lengths(head: bytes, most: int = MAX_JSON) -> tuple[int, int]:
    """Lengths of the JSON and of the raw part that follow `head`."""
    magic, text, raw = HEAD.unpack(head)
    if magic != MAGIC or text > most or raw > MAX_RAW:
        raise WireError("not a message of this format")
    return text, raw


def unpack(
    text: bytes,
    raw: bytes,
    borrow: Callable[[int], Callable] | None = None,
    longest: int = MAX_STRING,
) -> Any:
    """The value of a message whose two parts have been read; `borrow` makes a function of a number."""
    try:
        tree = loads(text, parse_int=_small_int)
        reader = _Reader(raw, borrow)
        value = reader.read(tree, 0)
        if reader.longest > longest:
            raise WireError(f"a string of more than {longest} characters")
        if longest == MAX_STRING and reader.longest * reader.items > MAX_PLACES:
            raise WireError("too many strings that are too long")
        return value
    except WireError:
        raise
    except (
        ArithmeticError,
        LookupError,
        MemoryError,
        RecursionError,
        TypeError,
        ValueError,
    ) as error:
        raise WireError(f"not a message of this format ({type(error).__name__})") from None


def _small_int(digits: str) -> int:
    if len(digits) > 20:  # the time to read an integer grows as the square of its length
        raise WireError("an integer of more than 64 bits")
    return int(digits)


def _write(value: Any, raw: list[bytes], lend: Callable | None, depth: int) -> Any:
    if depth > MAX_DEPTH:
        raise WireError(f"nested more than {MAX_DEPTH} deep")
    if value is None or value is True or value is False:
        return value
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        if not -MAX_INT <= value < MAX_INT:
            raise WireError("an integer of more than 64 bits")
        return int(value)
    if isinstance(value, float):
        return float(value)
    if isinstance(value, complex):
        return {"c": [value.real, value.imag]}
    if isinstance(value, str):
        return str(value)
    if isinstance(value, np.ndarray):
        if value.dtype.kind not in KINDS:
            raise WireError(f"an array of {value.dtype}, not of numbers")
        if value.nbytes > MAX_RAW:
            raise WireError(
                f"too large (an array of {value.nbytes / 1e6:.0f} MB; at most {MAX_RAW / 1e6:.0f} MB)"
            )
        kind = KINDS[value.dtype.kind]
        raw.append(np.ascontiguousarray(value).astype(kind).tobytes())
        return {"a": [kind, list(value.shape)]}
    if isinstance(value, (tuple, list, dict)) and len(value) > MAX_ITEMS:
        raise WireError(f"too large ({len(value)} items; at most {MAX_ITEMS} outside arrays)")
    if isinstance(value, (tuple, list)):
        kind = "t" if isinstance(value, tuple) else "l"
        return {kind: [_write(item, raw, lend, depth + 1) for item in value]}
    if isinstance(value, dict):
        if not all(isinstance(key, (str, int)) for key in value):
            raise WireError("a dictionary with keys that are neither strings nor integers")
        items = value.items()
        return {"d": [[key, _write(item, raw, lend, depth + 1)] for key, item in items]}
    if lend is not None and callable(value):
        return {"f": lend(value)}
    raise WireError(
        f"{_article(type(value).__name__)}, not a number, array, string, tuple, list or dictionary"
    )


def _article(name: str) -> str:
    return ("an " if name[:1].lower() in "aeiou" else "a ") + name


class _Reader:
    """Reads the tree of a message; arrays are taken from `raw` in the order in which they were written."""

    def __init__(self, raw: bytes, borrow: Callable | None) -> None:
        self.raw, self.at, self.borrow = raw, 0, borrow
        self.items = self.longest = 0

    def read(self, tree: Any, depth: int) -> Any:
        if depth > MAX_DEPTH + 1:
            raise WireError("nested too deep")
        self.items += 1
        if self.items > MAX_ITEMS + 10_000:  # beside the value: the cells of a notebook, complaints
            raise WireError(f"more than {MAX_ITEMS} items")
        if isinstance(tree, str):
            self.longest = max(self.longest, len(tree))
        if tree is None or isinstance(tree, (bool, int, float, str)):
            return tree
        if not isinstance(tree, dict) or len(tree) != 1:
            raise WireError("an unknown kind of value")
        ((kind, body),) = tree.items()
        if kind == "c":
            real, imag = body
            return complex(float(real), float(imag))
        if kind == "a":
            return self.array(*body)
        if kind in ("t", "l"):
            items = [self.read(item, depth + 1) for item in body]
            return tuple(items) if kind == "t" else items
        if kind == "d":
            if not all(type(key) in (str, int) for key, _ in body):
                raise WireError("a key that is neither a string nor an integer")
            return {key: self.read(item, depth + 1) for key, item in body}
        if kind == "f" and self.borrow is not None and type(body) is int:
            return self.borrow(body)
        raise WireError("an unknown kind of value")

    def array(self, kind: str, shape: list[int]) -> np.ndarray:
        if kind not in KINDS.values() or len(shape) > 16:
            raise WireError("an unknown kind of array")
        size = np.dtype(kind).itemsize
        for length in shape:
            if type(length) is not int or length < 0:
                raise WireError("an impossible shape")
            size *= length
        if self.at + size > len(self.raw):
            raise WireError("an array longer than its bytes")
        part = self.raw[self.at : self.at + size]
        self.at += size
        return np.frombuffer(part, dtype=kind).reshape(shape).copy()
