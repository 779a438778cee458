"""The widget: every combination drawn once, linked in the browser, said in words, live on demand."""

from __future__ import annotations

import base64
import re
import sys

import numpy as np
import pytest

from lielab.explore import MAX_FRAMES, explore

W = pytest.importorskip("ipywidgets")
matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("agg")

import matplotlib.pyplot as plt  # noqa: E402

WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"


@pytest.fixture
def draw():
    """Draws a line whose height tells the values; `draw.calls` are the values it was called with."""
    fig, ax = plt.subplots(figsize=(1, 1))

    def draw(**values):
        draw.calls.append(values)
        ax.clear()
        ax.plot([len(v) if isinstance(v, str) else v for v in values.values()] + [0])
        ax.set_ylim(0, 10)
        return fig

    draw.calls = []
    yield draw
    plt.close("all")


@pytest.fixture
def links(monkeypatch):
    """The links that the browser would follow: (source, trait), (target, trait)."""
    made = []
    monkeypatch.setattr(W, "jslink", lambda source, target: made.append((source, target)))
    return made


def parts(widget, kind):
    found = [widget] if isinstance(widget, kind) else []
    return found + [p for child in getattr(widget, "children", ()) for p in parts(child, kind)]


def seen(widget):
    """The picture that is seen: the selected child of each stack."""
    while not isinstance(widget, W.HTML):
        widget = widget.children[widget.selected_index]
    return widget.value


def source(picture):
    return f"data:image/png;base64,{base64.b64encode(picture).decode()}"


# --- frames -----------------------------------------------------------------------------------------


def test_every_combination_is_drawn_once_with_plain_values(draw):
    plt.close("all")  # of other tests
    shown = explore(draw, method=["RK4", "Heun"], h=np.array([0.5, 1.0, 2.0]))
    wanted = [{"method": m, "h": h} for m in ("RK4", "Heun") for h in (0.5, 1.0, 2.0)]
    assert draw.calls == wanted
    assert {type(v) for call in draw.calls for v in call.values()} == {str, float}
    assert list(shown.frames) == [tuple(v.values()) for v in wanted]
    assert repr(shown) == "Explorer(2 method, 3 h: 6 pictures)"
    assert plt.get_fignums() == []  # else the notebook would show the figure once more


@pytest.mark.parametrize("choices", [{"n": range(4)}, {"n": [1, 2], "m": (3, 4, 5)}])
def test_moving_a_control_shows_its_picture(draw, links, choices):
    shown = explore(draw, **choices)
    controls = parts(shown.widget, W.SelectionSlider)
    outer = parts(shown.widget, W.Stack)[0]
    assert [c.description for c in controls] == list(choices)
    for key, (picture, alt) in shown.frames.items():
        for control, value, options in zip(controls, key, choices.values(), strict=True):
            control.index = list(options).index(value)
        for (control, trait), (stack, target) in links:  # what the browser does
            setattr(stack, target, getattr(control, trait))
        assert source(picture) in seen(outer)
        assert f'alt="{alt}"' in seen(outer)
    pictures = [picture for picture, _ in shown.frames.values()]
    assert len(set(pictures)) == len(pictures)


@pytest.mark.parametrize(
    ("values", "kind", "labels"),
    [
        ([1e-3, 0.1, 2], W.SelectionSlider, ["0.001", "0.1", "2"]),
        (["a", "b"], W.ToggleButtons, ["a", "b"]),
        (list("abcdefgh"), W.Dropdown, list("abcdefgh")),
    ],
)
def test_the_control_fits_the_values(draw, values, kind, labels):
    (control,) = parts(explore(draw, step_size=values).widget, kind)
    assert [label for label, _ in control.options] == labels
    assert control.description == "step size"
    assert control.index == 0


def test_numbers_ascend_and_the_first_one_given_is_seen_first(draw, links):
    shown = explore(draw, method=["b", "a"], h=[0.1, 2, 1e-3])
    assert shown.choices == {"method": ["b", "a"], "h": [1e-3, 0.1, 2]}
    assert shown.start == ("b", 0.1)
    (slider,) = parts(shown.widget, W.SelectionSlider)
    assert [label for label, _ in slider.options] == ["0.001", "0.1", "2"]
    assert slider.index == 1
    assert explore(draw, h=[3, 1, 2], opens={"h": 2}).start == (2,)


def test_it_opens_where_it_is_told(draw, links):
    shown = explore(draw, live=True, method=["a", "b"], h=[1, 2, 3], opens={"h": 3, "method": "b"})
    assert shown.start == ("b", 3)
    picture, alt = shown.frames["b", 3]
    assert source(picture) in seen(parts(shown.widget, W.Stack)[0])
    data, _ = shown._repr_mimebundle_()
    assert base64.b64decode(data["image/png"]) == picture
    buttons, slider = shown.widget.children[:2]
    assert (buttons.index, slider.index) == (1, 2)
    assert [c.value for c in shown.widget.children[-1].children[:2]] == ["b", 3]
    for (control, trait), (stack, target) in links:  # what the browser does on opening
        assert getattr(stack, target) == getattr(control, trait)
    assert explore(draw, method=["a", "b"], h=[1, 2], opens={"h": 2}).start == ("a", 2)


@pytest.mark.parametrize(
    ("opens", "message"),
    [
        ({"k": 1}, "opens: got 'k'; the choices are h"),
        ({"h": 0.3}, r"opens: got 0.3 for h; its values are \[0.1, 0.2\]"),
        (0.1, "opens: got 0.1; pass a dictionary"),
    ],
)
def test_an_opening_that_is_no_choice_is_refused(draw, opens, message):
    with pytest.raises(ValueError, match=message):
        explore(draw, h=[0.1, 0.2], opens=opens)
    assert draw.calls == []


# --- words ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("alt", "wanted"),
    [
        ("Energy of {method} at h = {h:.2f}", "Energy of RK4 at h = 0.50"),
        ("Energy of {method}.", "Energy of RK4 (h = 0.5)"),
        ("Energy", "Energy (method = RK4, h = 0.5)"),
        (None, "Picture (method = RK4, h = 0.5)"),
        (lambda method, h: f"{method}\n with {h}", "RK4 with 0.5"),
    ],
)
def test_alt_text(draw, alt, wanted):
    shown = explore(draw, alt=alt, method=["RK4"], h=[0.5])
    assert [text for _, text in shown.frames.values()] == [wanted]


def test_alt_text_is_escaped(draw):
    (html,) = parts(explore(draw, alt='a < "b" & {n}', n=[1]).widget, W.HTML)
    assert 'alt="a &lt; &quot;b&quot; &amp; 1"' in html.value


@pytest.mark.parametrize("alt", ["{speed} of {n}", "{} of {n}", "{n!}", "", 3])
def test_unusable_alt_text(draw, alt):
    with pytest.raises(ValueError, match="alt: "):
        explore(draw, alt=alt, n=[1])
    with pytest.raises(ValueError, match="alt: the function returned '' for n = 1"):
        explore(draw, alt=lambda n: "", n=[1])


# --- what front ends get ----------------------------------------------------------------------------


def test_bundle_holds_widget_still_and_words(draw):
    shown = explore(draw, alt="A line of {n}", n=[1, 2])
    data, metadata = shown._repr_mimebundle_()
    assert set(data) == {WIDGET_VIEW, "image/png", "text/plain"}
    assert data[WIDGET_VIEW]["model_id"] == shown.widget.model_id
    assert base64.b64decode(data["image/png"]) == shown.frames[1,][0]
    assert data["text/plain"] == "A line of 1"  # the same in every run: nbval compares it
    assert metadata == {"image/png": {"width": 80}}


def test_colab_gets_the_still_alone(draw, monkeypatch):
    monkeypatch.setitem(sys.modules, "google.colab", sys)
    data, _ = explore(draw, n=[1, 2])._repr_mimebundle_()
    assert set(data) == {"image/png", "text/plain"}


def test_without_stacks_there_is_the_still(draw, monkeypatch):
    monkeypatch.delattr(W, "Stack", raising=False)  # as in ipywidgets 7, which Colab has
    data, _ = explore(draw, n=[1, 2])._repr_mimebundle_()
    assert set(data) == {"image/png", "text/plain"}


# --- live -------------------------------------------------------------------------------------------


def test_live_draws_any_value_at_once(draw):
    shown = explore(draw, live=True, n=[1.0, 3.0], method=["RK4", "Heun"])
    assert len(draw.calls) == 4
    live = shown.widget.children[-1]
    assert "lielab-live" in live._dom_classes  # the class that the book's stylesheet hides
    slider, menu, picture = live.children
    assert "<img" not in picture.value  # nothing is drawn before the first move
    slider.value = 2.5
    assert draw.calls[-1] == {"n": 2.5, "method": "RK4"}
    assert 'alt="Picture (n = 2.5, method = RK4)"' in picture.value
    before = picture.value
    menu.value = "Heun"
    assert draw.calls[-1] == {"n": 2.5, "method": "Heun"}
    assert picture.value != before
    assert plt.get_fignums() == []


def test_without_live_there_is_none(draw):
    assert not any(
        "live" in c for p in parts(explore(draw, n=[1]).widget, W.VBox) for c in p._dom_classes
    )


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1, 5], W.IntSlider),
        ([1.0, 5.0], W.FloatSlider),
        ([0.1, 0.01, 0.001], W.FloatLogSlider),
        ([-1.0, 100.0], W.FloatSlider),
        ([0.1], W.FloatSlider),
        (["a"], W.Dropdown),
    ],
)
def test_the_free_control_covers_the_choices(draw, values, kind):
    control = explore(draw, live=True, n=values).widget.children[-1].children[0]
    assert type(control) is kind
    for value in values:
        control.value = value
        assert control.value == pytest.approx(value) if value != "a" else control.value == value


def test_a_failure_while_live_is_said_in_place(draw):
    def fussy(n):
        if n == 2:
            raise ZeroDivisionError("<n> is 2")
        return draw(n=n)

    *_, slider, picture = explore(fussy, live=True, n=[1, 3]).widget.children[-1].children
    slider.value = 2
    assert "<img" not in picture.value
    assert "draw failed for n = 2: ZeroDivisionError: &lt;n&gt; is 2" in picture.value
    slider.value = 3
    assert "<img" in picture.value


# --- refusals ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({}, "choices: got 0 .none.; pass one or two"),
        ({"a": [1], "b": [1], "c": [1]}, "choices: got 3 .a, b, c.; pass one or two"),
        (
            {"a": range(8), "b": range(8)},
            "8 a x 8 b make 64 pictures; pass fewer values, at most 60",
        ),
        ({"a": range(MAX_FRAMES + 1)}, "61 a make 61 pictures"),
        ({"a": []}, "a: got no values; pass at least one"),
        ({"a": "RK4"}, "a: got 'RK4'; pass a list"),
        ({"a": 3}, "a: got 3; pass a list"),
        ({"a": [1, "b"]}, "a: got .*; pass finite numbers, or strings"),
        ({"a": [1.0, float("nan")]}, "a: got .*; pass finite numbers"),
        ({"a": [True, False]}, "a: got .*; pass finite numbers"),
        ({"a": np.eye(2)}, "a: got .*; pass finite numbers"),
        ({"a": [1.0, 0.5, 1]}, "a: got .*; two values are the same, pass each once"),
        (
            {"a": (0, 10, 0.1)},
            r"three values or \(from, to, step\); pass the list \[0, 10, 0.1\] for",
        ),
    ],
)
def test_refused_choices(draw, choices, message):
    with pytest.raises(ValueError, match=message):
        explore(draw, **choices)
    assert draw.calls == []


def test_draw_must_return_a_figure():
    fig, ax = plt.subplots()
    with pytest.raises(
        TypeError, match="draw returned Axes for n = 1; return the matplotlib Figure"
    ):
        explore(lambda n: ax, n=[1])
    with pytest.raises(TypeError, match="draw returned NoneType"):
        explore(lambda n: None, n=[1])
    with pytest.raises(TypeError, match="draw: got 3; pass a function"):
        explore(3, n=[1])
    plt.close("all")


def test_a_failing_draw_names_the_values():
    message = re.escape("draw failed for method = RK4, step size = 0.5: ZeroDivisionError: ")
    with pytest.raises(RuntimeError, match=message) as caught:
        explore(lambda method, step_size: 1 / 0, method=["RK4"], step_size=[0.5])
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


def test_an_interrupt_keeps_the_pictures_drawn(draw):
    def interrupted(n):
        if n == 3:
            raise KeyboardInterrupt
        return draw(n=n)

    with pytest.raises(KeyboardInterrupt) as caught:
        explore(interrupted, n=[1, 2, 3, 4])
    whole = explore(draw, n=[1, 2])
    assert caught.value.result == whole.frames


def test_close_values_are_told_apart():
    shown = explore(lambda h: plt.figure(figsize=(1, 1)), h=[0.12345671, 0.12345672])
    assert len(shown.frames) == 2
    labels = [label for label, _ in shown.widget.children[0].options]
    assert labels == ["0.12345671", "0.12345672"]
    assert explore(lambda h: plt.figure(figsize=(1, 1)), h=(0.1, 0.2, 0.4)).choices["h"] == [
        0.1,
        0.2,
        0.4,
    ]
