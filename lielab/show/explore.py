"""A figure with one or two sliders that moves without a kernel.

`explore` draws every combination of the choices once and stores the pictures. Sliders and buttons
are tied to a stack of pictures in the browser (`ipywidgets.jslink`), so no Python runs when a reader
moves them: the static page, Binder and JupyterLab behave alike. With `live=True` a second set of
sliders takes any value and draws it at once where a kernel runs; the book's stylesheet hides it in
the static page. Where there are no widgets (GitHub, Colab, print) the first picture stands still.

Import it as `from lielab.explore import explore`.
"""

from __future__ import annotations

import base64
import html
import itertools
import math
import string
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ..core.interrupts import keeps
from . import plotting

MAX_FRAMES = 60  # about 1 MB of page and 3 s of drawing
MAX_CHOICES = (
    2  # one level of stacked pictures a choice; three would not fit the frame limit either
)
MAX_BUTTONS = 6  # more names than this do not fit in a row of buttons: they go in a drop-down list
LOG_RATIO = 8  # positive choices that span at least this factor get a logarithmic live slider

Value = Any  # a number or a string
Alt = str | Callable[..., str] | None


def explore(
    draw: Callable[..., Any],
    /,
    *,
    alt: Alt = None,
    live: bool = False,
    opens: Mapping[str, Value] | None = None,
    **choices: Iterable[Value],
) -> Explorer:
    """Show `draw` for every combination of one or two choices; make it the last line of a cell.

    draw     called by keyword, `draw(method="RK4", h=0.1)`, returns a matplotlib Figure. Draw on one
             figure made outside, after `ax.clear()`: 50 to 80 ms a picture instead of 200.
    alt      what the picture shows, in words: a sentence with the choices as fields, `"Energy of
             {method} at h = {h:g}"`, or a function called as `draw` is. Choices that the sentence
             does not mention are appended to it.
    live     adds sliders for any value in the range of the choices, drawn at once by the kernel.
    opens    which of the choices is seen first, `opens={"h": 0.05}`; the first value given of each
             where it is not said.
    choices  one or two, each a list, range or array of numbers (a slider, ascending whatever their
             order) or strings (buttons). An underscore in a name is shown as a space.

    Raises ValueError for unusable choices, TypeError when `draw` returns no figure, and RuntimeError
    with the values when `draw` fails. Interrupted, the KeyboardInterrupt carries the `frames` drawn as
    its `.result`.

        fig, ax = plotting.figure()

        def draw(h):
            ax.clear()
            ax.plot(...)
            return fig

        explore(draw, alt="Error for step size {h:g}", h=[0.1, 0.05, 0.025])
    """
    if not callable(draw):
        raise TypeError(f"draw: got {draw!r}; pass a function that returns a matplotlib Figure")
    checked = {name: _values(name, given) for name, given in choices.items()}
    if not 1 <= len(checked) <= MAX_CHOICES:
        names = ", ".join(checked) or "none"
        raise ValueError(
            f"choices: got {len(checked)} ({names}); pass one or two, fix the others inside draw"
        )
    count = math.prod(len(values) for values in checked.values())
    if count > MAX_FRAMES:
        sizes = " x ".join(f"{len(values)} {name}" for name, values in checked.items())
        raise ValueError(
            f"choices: {sizes} make {count} pictures; pass fewer values, at most {MAX_FRAMES} pictures"
        )
    start = _start(checked, opens)
    for name, values in checked.items():
        if not isinstance(values[0], str):
            checked[name] = sorted(values)
    frames: dict[tuple, tuple[bytes, str]] = {}
    with keeps(lambda: frames):
        for key in itertools.product(*checked.values()):
            frames[key] = _frame(draw, alt, dict(zip(checked, key, strict=True)))
    return Explorer(draw, alt, live, checked, frames, start)


class Explorer:
    """What `explore` returns; notebooks display it.

    choices  name -> list of values.
    frames   tuple of values -> (png bytes, alt text), in the order of the choices.
    start    the tuple of values that is seen first.
    """

    def __init__(
        self, draw: Callable, alt: Alt, live: bool, choices: dict, frames: dict, start: tuple
    ) -> None:
        self.choices: dict[str, list[Value]] = choices
        self.frames: dict[tuple, tuple[bytes, str]] = frames
        self.start: tuple[Value, ...] = start
        self._draw, self._alt, self._live = draw, alt, live
        self._widget: Any = None

    @property
    def widget(self) -> Any:
        """The ipywidgets box: controls, pictures, and the live part if it was asked for."""
        if self._widget is None:
            parts = [*_frame_browser(self.choices, self.frames, self.start)]
            if self._live:
                parts.append(_live_part(self._draw, self._alt, self.choices, self.start))
            self._widget = _box(parts, "lielab-explore")
        return self._widget

    def _repr_mimebundle_(self, **_: Any) -> tuple[dict, dict]:
        """Widget and still picture in one bundle: every front end shows the richest it knows."""
        data, metadata = plotting.bundle(*self.frames[self.start])
        if _has_stack():
            data |= {k: v for k, v in self.widget._repr_mimebundle_().items() if k != "text/plain"}
        return data, metadata

    def __repr__(self) -> str:
        sizes = ", ".join(f"{len(values)} {name}" for name, values in self.choices.items())
        return f"Explorer({sizes}: {len(self.frames)} pictures)"


def _has_stack() -> bool:
    """Whether pictures can be stacked: not in Colab, which would choose the widget all the same, nor before 8.1."""
    import ipywidgets

    return "google.colab" not in sys.modules and hasattr(ipywidgets, "Stack")


def _values(name: str, given: Any) -> list[Value]:
    """The values of one choice as plain Python numbers or strings."""
    if isinstance(given, str) or not isinstance(given, Iterable) or getattr(given, "ndim", 1) == 0:
        raise ValueError(f"{name}: got {given!r}; pass a list, range or array of values")
    values = [v.item() if hasattr(v, "item") and getattr(v, "ndim", 0) == 0 else v for v in given]
    if not values:
        raise ValueError(f"{name}: got no values; pass at least one")
    strings = [isinstance(v, str) for v in values]
    numbers = [
        isinstance(v, int | float) and not isinstance(v, bool) and math.isfinite(v) for v in values
    ]
    if not (all(strings) or all(numbers)):
        raise ValueError(f"{name}: got {values!r}; pass finite numbers, or strings")
    if len(set(values)) < len(values) or len(set(_labels(values))) < len(values):
        raise ValueError(f"{name}: got {values!r}; two values are the same, pass each once")
    if isinstance(given, tuple) and len(values) == 3 and all(numbers):
        low, high, step = values
        if (
            low < high and 0 < step <= high - low and step < high
        ):  # ipywidgets' abbreviation of a range
            raise ValueError(
                f"{name}: got {given!r}, which may be three values or (from, to, step); pass the list {values!r} for "
                f"the values, or numpy.arange({low!r}, {high!r}, {step!r}) for the range"
            )
    return values


def _start(choices: dict[str, list[Value]], opens: Mapping[str, Value] | None) -> tuple:
    """The value of each choice that is seen first."""
    if opens is not None and not isinstance(opens, Mapping):
        raise ValueError(f"opens: got {opens!r}; pass a dictionary such as {{'h': 0.1}}")
    start = {name: values[0] for name, values in choices.items()} | dict(opens or {})
    for name, value in start.items():
        if name not in choices:
            raise ValueError(f"opens: got {name!r}; the choices are {', '.join(choices)}")
        if value not in choices[name]:
            raise ValueError(f"opens: got {value!r} for {name}; its values are {choices[name]!r}")
    return tuple(start.values())


def _label(value: Value) -> str:
    return value if isinstance(value, str) else f"{value:g}"


def _labels(values: list[Value]) -> list[str]:
    """Short labels, or all digits where short ones would be the same."""
    short = [_label(value) for value in values]
    return short if len(set(short)) == len(short) else [str(value) for value in values]


def _title(name: str) -> str:
    return name.replace("_", " ")


def _said(values: dict[str, Value]) -> str:
    return ", ".join(f"{_title(name)} = {_label(value)}" for name, value in values.items())


def _frame(draw: Callable, alt: Alt, values: dict[str, Value]) -> tuple[bytes, str]:
    """One picture and its alt text."""
    from matplotlib import pyplot as plt
    from matplotlib.figure import Figure

    try:
        fig = draw(**values)
    except Exception as error:
        raise RuntimeError(
            f"draw failed for {_said(values)}: {type(error).__name__}: {error}"
        ) from error
    if not isinstance(fig, Figure):
        raise TypeError(
            f"draw returned {type(fig).__name__} for {_said(values)}; return the matplotlib Figure"
        )
    text = _alt_text(alt, values)
    picture = plotting.png(fig)
    # Else the notebook shows it once more below the cell; the object itself stays usable.
    plt.close(fig)
    return picture, text


def _alt_text(alt: Alt, values: dict[str, Value]) -> str:
    if callable(alt):
        text = alt(**values)
        if not isinstance(text, str) or not text.strip():
            raise ValueError(
                f"alt: the function returned {text!r} for {_said(values)}; return a sentence"
            )
        return " ".join(text.split())
    template = "Picture" if alt is None else alt
    if not isinstance(template, str) or not template.strip():
        raise ValueError(f"alt: got {alt!r}; pass a sentence or a function of the choices")
    try:
        text = template.format(**values)
        mentioned = {field for _, field, _, _ in string.Formatter().parse(template) if field}
    except (KeyError, IndexError, ValueError) as error:
        fields = ", ".join("{" + name + "}" for name in values)
        raise ValueError(
            f"alt: {alt!r} cannot be filled in ({error!r}); its fields are {fields}"
        ) from None
    rest = {name: value for name, value in values.items() if name not in mentioned}
    text = " ".join(text.split())
    return f"{text.rstrip('.')} ({_said(rest)})" if rest else text


def _picture(picture: bytes, alt: str) -> str:
    width, height = (int.from_bytes(picture[i : i + 4], "big") for i in (16, 20))  # PNG header
    scale = plotting.SHOWN_DPI / plotting.DPI
    source = "data:image/png;base64," + base64.b64encode(picture).decode("ascii")
    return (
        f'<img alt="{html.escape(alt)}" width="{width * scale:.0f}" height="{height * scale:.0f}" '
        f'style="max-width: 100%; height: auto" src="{source}">'
    )


def _box(children: list, name: str) -> Any:
    import ipywidgets as W

    box = W.VBox(children)
    box.add_class(name)
    return box


def _frame_browser(choices: dict, frames: dict, start: tuple) -> tuple[Any, ...]:
    """Controls, and stacks of pictures that follow them in the browser."""
    import ipywidgets as W

    def picture(key: tuple) -> Any:
        return W.HTML(_picture(*frames[key]))

    first, *second = choices
    places = [values.index(value) for values, value in zip(choices.values(), start, strict=True)]
    controls = [
        _control(*choice, place) for choice, place in zip(choices.items(), places, strict=True)
    ]
    if second:
        inner = [
            W.Stack([picture((a, b)) for b in choices[second[0]]], selected_index=places[1])
            for a in choices[first]
        ]
        for stack in inner:
            W.jslink((controls[1], "index"), (stack, "selected_index"))
    else:
        inner = [picture((a,)) for a in choices[first]]
    outer = W.Stack(inner, selected_index=places[0])
    W.jslink((controls[0], "index"), (outer, "selected_index"))
    return (*controls, outer)


def _control(name: str, values: list[Value], place: int) -> Any:
    import ipywidgets as W

    options = [(label, index) for index, label in enumerate(_labels(values))]
    common = {
        "options": options,
        "index": place,
        "description": _title(name),
        "style": {"description_width": "initial"},
    }
    if not isinstance(values[0], str):
        return W.SelectionSlider(**common, layout={"width": "auto", "max_width": "30rem"})
    return W.ToggleButtons(**common) if len(values) <= MAX_BUTTONS else W.Dropdown(**common)


def _live_part(draw: Callable, alt: Alt, choices: dict, start: tuple) -> Any:
    """Free sliders and the picture they draw; nothing is drawn before the first move."""
    import ipywidgets as W

    controls = {
        name: _free_control(name, values, value)
        for (name, values), value in zip(choices.items(), start, strict=True)
    }
    shown = W.HTML("Any value, while Python runs: move one of these.")

    def update(_: Any) -> None:
        try:
            shown.value = _picture(
                *_frame(draw, alt, {name: c.value for name, c in controls.items()})
            )
        except (RuntimeError, TypeError, ValueError) as error:
            shown.value = f'<span role="alert">{html.escape(str(error))}</span>'

    for control in controls.values():
        control.observe(update, "value")
    return _box([*controls.values(), shown], "lielab-live")


def _free_control(name: str, values: list[Value], start: Value) -> Any:
    import ipywidgets as W

    common = {
        "description": _title(name) if isinstance(values[0], str) else f"any {_title(name)}",
        "value": start,
        "style": {"description_width": "initial"},
        "layout": {"width": "auto", "max_width": "30rem"},
    }
    if isinstance(values[0], str):
        return W.Dropdown(**common, options=values)
    low, high = min(values), max(values)
    if all(isinstance(v, int) for v in values):
        return W.IntSlider(**common, min=low, max=high)
    if low > 0 and high / low >= LOG_RATIO:
        # The ends are widened by a hair, so that the rounding of log10 does not exclude them.
        ends = {"min": math.log10(low) - 1e-12, "max": math.log10(high) + 1e-12}
        return W.FloatLogSlider(
            **common, base=10, **ends, step=(ends["max"] - ends["min"]) / 400, readout_format=".4g"
        )
    return W.FloatSlider(
        **common, min=low, max=high, step=(high - low) / 400 or 1.0, readout_format=".4g"
    )
