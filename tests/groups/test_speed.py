"""Ratios of CPU times measured in one run; limits from the room's contract."""

from __future__ import annotations

import pytest

from benchmarks import group_speed
from lielab.core.jit import ENABLED

pytestmark = pytest.mark.skipif(not ENABLED, reason="speed is a property of compiled code")

BATCH_LIMIT = 1.5  # times SciPy
SINGLE_LIMIT = 3.0  # microseconds beyond an empty compiled call
TRIES = 3  # another process may disturb caches and clock: the best of so many runs counts


def test_batches_against_scipy() -> None:
    worst = {}
    for _ in range(TRIES):
        for name, (ours, theirs) in group_speed.batches(repeats=7).items():
            worst[name] = min(worst.get(name, float("inf")), ours / theirs)
        if max(worst.values()) <= BATCH_LIMIT:
            break
    assert worst["SO(3) exp"] <= BATCH_LIMIT
    assert worst["SO(3) log"] <= BATCH_LIMIT
    assert worst.get("SE(3) exp", 0.0) <= BATCH_LIMIT


def test_one_element_from_python() -> None:
    beyond = {}
    for _ in range(TRIES):
        times = group_speed.single(calls=2000)
        empty = times.pop("empty compiled call")
        for name, microseconds in times.items():
            beyond[name] = min(beyond.get(name, float("inf")), microseconds - empty)
        if max(beyond.values()) <= SINGLE_LIMIT:
            break
    assert max(beyond.values()) <= SINGLE_LIMIT, beyond
