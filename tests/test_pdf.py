"""The book as one PDF: its parts put together, and the pages that its contents name."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import pdf

OBJECTS = {
    1: b"<</Type /Catalog\n/Pages 2 0 R>>",
    2: b"<</Type /Pages\n/Count 3\n/Kids [3 0 R 6 0 R]>>",
    3: b"<</Type /Pages\n/Parent 2 0 R\n/Kids [4 0 R 5 0 R]>>",
    4: b"<</Type /Page\n/Parent 3 0 R>>",
    5: b"<</Type /Page\n/Parent 3 0 R>>",
    6: b"<</Type /Page\n/Parent 2 0 R>>",
    7: b"<</one--top [4 0 R /XYZ 6 2 0]\n/two--top [6 0 R /XYZ 6 7 0]\n/two--x-y [6 0 R /XYZ 6 1 0]>>",
}


def test_a_pdf_tells_on_which_page_a_chapter_begins() -> None:
    file = b"%PDF-1.4\n" + b"".join(b"%d 0 obj\n%s\nendobj\n" % item for item in OBJECTS.items())
    assert pdf.pages_of(file) == {"one--top": 1, "two--top": 3, "two--x-y": 3}


def page(folder: Path, name: str, body: str) -> Path:
    path = folder / f"{name}.html"
    path.parent.mkdir(parents=True, exist_ok=True)
    text = f'<html><head></head><body><article class="bd-article">{body}</article>'
    path.write_text(text + '<span class="offline"></span></body></html>', encoding="utf-8")
    return path


def test_a_chapter_keeps_its_links_in_the_whole(tmp_path: Path) -> None:
    body = (
        '<h1>One <em>title</em><a class="headerlink" href="#one">#</a></h1><p id="here">'
        '<a href="#here">a</a><a href="two.html">b</a><a href="two.html#x">c</a>'
        '<a href="https://e.org/f.html#g">d</a></p><details><summary>Answer</summary></details>'
        '<img loading="lazy" src="../_frames/a.png">'
    )
    title, text = pdf.chapter(page(tmp_path, "one", body))
    assert title == "One title"
    assert re.findall(r'href="([^"]*)"', text) == [
        "#one--one",
        "#one--here",
        "#two--top",
        "#two--x",
        "https://e.org/f.html#g",
    ]
    assert 'id="one--top"' in text
    assert 'id="one--here"' in text
    assert "<details open>" in text
    assert "lazy" not in text


def test_what_was_made_is_linked_and_packed(tmp_path: Path) -> None:
    deep = page(tmp_path, "book/one", "<h1>One</h1>")
    assert ".pdf" not in deep.read_text(encoding="utf-8")
    pdf.link(tmp_path)
    pdf.link(tmp_path)
    text = deep.read_text(encoding="utf-8")
    assert text.count('href="../lielab-book.pdf"') == text.count('href="../lielab-book.zip"') == 1
    pdf.pack(tmp_path)
    import zipfile

    with zipfile.ZipFile(tmp_path / "lielab-book.zip") as archive:
        assert archive.namelist() == ["lielab-book/book/one.html"]


def test_without_a_browser_nothing_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pdf.served, "missing", lambda: "no Chromium")
    with pytest.raises(SystemExit, match="no PDF was made: no Chromium"):
        pdf.main()
