"""Rigid-body steps against the same algorithm in C, both times taken in one run, in turn; a step of the swimmers."""

import shutil
import time

import pytest

import lielab
from benchmarks import first_numbers, rigid_body
from lielab import _jit


@pytest.mark.skipif(not _jit.ENABLED, reason="interpreted kernels have another cost")
@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
def test_eln_and_vlv_take_at_most_three_times_as_long_as_c():
    for method, (mine, other) in rigid_body.compare().items():
        assert mine < 3.0 * other, method


@pytest.mark.skipif(not _jit.ENABLED, reason="interpreted kernels have another cost")
@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
def test_rkmk4_on_the_free_body_takes_at_most_three_times_as_long_as_c():
    first_numbers.run(10)  # compiles or loads
    assert first_numbers.against_c() < 3.0


@pytest.mark.skipif(not _jit.ENABLED, reason="interpreted kernels have another cost")
@pytest.mark.parametrize("method", ["LGVI1", "LGVI"])
def test_a_step_of_the_swimmers_takes_at_most_thirty_microseconds(method):
    """Both integrators of lee at h = 0.001: 9 and 17 us on the machine it was written on."""
    swimmers, count = lielab.systems.ConnectedBodies(), 2000
    best = float("inf")
    for _ in range(4):
        began = time.process_time()
        sol = lielab.solve(swimmers, (0, 1e-3 * count), method=method, h=1e-3, save_every=count)
        assert sol.nsteps == count
        best = min(best, (time.process_time() - began) / count)
    assert best < 30e-6
