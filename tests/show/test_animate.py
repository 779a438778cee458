"""Animations: every system has a picture; the film holds every frame, and its HTML carries the alt text."""

import base64
import io
import re
from html.parser import HTMLParser
from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib import pyplot

import lielab
from lielab import animate, control, plotting
from lielab.systems import Pendulum3D, PendulumChain, PointVortices, SphericalPendulum
from tests.systems.data import EXAMPLES, generic

Image = pytest.importorskip("PIL.Image")


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_system_has_a_scene(name):
    system = EXAMPLES[name]
    found = animate.scene(system, system.y0)
    assert all(line.shape[1] == 3 for line in found.lines)
    assert found.lines or len(found.dots)
    points = np.vstack([found.dots, *found.lines, *found.ground])
    assert np.isfinite(points).all()


def test_no_system_was_forgotten():
    shown = {type(system).__name__ for system in EXAMPLES.values()}
    assert shown == set(animate._SCENES)
    assert len(shown) == 17
    for name in set(lielab.systems.__all__) - shown:  # nothing else of ours has an initial state
        thing = getattr(lielab.systems, name)
        assert not hasattr(thing, "y0") or name in ("ActionSystem", "CotangentSystem")


def drawn(name):
    """An example, a generic state of it, and its picture."""
    system = EXAMPLES[name]
    y = generic(system)
    return system, y, animate.scene(system, y)


def lengths(line):
    return np.linalg.norm(np.diff(line, axis=0), axis=1)


@pytest.mark.parametrize(
    ("name", "links"),
    [
        ("pendulum", lambda s: [s.l]),
        ("double pendulum", lambda s: s.lengths),
        ("chain", lambda s: s.lengths),
        ("chain in momenta", lambda s: s.lengths),
        ("3D pendulum", lambda s: [np.linalg.norm(s.rho)]),
        ("quadrotor with load", lambda s: [s.L]),
        ("two quadrotors", lambda s: s.lengths),
        ("top right", lambda s: [1.0]),
    ],
)
def test_links_have_their_lengths(name, links):
    system, _, found = drawn(name)
    np.testing.assert_allclose(lengths(found.lines[0]), links(system), atol=1e-12)


@pytest.mark.parametrize(
    "name", ["body", "top se3dual", "vortices", "spins", "ring of spins", "own metric"]
)
def test_dots_on_the_sphere(name):
    _, _, found = drawn(name)
    assert found.on_sphere
    np.testing.assert_allclose(np.linalg.norm(found.dots, axis=1), 1.0, atol=1e-12)


@pytest.mark.parametrize("name", ["body with attitude", "well", "own potential"])
def test_axes_are_those_of_the_body(name):
    _, y, found = drawn(name)
    axes = np.array([line[1] - line[0] for line in found.lines])
    np.testing.assert_allclose(axes.T, y[:9].reshape(3, 3), atol=1e-12)


def test_a_free_body_shows_its_momentum_in_space():
    system = EXAMPLES["body with attitude"]
    sol = lielab.solve(system, (0, 2), generic(system), rtol=1e-9, atol=1e-11)
    dots = np.array([animate.scene(system, y).dots[0] for y in sol.y])
    np.testing.assert_allclose(dots, dots[:1].repeat(len(dots), 0), atol=1e-6)
    assert len(animate.scene(system, system.pack(R=np.eye(3), mu=np.zeros(3))).dots) == 0


def test_places_of_the_other_systems():
    system, y, found = drawn("ellipsoid")
    assert np.sum((found.dots[0] / system.axes) ** 2) == pytest.approx(1.0, abs=1e-12)
    assert all(np.allclose(np.sum((line / system.axes) ** 2, axis=1), 1.0) for line in found.ground)
    system, y, found = drawn("dipoles")
    middles = [line.mean(axis=0) for line in found.lines]
    np.testing.assert_allclose(middles, system.positions, atol=1e-12)
    directions = [(line[1] - line[0]) / lengths(line) for line in found.lines]
    np.testing.assert_allclose(directions, y.reshape(-1, 2, 3)[:, 0], atol=1e-12)
    for name in ("fish", "fish in velocities"):
        system, y, found = drawn(name)
        for i, at in enumerate(system.centres(y)):  # three ellipses for each body
            from_centre = np.vstack(found.lines[3 * i : 3 * i + 3]) - at
            inside = from_centre @ system.unpack(y)[f"R{i}"] / np.array(system.axes[i])
            np.testing.assert_allclose(np.linalg.norm(inside, axis=1), 1.0, atol=1e-12)


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


def test_an_interrupt_keeps_the_pictures_drawn(monkeypatch):
    sol = lielab.solve(SphericalPendulum(), (0, 1), h=0.1)
    before, whole = pyplot.get_fignums(), animate.frames(sol, count=4, size=1.0)
    calls, fromarray = [], Image.fromarray

    def third(pixels):
        calls.append(0)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return fromarray(pixels)

    monkeypatch.setattr(Image, "fromarray", third)
    with pytest.raises(KeyboardInterrupt) as caught:
        animate.frames(sol, count=4, size=1.0)
    assert [np.asarray(p).tobytes() for p in caught.value.result] == [
        np.asarray(p).tobytes() for p in whole[:2]
    ]
    assert pyplot.get_fignums() == before


def test_a_camera_goes_with_the_last_dot():
    """A dot that travels far leaves a picture that stands still, and stays in the middle of one that follows."""
    sol = SimpleNamespace(t=np.array([0.0, 1.0]), y=np.array([[0.0], [50.0]]), system=None)
    options = {
        "draw": lambda y: animate.Scene([], [[0.0, y[0], 0.0]]),
        "view": (0, 0),
        "trace": False,
    }
    places = {}
    for near in (None, 1.0):
        pictures = animate.frames(sol, count=3, size=1.0, near=near, **options)
        red = [np.asarray(p, int)[..., 0] - np.asarray(p, int)[..., 2] > 100 for p in pictures]
        places[near] = [np.nonzero(found)[1].mean() for found in red]
    assert np.ptp(places[None]) > 50
    assert np.allclose(places[1.0], np.asarray(pictures[0]).shape[1] / 2, atol=2)
    with pytest.raises(ValueError, match="near"):
        animate.frames(sol, count=3, near=0.0, **options)
    with pytest.raises(ValueError, match="near: the scene has no dot"):
        animate.frames(
            sol, count=3, near=1.0, draw=lambda y: animate.Scene([[[0, 0, 0], [1, 0, 0]]])
        )


def test_a_closed_loop_and_a_ground_are_drawn():
    """What control returns has no states between the saved ones: the nearest are taken."""
    body = Pendulum3D(control="constant", inputs=(0.0, 0.0, 0.0))
    up = body.pack(R=lielab.so3.exp([np.pi, 0, 0]), p=np.zeros(3))
    run = control.track(body, (up, np.zeros(3)), np.eye(6), np.eye(3), y0=body.y0, h=0.1, steps=10)
    assert run.system is body
    plain = animate.frames(run, count=4, size=1.0)
    assert len(plain) == 4
    grounded = animate.frames(run, count=4, size=1.0, ground=[[[-1, 0, 0], [1, 0, 0]]])
    assert all(np.any(np.asarray(a) != np.asarray(b)) for a, b in zip(plain, grounded, strict=True))
    states = []
    animate.frames(run, count=3, draw=lambda y: states.append(y) or animate.scene(body, y))
    np.testing.assert_array_equal(states[:3], run.y[[0, 5, 10]])


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
    with pytest.raises(ValueError, match="count must be a whole number of at least 2"):
        animate.frames(sol, count=1)
    with pytest.raises(ValueError, match="seconds must be a positive number, got 0"):
        animate.figure(cards(2, (4, 4)), "A square.", seconds=0)
    own = lielab.systems.ActionSystem(
        lielab.actions.SO3_ON_S2, lambda t, y, p: [0, 0, 1.0], (1, 0, 0)
    )
    with pytest.raises(ValueError, match="has no picture"):
        animate.scene(own, own.y0)
