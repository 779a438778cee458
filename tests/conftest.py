"""Settings for all tests."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

# The same examples on every machine and in every run, and no deadline: the first example may compile.
settings.register_profile("lielab", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("lielab")


@pytest.fixture
def ctrl_c() -> Iterator[None]:
    """Ctrl-C raises, as in a terminal; a shell starts what runs in the background with it ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="session")
def root() -> Path:
    """The folder of the checkout."""
    return Path(__file__).resolve().parents[1]
