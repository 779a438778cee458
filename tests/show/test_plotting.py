"""The pictures: colours that everybody can tell apart, small opaque files, honest axes."""

from __future__ import annotations

import base64
import io
import itertools
import subprocess
import sys

import numpy as np
import pytest

from lielab import plotting

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("agg")

import matplotlib.pyplot as plt  # noqa: E402
from PIL import Image  # noqa: E402


@pytest.fixture(autouse=True)
def _fresh():
    with matplotlib.rc_context():
        plotting.style()
        yield
    plt.close("all")


# --- the palette ------------------------------------------------------------------------------------

# Machado, Oliveira, Fernandes (2009), severity 1, on linear RGB.
VISION = {
    "normal": np.eye(3),
    "protan": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    "deutan": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
    "tritan": np.array(
        [
            [1.255528, -0.076749, -0.178779],
            [-0.078411, 0.930809, 0.147602],
            [0.004733, 0.691367, 0.303900],
        ]
    ),
}
LUMINANCE = np.array([0.2126, 0.7152, 0.0722])


def linear(color: str) -> np.ndarray:
    c = np.array([int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    return np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)


def lab(rgb: np.ndarray) -> np.ndarray:
    to_xyz = np.array([[0.4124, 0.3576, 0.1805], LUMINANCE, [0.0193, 0.1192, 0.9505]])
    x = to_xyz @ np.clip(rgb, 0, 1) / (to_xyz @ np.ones(3))
    f = np.where(x > 0.008856, np.cbrt(x), 7.787 * x + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


@pytest.mark.parametrize("vision", VISION)
def test_every_pair_of_colours_differs_for_every_eye(vision):
    seen = [lab(VISION[vision] @ linear(color)) for color in plotting.PALETTE]
    assert min(np.linalg.norm(a - b) for a, b in itertools.combinations(seen, 2)) >= 30


@pytest.mark.parametrize(
    ("colors", "least"), [(plotting.PALETTE, 3.0), ((plotting.GREY,), 4.5)], ids=["lines", "text"]
)
def test_contrast_on_white(colors, least):
    for color in colors:
        assert 1.05 / (LUMINANCE @ linear(color) + 0.05) >= least, color


def test_style_sets_palette_and_ground():
    assert matplotlib.rcParams["axes.prop_cycle"].by_key()["color"] == list(plotting.PALETTE)
    assert matplotlib.rcParams["savefig.facecolor"] == "white"


# --- files ------------------------------------------------------------------------------------------


def curves():
    fig, ax = plotting.figure()
    t = np.linspace(0, 50, 2000)
    for k in range(4):
        plotting.drift(ax, t, 1 + 0.01 * np.sin((k + 1) * t), label=f"curve {k}")
    ax.legend(loc="upper right")
    return fig


def test_png_is_small_has_a_palette_and_twice_the_shown_resolution():
    fig = curves()
    data = plotting.png(fig)
    picture = Image.open(io.BytesIO(data))
    assert picture.mode == "P"
    assert len(picture.getcolors()) <= 32
    assert picture.size == (1024, 576)  # 6.4 x 3.6 in
    full = io.BytesIO()
    fig.savefig(full, dpi=plotting.DPI)
    assert len(data) < 30_000
    assert len(data) < 0.5 * len(full.getvalue())


def test_png_keeps_the_colours_of_the_palette_and_a_white_ground():
    fig, ax = plotting.figure()
    for k in range(len(plotting.PALETTE)):
        ax.plot([0, 1], [k, k + 1], linewidth=1)  # thin and slanted: few pixels of the pure colour
    picture = Image.open(io.BytesIO(plotting.png(fig))).convert("RGB")
    counts = {color: n for n, color in picture.getcolors()}
    assert max(counts, key=counts.get) == (255, 255, 255)
    for color in plotting.PALETTE:
        assert counts.get(tuple(bytes.fromhex(color[1:])), 0) > 300, color


def test_a_transparent_figure_becomes_opaque():
    with matplotlib.rc_context({"savefig.facecolor": "none", "savefig.transparent": True}):
        fig = plt.figure(figsize=(1, 1), facecolor="none")
        picture = Image.open(io.BytesIO(plotting.png(fig)))
    assert "transparency" not in picture.info
    assert picture.convert("RGB").getcolors() == [(160 * 160, (255, 255, 255))]


def test_show_displays_once_with_alt_text_and_closes(monkeypatch):
    import IPython.display

    shown = []
    monkeypatch.setattr(IPython.display, "display", lambda *a, **k: shown.append((a, k)))
    assert plotting.show(curves(), "Four curves\n  that stay.") is None
    ((data,), options) = shown[0]
    assert len(shown) == 1
    assert data["text/plain"] == "Four curves that stay."
    assert base64.b64decode(data["image/png"]).startswith(b"\x89PNG")
    assert options == {"metadata": {"image/png": {"width": 512}}, "raw": True}
    assert plt.get_fignums() == []


@pytest.mark.parametrize("alt", ["", "  ", None])
def test_show_wants_words(alt):
    with pytest.raises(ValueError, match="alt: got .*; write a sentence"):
        plotting.show(curves(), alt)


def test_figure_leaves_room_for_labels():
    for shape in ((1, 1), (1, 2), (2, 2), (3, 1)):
        fig, axes = plotting.figure(*shape, size=(7, 5))
        fig.canvas.draw()
        boxes = [a.get_window_extent() for a in np.atleast_1d(axes).ravel()]
        for ax in np.atleast_1d(axes).ravel():
            ax.set(xlabel="t", ylabel="y", title="title")
        fig.canvas.draw()
        tight = [a.get_tightbbox() for a in np.atleast_1d(axes).ravel()]
        assert all(t.x0 >= 0 and t.y0 >= 0 and t.x1 <= 560 and t.y1 <= 400 for t in tight), shape
        assert not any(a.overlaps(b) for a, b in itertools.combinations(tight, 2)), shape
        assert all(b.width > 60 and b.height > 40 for b in boxes), shape


# --- what is drawn ----------------------------------------------------------------------------------


def test_drift_is_relative_and_survives_zero():
    _, ax = plotting.figure()
    plotting.drift(ax, [0, 1, 2], [-2.0, -2.5, -2.0], label="a")
    (line,) = ax.lines
    np.testing.assert_allclose(line.get_ydata(), [0.25, plotting.TINY])
    np.testing.assert_allclose(line.get_xdata(), [1, 2])
    plotting.drift(ax, [0, 1], [0.0, 0.5], label="b", relative=False)
    np.testing.assert_allclose(ax.lines[1].get_ydata(), [0.5])


@pytest.mark.parametrize(
    ("t", "values", "message"),
    [
        ([0, 1], [1, 2, 3], r"values: got shape \(3,\) for t of shape \(2,\)"),
        ([], [], "two .n,. arrays"),
        ([0, 1], [0, 1], "values.0. is 0.*relative=False"),
    ],
)
def test_drift_refuses(t, values, message):
    _, ax = plotting.figure()
    with pytest.raises(ValueError, match=message):
        plotting.drift(ax, t, values, label="x")


def test_reference_lines_have_their_slopes_and_stay_below():
    _, ax = plotting.figure()
    h = np.geomspace(0.01, 0.5, 8)
    plotting.convergence(ax, h, {"one": h, "four": 0.1 * h**4}, orders=(1, 4))
    references = [line for line in ax.lines if line.get_linestyle() == "--"]
    assert len(references) == 2
    for line, order, curve in zip(references, (1, 4), (h, 0.1 * h**4), strict=True):
        x, y = line.get_data()
        np.testing.assert_allclose(np.polyfit(np.log(x), np.log(y), 1)[0], order)
        np.testing.assert_allclose(y, np.interp(x, h, curve) / 3)
    with pytest.raises(ValueError, match=r"errors\['bad'\]: shape \(2,\)"):
        plotting.convergence(ax, h, {"bad": [1, 2]})


@pytest.mark.parametrize(
    ("value", "label"), [(1e-3, "10⁻³"), (1.0, "10⁰"), (1e12, "10¹²"), (2e-3, "0.002"), (0.0, "0")]
)
def test_power_labels(value, label):
    assert plotting.power(value) == label


def test_projection_is_orthonormal_with_the_eye_in_front():
    frame = plotting.project(np.eye(3), (37, 21))
    np.testing.assert_allclose(frame @ frame.T, np.eye(3), atol=1e-15)
    np.testing.assert_allclose(np.linalg.det(frame), 1)
    a, e = np.radians((37, 21))
    eye = [np.cos(e) * np.cos(a), np.cos(e) * np.sin(a), np.sin(e)]
    np.testing.assert_allclose(plotting.project(eye, (37, 21)), [0, 0, 1], atol=1e-15)
    assert plotting.project([0, 0, 1.0])[1] > 0.5  # e3 points up


def test_path_hides_what_the_sphere_hides():
    _, ax = plotting.figure()
    s = np.linspace(0, 2 * np.pi, 100)
    equator = np.stack([np.cos(s), np.sin(s), 0 * s], -1)
    plotting.path(ax, equator, label="y", view=(0, 10))  # the eye near +e1
    front, back = ax.lines[:2]
    np.testing.assert_array_equal(np.isnan(front.get_xdata()), equator[:, 0] < 0)
    assert np.isnan(back.get_xdata()).sum() < 60
    # A path that left the sphere is in front of nothing and is seen as a whole.
    plotting.path(ax, 3 * equator[40:45], label="far", view=(0, 80))
    assert not np.isnan(ax.lines[3].get_xdata()).any()
    with pytest.raises(ValueError, match=r"points: got shape \(3,\)"):
        plotting.path(ax, [1, 0, 0], label="x")


def test_sphere_is_round_and_fits():
    fig, ax = plotting.figure(1, 2)
    plotting.sphere(ax[0], radius=2.0)
    assert ax[0].get_aspect() == 1
    (outline,) = ax[0].lines
    np.testing.assert_allclose(np.hypot(*outline.get_data()), 2)
    for lines in ax[0].collections:
        assert all(np.hypot(*segment.T).max() <= 2 + 1e-12 for segment in lines.get_segments())


def test_nothing_heavy_is_imported_before_it_is_used():
    code = (
        "import sys, lielab.plotting, lielab.explore;"
        "print([m for m in ('matplotlib', 'ipywidgets', 'IPython', 'PIL') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


# --- drawings ---------------------------------------------------------------------------------------


def test_a_drawing_has_bare_axes_of_one_scale() -> None:
    fig, axes = plotting.drawing((0, 2, 0, 1), (-1, 1, -1, 1), size=(6, 2))
    assert [ax.get_xlim() for ax in axes] == [(0, 2), (-1, 1)]
    assert [(ax.axison, ax.get_aspect()) for ax in axes] == [(False, 1.0)] * 2
    assert tuple(fig.get_size_inches()) == (6, 2)
    with pytest.raises(ValueError, match="spans: got none"):
        plotting.drawing()
    with pytest.raises(ValueError, match="spans must"):
        plotting.drawing((0, 1))


@pytest.mark.parametrize(("aside", "expected"), [(10.0, (0.0, 10.0)), (-4.0, (0.0, -4.0))])
def test_an_arrow_has_its_name_on_its_left(aside: float, expected: tuple[float, float]) -> None:
    _, (ax,) = plotting.drawing((0, 4, -1, 1))
    plotting.arrow(ax, (1, 0), (3, 0), "$q$", at=0.5, aside=aside)
    shaft, name = ax.texts
    assert shaft.xy == pytest.approx((3, 0))
    assert name.get_text() == "$q$"
    assert tuple(name.xy) == pytest.approx((2, 0))
    assert tuple(name.xyann) == pytest.approx(expected)
    with pytest.raises(ValueError, match="start must"):
        plotting.arrow(ax, (1, 0, 0), (3, 0))
