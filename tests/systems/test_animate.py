"""Animations: every system has a picture; the film holds every frame, and its HTML carries the alt text."""

import base64
import io
import re
from html.parser import HTMLParser

import numpy as np
import pytest

import lielab
from lielab import animate, plotting
from lielab.systems import PendulumChain, PointVortices, SphericalPendulum
from tests.systems.data import EXAMPLES

Image = pytest.importorskip("PIL.Image")


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_system_has_a_scene(name):
    system = EXAMPLES[name]
    found = animate.scene(system, system.y0)
    assert all(line.shape[1] == 3 for line in found.lines)
    assert found.lines or len(found.dots)
    points = np.vstack([found.dots, *found.lines])
    assert np.isfinite(points).all()


def test_e3_down_is_turned_up():
    """A hanging double pendulum (e3 down) is drawn below its pivot, as a hanging chain (e3 up) is."""
    down = animate.scene(EXAMPLES["double pendulum"], [0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0])
    up = animate.scene(PendulumChain(2), [0, 0, -1, 0, 0, 0, 0, 0, -1, 0, 0, 0])
    assert down.dots[-1, 2] < down.dots[0, 2] < 0
    assert up.dots[-1, 2] < up.dots[0, 2] < 0


@pytest.mark.parametrize("system", [SphericalPendulum(), PointVortices()], ids=["lines", "sphere"])
def test_frames_move(system):
    sol = lielab.solve(system, (0, 1), h=0.1)
    pictures = animate.frames(sol, count=5, size=2.0)
    assert len(pictures) == 5
    assert np.any(np.asarray(pictures[0]) != np.asarray(pictures[-1]))


def cards(count, size):
    """Pictures that differ: a blue square on white that grows."""
    found = []
    for i in range(count):
        found.append(Image.new("RGB", size, "white"))
        found[-1].paste(animate.PALETTE[0], (0, 0, i + 1, i + 1))
    return found


@pytest.mark.parametrize(("count", "size"), [(2, (4, 4)), (7, (9, 8)), (30, (300, 40))])
def test_film_has_every_frame_in_its_place(count, size):
    pictures = cards(count, size)
    whole, cols, rows = animate.film(pictures, rest=3)
    assert whole.size == (cols * size[0], rows * size[1])
    assert max(whole.size) <= 4096
    assert min(cols, rows) >= 2  # CSS refuses a motion of one step
    assert cols * rows >= count + 3
    whole = whole.convert("RGB")
    for place in range(cols * rows):
        x, y = place % cols * size[0], place // cols * size[1]
        shown = whole.crop((x, y, x + size[0], y + size[1]))
        assert shown.tobytes() == pictures[min(place, count - 1)].tobytes()


class Tags(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.found = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))


def test_figure_is_html_without_a_script():
    alt = 'A "square" grows & <stays>.'
    moving, still = animate.figure(cards(10, (20, 16)), alt, seconds=2.0)
    tags = Tags(moving).found
    assert [tag for tag, _ in tags] == ["figure", "style", "input", "input", "div", "img", "i"]
    assert [tag["aria-label"] for name, tag in tags if name == "input"] == ["Pause", "Play"]
    image, moved = tags[5][1], tags[6][1]
    assert (image["alt"], image["width"], image["height"]) == (alt, "20", "16")
    last = Image.open(io.BytesIO(base64.b64decode(still))).convert("RGB")
    assert last.tobytes() == cards(10, (20, 16))[-1].tobytes()
    assert image["src"].endswith(still)
    # 2 s for 10 frames is 200 ms a frame; 0.8 s of rest are 4 places more, in 2 rows.
    assert moved["style"].startswith("--cols:7;--rows:2;--row:1400ms;")
    data = re.search(r"base64,([\w+/=]+)\)", moved["style"])[1]
    assert Image.open(io.BytesIO(base64.b64decode(data))).size == (140, 32)
    for forbidden in ("<script", "http", "onclick"):
        assert forbidden not in moving


def test_displayed_in_three_forms(monkeypatch):
    shown = []
    monkeypatch.setattr("IPython.display.display", lambda data, **kw: shown.append((data, kw)))
    sol = lielab.solve(SphericalPendulum(), (0, 0.5), h=0.1)
    plotting.animate(sol, "A pendulum\n  swings.", count=3, size=1.0)
    ((data, keywords),) = shown
    assert list(data) == ["text/html", "image/png", "text/plain"]
    assert data["text/plain"] == "A pendulum swings."
    assert 'alt="A pendulum swings."' in data["text/html"]
    assert keywords["metadata"] == {"image/png": {"width": 80}}
    assert base64.b64decode(data["image/png"]).startswith(b"\x89PNG")


def test_refused():
    sol = lielab.solve(SphericalPendulum(), (0, 0.5), h=0.1)
    with pytest.raises(ValueError, match="alt: got ''"):
        animate.animate(sol, "")
    with pytest.raises(ValueError, match="count must be at least 2"):
        animate.frames(sol, count=1)
    with pytest.raises(ValueError, match="seconds must be positive, got 0"):
        animate.figure(cards(2, (4, 4)), "A square.", seconds=0)
    own = lielab.systems.ActionSystem(
        lielab.actions.SO3_ON_S2, lambda t, y, p: [0, 0, 1.0], (1, 0, 0)
    )
    with pytest.raises(ValueError, match="has no picture"):
        animate.scene(own, own.y0)
