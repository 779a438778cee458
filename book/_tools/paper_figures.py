"""Where the figures of the five papers are in this book: numbers of the page are read from the chapters' captions.

    python book/_tools/paper_figures.py        after captions were added or moved

A row of `book/paper_figures.md` names a figure of the paper of its section, links the chapter that shows it and the
figure there; the chapter's caption says the same in words ("their Figure 5", "Figure 2 of [Lee et al. 2009]").
"""

from __future__ import annotations

import re
from pathlib import Path

import nbformat

from chapters import ROOT

PAGE = Path("book") / "paper_figures.md"
CAPTION = re.compile(r"\*\*Figure (\d+)\.\*\*(.*?)(?=\n\n|\Z)", re.DOTALL)
CITED = re.compile(
    r"their Figures? (\d[\d., and]*)|Figures? (\d[^\[\]]*?) of \[|\(Figures? (\d[\d., and]*)\)"
)
ROW = re.compile(r"^\| (Figure|Table) ([\d.]+) \| \[([^\]]+)\]\((\w+)\.ipynb\)(?:, [^|]*)? \|")


def prose(chapter: str, root: Path = ROOT) -> str:
    cells = nbformat.read(root / "book" / f"{chapter}.ipynb", as_version=4).cells
    return "\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown")


def captions(chapter: str, root: Path = ROOT) -> dict[str, set[str]]:
    """Number of a figure here -> numbers of the paper's figures that its caption names."""
    found = {}
    for number, text in CAPTION.findall(prose(chapter, root)):
        cited = ["".join(groups) for groups in CITED.findall(text)]
        found[number] = {n.rstrip(".") for part in cited for n in re.findall(r"\d[\d.]*", part)}
    return found


def numbered(page: str, root: Path = ROOT) -> str:
    """The page with the numbers that the captions have now; ValueError where no caption names the figure."""
    lines = []
    for line in page.splitlines():
        row = ROW.match(line)
        if row and row[1] == "Figure":
            here = [n for n, cited in captions(row[4], root).items() if row[2] in cited]
            if not here:
                raise ValueError(f"no caption of {row[4]}.ipynb names Figure {row[2]}")
            where = " and ".join(f"[Figure {n}]({row[4]}.ipynb#fig-{n})" for n in here)
            link = f"| Figure {row[2]} | [{row[3]}]({row[4]}.ipynb), {where} |"
            line = link + line[row.end() :]
        lines.append(line)
    return "\n".join(lines) + "\n"


def main() -> None:
    path = ROOT / PAGE
    path.write_text(numbered(path.read_text(encoding="utf-8")), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
