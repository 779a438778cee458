"""The front page's map of the chapters; version and date; what search engines, previews and lost readers get.

```{map}
```         every part of `_toc.yml` as a table: chapter, time, what it needs, as the chapter says at its top:
            *60 minutes. Needs linear algebra.*
{{version}}, {{date}}      of the package, and of the last commit (or today)
"""

from __future__ import annotations

import datetime
import html
import json
import re
import subprocess
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

import yaml
from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

import lielab

TOP = re.compile(r"^\*(\d+) minutes\. (?:Needs )?([^*]+?)\.?\*$", re.MULTILINE | re.DOTALL)
PICTURE = "_static/readme.png"
ABOUT = (
    "A textbook you can run: integrators that keep the geometry of mechanical systems, with widgets in every chapter, "
    "graded exercises and a small fast Python package."
)
LOST = """\
<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>No such page</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="robots" content="noindex">
<style>body {{ font: 1.1rem/1.6 system-ui, sans-serif; margin: 15vh auto; max-width: 34rem; padding: 0 1rem;
color-scheme: light dark; }}</style></head>
<body><h1>There is no such page</h1><p>The state has left the manifold. The book's pages move when chapters are
renamed; try <a href="{home}book/intro.html">the front page</a> or <a href="{home}search.html">the search</a>.</p>
</body></html>
"""


def date(root: Path) -> str:
    command = ["git", "-C", str(root), "log", "-1", "--format=%cs"]
    done = subprocess.run(command, capture_output=True, text=True)
    day = done.stdout.strip() or datetime.date.today().isoformat()
    return f"{datetime.date.fromisoformat(day):%d %B %Y}".lstrip("0")


def top(chapter: Path) -> tuple[str, str]:
    """Minutes and prerequisites, as a chapter says at its top."""
    cells = json.loads(chapter.read_text(encoding="utf-8"))["cells"]
    found = TOP.search("".join(cells[0]["source"]))
    return (f"{found[1]} min", " ".join(found[2].split())) if found else ("", "")


class Map(SphinxDirective):
    """`{map}`: the chapters by parts, each with its time and what it needs."""

    def run(self) -> list[nodes.Node]:
        root = Path(self.env.srcdir)
        toc = yaml.safe_load((root / "_toc.yml").read_text(encoding="utf-8"))
        lines: list[str] = []
        for part in toc["parts"]:
            lines += [f"| {part['caption']} | time | needs |", "|---|---|---|"]
            for entry in part["chapters"]:
                chapter = root / (entry["file"] + ".ipynb")
                time, needs = top(chapter) if chapter.is_file() else ("", "")
                page = chapter if chapter.is_file() else chapter.with_suffix(".md")
                self.env.note_dependency(str(page))
                lines.append(f"| [](./{page.name}) | {time} | {needs} |")
            lines.append("")
        node = nodes.container(classes=["map"])
        source = StringList(lines, source=self.env.docname)
        self.state.nested_parse(source, self.content_offset, node)
        return [node]


def configure(app: Sphinx, config: Any) -> None:
    config.version = config.release = lielab.__version__
    known = {"version": lielab.__version__, "date": date(Path(app.srcdir))}
    config.myst_substitutions = {**config.myst_substitutions, **known}


def description(doctree: nodes.document | None) -> str:
    """The first paragraph of words of a page, cut at a sentence."""
    if doctree is not None:
        for paragraph in doctree.findall(nodes.paragraph):
            if paragraph.next_node(nodes.math) or TOP.match(f"*{paragraph.astext()}*"):
                continue
            text = " ".join(paragraph.astext().split())
            if len(text) > 60:
                return text if len(text) <= 200 else text[:200].rsplit(" ", 1)[0] + " ..."
    return ABOUT


def share(app: Sphinx, pagename: str, template: str, context: dict[str, Any], doctree: Any) -> None:
    """What a search result and a preview card show, and a line with version, date and index at the foot."""
    base, about = app.config.html_baseurl, html.escape(description(doctree))
    title = html.escape(re.sub("<[^>]*>", "", context.get("title", "")) or app.config.html_title)
    card = {
        "og:type": "article",
        "og:site_name": html.escape(app.config.html_title),
        "og:title": title,
        "og:description": about,
        "og:url": urljoin(base, context.get("pageurl") or f"{pagename}.html"),
        "og:image": urljoin(base, PICTURE),
    }
    tags = [f'<meta name="description" content="{about}" />']
    tags += [f'<meta property="{name}" content="{value}" />' for name, value in card.items()]
    tags.append('<meta name="twitter:card" content="summary_large_image" />')
    context["metatags"] = context.get("metatags", "") + "\n    ".join(["", *tags])
    known, to = app.config.myst_substitutions, context["pathto"]
    context["theme_extra_footer"] = (
        f"<p>Version {known['version']}, {known['date']}. "
        f'<a href="{to("book/cite")}">How to cite</a>, <a href="{to("genindex")}">index</a>, '
        f'<a href="{to("search")}">search</a><span class="offline"></span>.</p>'
    )


def finish(app: Sphinx, error: Exception | None) -> None:
    if error or app.builder.format != "html":
        return
    root, base = Path(app.outdir), app.config.html_baseurl
    pages = sorted(p.relative_to(root).as_posix() for p in (root / "book").glob("*.html"))
    urls = "".join(f"<url><loc>{urljoin(base, page)}</loc></url>\n" for page in pages)
    space = "http://www.sitemaps.org/schemas/sitemap/0.9"
    text = f'<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="{space}">\n{urls}</urlset>\n'
    (root / "sitemap.xml").write_text(text, encoding="utf-8")
    (root / "robots.txt").write_text(f"Sitemap: {urljoin(base, 'sitemap.xml')}\n", encoding="utf-8")
    (root / "404.html").write_text(LOST.format(home=base), encoding="utf-8")
    (root / ".nojekyll").touch()
    host = urlsplit(base).netloc
    if not host.endswith(
        ".github.io"
    ):  # GitHub Pages learns of a domain of one's own from this file
        (root / "CNAME").write_text(host + "\n", encoding="utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("map", Map)
    app.connect("config-inited", configure)
    app.connect("html-page-context", share, priority=900)
    app.connect("build-finished", finish)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
