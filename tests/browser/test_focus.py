"""Who moves by keyboard sees where they are: each kind of thing that takes the focus, before and after, in pixels."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest
import served
from conftest import Open, settle

if reason := served.missing():
    pytest.skip(f"browser tests: {reason}", allow_module_level=True)

from PIL import Image  # noqa: E402

pytestmark = pytest.mark.browser

CHAPTER = next(filter(served.has_widget, served.pages()))
MARGIN = 6  # pixels around a thing in which its ring may lie
CONTRAST = 3.0  # WCAG 2.2, 2.4.13

# One of each kind: the same tag and classes in the same part of the page look the same.
KINDS = """() => {
    const kinds = new Map();
    const all = 'a[href], button, input, select, summary, textarea, [tabindex]:not([tabindex="-1"])';
    for (const thing of document.querySelectorAll(all)) {
        if (!thing.checkVisibility({checkOpacity: true, checkVisibilityCSS: true}) || thing.disabled) continue;
        if (!thing.getClientRects().length || thing.getBoundingClientRect().width < 2) continue;
        const part = thing.closest('header, footer, nav, aside, article')?.className ?? '';
        const name = `${thing.tagName}.${thing.className} ${thing.getAttribute('display') ?? ''}`;
        const kind = `${name} in ${part.slice(0, 40)}`;
        if (!kinds.has(kind)) kinds.set(kind, thing);
    }
    window.kinds = kinds;
    return Array.from(kinds.keys()); }"""


def pixels(page: Any, kind: str) -> tuple[np.ndarray, dict[str, float]]:
    """What is seen of a thing and its surroundings, and its box."""
    box = page.evaluate(
        """kind => { const r = window.kinds.get(kind).getClientRects()[0];
        return {x: r.x, y: r.y, width: r.width, height: r.height}; }""",
        kind,
    )
    clip = {"x": max(0, box["x"] - MARGIN), "y": max(0, box["y"] - MARGIN)}
    clip |= {"width": box["width"] + 2 * MARGIN, "height": min(box["height"], 600) + 2 * MARGIN}
    picture = Image.open(io.BytesIO(page.screenshot(clip=clip, animations="disabled")))
    return np.asarray(picture.convert("RGB")) / 255, box


def luminance(picture: np.ndarray) -> np.ndarray:
    linear = np.where(picture <= 0.04045, picture / 12.92, ((picture + 0.055) / 1.055) ** 2.4)
    return linear @ [0.2126, 0.7152, 0.0722]


@pytest.mark.parametrize("colours", ["light", "dark"])
@pytest.mark.parametrize("name", [CHAPTER, "book/intro.html", "book/methods_atlas.html"])
def test_the_focus_is_seen(name: str, colours: str, open_page: Open) -> None:
    unseen = []
    with open_page(name, color_scheme=colours, reduced_motion="reduce") as opened:
        page = opened.page
        settle(opened)
        page.keyboard.press("Tab")  # from here on focus is that of a keyboard
        for kind in page.evaluate(KINDS):
            page.evaluate(
                "kind => { const t = window.kinds.get(kind);"
                " t.scrollIntoView({block: 'center', behavior: 'instant'}); document.activeElement.blur(); }",
                kind,
            )
            before, box = pixels(page, kind)
            page.evaluate("kind => window.kinds.get(kind).focus({preventScroll: true})", kind)
            after, _ = pixels(page, kind)
            low, high = np.sort([luminance(before), luminance(after)], axis=0)
            changed = ((high + 0.05) / (low + 0.05) >= CONTRAST).sum()
            if changed < box["width"] + min(box["height"], 600):  # half of a ring one pixel wide
                unseen.append(f"{kind}: {changed} pixels of {box}")
    assert not unseen, f"{name}, {colours}:\n  " + "\n  ".join(unseen)
