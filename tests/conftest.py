"""Settings for all tests."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from tests.pace import pace

# The same examples on every machine and in every run, and no deadline: the first example may compile.
settings.register_profile("lielab", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("lielab")


@pytest.fixture
def ctrl_c() -> Iterator[None]:
    """Ctrl-C raises, as in a terminal; a shell starts what runs in the background with it ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


class Interrupt:
    """Ctrl-C after some seconds, as `with interrupt(0.5): ...`; how long it took to arrive is in `late` then,
    as a multiple of a piece of Python's time (`tests.pace`).

    With `waits` the seconds count from a call of `start`, so that no load decides what is under way when they are over.
    """

    def __init__(self, after: float, waits: bool = False) -> None:
        self.timer, self.sent, self.late = threading.Timer(after, self._send), 0.0, 0.0
        self.waits = waits

    def _send(self) -> None:
        self.sent = time.monotonic()
        os.kill(os.getpid(), signal.SIGINT)

    def start(self) -> None:
        self.timer.start()

    def __enter__(self) -> Interrupt:
        if not self.waits:
            self.start()
        return self

    def __exit__(self, *_: object) -> None:
        waited = time.monotonic() - self.sent
        self.timer.cancel()
        if self.timer.ident is not None:  # else what should have started it never came about
            self.timer.join()
        self.late = waited / pace()


@pytest.fixture
def interrupt(ctrl_c: None) -> type[Interrupt]:
    """See `Interrupt`."""
    if os.name != "posix":
        pytest.skip("signals are sent")
    return Interrupt


@pytest.fixture(scope="session")
def root() -> Path:
    """The folder of the checkout."""
    return Path(__file__).resolve().parents[1]
