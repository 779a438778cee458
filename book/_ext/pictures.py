"""Alt texts for the pictures of the chapters, and widgets and animations in their static form.

`lielab.plotting.show` and `lielab.explore.explore` store a picture together with a plain text that
says what it shows. myst-nb would pick one form of an output and drop the rest; before it does, this

- copies the plain text into the image's `alt`, unless it is a repr such as `<Figure size ...>`;
- replaces the widgets of `explore` and the animations by what `widgets` makes of them.
"""

from __future__ import annotations

import json
from typing import Any

from docutils import nodes
from myst_nb.sphinx_ import NbMetadataCollector
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util import logging
from widgets import Files, animation, explorer

WIDGET = "application/vnd.jupyter.widget-view+json"
log = logging.getLogger(__name__)


class StaticForms(SphinxPostTransform):
    default_priority = 3  # myst-nb selects the form of an output at 4

    def run(self, **kwargs: Any) -> None:
        files, state = Files(self.app, self.env.docname), self.state()
        for bundle in list(self.document.findall(nodes.container)):
            if bundle.get("nb_element") != "mime_bundle":
                continue
            forms = {child["mime_type"]: child for child in bundle.children}
            picture = next(iter(forms.get("image/png", bundle).findall(nodes.image)), None)
            if picture is not None:
                self.name(picture, forms)
            if self.app.builder.format == "html":
                self.make_static(bundle, forms, state, files)

    def state(self) -> dict[str, Any]:
        """The page's models of widgets, as the kernel left them."""
        scripts = NbMetadataCollector.get_js_files(self.env, self.env.docname)
        _, script = scripts.get("ipywidgets_state", (None, {"body": "{}"}))
        return json.loads(script["body"]).get("state", {})

    @staticmethod
    def name(picture: nodes.image, forms: dict[str, nodes.container]) -> None:
        text = forms["text/plain"].astext().strip() if "text/plain" in forms else ""
        if text and not text.startswith("<"):
            picture.attributes.setdefault("alt", " ".join(text.split()))

    @staticmethod
    def make_static(
        bundle: nodes.container, forms: dict[str, Any], state: dict[str, Any], files: Files
    ) -> None:
        if WIDGET in forms:
            script = forms[WIDGET].astext()
            model = json.loads(script[script.index("{") : script.rindex("}") + 1])["model_id"]
            static = explorer(state, model, files)
            if static is None:
                log.warning("a widget other than lielab.explore's stands still in the page")
                forms[WIDGET].parent.remove(forms[WIDGET])
                return
        elif "text/html" in forms and "lielab-animation" in forms["text/html"].astext():
            static = animation(forms["text/html"].astext(), files)
        else:
            return
        bundle.replace_self(nodes.raw("", static, format="html", classes=["lielab-output"]))


def drop_state(
    app: Sphinx, pagename: str, templatename: str, context: dict[str, Any], doctree: object
) -> None:
    """The state of the widgets, every picture of them, stays out of the page."""
    kind = "application/vnd.jupyter.widget-state+json"
    context["script_files"] = [
        script
        for script in context.get("script_files", [])
        if getattr(script, "attributes", {}).get("type") != kind
    ]


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_post_transform(StaticForms)
    app.connect("html-page-context", drop_state, priority=900)  # after myst-nb has added it
    return {"version": "2", "parallel_read_safe": True, "parallel_write_safe": True}
