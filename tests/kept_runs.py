"""Lets nbval compare the run that the pages are made from, so that a chapter is executed once for both.

    pytest -p tests.kept_runs --nbval ... book

`book/_tools/stage.py` keeps the last run of a chapter under a key: its code cells, the package's sources, the versions
in use. Where the key fits, nbval gets the outputs of that run and compares them with the stored ones as always; where
it does not fit, or no run is kept, nbval starts a kernel and executes the chapter.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest


class Kept:
    """Answers as nbval's `RunningKernel` does, with the outputs of a kept run."""

    def __init__(self, cells: list[Any]) -> None:
        self._cells = iter(cells)
        self._messages: deque[dict[str, Any]] = deque()

    def is_alive(self) -> bool:
        return True

    def stop(self) -> None:
        pass

    def await_reply(self, msg_id: str, timeout: float | None = None) -> None:
        pass

    def execute_cell_input(self, source: str, allow_stdin: bool | None = None) -> str:
        """The next kept cell with this source (nbval leaves out those that it is told to skip)."""
        cell = next(cell for cell in self._cells if cell.source == source)
        self._messages = deque(map(dict, _messages(cell)))
        return cell.id

    def get_message(self, stream: str, timeout: float | None = None) -> dict[str, Any]:
        return self._messages.popleft()


def _messages(cell: Any) -> Iterator[dict[str, Any]]:
    parent = {"parent_header": {"msg_id": cell.id}}
    for output in cell.outputs:
        yield parent | {"msg_type": output.output_type, "content": output}
    yield parent | {"msg_type": "status", "content": {"execution_state": "idle"}}


def _kept(chapter: Path, root: Path) -> Any:
    import stage
    from chapters import surroundings

    return stage.kept_run(chapter, surroundings(root), root)


def pytest_configure(config: pytest.Config) -> None:
    os.environ["LIELAB_QUIET"] = "1"  # how long a compilation takes is no output to compare
    from nbval import plugin

    import stage

    setup = plugin.IPyNbFile.setup

    def setup_kept(file: Any) -> None:
        run = _kept(Path(file.path), config.rootpath)
        with pytest.MonkeyPatch.context() as patch:
            if run is not None:
                cells = stage.code_cells(run)
                patch.setattr(plugin, "RunningKernel", lambda *_, **__: Kept(cells))
            setup(file)

    plugin.IPyNbFile.setup = setup_kept


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    from chapters import chapters

    known = [_kept(chapter, config.rootpath) is not None for chapter in chapters(config.rootpath)]
    what = f"{sum(known)} of {len(known)} chapters compared as they were run for the pages"
    terminalreporter.write_line(f"{what}, the others executed")
