"""What a reader's type checker says of the package."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.slow
def test_a_strict_type_checker_knows_what_the_public_functions_return(root: Path, tmp_path: Path):
    """Not with our settings, but as a reader runs it: elsewhere, and over a program of theirs. Ten seconds at first."""
    program = root / "tests" / "typed_program.py"
    command = [sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent"]
    command += [f"--cache-dir={root / '.mypy_cache' / 'reader'}", "--config-file=", str(program)]
    env = {"MYPYPATH": str(root)}
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=env)
    assert run.returncode == 0, run.stdout + run.stderr
