"""The fast rigid-body steps against the same algorithm in C; both times are taken in one run, in turn."""

import shutil

import pytest

from benchmarks import rigid_body
from lielab import _jit


@pytest.mark.skipif(not _jit.ENABLED, reason="interpreted kernels have another cost")
@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
def test_eln_and_vlv_take_at_most_three_times_as_long_as_c():
    for method, (mine, other) in rigid_body.compare().items():
        assert mine < 3.0 * other, method
