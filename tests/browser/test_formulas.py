"""Formulas are set in pieces, what is seen first; links, paper and the end of it see no difference."""

from __future__ import annotations

import re
from typing import Any

import pytest
import served
from conftest import PATIENCE, Open, Opened, settle

if reason := served.missing():
    pytest.skip(f"browser tests: {reason}", allow_module_level=True)

pytestmark = pytest.mark.browser

FORMULA = re.compile(r'class="math\b')
TEXTS = {name: (served.HTML / name).read_text(encoding="utf-8") for name in served.pages()}
CHAPTER = max(TEXTS, key=lambda name: len(FORMULA.findall(TEXTS[name])))
LAST = re.findall(r'class="math[^"]*" id="(equation-[^"]+)"', TEXTS[CHAPTER])[-1:]

# Nothing is ever idle until `goOn` is called.
BUSY = """
const kept = [], idle = window.requestIdleCallback;
window.requestIdleCallback = (call) => { kept.push(call); return 0; };
window.goOn = () => { window.requestIdleCallback = idle; kept.forEach((call) => call()); };
"""
STATE = """() => {
    const all = Array.from(document.querySelectorAll('.math'), (formula) => {
        const box = formula.getBoundingClientRect();
        return {set: !!formula.querySelector('mjx-container'), seen: box.bottom > 0 && box.top < innerHeight};
    });
    return {
        set: all.filter((one) => one.set).length, all: all.length,
        raw: all.filter((one) => one.seen && !one.set).length,
    }; }"""
SEEN_IS_SET = f"() => {{ const state = ({STATE})(); return state.set > 0 && state.raw === 0; }}"


def busy(opened: Opened) -> None:
    """Load the page anew in a window that has no time for what is not seen; wait for what is."""
    page = opened.page
    page.add_init_script(BUSY)
    page.reload(wait_until="load", timeout=PATIENCE)
    page.wait_for_function(SEEN_IS_SET, timeout=PATIENCE)


def top(page: Any) -> float:
    return page.evaluate("name => document.getElementById(name).getBoundingClientRect().top", *LAST)


def test_what_is_seen_is_set_first(open_page: Open) -> None:
    with open_page(CHAPTER) as opened:
        busy(opened)
        first = opened.page.evaluate(STATE)
        assert first["raw"] == 0 < first["set"] < first["all"] / 2
        opened.page.evaluate("goOn()")
        settle(opened)
        last = opened.page.evaluate(STATE)
        assert last["set"] == last["all"]
        assert opened.errors == opened.strangers == []


def test_on_paper_everything_is_set(open_page: Open) -> None:
    with open_page(CHAPTER) as opened:
        busy(opened)
        opened.page.evaluate("dispatchEvent(new Event('beforeprint'))")
        state = opened.page.evaluate(STATE)
        assert state["set"] == state["all"]


def test_a_link_leads_to_a_formula_and_stays_there(open_page: Open) -> None:
    with open_page(f"{CHAPTER}#{LAST[0]}") as opened:
        page = opened.page
        busy(opened)
        place = top(page)
        assert 0 <= place < page.viewport_size["height"]
        assert page.evaluate(STATE)["raw"] == 0
        page.evaluate("goOn()")
        settle(opened)
        assert 0 <= top(page) < page.viewport_size["height"]
        # A link of the page, followed while formulas above its goal are still raw.
        page.goto(page.url.partition("#")[0])
        page.wait_for_function("() => document.querySelector('mjx-container')", timeout=PATIENCE)
        page.evaluate("name => { location.hash = name; goOn(); }", LAST[0])
        settle(opened)
        page.wait_for_timeout(500)  # the page may glide there
        assert 0 <= top(page) < page.viewport_size["height"]


def test_who_moves_on_is_not_taken_back(open_page: Open) -> None:
    with open_page(f"{CHAPTER}#{LAST[0]}") as opened:
        page = opened.page
        busy(opened)
        page.mouse.move(600, 400)
        for _ in range(10):
            page.mouse.wheel(0, -600)
            page.wait_for_timeout(50)
        page.evaluate("goOn()")
        settle(opened)
        assert top(page) > page.viewport_size["height"]


def test_a_page_without_formulas_asks_for_no_mathjax(open_page: Open) -> None:
    bare = [name for name, text in TEXTS.items() if not FORMULA.search(text)]
    with open_page(bare[0]) as opened:
        asked: list[str] = []
        opened.page.on("request", lambda request: asked.append(request.url))
        opened.page.reload(wait_until="load", timeout=PATIENCE)
        opened.page.wait_for_timeout(1_500)
        assert asked
        assert [url for url in asked if url.startswith(served.CDN)] == []
