"""Pages that open quickly: what the theme brings and nobody needs is taken out when the pages have been written.

- Icons: the theme sends every icon of Font Awesome (1.5 MB) as a script. The twenty that the pages show become a
  style sheet, drawn from that script's own data, so that they are there with the first paint (and its fonts, 275 kB,
  are not asked for).
- Scripts in the head wait until the page has been read; the search's are loaded by its page only.
- Pictures below the first screen are fetched when they come near; each has its size, so that nothing jumps.
"""

from __future__ import annotations

import re
import struct
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sphinx.application import Sphinx

ICON = re.compile(r'class="[^"]*\bfa(?:-solid|-brands|-regular|s|b|r)\b[^"]*"')
ICON_STYLE = """\
:is(.fa-solid, .fa-brands, .fa-regular, .fas, .fab, .far) {
  display: inline-block; width: 1em; height: 1em; vertical-align: -0.125em;
  background: currentColor; mask: var(--icon) center / contain no-repeat; forced-color-adjust: none; }
:is(.fa-solid, .fa-brands, .fa-regular, .fas, .fab, .far)::before { content: none !important; }
.fa-lg { font-size: 1.25em; }
"""
SCRIPT = re.compile(r'<script (?P<rest>[^>]*\bsrc="(?P<src>[^"]+)"[^>]*)></script>\n?')
PRELOAD = re.compile(r'<link rel="preload" as="script"[^>]*/>\n?')
SEARCH = ("searchtools.js", "language_data.js", "searchindex.js")
FIRST = "documentation_options.js"  # a constant that inline scripts of the head need at once
IMAGE = re.compile(r'<img [^>]*\bsrc="(?P<src>[^":]+\.png)"[^>]*>')


def icons(names: set[str], data: str) -> str:
    """A style sheet with the named icons, from the text of the theme's script."""
    rules = [ICON_STYLE]
    for name in sorted(names):
        entry = rf'[,{{]"?{re.escape(name)}"?:\[(\d+),(\d+),\[[^\]]*\],"\w+","([^"]+)"\]'
        found = re.findall(entry, data)
        if found:
            width, height, path = found[-1]  # regular ones come before solid ones of the same name
            svg = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}"><path d="{path}"/></svg>'
            rules.append(f'.fa-{name} {{ --icon: url("data:image/svg+xml,{quote(svg)}"); }}\n')
    return "".join(rules)


def icon_names(page: str) -> set[str]:
    return {name for mark in ICON.findall(page) for name in re.findall(r"\bfa-([\w-]+)", mark)}


def _script(found: re.Match[str], page: str) -> str:
    source, rest = found["src"], found["rest"]
    if "fontawesome" in source or "sphinx-thebe" in source:
        return ""
    if page != "search.html" and any(name in source for name in SEARCH):
        return ""
    if FIRST in source or re.search(r"\b(?:async|defer)\b", rest):
        return found[0]
    return f"<script defer {rest}></script>\n"


def png_size(file: Path) -> tuple[int, int]:
    with file.open("rb") as opened:
        head = opened.read(24)
    return struct.unpack(">II", head[16:24])


def _image(found: re.Match[str], page: Path, first: bool) -> str:
    mark = found[0]
    file = page.parent / found["src"]
    if not first and "loading=" not in mark:
        mark = mark.replace("<img ", '<img loading="lazy" ')
    if not re.search(r'\bheight="', mark) and file.is_file():
        width, height = png_size(file)
        shown = re.search(r"\bwidth: (\d+)(?:px)?;", mark)
        scale = int(shown[1]) / width if shown else 1.0
        mark = mark.replace(
            "<img ", f'<img width="{width * scale:.0f}" height="{height * scale:.0f}" '
        )
    return mark


def lighten(text: str, page: Path, root: Path) -> str:
    name = page.relative_to(root).as_posix()
    text = PRELOAD.sub("", SCRIPT.sub(lambda found: _script(found, name), text))
    depth = "../" * name.count("/")
    sheet = f'<link rel="stylesheet" href="{depth}_static/icons.css" />\n  </head>'
    text = text.replace("</head>", sheet, 1)
    count = 0

    def image(found: re.Match[str]) -> str:
        nonlocal count
        count += 1
        return _image(found, page, first=count == 1)

    return IMAGE.sub(image, text)


def finish(app: Sphinx, error: Exception | None) -> None:
    if error or app.builder.format != "html":
        return
    root = Path(app.outdir)
    names: set[str] = set()
    for page in root.rglob("*.html"):
        if "_static" in page.relative_to(root).parts:
            continue
        text = page.read_text(encoding="utf-8")
        names |= icon_names(text)
        page.write_text(lighten(text, page, root), encoding="utf-8", newline="\n")
    data = (root / "_static/scripts/fontawesome.js").read_text(encoding="utf-8")
    (root / "_static/icons.css").write_text(icons(names, data), encoding="utf-8", newline="\n")
    for unused in ("scripts/fontawesome.js", "scripts/fontawesome.js.map"):
        (root / "_static" / unused).unlink(missing_ok=True)


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("build-finished", finish)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
