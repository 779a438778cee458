"""The widgets and films of the chapters in the static page: small files fetched when needed, moved by `page.js`.

In a notebook `lielab.explore` is an ipywidgets box, and its manager weighs 4.4 MB, more than ten chapters. Every
picture of such a box is there already, so the page gets native controls (a range, radio buttons, a list), the first
picture, and the names of the others, which are fetched when a control moves. The film of an animation is fetched
when it comes into view. Files are named by their contents and lie in `_frames`.
"""

from __future__ import annotations

import base64
import hashlib
import html
import itertools
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.util.osutil import relative_uri

FOLDER = "_frames"
PICTURE = re.compile(r'<img alt="(?P<alt>[^"]*)" width="(?P<width>\d+)" height="(?P<height>\d+)"')
DATA = re.compile(r"data:image/png;base64,([A-Za-z0-9+/=]+)")
FILM = re.compile(r"(?P<before>;)background-image:url\((?P<url>[^)]+)\)(?P<after>\")")


class Files:
    """Pictures that become files of the site, once each."""

    def __init__(self, app: Sphinx, docname: str) -> None:
        self.folder = Path(app.outdir) / FOLDER
        self.address = relative_uri(app.builder.get_target_uri(docname), FOLDER + "/")

    def keep(self, encoded: str) -> str:
        """The name of a picture, given in base64."""
        data = base64.b64decode(encoded)
        name = hashlib.sha256(data).hexdigest()[:16] + ".png"
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / name).write_bytes(data)
        return name


def _options(control: dict[str, Any]) -> list[str]:
    return control["_options_labels"]


def _child(state: dict[str, Any], name: str) -> dict[str, Any]:
    model = state[name.removeprefix("IPY_MODEL_")]
    return {"kind": model["model_name"], **model["state"]}


def _pictures(state: dict[str, Any], box: dict[str, Any]) -> Iterator[str]:
    """The HTML of all pictures of nested stacks, in the order of `explore`'s frames."""
    for name in box["children"]:
        child = _child(state, name)
        if child["kind"] == "StackModel":
            yield from _pictures(state, child)
        else:
            yield child["value"]


def _control(kind: str, name: str, label: str, options: list[str], start: int) -> str:
    label, shown = html.escape(label), [html.escape(option) for option in options]
    if kind == "SelectionSliderModel":
        return (
            f'<div class="control"><label for="{name}">{label}</label>'
            f'<input type="range" id="{name}" min="0" max="{len(options) - 1}" value="{start}" '
            f'aria-valuetext="{shown[start]}" autocomplete="off">'
            f'<output for="{name}">{shown[start]}</output></div>'
        )
    if kind == "ToggleButtonsModel":
        buttons = "".join(
            f'<label><input type="radio" name="{name}" value="{n}" autocomplete="off"'
            f"{' checked' * (n == start)}>{option}</label>"
            for n, option in enumerate(shown)
        )
        return f'<fieldset class="control"><legend>{label}</legend>{buttons}</fieldset>'
    items = "".join(
        f'<option value="{n}"{" selected" * (n == start)}>{option}</option>'
        for n, option in enumerate(shown)
    )
    return (
        f'<div class="control"><label for="{name}">{label}</label>'
        f'<select id="{name}" autocomplete="off">{items}</select></div>'
    )


def explorer(state: dict[str, Any], model: str, files: Files) -> str | None:
    """The static form of the box of `lielab.explore` with that model; None for any other widget."""
    if model not in state:
        return None
    box = _child(state, model)
    if "lielab-explore" not in box.get("_dom_classes", ()):
        return None
    children = [_child(state, name) for name in box["children"]]
    (stack,) = (child for child in children if child["kind"] == "StackModel")
    controls = [child for child in children if "_options_labels" in child]
    frames = []
    for picture in _pictures(state, stack):
        head = PICTURE.match(picture)
        frames.append([files.keep(DATA.search(picture)[1]), html.unescape(head["alt"])])
    sizes = [len(_options(control)) for control in controls]
    starts = [control["index"] for control in controls]
    first = list(itertools.product(*map(range, sizes))).index(tuple(starts))
    data = {
        "frames": frames,
        "options": [_options(control) for control in controls],
        "folder": files.address,
    }
    shown = "".join(
        _control(c["kind"], f"w{model[:8]}-{n}", c["description"], _options(c), c["index"])
        for n, c in enumerate(controls)
    )
    name, alt = frames[first]
    live = any("lielab-live" in child.get("_dom_classes", ()) for child in children)
    note = "Opened in Binder or JupyterLab, it takes any value and computes at once."
    body = json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("</", "<\\/")
    return (
        f'<div class="lielab-explore"><div class="controls">{shown}</div>'
        f'<img alt="{html.escape(alt)}" width="{head["width"]}" height="{head["height"]}" '
        f'src="{files.address}{name}" loading="lazy">'
        f'<p class="spoken" aria-live="polite"></p>'
        + f'<p class="live-note">{note}</p>' * live
        + f'<script type="application/json">{body}</script></div>'
    )


def animation(source: str, files: Files) -> str:
    """An animation of `lielab.animate` with its pictures as files, its film fetched by `page.js` when it is seen."""
    source = DATA.sub(lambda found: files.address + files.keep(found[1]), source)
    source = source.replace("<img ", '<img loading="lazy" ')
    return FILM.sub(r'\g<after> data-film="\g<url>\g<after>', source)
