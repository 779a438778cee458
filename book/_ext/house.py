"""What this book needs from Sphinx beyond Jupyter Book's own settings.

- sphinx-thebe puts an inline `const THEBE_JS_URL = ...` on every page, some pages get it twice, and the
  second declaration is a JavaScript error. The book offers Binder and Colab instead, so its scripts go.
- Docstrings of `lielab` are plain text for readers of the source: `|u|` is a norm there, `*` a product,
  and an indented line is a formula. The API page shows them as they stand instead of parsing them.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import Any

from sphinx.application import Sphinx


def _is_thebe(script: object) -> bool:
    body = getattr(script, "attributes", {}).get("body") or ""
    name = str(getattr(script, "filename", script) or "")
    return body.startswith("const THEBE_JS_URL") or name.endswith("sphinx-thebe.js")


def drop_thebe(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: object
) -> None:
    context["script_files"] = [s for s in context.get("script_files", []) if not _is_thebe(s)]


def _escape(text: str) -> str:
    """Plain text as reStructuredText; what stands between backticks becomes code."""
    out = ""
    for piece in re.split(r"(``.+?``|`[^`]+`)", text, flags=re.DOTALL):
        code = piece.strip("`").strip()
        if piece.startswith("`") and piece.endswith("`") and code:
            out += f"``{code}``"
        else:
            # An empty escape ends a literal where a letter follows at once.
            joint = "\\ " if out.endswith("``") and re.match(r"\w", piece) else ""
            out += joint + re.sub(r"([\\*|_<>`])", r"\\\1", piece)
    return out


def _paragraph(lines: list[str]) -> list[str]:
    """One paragraph: flowing text, a list, a formula or example, or lines whose breaks count."""
    indents = [len(line) - len(line.lstrip()) for line in lines]
    if min(indents) >= 4:
        return ["::", "", *lines]
    if len(lines) > 1 and re.fullmatch(r"\s*[-=]{3,}\s*", lines[1]):  # a heading
        return [f"**{lines[0].strip()}**", "", *_paragraph(lines[2:])] if lines[2:] else []
    if lines[-1].endswith("::"):
        lines[-1] = lines[-1][:-1]
    if re.match(r"[-*] ", lines[0]):
        items = re.split(r"\n(?=[-*] )", "\n".join(lines))
        return ["- " + _escape(" ".join(item[2:].split())) for item in items]
    if len(set(indents)) == 1:
        return _escape("\n".join(line.strip() for line in lines)).split("\n")
    return ["| " + _escape(line) for line in lines]


def plain_docstring(
    app: Sphinx, what: str, name: str, obj: object, options: object, lines: list[str]
) -> None:
    paragraphs, current = [], []
    for line in [*lines, ""]:
        if line.strip():
            current.append(line.rstrip())
        elif current:
            paragraphs.append(current)
            current = []
    lines[:] = [line for part in paragraphs for line in [*_paragraph(part), ""]]


def skip_bare_values(
    app: Sphinx, what: str, name: str, obj: object, skip: bool, options: object
) -> bool | None:
    """A class attribute that is a value would show the docstring of its type (`dict`, `ndarray`)."""
    if callable(obj) or isinstance(obj, (property, cached_property)):
        return None
    return True if getattr(obj, "__doc__", None) == type(obj).__doc__ else None


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("html-page-context", drop_thebe, priority=900)  # after everybody has added scripts
    app.connect("autodoc-process-docstring", plain_docstring)
    app.connect("autodoc-skip-member", skip_bare_values)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
