"""What a study has done when it is interrupted travels with the KeyboardInterrupt, as its `.result`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


def given(result: Any, interrupt: KeyboardInterrupt | None) -> Any:
    """The result; or the interrupt that ended the work early, raised with it."""
    if interrupt is None:
        return result
    interrupt.result = result  # type: ignore[attr-defined]
    raise interrupt


@contextmanager
def keeps(result: Callable[[], Any]) -> Iterator[None]:
    """An interrupt in this block carries `result()`, what was done so far."""
    try:
        yield
    except KeyboardInterrupt as interrupt:
        given(result(), interrupt)
