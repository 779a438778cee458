"""How heavy a chapter is and how soon it can be read and moved, on a slow phone: `python -m benchmarks.pages`.

The built pages (`make book`) are served with gzip, the CDN's files from the same server, and Chromium is throttled to
DevTools' "Fast 4G" (9 Mbit/s down, 165 ms a round trip) with the processor slowed four times. For each chapter:

    text       first contentful paint, seconds
    widget     the first widget's controls answer, seconds
    formulas   the first ones are typeset, seconds      all  the last one
    move       a key is pressed on the first widget's first control and its picture waited for, when all is there
    ours       kB over the network before the first interaction: page and pictures, and scripts of single pages
    theme      kB of the one style sheet and the one script of all pages, ours in them      MathJax  kB of MathJax

Times on a busy machine are upper bounds. The table goes to results/pages.md.
"""

from __future__ import annotations

import gzip
import http.server
import sys
import threading
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "browser"))
import served  # noqa: E402

DOWN, LATENCY, SLOWER = 9e6 / 8, 165, 4  # bytes/s, ms, times
PHONE = {"width": 390, "height": 844}
ABOUT = "`python -m benchmarks.pages` measures anew; its first lines say what the columns are."
OURS = ("pendulum.js", "atlas.js", "icon.svg")
KINDS = {
    ".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".png": "image/png",
    ".svg": "image/svg+xml", ".woff": "font/woff",
}  # fmt: skip


@cache
def body(path: str) -> tuple[bytes, bool] | None:
    """The bytes of an address of the server, and whether they are gzipped."""
    if path.startswith("/cdn/"):
        file = served.cdn_file(served.CDN + path.removeprefix("/cdn/"))
    else:
        file = served.HTML / path.lstrip("/")
    if file is None or not file.is_file():
        return None
    data = file.read_bytes()
    if file.suffix == ".html":
        data = data.replace(served.CDN.encode(), b"/cdn/")
    if file.suffix in (".png", ".woff", ".woff2"):
        return data, False
    return gzip.compress(data, 6), True


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        found = body(self.path.split("?")[0])
        data, zipped = found or (b"", False)
        self.send_response(200 if found else 404)
        kind = KINDS.get(Path(self.path.split("?")[0]).suffix, "application/octet-stream")
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        if zipped:
            self.send_header("Content-Encoding", "gzip")
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        pass


def owner(url: str) -> str:
    if "/cdn/" in url:
        return "MathJax"
    if "/_static/" in url and not url.split("?")[0].endswith(OURS) and "/images/" not in url:
        return "theme"
    return "ours"


def measure(browser: Any, address: str, page: str) -> dict[str, float]:
    window = browser.new_context(viewport=PHONE, device_scale_factor=2)
    tab = window.new_page()
    control = window.new_cdp_session(tab)
    control.send("Network.enable")
    throttle = {"latency": LATENCY, "downloadThroughput": DOWN, "uploadThroughput": DOWN / 3}
    control.send("Network.emulateNetworkConditions", {"offline": False, **throttle})
    control.send("Emulation.setCPUThrottlingRate", {"rate": SLOWER})
    urls: dict[str, str] = {}
    weights = {"ours": 0.0, "theme": 0.0, "MathJax": 0.0}
    control.on(
        "Network.requestWillBeSent", lambda e: urls.update({e["requestId"]: e["request"]["url"]})
    )

    def finished(event: dict[str, Any]) -> None:
        weights[owner(urls.get(event["requestId"], ""))] += event["encodedDataLength"] / 1e3

    control.on("Network.loadingFinished", finished)
    tab.add_init_script(
        """new MutationObserver((_, me) => {
            if (!document.querySelector('.lielab-explore.alive, .lielab-demo-runs')) return;
            window.aliveAt = performance.now(); me.disconnect();
        }).observe(document, {subtree: true, childList: true, attributes: true});
        const look = setInterval(() => {
            if (!document.querySelector('mjx-container')) return;
            window.formulasAt = performance.now(); clearInterval(look);
            MathJax.startup.promise.then(() => { window.allAt = performance.now(); });
        }, 25);"""
    )
    tab.goto(f"{address}/{page}", wait_until="load", timeout=120_000)
    if tab.locator(".lielab-explore, .lielab-live-demo").count():
        tab.wait_for_function("() => window.aliveAt", timeout=60_000)
    if tab.locator(".math").count():
        tab.wait_for_function("() => window.allAt", timeout=60_000)
    tab.wait_for_timeout(2_000)
    found = tab.evaluate(
        "() => ({text: performance.getEntriesByName('first-contentful-paint')[0]?.startTime / 1e3,"
        " widget: (window.aliveAt || NaN) / 1e3, formulas: (window.formulasAt || NaN) / 1e3,"
        " all: (window.allAt || NaN) / 1e3})"
    )
    before = dict(weights)
    box = tab.locator(".lielab-explore").first
    if box.count():
        box.scroll_into_view_if_needed()
        img, control_ = box.locator("> img"), box.locator("input, select").first
        old = img.evaluate("img => img.src")
        began = tab.evaluate("performance.now()")
        control_.focus()
        tab.keyboard.press("ArrowRight")
        tab.wait_for_function("([img, old]) => img.src !== old", arg=[img.element_handle(), old])
        found["move"] = (tab.evaluate("performance.now()") - began) / 1e3
    window.close()
    return found | before


def main() -> None:
    from playwright.sync_api import sync_playwright

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    pages = sys.argv[1:] or ["book/intro.html", *filter(served.has_widget, served.pages())]
    columns = ("text", "widget", "formulas", "all", "move", "ours", "theme", "MathJax")
    lines = [f"# Weight and first paint of the pages, {date.today()}", "", "```"]
    lines.append(f"{'page':34}" + "".join(f"{name:>9}" for name in columns))
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=served.chromium(), args=served.FLAGS)
        for page in pages:
            found = measure(browser, f"http://127.0.0.1:{server.server_port}", page)
            cells = [f"{found.get(c, float('nan')):9.2f}" for c in columns[:5]]
            cells += [f"{found[c]:9.0f}" for c in columns[5:]]
            lines.append(f"{page:34}" + "".join(cells))
            print(lines[-1], flush=True)
        browser.close()
    lines += ["```", "", ABOUT, ""]
    if len(sys.argv) == 1:
        (ROOT / "benchmarks/results/pages.md").write_text("\n".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
