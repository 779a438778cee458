"""Every method on every system that takes it goes where it went; `python -m tests.pins` lists the last digits."""

import numpy as np
import pytest

from tests.pins import FILE, SYSTEMS, linearizations, runs, ulps

# The numbers are of one machine: elementary functions of others differ in the last place, which ten steps, and
# adaptive step sizes, carry on. An edit of a formula is seen at far more.
ROUND = 1e5


@pytest.mark.parametrize("name", [*SYSTEMS, "linearize"])
def test_pinned_states(name):
    with np.load(FILE) as pins:
        kept = {key: pins[key] for key in pins.files if key.startswith(f"{name}: ")}
    found = {
        f"{name}: {key}": x for key, x in (runs(name) if name in SYSTEMS else linearizations())
    }
    assert set(found) == set(kept)
    assert [key for key in kept if ulps(found[key], kept[key]) > ROUND] == []
