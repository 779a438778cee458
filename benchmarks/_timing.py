"""How benchmarks time a call; without lielab, so that environments of other libraries have it too."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

REPEATS = 15
CALLS, ROUND = 2000, 0.05  # of one element in a row; seconds, at least, of a batch in a row


def best(
    function: Callable[[], Any],
    calls: int = 1,
    repeats: int = REPEATS,
    clock: Callable[[], float] = time.process_time,
) -> float:
    """Seconds of one call by a clock, by default the processor's: the best of several repeats after a first call."""
    function()
    least = math.inf
    for _ in range(repeats):
        began = clock()
        for _ in range(calls):
            function()
        least = min(least, clock() - began)
    return least / calls


def seconds_an_element(call: Callable[[], Any], count: int) -> float:
    """Processor seconds of one of the `count` elements that a call works on, over one row of calls."""
    done, began = 0, time.process_time()
    while done < (CALLS if count == 1 else 1) or time.process_time() - began < ROUND * (count > 1):
        call()
        done += 1
    return (time.process_time() - began) / (done * count)
