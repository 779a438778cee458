"""What this book needs from Sphinx beyond Jupyter Book's own settings.

sphinx-thebe puts an inline `const THEBE_JS_URL = ...` on every page, some pages get it twice, and the
second declaration is a JavaScript error. The book offers Binder and Colab instead of Thebe, so its
scripts go.
"""

from __future__ import annotations

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


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("html-page-context", drop_thebe, priority=900)  # after everybody has added scripts
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
