"""The search finds what a word means before it finds code."""

from __future__ import annotations

import re
from urllib.parse import quote

import pytest
import served
from conftest import PATIENCE, Open

if reason := served.missing():
    pytest.skip(f"browser tests: {reason}", allow_module_level=True)

pytestmark = pytest.mark.browser

GLOSSARY = "book/glossary.html"
TERMS = (
    "action",
    "bracket",
    "Casimir",
    "coadjoint orbit",
    "dexpinv",
    "isotropy",
    "momentum map",
    "retraction",
    "symplectic",
    "trivialisation",
)


def test_a_definition_comes_first(open_page: Open) -> None:
    glossary = (served.HTML / GLOSSARY).read_text(encoding="utf-8")
    defined = {name: re.sub("<[^>]+>", "", term) for name, term in terms(glossary)}
    with open_page("search.html") as opened:
        page, base, wrong = opened.page, opened.page.url, []
        for term in TERMS:
            page.goto(f"{base}?q={quote(term)}", wait_until="domcontentloaded", timeout=PATIENCE)
            first = page.locator("#search-results ul.search li a").first
            first.wait_for(timeout=PATIENCE)
            where, _, name = first.get_attribute("href").partition("#")
            names = [one.lower() for one in defined.get(name, "").split(", ")]
            if not where.split("?")[0].endswith(GLOSSARY) or term.lower() not in names:
                wrong.append(f"{term}: {where}#{name}, which defines {names}")
        assert wrong == []
        # A new search breaks off what the one before was still reading.
        errors = [error for error in opened.errors if "fetch" not in error]
        assert opened.strangers == errors == []


def test_results_are_prose(open_page: Open) -> None:
    with open_page("search.html") as opened:
        page = opened.page
        page.goto(f"{page.url}?q=dexpinv", wait_until="domcontentloaded", timeout=PATIENCE)
        page.wait_for_function(
            "() => document.querySelectorAll('#search-results p.context').length >= 8",
            timeout=PATIENCE,
        )
        texts = page.locator("#search-results p.context").all_text_contents()
        assert [text for text in texts if re.search(r"\\[A-Za-z(\[]|[{}]|import ", text)] == []
        assert [text for text in texts if "Show the code" in text or "Suggest edit" in text] == []
        assert texts[0].startswith("dexp, dexpinv: ")
        assert len(texts[0]) > 100  # its definition
        assert opened.strangers == opened.errors == []


def terms(page: str) -> list[tuple[str, str]]:
    """(id, term) of the entries of the glossary."""
    return re.findall(r'<dt id="(term-[^"]+)">(.*?)</dt>', page, re.DOTALL)


def test_the_index_has_the_terms() -> None:
    index = (served.HTML / "genindex.html").read_text(encoding="utf-8")
    found = terms((served.HTML / GLOSSARY).read_text(encoding="utf-8"))
    assert len(found) > 70
    assert [name for name, _ in found if f'href="{GLOSSARY}#{name}"' not in index] == []
