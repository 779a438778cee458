"""How fast Python runs here and now: a limit of time is a multiple of that, never seconds.

Machines differ by more than what a test is to notice, and other work slows them down meanwhile.
"""

from __future__ import annotations

import time


def pace() -> float:
    """Seconds on the clock of a fixed piece of Python; about 0.05 where it was written."""
    began, total = time.monotonic(), 0
    for i in range(1_000_000):
        total += i * i
    assert total > 0
    return time.monotonic() - began
