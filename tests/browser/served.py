"""What the browser tests stand on: the built pages, their server, Chromium, and the CDN's files.

The published pages name their scripts by pinned addresses on a CDN that serves npm packages. Here the
same addresses are answered from those packages, fetched once into `.cache/npm`, so that the very pages
that readers get are tested, without the CDN.
"""

from __future__ import annotations

import contextlib
import functools
import http.server
import os
import re
import shutil
import subprocess
import tarfile
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HTML = Path(os.environ.get("LIELAB_HTML", ROOT / "_build" / "html")).resolve()
SCREENSHOTS = HTML.parent / "screenshots"
NPM_CACHE = ROOT / ".cache" / "npm"
AXE = "axe-core@4.10.3"

CDN = "https://cdn.jsdelivr.net/npm/"
ALLOWED = ("mathjax",)  # what the pages may load
CDN_PATH = re.compile(r"(?P<name>(?:@[^/@]+/)?[^/@]+)@(?P<version>\d+\.\d+\.\d+)/(?P<path>[^?#]+)")
# Index only forwards to the first page.
GENERATED = ("404", "genindex", "search", "py-modindex", "index")
CHROMIUM = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def chromium() -> str | None:
    """Path of Chromium or Chrome; the variable LIELAB_CHROMIUM wins."""
    names = [os.environ.get("LIELAB_CHROMIUM", ""), *CHROMIUM]
    return next(filter(None, map(shutil.which, filter(None, names))), None)


def missing() -> str:
    """Why the browser tests cannot run here, in one line; empty when they can."""
    try:
        import playwright  # noqa: F401
    except ImportError:
        return "the Python package playwright is not installed (pip install -e '.[test]')"
    if not chromium():
        return "no Chromium or Chrome found (Debian, Ubuntu: apt install chromium)"
    if not shutil.which("npm"):
        return "no npm found, which fetches the scripts that the pages load (apt install npm)"
    if not pages():
        return f"no built pages in {HTML} (make book)"
    return ""


def pages() -> list[str]:
    """The pages of the book, relative to the HTML folder."""
    found = (p.relative_to(HTML) for p in HTML.rglob("*.html"))
    ours = (p for p in found if p.stem not in GENERATED and not p.parts[0].startswith("_"))
    return sorted(p.as_posix() for p in ours)


def has_widget(page: str) -> bool:
    return 'class="lielab-explore"' in (HTML / page).read_text(encoding="utf-8")


def has_answers(page: str) -> bool:
    return "<summary>Answer" in (HTML / page).read_text(encoding="utf-8")


def has_animation(page: str) -> bool:
    return 'class="lielab-animation"' in (HTML / page).read_text(encoding="utf-8")


@functools.cache
def package(spec: str) -> Path:
    """Folder of an npm package `name@version`, fetched on first use."""
    folder = NPM_CACHE / spec.replace("/", "+")
    if folder.is_dir():
        return folder
    NPM_CACHE.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=NPM_CACHE) as place:  # each process fetches into its own
        command = ["npm", "pack", "--silent", "--pack-destination", place, spec]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, cwd=place)
        if done.returncode:
            what = done.stderr.strip() or done.stdout.strip()
            raise RuntimeError(f"npm pack {spec} failed: {what}")
        whole = Path(place) / "whole"
        with tarfile.open(Path(place) / done.stdout.strip().splitlines()[-1]) as tar:
            checked = hasattr(tarfile, "data_filter")  # not in every 3.10
            tar.extractall(whole, **({"filter": "data"} if checked else {}))
        with contextlib.suppress(OSError):  # another process was first
            whole.rename(folder)  # complete or not there at all
    return folder


def cdn_file(url: str) -> Path | None:
    """The file behind a CDN address, or None for an address that the pages have no business with."""
    found = CDN_PATH.fullmatch(url.removeprefix(CDN).split("?")[0]) if url.startswith(CDN) else None
    if not found or found["name"] not in ALLOWED:
        return None
    file = package(f"{found['name']}@{found['version']}") / "package" / found["path"]
    return file if file.is_file() else None


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def serve(folder: Path = HTML) -> Iterator[str]:
    """Serve a folder on a free local port; gives the address."""
    handler = functools.partial(_Quiet, directory=str(folder))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


if __name__ == "__main__":  # the last line of `make test`
    if reason := missing():
        print(f"not tried here, the pages in a browser: {reason}")
