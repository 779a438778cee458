"""Pictures for the book: one palette, small files, and a text for readers who do not see them.

`style()` sets matplotlib's defaults once a chapter; `figure()` makes axes with fixed margins (a
constrained layout costs 0.3 s a picture, these cost nothing); `drift`, `convergence`, `sphere` and
`path` draw what most chapters need on given axes, `drawing` and `arrow` the sketches of the systems; `show`
displays the figure with its alt text.

A picture is opaque (white), so that it reads the same on a light and on a dark page, and is stored
as a PNG with a palette of 32 colours: a third of the size, at twice the resolution it is shown at.
Matplotlib is imported inside the functions, so `import lielab` stays fast.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.arguments import count, listed, named_array, numbers, positive, positives, vector

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Every pair differs by at least 30 (CIE76) for normal, protan, deutan and tritan vision, and each has
# a contrast of at least 3:1 on white; tests/show/test_plotting.py computes both.
PALETTE = ("#1351e6", "#e64100", "#09a778", "#60216d", "#1b1b1b", "#6e2302")
GREY = "#767676"  # reference lines and grids: 4.5:1 on white
MARKERS = ("o", "s", "^", "D", "v", "P")
DPI = 160  # pixels an inch in the file; shown at half of it, sharp on dense screens
SHOWN_DPI = 80
TINY = 1e-17  # a drift of exactly 0 is drawn here: below round-off, still on a log axis
VIEW = (30.0, 25.0)  # default azimuth and elevation of the eye, degrees

_RC: dict[str, Any] = {
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
    "savefig.dpi": DPI,
    "figure.dpi": SHOWN_DPI,
    "axes.facecolor": "white",
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.6,
    "lines.markersize": 4.5,
    "font.size": 11,
    "axes.titlesize": 11,
    "legend.fontsize": 10,
    "legend.frameon": False,
}


def style() -> None:
    """Set matplotlib's defaults for the rest of the session: palette, white ground, sizes."""
    from matplotlib import rcParams, rcsetup

    settings: dict[Any, Any] = {**_RC, "axes.prop_cycle": rcsetup.cycler(color=PALETTE)}
    rcParams.update(settings)


_MOST_AXES = 400


def figure(
    rows: int = 1, cols: int = 1, *, size: tuple[float, float] = (6.4, 3.6)
) -> tuple[Figure, Any]:
    """A figure of `size` inches and its axes (one, or an array as from `plt.subplots`).

    The margins are fixed: room for tick labels, axis labels and a title of one line.
    """
    import matplotlib.pyplot as plt

    rows, cols = count("rows", rows), count("cols", cols)
    if rows * cols > _MOST_AXES:
        raise ValueError(f"rows and cols: got {rows} and {cols}; pass at most {_MOST_AXES} in all")
    width, height = positives("size", size, 2)
    fig, axes = plt.subplots(rows, cols, figsize=(width, height))
    # Margins and gaps in inches, whatever the size of the figure.
    fig.subplots_adjust(
        left=0.8 / width,
        right=1 - 0.15 / width,
        bottom=0.55 / height,
        top=1 - 0.35 / height,
        wspace=0.8 * cols / (width - 0.95 * cols) if cols > 1 else None,
        hspace=0.9 * rows / (height - 0.9 * rows) if rows > 1 else None,
    )
    return fig, axes


def drawing(
    *spans: Sequence[float], size: tuple[float, float] = (6.4, 3.2)
) -> tuple[Figure, list[Axes]]:
    """Bare axes of equal scale side by side, for drawings of systems with their axes and symbols.

    spans: one (left, right, bottom, top) for each of the axes, in the drawing's own units; size in inches.
    """
    import matplotlib.pyplot as plt

    boxes = [vector("spans", span, 4) for span in spans]
    if not boxes:
        raise ValueError("spans: got none; pass (left, right, bottom, top) for each of the axes")
    widths = [box[1] - box[0] for box in boxes]
    fig, axes = plt.subplots(
        1, len(boxes), figsize=positives("size", size, 2), squeeze=False, width_ratios=widths
    )
    fig.subplots_adjust(left=0.01, right=0.99, bottom=0.01, top=0.99, wspace=0.04)
    for ax, (left, right, bottom, top) in zip(axes[0], boxes, strict=True):
        ax.set(xlim=(left, right), ylim=(bottom, top), aspect="equal")
        ax.set_axis_off()
    return fig, list(axes[0])


def arrow(
    ax: Axes,
    start: Any,
    end: Any,
    name: str = "",
    *,
    color: str = PALETTE[4],
    at: float = 1.0,
    aside: float = 10.0,
) -> None:
    """An arrow in a drawing, (x, y) to (x, y), with its name beside it.

    The name stands at the fraction `at` of the way, `aside` points to the left of the arrow (negative: right).
    """
    _on_axes(ax)
    (x0, y0), (x1, y1) = vector("start", start, 2), vector("end", end, 2)
    style = {"arrowstyle": "-|>", "linewidth": 1.6, "color": color, "shrinkA": 0, "shrinkB": 0}
    ax.annotate("", (x1, y1), (x0, y0), arrowprops=style)
    dx, dy = x1 - x0, y1 - y0
    unit = aside / max(float(np.hypot(dx, dy)), 1e-12)
    ax.annotate(
        name,
        (x0 + at * dx, y0 + at * dy),
        xytext=(-unit * dy, unit * dx),
        textcoords="offset points",
        ha="center",
        va="center",
        color=color,
    )


def png(fig: Figure, *, colors: int = 32) -> bytes:
    """The figure as a PNG of `DPI` with a palette of `colors`; 10 to 25 kB for an ordinary plot."""
    from PIL import Image

    if not hasattr(fig, "savefig"):
        raise ValueError(f"fig must be a matplotlib Figure, got {fig!r}")
    least = len(PALETTE) + 3
    count("colors", colors, least, 256)
    raw = io.BytesIO()
    fig.savefig(raw, format="raw", dpi=DPI)
    # Matplotlib rounds the size of its canvas down.
    width, height = (int(side * DPI + 1e-9) for side in fig.get_size_inches())
    picture = Image.frombuffer("RGBA", (width, height), raw.getvalue())
    ground = Image.new("RGBA", picture.size, "white")
    ground.alpha_composite(picture)  # a transparent figure would vanish on a dark page
    opaque = ground.convert("RGB")
    # Our own colours exactly; the rest, mostly blends at edges, from every second pixel: the same
    # result in a third of the time.
    ours = np.array([_rgb(color) for color in (*PALETTE, GREY, "#ffffff")])
    sample = opaque.resize((width // 2, height // 2), Image.Resampling.NEAREST)
    chosen = sample.quantize(colors - len(ours), method=Image.Quantize.MEDIANCUT)
    entries = np.array(chosen.getpalette()).reshape(-1, 3)[: colors - len(ours)]
    entries[entries.min(axis=1) >= 248] = 255  # the cut averages white with almost white
    chosen.putpalette(np.concatenate([entries, ours]).ravel().tolist())
    out = io.BytesIO()
    indexed = opaque.quantize(palette=chosen, dither=Image.Dither.NONE)
    indexed.save(out, format="png", compress_level=8)
    return out.getvalue()


def _rgb(color: str) -> tuple[int, ...]:
    return tuple(bytes.fromhex(color[1:]))


def bundle(picture: bytes, alt: str) -> tuple[dict[str, str], dict[str, dict[str, int]]]:
    """MIME bundle (data, metadata) of a PNG: half its pixels wide, the alt text as its plain text.

    The book's build copies that plain text into the page's `<img alt=...>`.
    """
    if not isinstance(picture, bytes) or not isinstance(alt, str):
        raise ValueError("picture must be the bytes of a PNG, and alt a text")
    width = int.from_bytes(picture[16:20], "big")  # the PNG header: width at byte 16
    data = {"image/png": base64.b64encode(picture).decode("ascii"), "text/plain": alt}
    return data, {"image/png": {"width": width * SHOWN_DPI // DPI}}


def show(fig: Figure, alt: str) -> None:
    """Display `fig` once, with a text that says what it shows, and close it.

    `alt`: one or two plain sentences; numbers in it are welcome, since the stored text is compared
    when the chapter is tested. Raises ValueError for an empty text.
    """
    import matplotlib.pyplot as plt
    from IPython.display import display

    if not isinstance(alt, str) or not alt.strip():
        raise ValueError(f"alt: got {alt!r}; write a sentence that says what the figure shows")
    data, metadata = bundle(png(fig), " ".join(alt.split()))
    plt.close(fig)
    display(data, metadata=metadata, raw=True)


def power(value: float, _: Any = None) -> str:
    """Tick label of a log axis, 10⁻³, as plain text: typeset as a formula it costs 10 ms a label."""
    exponent = int(round(np.log10(value))) if value > 0 else 0
    if not np.isclose(value, 10.0**exponent, rtol=1e-6, atol=0):
        return f"{value:g}"
    return "10" + str(exponent).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def log_ticks(axis: Any) -> None:
    """Tick labels of a log axis that do not collide: 1, 2, 5 as decimals below 3 decades, else powers of 10."""
    from matplotlib.ticker import LogLocator, NullFormatter

    if not hasattr(axis, "get_view_interval"):
        raise ValueError(f"axis must be an axis of matplotlib, such as ax.xaxis, got {axis!r}")
    low, high = axis.get_view_interval()
    if high < 1000 * low:
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axis.set_major_formatter(lambda value, _: f"{value:g}")
    else:
        axis.set_major_formatter(power)
    axis.set_minor_formatter(NullFormatter())


def _on_axes(ax: Any) -> None:
    if not hasattr(ax, "add_collection"):
        raise ValueError(f"ax must be matplotlib Axes, as from plotting.figure(), got {ax!r}")


def drift(ax: Axes, t: Any, values: Any, *, label: str, relative: bool = True, **line: Any) -> None:
    """|H(t) - H(0)| on a log axis, divided by |H(0)| unless `relative=False`.

    `t`, `values`: shape (n,), the times and the values of H. Further keywords go to the line.
    """
    t, values = named_array("t", t), named_array("values", values)
    _on_axes(ax)
    if t.shape != values.shape or t.ndim != 1 or t.size == 0:
        raise ValueError(
            f"values: got shape {values.shape} for t of shape {t.shape}; pass two (n,) arrays"
        )
    if relative and values[0] == 0:
        raise ValueError(
            "values: values[0] is 0, so there is no relative drift; pass relative=False"
        )
    size = np.abs(values - values[0]) / (abs(values[0]) if relative else 1.0)
    ax.semilogy(t[1:], np.maximum(size[1:], TINY), label=label, **line)
    ax.yaxis.set_major_formatter(power)
    ax.set_xlabel("t")
    ax.set_ylabel("relative drift" if relative else "drift")


def convergence(
    ax: Axes, h: Any, errors: Mapping[str, Any], *, orders: Iterable[float] = ()
) -> None:
    """Error against step size, log-log, one line a method, with grey lines of slope `orders`.

    `h`: (n,) step sizes; `errors`: name -> (n,) errors. Each reference line runs a factor 3 below the
    method whose slope comes closest to it.
    """
    h = named_array("h", h)
    _on_axes(ax)
    if not isinstance(errors, Mapping) or not errors:
        raise ValueError(f"errors: got {errors!r}; pass name -> (n,) errors, one or more")
    errors = {name: named_array(f"errors[{name!r}]", error) for name, error in errors.items()}
    for i, (name, error) in enumerate(errors.items()):
        if error.shape != h.shape:
            raise ValueError(
                f"errors[{name!r}]: shape {error.shape} does not match h of shape {h.shape}"
            )
        ax.loglog(h, error, marker=MARKERS[i % len(MARKERS)], label=name)
    everything = np.concatenate(list(errors.values()))
    everything = everything[np.isfinite(everything) & (everything > 0)]
    floor = everything.min()
    for order in numbers("orders", listed("orders", orders, "orders of methods")):
        line = (
            min((_anchored(h, e, order) for e in errors.values()), key=lambda pair: pair[0])[1] / 3
        )
        seen = line >= floor / 10
        ax.loglog(h[seen], line[seen], color=GREY, linestyle="--", linewidth=1, label="_reference")
        k = int(np.argmin(np.where(seen, h, np.inf)))
        ax.annotate(
            f"slope {order:g}", (h[k], line[k]), color=GREY, fontsize=9, va="top", ha="left"
        )
    for axis in (ax.xaxis, ax.yaxis):
        log_ticks(axis)
    ax.set_xlabel("step size h")
    ax.set_ylabel("error")


def _anchored(h: np.ndarray, error: Any, order: float) -> tuple[float, np.ndarray]:
    """Misfit of the slope of `error`, and the line of slope `order` through it at the largest h with an error."""
    error = np.maximum(np.asarray(error, float), TINY)
    there = np.isfinite(error)
    if not there.any():
        return np.inf, np.full(h.shape, np.nan)
    k = int(np.argmax(np.where(there, h, 0.0)))
    x, y = np.log(h[there]), np.log(error[there])
    slope = np.median(np.diff(y) / np.diff(x)) if x.size > 1 else order
    return abs(slope - order), error[k] * (h / h[k]) ** order


def project(points: Any, view: Sequence[float] = VIEW) -> np.ndarray:
    """Orthographic projection (..., 3) -> (..., 3): right, up, and towards the eye.

    `view` = (azimuth, elevation) of the eye in degrees; e3 points up in the picture.
    """
    azimuth, elevation = np.radians(vector("view", view, 2))
    ca, sa, ce, se = np.cos(azimuth), np.sin(azimuth), np.cos(elevation), np.sin(elevation)
    frame = np.array([[-sa, ca, 0.0], [-se * ca, -se * sa, ce], [ce * ca, ce * sa, se]])
    points = named_array("points", points)
    if points.shape[-1:] != (3,):
        raise ValueError(f"points: got shape {points.shape}; pass an array (..., 3)")
    return points @ frame.T


def sphere(ax: Axes, *, view: Sequence[float] = VIEW, radius: float = 1.0) -> None:
    """Outline, meridians and parallels of a sphere seen from `view`; the far side is fainter.

    Two line collections instead of 3D axes: 1 ms instead of 100.
    """
    from matplotlib.collections import LineCollection

    _on_axes(ax)
    radius = positive("radius", radius)
    s = np.linspace(0, 2 * np.pi, 97)
    around = np.stack([np.cos(s), np.sin(s), 0 * s], -1)
    up = np.array([0.0, 0.0, 1.0])
    circles = [np.cos(b) * around + np.sin(b) * up for b in np.radians((-60, -30, 0, 30, 60))]
    circles += [
        np.outer(np.cos(s), [np.cos(a), np.sin(a), 0]) + np.outer(np.sin(s), up)
        for a in np.radians((0, 30, 60, 90, 120, 150))
    ]
    for front, color in ((False, "#e8e8e8"), (True, "#bdbdbd")):
        pieces = [p for c in circles for p in _visible(project(c, view), front)]
        ax.add_collection(
            LineCollection([radius * p for p in pieces], colors=color, linewidths=0.7, zorder=1)
        )
    ax.plot(radius * np.cos(s), radius * np.sin(s), color=GREY, linewidth=1, zorder=1)
    ax.set_aspect("equal")
    ax.set_axis_off()
    ax.set_xlim(-1.15 * radius, 1.15 * radius)
    ax.set_ylim(-1.15 * radius, 1.15 * radius)


def path(
    ax: Axes,
    points: Any,
    *,
    label: str,
    view: Sequence[float] = VIEW,
    radius: float = 1.0,
    **line: Any,
) -> None:
    """A trajectory, shape (n, 3), on or near the sphere; the part hidden behind it is faint.

    A dot marks the start. Further keywords go to the line.
    """
    _on_axes(ax)
    points = named_array("points", points)
    if points.ndim != 2 or points.shape[1] != 3 or len(points) == 0:
        raise ValueError(f"points: got shape {points.shape}; pass an (n, 3) array")
    flat = project(points, view)
    # Hidden: farther than the centre and inside the outline. A path that left the sphere is seen.
    hidden = (flat[:, 2] < 0) & (np.hypot(flat[:, 0], flat[:, 1]) < radius)
    (drawn,) = ax.plot(*np.where(hidden, np.nan, flat.T)[:2], label=label, zorder=3, **line)
    # One more point at each end closes the gaps between the two styles.
    edge = hidden | np.roll(hidden, 1) | np.roll(hidden, -1)
    ax.plot(
        *np.where(edge, flat.T, np.nan)[:2],
        color=drawn.get_color(),
        alpha=0.35,
        linewidth=0.9,
        zorder=2,
    )
    ax.plot(*flat[0, :2], "o", color=drawn.get_color(), zorder=4)


def _visible(curve: np.ndarray, front: bool) -> list[np.ndarray]:
    """The (k, 2) pieces of a projected curve in front of (or behind) the centre."""
    inside = (curve[:, 2] >= 0) == front
    cuts = np.flatnonzero(np.diff(inside.astype(int))) + 1
    parts = np.split(np.arange(len(curve)), cuts)
    return [curve[p, :2] for p in parts if inside[p[0]] and len(p) > 1]


def animate(sol: Any, alt: str, **options: Any) -> None:
    """A solution in motion, as HTML5 that can be paused; see `lielab.animate.animate`."""
    from .animate import animate as run

    run(sol, alt, **options)
