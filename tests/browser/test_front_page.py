"""The front page: its simulation computes what `lielab` does, obeys the hand, and rests where motion is unwanted."""

from __future__ import annotations

import numpy as np
import pytest
import served
from conftest import Open

if reason := served.missing():
    pytest.skip(f"browser tests: {reason}", allow_module_level=True)

import lielab  # noqa: E402
from lielab.systems import SphericalPendulum  # noqa: E402

pytestmark = pytest.mark.browser

FRONT = "book/intro.html"
SAME = 1e-12  # two programs, the same formulas: a hundred steps of round-off
STEPS = 100


@pytest.mark.parametrize("h", [0.02, 0.1, 0.3, 0.4])
def test_its_states_are_those_of_lielab(open_page: Open, h: float) -> None:
    system = SphericalPendulum()
    with open_page(FRONT) as opened:
        start = opened.page.evaluate("lielabPendulum.page.begin()")
        for method in ("RK4", "RKMK4"):
            found = opened.page.evaluate(
                f"""() => {{
                let y = {start}; const path = [y];
                for (let i = 0; i < {STEPS}; i++) path.push(y = lielabPendulum.{method.lower()}(y, {h}));
                return path.map(y => [...y, lielabPendulum.energy(y), lielabPendulum.length(y)]); }}"""
            )
            sol = lielab.solve(system, (0, STEPS * h), np.array(start), method=method, h=h)
            rod = system.l * np.linalg.norm(sol.y[:, :3], axis=1)
            wanted = np.column_stack([sol.y, sol.energy(), rod])
            assert (
                np.abs(
                    np.array(found) / np.abs(wanted).max(0) - wanted / np.abs(wanted).max(0)
                ).max()
                < SAME
            )


def test_it_runs_obeys_and_pauses(open_page: Open) -> None:
    with open_page(FRONT) as opened:
        page, box = opened.page, opened.page.locator(".lielab-live-demo")
        assert not page.locator("article img[src*=readme]").is_visible()
        state = "lielabPendulum.page.state()"
        before = page.evaluate(state)
        page.wait_for_function(f"JSON.stringify({state}) !== {str(before)!r}")
        box.get_by_role("button", name="Pause").click()
        page.wait_for_timeout(100)
        paused = page.evaluate(state)
        page.wait_for_timeout(300)
        assert page.evaluate(state) == paused
        canvas = box.locator("canvas").first
        canvas.scroll_into_view_if_needed()
        at = canvas.bounding_box()
        page.mouse.move(at["x"] + 0.5 * at["width"], at["y"] + 0.5 * at["height"])
        page.mouse.down()
        page.mouse.move(at["x"] + 0.7 * at["width"], at["y"] + 0.6 * at["height"], steps=3)
        page.mouse.up()
        begin = page.evaluate("lielabPendulum.page.begin()")
        assert page.evaluate(state) == [begin, begin]
        assert np.linalg.norm(begin[:3]) == pytest.approx(1.0)
        assert np.dot(begin[:3], begin[3:]) == pytest.approx(0.0, abs=1e-15)
        assert [x.inner_text() for x in box.locator(".rod").all()] == ["2.000000", "2.000000"]
        slider = box.get_by_role("slider", name="step")
        slider.focus()
        page.keyboard.press("ArrowRight")
        assert (
            slider.get_attribute("aria-valuetext") == box.locator(".step").inner_text() == "0.31 s"
        )
        assert not opened.errors


def test_it_rests_for_readers_who_want_less_motion(open_page: Open) -> None:
    with open_page(FRONT, reduced_motion="reduce") as opened:
        box = opened.page.locator(".lielab-live-demo")
        before = opened.page.evaluate("lielabPendulum.page.state()")
        opened.page.wait_for_timeout(300)
        assert opened.page.evaluate("lielabPendulum.page.state()") == before
        box.get_by_role("button", name="Play").click()
        box.get_by_role("button", name="Pause").wait_for()


def test_without_scripts_and_on_paper_the_picture_stands_still(open_page: Open) -> None:
    with open_page(FRONT, java_script_enabled=False) as opened:
        assert opened.page.locator("article img[src*=readme]").is_visible()
    with open_page(FRONT) as opened:
        opened.page.emulate_media(media="print")
        assert opened.page.locator("article img[src*=readme]").is_visible()
        assert not opened.page.locator(".lielab-live-demo").is_visible()


def test_what_previews_and_searches_get(open_page: Open) -> None:
    with open_page(FRONT) as opened:
        head = opened.page.evaluate(
            "Object.fromEntries([...document.querySelectorAll('meta[property], meta[name]')]"
            ".map(m => [m.getAttribute('property') || m.name, m.content]))"
        )
        assert len(head["description"]) > 50
        assert head["og:image"].endswith("_static/readme.png")
        assert head["og:title"] == "Lie group integrators you can run"
        assert opened.page.locator(".buttons a").count() == 3
        links = opened.page.locator(".map td:first-child a").evaluate_all(
            "links => links.map(a => a.href)"
        )
        assert len(links) == len(set(links)) > 20
        assert opened.page.locator("link[rel=icon]").count() == 1
    site = (served.HTML / "sitemap.xml").read_text(encoding="utf-8")
    assert all(f"/{page}</loc>" in site for page in served.pages())
    assert (served.HTML / "404.html").is_file()
