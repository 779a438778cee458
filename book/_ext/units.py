"""A number and its unit stay on one line: the space between them is one that does not break."""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

UNIT = r"(?:N m|[nµm]?s|kg|[cm]?m|N|J|W|rad|Hz|[kMG]i?B|%)(?!\w)"
AFTER_NUMBER = re.compile(rf"(?<=\d) {UNIT}")
AFTER_FORMULA = re.compile(rf"^ {UNIT}")
AS_IT_STANDS = (nodes.literal, nodes.FixedTextElement, nodes.raw, nodes.math, nodes.math_block)


def joined(text: str, after_formula: bool) -> str:
    def join(found: re.Match[str]) -> str:
        return found[0].replace(" ", "\N{NO-BREAK SPACE}")

    if after_formula:
        text = AFTER_FORMULA.sub(join, text)
    return AFTER_NUMBER.sub(join, text)


class Units(SphinxTransform):
    default_priority = 850

    def apply(self, **_: Any) -> None:
        for text in list(self.document.findall(nodes.Text)):
            parent = text.parent
            if isinstance(parent, AS_IT_STANDS):
                continue
            place = parent.index(text)
            after_formula = place > 0 and isinstance(parent[place - 1], nodes.math)
            if (new := joined(str(text), after_formula)) != text:
                parent.replace(text, nodes.Text(new))


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_transform(Units)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
