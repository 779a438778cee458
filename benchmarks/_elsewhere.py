"""Environments of their own for libraries that must not stand beside ours."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import venv
from collections.abc import Sequence
from pathlib import Path
from typing import Any


def interpreter(name: str, packages: Sequence[str]) -> str | None:
    """The Python of an environment with these packages, in the folder for temporary files; None where there is none."""
    folder = Path(tempfile.gettempdir()) / f"lielab-{name}-py{sys.version_info[1]}"
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if not python.exists():
        venv.create(folder, with_pip=True)
    install = [str(python), "-m", "pip", "install", "-q", *packages]
    return None if subprocess.run(install, capture_output=True).returncode else str(python)


def settings(python: str) -> dict[str, Any]:
    """How to run it: from another folder and without PYTHONPATH, where it would import ours."""
    clean = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    return {"env": clean, "cwd": Path(python).parent, "text": True}
