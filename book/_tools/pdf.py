"""The whole book as one PDF, and the site as a zip to read offline; both linked from the pages afterwards.

    python book/_tools/pdf.py         after `make book`; needs Chromium, npm (for MathJax's files) and playwright

The articles of the built pages become one document with a title page and contents; headless Chromium prints it twice:
the first time tells on which page each chapter begins. Answers and folded code are open. Without a browser nothing is
made and nothing is linked.
"""

from __future__ import annotations

import html
import re
import sys
import time
import zipfile
from pathlib import Path
from typing import Any

import yaml

from chapters import ROOT

sys.path.insert(0, str(ROOT / "tests" / "browser"))
import served  # noqa: E402

NAME = "lielab-book"
WHOLE = "book/_whole.html"
PATIENCE = 900_000  # milliseconds: the formulas of the whole book on a slow machine
ARTICLE = re.compile(r'<article class="bd-article"[^>]*>(.*?)</article>', re.DOTALL)
STYLE = """
@page { size: A4; margin: 18mm 16mm 20mm; }
body { background: #fff; font-size: 10pt; }
.chapter { break-before: page; }
.front { text-align: center; padding-top: 30vh; }
.contents ul { padding: 0; }
.contents li { list-style: none; display: flex; gap: 1em; line-height: 1.3; margin: 0; }
.contents li.part { font-weight: 700; margin-top: .6em; }
.contents .page { margin-left: auto; }
.headerlink, .copybtn, .lielab-live-demo, summary .collapsed { display: none !important; }
img { max-width: 100%; }
.bd-article h1 { font-size: 20pt; }
.bd-article h2 { font-size: 14pt; }
.bd-article h3 { font-size: 11.5pt; }
"""
FOOT = (
    '<div style="font-size:8px;width:100%;text-align:center"><span class="pageNumber"></span></div>'
)


def parts(folder: Path) -> list[tuple[str, list[str]]]:
    """(caption, pages) of `_toc.yml`, the front page left out; only pages that were built."""
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    listed = [(p["caption"], [c["file"] for c in p["chapters"]]) for p in toc["parts"]]
    return [
        (name, [f for f in files if (folder / f"{f}.html").is_file()]) for name, files in listed
    ]


def chapter(page: Path) -> tuple[str, str]:
    """Title and article of a page, its ids and links made unique in the whole book, its folds open."""
    text = ARTICLE.search(page.read_text(encoding="utf-8"))[1]
    title = re.sub(
        r"<a class=\"headerlink\".*?</a>|<[^>]+>",
        "",
        re.search(r"<h1>(.*?)</h1>", text, re.DOTALL)[1],
    )
    stem = page.stem
    text = re.sub(r'\bid="([^"]+)"', rf'id="{stem}--\1"', text)
    text = re.sub(r'\bhref="#([^"]+)"', rf'href="#{stem}--\1"', text)
    text = re.sub(r'\bhref="(\w+)\.html#([^"]+)"', r'href="#\1--\2"', text)
    text = re.sub(r'\bhref="(\w+)\.html"', r'href="#\1--top"', text)
    text = text.replace("<details", "<details open").replace('loading="lazy"', "")
    return title.strip(), f'<section class="chapter" id="{stem}--top">{text}</section>'


def mathjax() -> str:
    """The address from which the pages have MathJax."""
    settings = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    return settings["sphinx"]["config"]["mathjax_path"]


def document(folder: Path, numbers: dict[str, int]) -> str:
    """The whole book as one page; `numbers` are the pages on which the chapters begin, as far as they are known."""
    head = re.search(
        r"<head>.*?</head>", (folder / "book/intro.html").read_text("utf-8"), re.DOTALL
    )[0]
    head = re.sub(r"<script[^>]*>.*?</script>", "", head, flags=re.DOTALL)
    version = re.search(r"Version [^<]+?\.(?= <a)", (folder / "book/intro.html").read_text("utf-8"))
    contents, body = [], []
    for caption, files in parts(folder):
        contents.append(f'<li class="part">{html.escape(caption)}</li>')
        for file in files:
            title, text = chapter(folder / f"{file}.html")
            name = f"{Path(file).name}--top"
            number = numbers.get(name, "")
            contents.append(
                f'<li><a href="#{name}">{title}</a><span class="page">{number}</span></li>'
            )
            body.append(text)
    settings = '<script>window.MathJax = {"options": {"processHtmlClass": "math", "ignoreHtmlClass": "whole"}}</script>'
    settings += f'<script async src="{mathjax()}"></script>'
    head = head.replace("<head>", "<head>" + settings).replace(
        "</head>", f"<style>{STYLE}</style></head>"
    )
    front = '<section class="front"><h1>Lie group integrators you can run</h1><p>The lielab-book authors</p>'
    front += f"<p>{version[0] if version else ''}</p></section>"
    return (
        f'<!DOCTYPE html><html lang="en" data-theme="light" data-mode="light">{head}<body class="whole">{front}'
        f'<section class="chapter contents"><h1>Contents</h1><ul>{"".join(contents)}</ul></section>'
        f'<div class="bd-content"><div class="bd-article">{"".join(body)}</div></div></body></html>'
    )


def pages_of(pdf: bytes) -> dict[str, int]:
    """The page, from 1, of each named destination of a PDF that Chromium has written."""
    objects = {int(m[1]): m[2] for m in re.finditer(rb"\n(\d+) 0 obj\n(.*?)endobj", pdf, re.DOTALL)}

    def leaves(number: int) -> list[int]:
        kids = re.search(rb"/Kids \[([^\]]*)\]", objects[number])
        if b"/Type /Pages" not in objects[number] or not kids:
            return [number]
        return [leaf for kid in re.findall(rb"(\d+) 0 R", kids[1]) for leaf in leaves(int(kid))]

    (top,) = (
        n for n, text in objects.items() if b"/Type /Pages" in text and b"/Parent" not in text
    )
    order = {number: place for place, number in enumerate(leaves(top), start=1)}
    named = re.findall(rb"/([\w-]+--[\w-]+) \[(\d+) 0 R /XYZ", pdf)
    return {name.decode(): order[int(number)] for name, number in named}


def printed(browser: Any, address: str) -> bytes:
    tab = browser.new_page()
    tab.set_default_timeout(PATIENCE)

    def answer(route: Any) -> None:
        file = served.cdn_file(route.request.url)
        if file:
            route.fulfill(path=file, headers={"Access-Control-Allow-Origin": "*"})
        else:
            route.continue_()

    tab.route("**/*", answer)
    tab.goto(f"{address}/{WHOLE}", wait_until="load", timeout=PATIENCE)
    tab.wait_for_function("() => window.MathJax?.startup?.promise", timeout=PATIENCE)
    tab.evaluate("MathJax.startup.promise.then(() => true)")
    tab.emulate_media(media="print")
    pdf = tab.pdf(
        prefer_css_page_size=True, print_background=True, outline=True, tagged=True,
        display_header_footer=True, header_template="<span></span>", footer_template=FOOT,
    )  # fmt: skip
    tab.close()
    return pdf


def make(folder: Path) -> Path:
    """Write the PDF beside the pages."""
    from playwright.sync_api import sync_playwright

    whole = folder / WHOLE
    with served.serve(folder) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=served.chromium(), args=served.FLAGS)
        numbers: dict[str, int] = {}
        for _ in range(2):
            whole.write_text(document(folder, numbers), encoding="utf-8")
            pdf = printed(browser, address)
            numbers = pages_of(pdf)
        browser.close()
    whole.unlink()
    target = folder / f"{NAME}.pdf"
    target.write_bytes(pdf)
    return target


def link(folder: Path) -> None:
    """Name the PDF and the zip at the foot of every page (`front.py` leaves the place)."""
    for page in folder.rglob("*.html"):
        depth = "../" * page.relative_to(folder).as_posix().count("/")
        found = f', <a href="{depth}{NAME}.pdf">the book as a PDF</a>, <a href="{depth}{NAME}.zip">to read offline</a>'
        text = page.read_text(encoding="utf-8")
        new = re.sub(
            r'<span class="offline">.*?</span>', f'<span class="offline">{found}</span>', text
        )
        if new != text:
            page.write_text(new, encoding="utf-8", newline="\n")


def pack(folder: Path) -> None:
    target = folder / f"{NAME}.zip"
    target.unlink(missing_ok=True)
    with zipfile.ZipFile(target.with_suffix(".tmp"), "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(folder.rglob("*")):
            if file.is_file() and file.suffix not in (".tmp", ".map"):
                archive.write(file, f"{NAME}/{file.relative_to(folder).as_posix()}")
    target.with_suffix(".tmp").rename(target)


def main() -> None:
    began = time.perf_counter()
    if reason := served.missing():
        sys.exit(f"no PDF was made: {reason}")
    pdf = make(served.HTML)
    link(served.HTML)
    pack(served.HTML)
    print(f"{pdf}: {pdf.stat().st_size / 1e6:.1f} MB after {time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
