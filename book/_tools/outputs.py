"""Write the outputs of a run back into the chapters: text and pictures, no widget state.

    python book/_tools/outputs.py [NAME ...]       default: every chapter of _toc.yml

What is written depends only on the outputs themselves (no random ids, no time of execution, cells counted from 1), so
a second run changes only what a chapter measures: its cells of times. nbval compares the others with a run of its own.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

import nbformat

from chapters import ROOT, chapters
from stage import METADATA, code_cells, executed_path, merge, report, stage

WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"  # points into a state that is not kept
ADDRESS = re.compile(r"\b0x[0-9a-f]{6,}\b")


def tidy(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Reduce a merged notebook to what is worth keeping in the repository."""
    notebook.metadata = nbformat.from_dict(METADATA)
    for number, cell in enumerate(code_cells(notebook), start=1):
        cell.execution_count = number
        cell.metadata.pop("execution", None)
        cell.metadata.pop("mystnb", None)  # fold labels are set once, in _config.yml
        kept = []
        for output in cell.outputs:
            if "execution_count" in output:
                output["execution_count"] = number
            if "text" in output:
                output["text"] = ADDRESS.sub("0x...", output["text"])
            if "data" in output:
                output["data"].pop(WIDGET_VIEW, None)
                for kind, value in output["data"].items():
                    if kind.startswith("text/") and isinstance(value, str):
                        output["data"][kind] = ADDRESS.sub("0x...", value)
                if not output["data"]:
                    continue
            kept.append(output)
        cell.outputs = kept
    return notebook


def write_back(chapter: Path, root: Path = ROOT) -> bool:
    """Store the executed copy's outputs in a chapter; True when the file changed."""
    executed = nbformat.read(executed_path(chapter, root), as_version=4)
    text = nbformat.writes(tidy(merge(chapter, executed))) + "\n"
    if text == chapter.read_text(encoding="utf-8"):
        return False
    chapter.write_text(text, encoding="utf-8", newline="\n")
    return True


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", help="chapters to write (default: all)")
    parser.add_argument("--fresh", action="store_true", help="run them even if nothing changed")
    options = parser.parse_args()
    runs = stage(options.names, fresh=options.fresh)
    order = {chapter: n for n, chapter in enumerate(chapters())}
    for run in sorted(runs, key=lambda run: order[run.path]):
        if not run.error:
            state = "outputs written" if write_back(run.path) else "outputs unchanged"
            print(f"  {run.path.stem}: {state}")
    sys.exit(0 if report(runs) else 1)


if __name__ == "__main__":
    main()
