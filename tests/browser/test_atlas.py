"""The atlas of methods: its table is sorted and filtered by keyboard, and stands there whole without scripts."""

from __future__ import annotations

import pytest
import served
from conftest import Open

if reason := served.missing():
    pytest.skip(f"browser tests: {reason}", allow_module_level=True)

import lielab  # noqa: E402

pytestmark = pytest.mark.browser

ATLAS = "book/methods_atlas.html"
ROWS = "table.atlas tbody tr:not([hidden])"
CARDS = "section:has(> h3):not([hidden])"


def column(page, place: int) -> list[str]:
    return page.locator(f"{ROWS} td:nth-child({place})").all_inner_texts()


def test_columns_are_sorted_by_keyboard(open_page: Open) -> None:
    with open_page(ATLAS) as opened:
        page = opened.page
        button = page.get_by_role("button", name="order", exact=True)
        button.focus()
        for key, state in (("Enter", "ascending"), (" ", "descending")):
            page.keyboard.press(key)
            orders = [int(text) for text in column(page, 3)]
            assert orders == sorted(orders, reverse=state == "descending")
            assert page.locator("table.atlas th").nth(2).get_attribute("aria-sort") == state
        page.get_by_role("button", name="symplectic", exact=True).press("Enter")
        verdicts = [text.split()[0] for text in column(page, 6)]
        assert verdicts == sorted(verdicts, key=["yes", "no", "–"].index)
        assert page.locator("table.atlas th").nth(2).get_attribute("aria-sort") == "none"


def test_rows_and_cards_are_filtered_together(open_page: Open) -> None:
    with open_page(ATLAS) as opened:
        page = opened.page
        count = page.locator(ROWS).count()
        assert count > len(lielab.methods())
        assert page.locator(CARDS).count() == count
        page.get_by_label("symplectic").press(" ")
        page.get_by_label("Order at least").select_option("4")
        names = [text.strip() for text in column(page, 1)]
        assert names == ["yoshida4(VLV)", "suzuki4(VLV)", "yoshida6(VLV)"]
        assert page.locator(CARDS).count() == 3
        assert page.locator(".atlas-filter output").inner_text() == f"3 of {count} methods"
        assert not page.get_by_role("heading", name="Commutator-free").is_visible()
        page.get_by_role("button", name="Show all").press("Enter")
        page.wait_for_function(f"document.querySelectorAll({ROWS!r}).length === {count}")
        page.get_by_label("Name").press_sequentially("rkmk4")
        assert {text.strip()[:5] for text in column(page, 1)} == {"RKMK4"}


def test_it_is_whole_without_scripts(open_page: Open) -> None:
    with open_page(ATLAS, java_script_enabled=False) as opened:
        page = opened.page
        assert page.locator(".atlas-filter").count() == 0
        table = page.locator("#all-methods table, section:has(> #all-methods) table").first
        assert table.locator("tbody tr").count() > len(lielab.methods())
        for name in lielab.methods():
            assert page.get_by_role("heading", name=name, exact=False).first.is_visible()
        assert page.locator("svg.atlas-work").first.is_visible()


@pytest.mark.parametrize("scripts", [True, False])  # the PDF of the whole book has none
def test_its_table_is_as_wide_as_the_paper(scripts: bool, open_page: Open) -> None:
    paper = {"width": 673, "height": 980}  # A4 within its margins, as the PDF is printed
    with open_page(ATLAS, viewport=paper, java_script_enabled=scripts) as opened:
        opened.page.emulate_media(media="print")
        table = opened.page.locator("section:has(> #all-methods), #all-methods").locator("table")
        box = table.first.bounding_box()
        assert 0 <= box["x"] <= box["x"] + box["width"] <= paper["width"]
