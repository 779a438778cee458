"""Alt texts for the pictures of the chapters, and a still picture behind every widget.

`lielab.plotting.show` and `lielab.explore.explore` store a picture together with a plain text that
says what it shows. myst-nb would pick one form of an output and drop the rest; before it does, this

- copies the plain text into the image's `alt`, unless it is a repr such as `<Figure size ...>`;
- keeps the picture of a widget as an image of class `lielab-still`, which `custom.css` hides as soon
  as the widget has come to life: it is what readers without JavaScript, and printers, get.
"""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform

WIDGET = "application/vnd.jupyter.widget-view+json"


class KeepAltAndStill(SphinxPostTransform):
    default_priority = 3  # myst-nb selects the form of an output at 4

    def run(self, **kwargs: Any) -> None:
        for bundle in list(self.document.findall(nodes.container)):
            if bundle.get("nb_element") != "mime_bundle":
                continue
            forms = {child["mime_type"]: child for child in bundle.children}
            picture = next(iter(forms.get("image/png", bundle).findall(nodes.image)), None)
            if picture is None:
                continue
            text = forms["text/plain"].astext().strip() if "text/plain" in forms else ""
            if text and not text.startswith("<"):
                picture.attributes.setdefault("alt", " ".join(text.split()))
            if WIDGET in forms and self.app.builder.format == "html":
                still = picture.deepcopy()
                still["classes"].append("lielab-still")
                bundle.parent.insert(bundle.parent.index(bundle) + 1, still)


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_post_transform(KeepAltAndStill)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
