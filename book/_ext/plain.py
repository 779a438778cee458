"""Chapters are written in plain Markdown, which Jupyter, GitHub and Colab show as it is meant; here Sphinx learns it.

    \\tag{3}                                    in a displayed formula: its number, counted from 1 in each chapter
    [(3)](#eq-3)   [(3)](actions.ipynb#eq-3)   a reference to it, from the same or from another chapter
    **Figure 2.** What is to be seen.          a paragraph below a picture: its caption
    [Figure 2](#fig-2)                         a reference to it; as with formulas, also from another chapter
    [the thesis](references.md#ortolan)        a citation: any words, and the key of the entry in references.bib
    [`03_dexpinv`](../exercises/03_dexpinv/03_dexpinv.ipynb)     an assignment, for download from the page

Answers fold by `<details>`, links to chapters are relative (`rkmk.ipynb`); neither needs anything from here.
"""

from __future__ import annotations

import json
import re
from pathlib import PurePosixPath
from typing import Any

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.docutils import SphinxRole
from sphinx.util.nodes import make_refnode

DISPLAY = re.compile(r"^(?P<in>[ \t]*)\$\$(?P<tex>.+?)\$\$[ \t]*$", re.MULTILINE | re.DOTALL)
TAG = re.compile(r"\s*\\tag\{(\d+)\}")
EQUATION = re.compile(r"\[\((\d+)\)\]\((?:([\w-]+)\.ipynb)?#eq-\1\)")
FIGURE = re.compile(r"\]\((?:([\w-]+)\.ipynb)?#fig-(\d+)\)")
CAPTION = re.compile(r"^(?=\*\*Figure (\d+)\.\*\*)", re.MULTILINE)
CITATION = re.compile(r"\[([^\[\]]+)\]\(references\.md#([\w-]+)\)")
EXERCISE = re.compile(r"\[([^\[\]]+)\]\((\.\./exercises/\w+/\w+\.ipynb)\)")


def translate(text: str, chapter: str) -> str:
    """The Markdown of a cell with what Sphinx needs to number and to link."""

    def display(found: re.Match[str]) -> str:
        tag = TAG.search(found["tex"])
        if not tag:
            return found[0]
        tex = TAG.sub("", found["tex"])
        return f"{found['in']}$${tex}$$ ({chapter}-eq-{tag[1]})"

    text = DISPLAY.sub(display, text)
    text = EQUATION.sub(lambda m: f"{{eq}}`{m[2] or chapter}-eq-{m[1]}`", text)
    text = FIGURE.sub(lambda m: f"](#{m[1] or chapter}-fig-{m[2]})", text)
    text = CAPTION.sub(lambda m: f"{{#{chapter}-fig-{m[1]} .caption}}\n", text)
    text = CITATION.sub(r"{bibref}`\1 <\2>`", text)
    return EXERCISE.sub(r'<a href="\2" download>\1</a>', text)


def read(app: Sphinx, docname: str, content: list[str]) -> None:
    chapter = PurePosixPath(docname).name
    if str(app.env.doc2path(docname)).endswith(".md"):
        content[0] = translate(content[0], chapter)
        return
    notebook = json.loads(content[0])
    for cell in notebook["cells"]:
        if cell["cell_type"] == "markdown":
            cell["source"] = translate("".join(cell["source"]), chapter)
    content[0] = json.dumps(notebook)


class BibRef(SphinxRole):
    """`text <key>`: the text, linked to an entry of the bibliography."""

    def run(self) -> tuple[list[nodes.Node], list[nodes.system_message]]:
        text, _, key = self.text.removesuffix(">").rpartition(" <")
        node = pending_xref("", refdomain="", reftype="bibref", reftarget=key, refwarn=True)
        node["refdoc"] = self.env.docname
        node += nodes.inline("", text, classes=["bibref"])
        self.set_source_info(node)
        return [node], []


def resolve(
    app: Sphinx, env: BuildEnvironment, node: pending_xref, content: nodes.TextElement
) -> nodes.reference | None:
    if node["reftype"] != "bibref":
        return None
    for entry in env.get_domain("cite").citations:
        if entry.key == node["reftarget"]:
            where, label = entry.bibliography_key.docname, entry.citation_id
            return make_refnode(app.builder, node["refdoc"], where, label, content)
    return None  # Sphinx warns, and the strict build fails


def shows(node: nodes.Node) -> bool:
    """Whether there is a picture in it, or a widget or film in its static form."""
    return any(
        isinstance(n, nodes.image) or (isinstance(n, nodes.raw) and "<img" in n.astext())
        for n in node.findall()
    )


def keep_together(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """A caption goes into one box with the picture above it, which no end of a page may part."""
    if app.builder.format != "html":
        return
    for caption in list(doctree.findall(nodes.paragraph)):
        if "caption" not in caption["classes"]:
            continue
        above = caption.parent[: caption.parent.index(caption)]
        box = above[-1] if above and shows(above[-1]) else None
        while box is not None and "kept" not in box["classes"]:
            first = max(i for i, child in enumerate(box) if shows(child))
            if not isinstance(box[first], nodes.container) or not box[first]["classes"]:
                box[first:] = [nodes.container("", *box[first:], classes=["kept"])]
            box = box[first]
        if box is not None:
            caption.parent.remove(caption)
            box += caption


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("source-read", read)
    app.connect("doctree-resolved", keep_together)
    app.add_role("bibref", BibRef())
    app.connect("missing-reference", resolve)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
