"""One browser and one server for all pages."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import served

DESKTOP = {"width": 1280, "height": 900}
TALL = 12_000  # pixels: more than any chapter, less than the API page
PATIENCE = 30_000  # milliseconds for a page with its formulas on a busy machine


@dataclass
class Opened:
    """A page in the browser, and what went wrong in it so far."""

    name: str
    page: Any
    errors: list[str] = field(default_factory=list)
    strangers: list[str] = field(default_factory=list)

    def screenshot(self, label: str) -> None:
        """The page from its top, at most `TALL` pixels of it, for people who ask for it."""
        if not os.environ.get("LIELAB_SCREENSHOTS"):
            return
        served.SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        width, height = self.page.evaluate(
            "() => { document.activeElement?.blur(); scrollTo({top: 0, behavior: 'instant'});"
            " return [innerWidth, document.documentElement.scrollHeight] }"
        )
        self.page.screenshot(
            path=served.SCREENSHOTS / f"{Path(self.name).stem}-{label}.png",
            full_page=True,
            clip={"x": 0, "y": 0, "width": width, "height": min(height, TALL)},
        )


def settle(opened: Opened) -> None:
    """Wait for typeset formulas and living widgets."""
    # In two steps: a predicate that is a promise is asked once only.
    opened.page.wait_for_function(
        "() => !document.querySelector('.math') || !!window.MathJax?.startup?.promise",
        timeout=PATIENCE,
    )
    opened.page.evaluate("async () => { await window.MathJax?.startup?.promise; }")


Open = Callable[..., AbstractContextManager[Opened]]


@pytest.fixture(scope="session")
def open_page() -> Iterator[Open]:
    """`with open_page(name, **context_options) as opened`: a page in a window of its own.

    `cdn="hangs"` leaves what the page asks the CDN for unanswered.
    """
    from playwright.sync_api import sync_playwright

    with served.serve() as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=served.chromium(), args=served.FLAGS, headless=True
        )

        @contextmanager
        def opener(name: str, cdn: str = "answers", **options: Any) -> Iterator[Opened]:
            window = browser.new_context(
                **{"viewport": DESKTOP, "color_scheme": "light", "has_touch": True} | options
            )
            opened = Opened(name, window.new_page())
            _listen(opened, address, cdn)
            until = "load" if cdn == "answers" else "domcontentloaded"
            try:
                opened.page.goto(f"{address}/{name}", wait_until=until, timeout=PATIENCE)
                yield opened
            finally:
                window.close()

        yield opener
        browser.close()


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """A machine without a browser or npm has no tests here, which pytest takes for a failure."""
    if exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED and served.missing():
        session.exitstatus = pytest.ExitCode.OK


def _listen(opened: Opened, address: str, cdn: str) -> None:
    """Answer requests from the local server and the pinned CDN files only; note all errors."""

    def answer(route: Any) -> None:
        url = route.request.url
        if url.startswith(address):
            route.continue_()
        elif cdn == "hangs" and url.startswith(served.CDN):
            pass
        elif file := served.cdn_file(url):
            route.fulfill(path=file, headers={"Access-Control-Allow-Origin": "*"})
        else:
            opened.strangers.append(url)
            route.abort()

    def said(message: Any) -> None:
        if message.type == "error":
            opened.errors.append(f"{message.text} ({message.location.get('url', '')})")

    def received(response: Any) -> None:
        if response.status >= 400:
            opened.errors.append(f"status {response.status}: {response.url}")

    opened.page.route("**/*", answer)
    opened.page.on("console", said)
    opened.page.on("pageerror", lambda error: opened.errors.append(str(error)))
    opened.page.on("response", received)
