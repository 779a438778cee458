"""Pages that open quickly: what the theme brings and nobody needs is taken out when the pages have been written.

- Icons: the theme sends every icon of Font Awesome (1.5 MB) as a script. The twenty that the pages show become a
  style sheet, drawn from that script's own data, so that they are there with the first paint (and its fonts, 275 kB,
  are not asked for).
- Style sheets become one (`bundle.py`), the only thing that the first paint waits for; scripts in the page stand before
  it, since after it they, and with them the reading of the page, would wait for it.
- Scripts become one, which waits until the page has been read and begins with ours; a page's own and the search's stay
  files that only these pages load. MathJax is fetched meanwhile; `formulas.js` starts it after the first paint.
- Pictures below the first screen are fetched when they come near; each has its size, so that nothing jumps.
"""

from __future__ import annotations

import hashlib
import re
import struct
from pathlib import Path
from typing import Any
from urllib.parse import quote

import bundle
from sphinx.application import Sphinx

ICONS = "_static/icons.css"
ICON = re.compile(r'class="[^"]*\bfa(?:-solid|-brands|-regular|s|b|r)\b[^"]*"')
ICON_STYLE = """\
:is(.fa-solid, .fa-brands, .fa-regular, .fas, .fab, .far) {
  display: inline-block; width: 1em; height: 1em; vertical-align: -0.125em;
  background: currentColor; mask: var(--icon) center / contain no-repeat; forced-color-adjust: none; }
:is(.fa-solid, .fa-brands, .fa-regular, .fas, .fab, .far)::before { content: none !important; }
.fa-lg { font-size: 1.25em; }
"""
HEAD = re.compile(r"<head>.*?</head>", re.DOTALL)
SCRIPT = re.compile(
    r"[ \t]*<script(?P<rest>(?![^>]*json)[^>]*)>(?P<body>.*?)</script>\n?", re.DOTALL
)
SOURCE = re.compile(r'\bsrc="([^"?]+)(?:\?[^"]*)?"')
SHEET = re.compile(r'[ \t]*<link\b[^>]*\brel="stylesheet"[^>]*>\n?')
HREF = re.compile(r'\bhref="([^"?]+)')
PRELOAD = re.compile(r'<link rel="preload" as="script"[^>]*/>\n?')
NEVER = ("fontawesome", "sphinx-thebe")  # in the name of a script
SEARCH = ("searchtools.js", "language_data.js", "searchindex.js", "search.js")
OWN = {"pendulum.js": "lielab-live-demo", "atlas.js": 'id="all-methods"'}  # what their pages hold
OURS = ("page.js", "formulas.js")  # come first
FIRST = "documentation_options.js"  # a constant that inline scripts of the head need at once
THEBE = ("x-thebe-config", "kernelName =")  # a service that the book does not use
FORMULA = re.compile(r'class="math\b')
MATHJAX = '<link rel="preload" as="script" fetchpriority="low" id="mathjax" href="{}" />\n'
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


def _order(file: Path) -> int:
    return OURS.index(file.name) if file.name in OURS else len(OURS)


class Files:
    """The one sheet and the one script that stand for those of a page; named by their contents, written once."""

    def __init__(self, root: Path, known: set[str]) -> None:
        self.root, self.known = root, known
        self.made: dict[tuple[Path, ...], str] = {}

    def one(self, files: list[Path], ending: str) -> str:
        """Address, from the top of the site, of the files put together."""
        key = tuple(files)
        if key not in self.made:
            css = ending == "css"
            text = bundle.sheet(files, self.root, self.known) if css else bundle.script(files)
            name = f"_static/book.{hashlib.sha256(text.encode()).hexdigest()[:12]}.{ending}"
            (self.root / name).write_text(text, encoding="utf-8", newline="\n")
            self.made[key] = name
        return self.made[key]


def _wanted(source: str, text: str, page: str) -> bool:
    """Whether a page needs a script of that address."""
    if any(name in source for name in NEVER):
        return False
    if any(name in source for name in SEARCH):
        return page == "search.html"
    return OWN.get(source.rpartition("/")[2], "") in text


def _collect(text: str, page: Path, root: Path, files: Files) -> str:
    """The page with one sheet and one script in its head."""
    name = page.relative_to(root).as_posix()
    up = "../" * name.count("/")
    inline: list[str] = []
    common: list[Path] = []
    own: list[str] = []
    mathjax = ""

    def take(found: re.Match[str]) -> str:
        nonlocal mathjax
        source = SOURCE.search(found["rest"])
        if source is None:
            if any(mark in found[0] for mark in THEBE):
                return ""
            if found.start() > end:
                return found[0]
            inline.append(found[0].strip() + "\n")
        elif "mathjax" in source[1]:
            mathjax = MATHJAX.format(source[1]) if FORMULA.search(text) else ""
        elif not _wanted(source[1], text, name):
            pass
        elif source[1].endswith(FIRST):
            body = (page.parent / source[1]).read_text(encoding="utf-8").strip()
            inline.append(f"<script>{body}</script>\n")
        elif source[1].endswith((*OWN, *SEARCH)):
            own.append(f'<script defer src="{source[1]}"></script>\n')
        else:
            common.append((page.parent / source[1]).resolve())
        return ""

    if not (head := HEAD.search(text)):
        return text  # the page of pages that are not there
    end = head.end()
    text = SCRIPT.sub(take, text)
    head = HEAD.search(text)
    sheets = [(page.parent / HREF.search(link)[1]).resolve() for link in SHEET.findall(head[0])]
    if not sheets:
        return text  # a page that only forwards
    sheets.append(root.resolve() / ICONS)
    script = files.one(sorted(common, key=_order), "js")
    new = "".join(
        [
            *inline,
            f'<link rel="stylesheet" href="{up}{files.one(sheets, "css")}" />\n',
            f'<script defer src="{up}{script}"></script>\n',
            *own,
            mathjax,
        ]
    )
    rest = SHEET.sub("", PRELOAD.sub("", head[0])).removesuffix("</head>")
    return text[: head.start()] + rest + new + "</head>" + text[head.end() :]


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


def lighten(text: str, page: Path, root: Path, files: Files) -> str:
    text = _collect(text, page, root, files)
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
    static = root / "_static"
    for old in static.glob("book.*"):  # of an earlier build
        old.unlink()
    places = (page for page in root.rglob("*.html") if static not in page.parents)
    pages = {page: page.read_text(encoding="utf-8") for page in places}
    data = (static / "scripts/fontawesome.js").read_text(encoding="utf-8")
    names = set().union(*map(icon_names, pages.values()))
    (root / ICONS).write_text(icons(names, data), encoding="utf-8", newline="\n")
    for unused in ("scripts/fontawesome.js", "scripts/fontawesome.js.map"):
        (static / unused).unlink(missing_ok=True)
    scripts = [file.read_text(encoding="utf-8") for file in static.rglob("*.js")]
    files = Files(root, bundle.words([*pages.values(), *scripts]))
    for page, text in pages.items():
        page.write_text(lighten(text, page, root, files), encoding="utf-8", newline="\n")


def setup(app: Sphinx) -> dict[str, Any]:
    # Late: the theme writes its colours of code at the same moment.
    app.connect("build-finished", finish, priority=900)
    return {"version": "2", "parallel_read_safe": True, "parallel_write_safe": True}
