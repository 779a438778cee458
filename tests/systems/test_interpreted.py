"""The same source runs without compilation: every field against its invariants in a child with NUMBA_DISABLE_JIT=1."""

import os
import subprocess
import sys
from pathlib import Path


def test_fields_run_interpreted(root):
    target = Path(__file__).with_name("test_every_system.py")
    command = [
        sys.executable,
        "-m",
        "pytest",
        str(target),
        "-q",
        "-p",
        "no:xdist",
        "-p",
        "no:cacheprovider",
    ]
    done = subprocess.run(
        [*command, "-k", "keeps_the_invariants or every_method"],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(root)},
        cwd=root,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
    assert "48 passed" in done.stdout, done.stdout[-300:]
