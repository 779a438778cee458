"""Every term of the glossary is an entry of the index, so that the search finds its definition before anything else.

The glossary is plain Markdown (`**term**`, next line `: what it means`). A term of
several names (`**hat, vee**`) is found under each.
"""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

PAGE = "book/glossary"


class Terms(SphinxTransform):
    """Gives each term an id and main entries of the index."""

    default_priority = 800  # before the index domain collects its entries

    def apply(self, **_: Any) -> None:
        if self.env.docname != PAGE:
            return
        for term in self.document.findall(nodes.term):
            name = nodes.make_id("term-" + term.astext())
            term["ids"].append(name)
            found = [("single", one, name, "main", None) for one in names(term.astext())]
            term.insert(0, addnodes.index(entries=found))


def names(term: str) -> list[str]:
    """`"hat, vee"` -> `["hat", "vee"]`."""
    return [one.strip() for one in term.split(", ")]


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_transform(Terms)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
