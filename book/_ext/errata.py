"""The errata appendix: every paragraph of a chapter that begins with **Erratum: paper number.**, by paper.

The check stands in the chapter, in the cell below the paragraph, tagged `erratum`; here are the findings and links.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from plain import translate
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

HEAD = re.compile(r"\*\*Erratum: (?P<paper>\w+) (?P<number>\w+)\.\*\*\s*")


def found(book: Path) -> list[tuple[str, str, str, str]]:
    """(paper, number, text, name of the chapter) of all errata in the chapters of a folder."""
    entries = []
    for chapter in sorted(book.glob("*.ipynb")):
        for cell in json.loads(chapter.read_text(encoding="utf-8"))["cells"]:
            source = "".join(cell["source"])
            if cell["cell_type"] != "markdown":
                continue
            for paragraph in source.split("\n\n"):
                head = HEAD.match(paragraph)
                if head:
                    entries.append(
                        (head["paper"], head["number"], paragraph[head.end() :], chapter.stem)
                    )
    return sorted(entries, key=lambda e: (e[0], e[1][0], int(re.sub(r"\D", "", e[1]) or 0)))


class Errata(SphinxDirective):
    """`{errata} paper`: the list of one paper's errata, with links to their checks."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        book = Path(self.env.doc2path(self.env.docname)).parent
        lines: list[str] = []
        for paper, number, text, chapter in found(book):
            self.env.note_dependency(str(book / f"{chapter}.ipynb"))
            if paper == self.arguments[0]:
                link = f"Checked in [](./{chapter}.ipynb)."
                words = translate(" ".join(text.split()), chapter)
                lines += [f"**{number}.** {words} {link}", ""]
        node = nodes.container()
        self.state.nested_parse(
            StringList(lines, source=self.env.docname), self.content_offset, node
        )
        return node.children


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("errata", Errata)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
