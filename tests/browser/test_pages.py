"""Every built page in a headless browser, as a reader without Python meets it.

Widgets are moved by keyboard, mouse and touch; all pages are checked for formulas, alt texts,
accessibility, width on a phone, errors in the console and requests to strangers. Each page is opened
once, and a failure lists everything that is wrong with it. With LIELAB_SCREENSHOTS=1 screenshots for
people to look at go to `_build/screenshots`; they take as long as all the rest.
"""

from __future__ import annotations

import contextlib
from typing import Any

import pytest
import served
from conftest import DESKTOP, Open, Opened, settle

if reason := served.missing():
    pytest.skip(f"browser tests: {reason}", allow_module_level=True)

from playwright.sync_api import TimeoutError  # noqa: E402  (after the check that it is installed)

pytestmark = pytest.mark.browser

PAGES = served.pages()
WITH_WIDGET = [name for name in PAGES if served.has_widget(name)]
WITH_ANIMATION = [name for name in PAGES if served.has_animation(name)]
WITH_ANSWERS = [name for name in PAGES if served.has_answers(name)]
PHONE = {"width": 360, "height": 740}
REACTION = 3_000  # milliseconds within which a picture must have changed


@pytest.mark.parametrize("name", PAGES)
def test_page(name: str, open_page: Open) -> None:
    with open_page(name) as opened:
        settle(opened)
        problems = formulas(opened) + alt_texts(opened) + pictures(opened) + cut_formulas(opened)
        problems += moved(opened, by_mouse_and_keys)
        problems += animations(opened)
        opened.screenshot("light")
        opened.page.emulate_media(color_scheme="dark")
        opened.screenshot("dark")
        opened.page.emulate_media(color_scheme="light")
        opened.page.set_viewport_size(PHONE)
        problems += width(opened) + cut_formulas(opened) + moved(opened, by_touch)
        opened.screenshot("phone")
        opened.page.set_viewport_size(DESKTOP)
        if name != (WITH_WIDGET or PAGES)[0]:
            # The insides of code and formulas are the same everywhere: one page suffices.
            flatten(opened)
        problems += accessibility(opened, "light")
        opened.page.emulate_media(color_scheme="dark")
        problems += accessibility(opened, "dark", rules=["color-contrast"])
        problems += [f"console: {error}" for error in opened.errors]
        problems += [f"request to a stranger: {url}" for url in opened.strangers]
    assert not problems, f"{name}:\n  " + "\n  ".join(problems)


@pytest.mark.parametrize("name", WITH_WIDGET[:1])
def test_still_picture_without_javascript_and_on_paper(name: str, open_page: Open) -> None:
    for options in ({"java_script_enabled": False}, {}):
        with open_page(name, **options) as opened:
            box = opened.page.locator(".lielab-explore").first
            box.scroll_into_view_if_needed()
            assert box.locator("> img").is_visible()
            assert box.locator("input").first.is_visible() is not bool(options)
            opened.page.emulate_media(media="print")
            assert box.locator("> img").is_visible()
            assert not box.locator("[type=range]").first.is_visible()


@pytest.mark.parametrize("name", WITH_WIDGET[:1])
def test_a_cdn_that_hangs_holds_up_no_text_and_no_widget(name: str, open_page: Open) -> None:
    with open_page(name, cdn="hangs") as opened:
        assert opened.page.locator("article h1").first.is_visible()
        problems = moved(opened, by_mouse_and_keys)
        assert not problems, problems


@pytest.mark.parametrize("name", WITH_WIDGET[:1])
def test_a_picture_that_cannot_be_fetched_is_said(name: str, open_page: Open) -> None:
    with open_page(name) as opened:
        box = opened.page.locator(".lielab-explore").first
        box.scroll_into_view_if_needed()
        box.locator("> img").evaluate("img => img.decode()")
        before = seen(box)
        opened.page.route("**/_frames/*", lambda route: route.abort())
        choose(box)
        box.locator(".spoken.failed").wait_for(timeout=REACTION)
        assert seen(box) == before


def choose(box: Any) -> None:
    """Move the first control of a widget by a key."""
    control = box.locator("input").first
    control.focus()
    box.page.keyboard.press("ArrowLeft" if at_end(control) else "ArrowRight")


@pytest.mark.parametrize("name", WITH_ANSWERS[:1])
def test_answers_are_open_on_paper(name: str, open_page: Open) -> None:
    with open_page(name) as opened:
        folds = opened.page.locator(".bd-article details:not([class])")
        assert not folds.first.locator("p").first.is_visible()
        folds = opened.page.locator(".bd-article details")
        opened.page.emulate_media(media="print")
        opened.page.evaluate("dispatchEvent(new Event('beforeprint'))")
        hidden = [fold for fold in folds.all() if not fold.locator("> :nth-child(2)").is_visible()]
        assert hidden == []
        opened.page.evaluate("dispatchEvent(new Event('afterprint'))")
        assert opened.page.locator(".bd-article details[open]").count() == 0


@pytest.mark.parametrize("name", WITH_ANIMATION[:1])
def test_animation_waits_for_readers_who_want_less_motion(name: str, open_page: Open) -> None:
    with open_page(name, reduced_motion="reduce") as opened:
        box = opened.page.locator(".lielab-animation").first
        pause, play = box.locator(".pause"), box.locator(".play")
        assert (pause.is_visible(), play.is_visible()) == (False, True)
        assert not plays(box)
        play.press(" ")
        assert plays(box)
        opened.page.emulate_media(media="print")  # paper gets the still picture under the film
        assert box.locator("img").is_visible()
        assert not box.locator("i").is_visible()


def test_a_stranger_and_a_console_error_are_noticed(open_page: Open) -> None:
    """The listeners themselves: a silent listener would pass every page."""
    with open_page(PAGES[0]) as opened:
        opened.page.evaluate("console.error('boom'); fetch('https://example.org/x').catch(() => 0)")
        opened.page.wait_for_timeout(200)
        assert opened.strangers == ["https://example.org/x"]
        assert any("boom" in error for error in opened.errors)


def widgets(opened: Opened) -> int:
    return opened.page.locator(".lielab-explore").count()


# --- what is looked for -----------------------------------------------------------------------------


def formulas(opened: Opened) -> list[str]:
    """Formulas that are not typeset, have errors, or stand there raw."""
    return opened.page.evaluate(
        r"""() => {
        const wrong = [];
        for (const m of document.querySelectorAll('.bd-article .math'))
            if (!m.querySelector('mjx-container'))
                wrong.push('formula not typeset: ' + m.textContent.slice(0, 60));
        for (const m of document.querySelectorAll('mjx-merror, [data-mjx-error]'))
            wrong.push('formula with an error: ' + m.textContent.slice(0, 60));
        const texts = document.createTreeWalker(
            document.querySelector('.bd-article'), NodeFilter.SHOW_TEXT);
        while (texts.nextNode()) {
            const text = texts.currentNode;
            if (text.parentElement.closest('script, style, pre, code, mjx-container, .math')) continue;
            if (/\$|\\[([a-zA-Z]/.test(text.data)) wrong.push('raw formula: ' + text.data.trim().slice(0, 60));
        }
        return wrong; }"""
    )


def alt_texts(opened: Opened) -> list[str]:
    """Pictures without words, or with no better ones than a file name or `explore`'s stopgap."""
    return opened.page.evaluate(
        r"""() => Array.from(document.images).filter(img => {
            const alt = img.getAttribute('alt');
            if (alt === null) return true;
            return img.closest('.bd-article') &&
                (alt.trim().length < 10 || /\.(png|svg|jpe?g)$/.test(alt) || alt.startsWith('Picture ('));
        }).map(img => `alt text ${JSON.stringify(img.getAttribute('alt'))} of ${img.src.slice(0, 80)}`)"""
    )


def pictures(opened: Opened) -> list[str]:
    """Pictures that cannot be fetched, those included that wait until they come near."""
    return opened.page.evaluate(
        """async () => {
        const broken = await Promise.all(Array.from(document.images, async img => {
            img.loading = 'eager';
            try { await img.decode(); } catch { return `no picture: ${img.src}`; }
        }));
        return broken.filter(Boolean); }"""
    )


def flatten(opened: Opened) -> None:
    """Take the thousands of parts out of code and formulas, on which axe would spend most of its time."""
    opened.page.evaluate(
        "document.querySelectorAll('.highlight pre, .sig, mjx-container')"
        ".forEach(whole => { whole.textContent = whole.textContent || 'formula' })"
    )


def accessibility(opened: Opened, mode: str, rules: list[str] | None = None) -> list[str]:
    """Moderate, serious and critical findings of axe, for `rules` or all of them."""
    if opened.page.evaluate("typeof window.axe") == "undefined":
        source = served.package(served.AXE) / "package" / "axe.min.js"
        # A function scope without `define` and `module`: RequireJS would claim the script.
        script = source.read_text(encoding="utf-8")
        opened.page.evaluate(f"(() => {{ let define, module, exports; {script} }})()")
    # The theme makes wide code reachable by the tab key a moment after the window changed.
    with contextlib.suppress(TimeoutError):  # axe reports what was not made reachable
        opened.page.wait_for_function(
            "() => ![...document.querySelectorAll('pre')]"
            ".some(pre => pre.scrollWidth > pre.clientWidth && pre.tabIndex < 0)",
            timeout=REACTION,
        )
    # Without preload: it would ask for imported style sheets at wrong addresses (status 404).
    found = opened.page.evaluate(
        """async rules => {
        await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
        const fades = document.getAnimations().filter(a => a instanceof CSSTransition);
        const late = new Promise(done => setTimeout(done, 2000));
        await Promise.race([late, Promise.allSettled(fades.map(fade => fade.finished))]);
        return axe.run(
            {resultTypes: ['violations'], preload: false, ...(rules ? {runOnly: rules} : {})})
        .then(result => result.violations
            .filter(v => v.impact !== 'minor')
            .flatMap(v => v.nodes.map(n => `${v.id}: ${n.target.join(' ')} (${v.help})`))) }""",
        rules,
    )
    return [f"axe, {mode}: {finding}" for finding in found]


def width(opened: Opened) -> list[str]:
    """What makes the page scroll sideways on a phone."""
    return opened.page.evaluate(
        """() => {
        const room = document.documentElement.clientWidth;
        if (document.documentElement.scrollWidth <= room) return [];
        const wide = Array.from(document.querySelectorAll('body *')).filter(e => {
            if (e.getBoundingClientRect().right <= room + 1) return false;
            for (let p = e.parentElement; p; p = p.parentElement)
                if (p !== document.body && getComputedStyle(p).overflowX !== 'visible') return false;
            return true;
        });
        return [`scrolls sideways at ${room} px, ${document.documentElement.scrollWidth} wide: ` +
            wide.slice(0, 5).map(e => e.tagName + '.' + e.className).join(', ')]; }"""
    )


def cut_formulas(opened: Opened) -> list[str]:
    """Formulas that do not fit the page, displayed or within a line, so that their ends are cut off or scrolled to."""
    return opened.page.evaluate(
        """async () => {
        // two pictures later the page has set them anew, if the window has just changed its size
        await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
        return Array.from(document.querySelectorAll('.bd-article mjx-container')).flatMap(formula => {
            let right = formula.getBoundingClientRect().right, end;
            if (formula.hasAttribute('display')) {
                end = right;
                const rows = Array.from(formula.querySelectorAll('mjx-math *'))
                    .map(part => part.getBoundingClientRect()).filter(part => part.width > 0);
                right = Math.max(...rows.map(part => part.right));
            } else { // not by its parts: the box of an accent reaches out of the formula
                const block = formula.parentElement.closest('p, li, dd, dt, td, th, summary, div');
                end = block.getBoundingClientRect().right;
            }
            const name = formula.closest('[id]')?.id;
            return right > end + 1
                ? [`formula in ${name} is ${Math.round(right - end)} px too wide at ${innerWidth} px`] : [];
        }); }"""
    )


def animations(opened: Opened) -> list[str]:
    """Animations that stand still, or that the checkbox does not stop and start again."""
    problems = []
    for number, box in enumerate(opened.page.locator(".lielab-animation").all()):
        box.scroll_into_view_if_needed()
        states = [plays(box)]
        for _ in range(2):
            box.get_by_role("checkbox", name="Pause").press(" ")
            states.append(plays(box))
        if states != [True, False, True]:
            problems.append(f"animation {number}: plays, paused, plays again: {states}")
    return problems


def plays(box: Any) -> bool:
    """Whether another frame comes, for as long as the last frame may rest; where the animation is paused, none may."""
    return box.locator("i").evaluate(
        """async film => {
        const frame = () => getComputedStyle(film).backgroundPosition;
        await new Promise(done => setTimeout(done, 100));  // a pause takes a moment
        const first = frame(), running = film.getAnimations().some(a => a.playState === 'running');
        for (let k = 0; k < (running ? 40 : 6); k++) {
            await new Promise(done => setTimeout(done, 50));
            if (frame() !== first) return true;
        }
        return false; }"""
    )


# --- moving the widgets -----------------------------------------------------------------------------


def moved(opened: Opened, how: Any) -> list[str]:
    """Move every control of every widget; each move must bring the picture of the chosen values, and say it."""
    problems = []
    for number in range(widgets(opened)):
        box = opened.page.locator(".lielab-explore").nth(number)
        box.scroll_into_view_if_needed()
        stand_still(box)
        box.locator("> img").evaluate("img => img.decode()")
        problems += [f"widget {number}: {wrong}" for wrong in state(box)]
        for label, move in how(opened.page, box):
            before = seen(box)
            move()
            if not changed(box, before):
                problems.append(f"widget {number}: {label} does not change the picture")
            problems += [f"widget {number}, after {label}: {wrong}" for wrong in state(box)]
    return problems


def stand_still(box: Any) -> None:
    """Wait until the widget stays where it is: formulas above it are laid out anew when the page gets another width."""
    for _ in range(40):
        before = box.bounding_box()
        box.page.wait_for_timeout(100)
        if box.bounding_box() == before:
            return
        box.scroll_into_view_if_needed()


def seen(box: Any) -> str:
    """The address of the picture that is seen."""
    return box.locator("> img").evaluate("img => img.complete && img.naturalWidth ? img.src : ''")


def awaited(page: Any, look: Any) -> bool:
    """Does it come true within the time of a reaction?"""
    for _ in range(REACTION // 25):
        if look():
            return True
        page.wait_for_timeout(25)
    return False


def changed(box: Any, before: str) -> bool:
    return awaited(box.page, lambda: seen(box) not in ("", before))


def state(box: Any) -> list[str]:
    """Where picture, words, readouts and the chosen values disagree once the widget has come to rest.

    A drag passes several values; each picture is shown when it has loaded, and the last one is the one that counts.
    """
    at_rest = awaited(box.page, lambda: not disagreements(box))
    return [] if at_rest else disagreements(box)


def disagreements(box: Any) -> list[str]:
    """What does not agree at this moment, and what a finger would miss."""
    return box.evaluate(
        """async box => {
        const wrong = [], data = JSON.parse(box.querySelector('script').textContent);
        let frame = 0;
        box.querySelectorAll('.control').forEach((control, n) => {
            const input = control.querySelector(':checked') || control.querySelector('input');
            const place = Number(input.value), label = data.options[n][place];
            frame = frame * data.options[n].length + place;
            const name = control.querySelector('label, legend').textContent.trim();
            const range = control.querySelector('[type=range]');
            if (!name) wrong.push('a control without a name');
            if (!range) return;
            const shown = control.querySelector('output').textContent;
            if (range.getAttribute('aria-valuetext') !== label || shown !== label)
                wrong.push(`${name} is ${label}, shows ${shown}, says ${range.getAttribute('aria-valuetext')}`);
            if (range.labels.length === 0) wrong.push(`${name}: no label`);
            if (range.clientHeight < 24) wrong.push(`${name}: ${range.clientHeight} px high`);
        });
        if (box.querySelector('[contenteditable]')) wrong.push('something can be typed over');
        const img = box.querySelector(':scope > img'), [file, alt] = data.frames[frame];
        const spoken = box.querySelector('[aria-live]').textContent;
        if (!img.src.endsWith('/' + file)) wrong.push('another picture than that of the chosen values');
        if (img.alt !== alt) wrong.push(`alt text ${img.alt}`);
        if (spoken && spoken !== alt) wrong.push(`says ${spoken}`);
        return wrong; }"""
    )


def by_mouse_and_keys(page: Any, box: Any) -> list[tuple[str, Any]]:
    moves = []
    for track in box.locator("[type=range]").all():

        def arrow(track: Any = track) -> None:
            track.focus()
            page.keyboard.press("ArrowLeft" if at_end(track) else "ArrowRight")

        def drag(track: Any = track) -> None:
            last = int(track.get_attribute("max"))
            goal = 0.0 if last == 1 or at_end(track) else 1.0
            page.mouse.move(*along(track, 1 / last))
            page.mouse.down()
            page.mouse.move(*along(track, goal), steps=6)
            page.mouse.up()

        def click(track: Any = track) -> None:
            page.mouse.click(*along(track, 0.0 if at_end(track) else 1.0))

        moves += [("arrow key", arrow), ("mouse drag", drag), ("click on the track", click)]
    for group in box.locator("fieldset").all():
        moves += [
            ("click on a button", group.locator("> label").last.click),
            ("arrow key on a button", lambda g=group: g.locator(":checked").press("ArrowLeft")),
        ]
    for menu in box.locator("select").all():
        moves += [("choice in a list", lambda m=menu: m.select_option(index=1))]
    return moves


def by_touch(page: Any, box: Any) -> list[tuple[str, Any]]:
    moves = []
    for track in box.locator("[type=range]").all():

        def tap(track: Any = track) -> None:
            at_start = track.evaluate("range => range.value === range.min")
            page.touchscreen.tap(*along(track, 1.0 if at_start else 0.0))

        moves += [("tap on the track", tap), ("tap on its other end", tap)]
    for group in box.locator("fieldset").all():
        button = group.locator("> label:not(:has(:checked))").last
        moves.append(("tap on a button", button.tap))
    return moves


def at_end(track: Any) -> bool:
    """Whether a slider stands at its last value: there is nothing to the right of it."""
    return track.evaluate("range => range.type === 'range' && range.value === range.max")


def along(track: Any, fraction: float) -> tuple[float, float]:
    """A point of a track; its ends are where the middle of the handle comes to rest."""
    box, handle = track.bounding_box(), 26
    x = box["x"] + handle / 2 + fraction * (box["width"] - handle)
    return x, box["y"] + box["height"] / 2
