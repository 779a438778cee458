"""Widgets, films and the theme's weight: what the build makes of them for the static page."""

from __future__ import annotations

import ast
import base64
import json
import re
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("sphinx")
W = pytest.importorskip("ipywidgets")
matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("agg")

import bundle  # noqa: E402
import light  # noqa: E402
import matplotlib.pyplot as plt  # noqa: E402
from widgets import Files, animation, explorer  # noqa: E402

from lielab import animate, plotting  # noqa: E402
from lielab.explore import explore  # noqa: E402
from lielab.systems import SphericalPendulum  # noqa: E402


@pytest.fixture
def files(tmp_path: Path) -> Files:
    """The files of a page `book/here.html`."""
    builder = SimpleNamespace(get_target_uri=lambda docname: docname + ".html")
    return Files(SimpleNamespace(outdir=str(tmp_path), builder=builder), "book/here")


def shown(**choices: list) -> object:
    fig, ax = plt.subplots(figsize=(1, 1))

    def draw(**values: object) -> object:
        ax.clear()
        ax.plot([len(v) if isinstance(v, str) else v for v in values.values()])
        return fig

    live = choices.pop("live", False)
    return explore(draw, alt='A "line" & more', live=live, **choices)


def static(explorer_: object, files: Files) -> tuple[str, dict]:
    model = explorer_.widget.model_id
    page = explorer(W.Widget.get_manager_state()["state"], model, files)
    return page, json.loads(re.search(r"<script[^>]*>(.*)</script>", page)[1])


def test_a_widget_has_every_picture_as_a_file_in_order(files: Files) -> None:
    made = shown(method=["RK4", "Heun"], n=[1, 2, 3])
    page, data = static(made, files)
    assert data["options"] == [["RK4", "Heun"], ["1", "2", "3"]]
    assert data["folder"] == "../_frames/"
    wanted = list(made.frames.values())
    assert [alt for _, alt in data["frames"]] == [alt for _, alt in wanted]
    for (name, _), (picture, _) in zip(data["frames"], wanted, strict=True):
        assert (files.folder / name).read_bytes() == picture
    assert page.count("base64") == 0
    first = data["frames"][0]
    assert f'src="../_frames/{first[0]}" loading="lazy"' in page
    assert 'alt="A &quot;line&quot; &amp; more (method = RK4, n = 1)"' in page


@pytest.mark.parametrize(
    ("values", "control"),
    [
        ([0.5, 1.0], r'<label for="(\w+-0)">step size</label><input type="range" id="\1"'),
        (["a", "b"], r"<fieldset.*<legend>step size</legend>.*type=\"radio\".*checked>a"),
        (list("abcdefgh"), r'<select id="\w+-0".*<option value="0" selected>a</option>'),
    ],
)
def test_controls_are_native(files: Files, values: list, control: str) -> None:
    page, _ = static(shown(step_size=values), files)
    assert re.search(control, page)


def test_what_a_kernel_adds_is_said_and_left_out(files: Files) -> None:
    page, data = static(shown(live=True, n=[1.0, 2.0]), files)
    assert "takes any value" in page
    assert len(data["frames"]) == 2
    assert page.count("<input") == 1
    assert "takes any value" not in static(shown(n=[1.0, 2.0]), files)[0]


def test_another_widget_is_not_taken_for_one_of_ours(files: Files) -> None:
    slider = W.IntSlider()
    state = W.Widget.get_manager_state()["state"]
    assert explorer(state, slider.model_id, files) is None
    assert explorer(state, "no such model", files) is None


def test_a_film_is_fetched_when_it_is_seen(files: Files) -> None:
    import lielab

    sol = lielab.solve(SphericalPendulum(), (0, 0.2), method="RKMK4", h=0.1)
    pictures = animate.frames(sol, count=3, size=1.0)
    page = animation(animate.figure(pictures, "A rod")[0], files)
    assert "base64" not in page
    assert "background-image" not in page
    (film,) = re.findall(r'style="--cols[^"]*" data-film="\.\./_frames/(\w+\.png)"', page)
    assert (files.folder / film).is_file()
    assert re.search(r'<img loading="lazy"[^>]*src="\.\./_frames/\w+\.png"', page)


def widget_cells(root: Path) -> dict[str, list[dict]]:
    """Chapter -> its cells that end in a widget or show an animation."""
    found = {}
    for chapter in sorted((root / "book").glob("*.ipynb")):
        cells = json.loads(chapter.read_text(encoding="utf-8"))["cells"]
        code = [cell | {"source": "".join(cell["source"])} for cell in cells if "outputs" in cell]
        made = re.compile(r"^(?:explore|plotting\.animate)\(", re.MULTILINE)
        found[chapter.stem] = [cell for cell in code if made.search(cell["source"])]
    return found


def test_eight_chapters_reward_those_who_run_them(root: Path) -> None:
    """Their widgets take any value where a kernel runs, and the page says so."""
    live = [
        name
        for name, cells in widget_cells(root).items()
        if any("live=True" in cell["source"] for cell in cells)
    ]
    assert len(live) >= 8, live


def test_a_downloaded_notebook_shows_stills_where_widgets_have_no_state(root: Path) -> None:
    """VS Code, GitHub and viewers show the richest kind they know: a view without its state would be an empty box."""
    wrong = []
    for name, cells in widget_cells(root).items():
        for cell in cells:
            kept = [out["data"] for out in cell["outputs"] if "data" in out]
            stills = [data for data in kept if "image/png" in data]
            said = ["".join(data.get("text/plain", "")) for data in stills]
            views = [data for data in kept if any("widget" in kind for kind in data)]
            pictures = [base64.b64decode("".join(data["image/png"])) for data in stills]
            if views or not stills or min(map(len, said)) < 30:
                wrong.append((name, cell["source"][-60:]))
            wrong += [(name, "no PNG") for png in pictures if png[:8] != b"\x89PNG\r\n\x1a\n"]
    assert sum(map(len, widget_cells(root).values())) > 40
    assert wrong == []


OWN = (  # what has names of its own
    ast.FunctionDef,
    ast.Lambda,
    ast.ClassDef,
    ast.ListComp,
    ast.SetComp,
    ast.DictComp,
    ast.GeneratorExp,
)


def bound(node: ast.AST) -> Iterator[str]:
    """Names that a statement binds in its own scope; an import binds the same thing each time."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        yield node.name
    if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        yield node.id
    if not isinstance(node, OWN):
        for child in ast.iter_child_nodes(node):
            yield from bound(child)


def read_in(node: ast.AST) -> set[str]:
    """Names that a function reads from outside of itself."""
    inside = list(ast.walk(node))
    arguments = {n.arg for n in inside if isinstance(n, ast.arg)}
    names = [n for n in inside if isinstance(n, ast.Name)]
    own = arguments | {n.id for n in names if not isinstance(n.ctx, ast.Load)}
    own |= {n.name for n in inside if isinstance(n, ast.FunctionDef) and n is not node}
    return {n.id for n in names} - own


def bound_anew(cells: list[str]) -> set[str]:
    """Names that a live widget draws with, itself or by the functions it calls, and that a later cell binds again."""
    trees = [
        ast.parse(re.sub(r"^(\s*)[%!].*", r"\1pass", cell, flags=re.MULTILINE)) for cell in cells
    ]
    wrong: set[str] = set()
    for i, tree in enumerate(trees):
        calls = [n for n in ast.walk(tree) if isinstance(n, ast.Call)]
        live = [n for n in calls if any(k.arg == "live" for k in n.keywords)]
        if not live:
            continue
        before = [node for t in trees[: i + 1] for node in ast.walk(t)]
        functions = {n.name: n for n in before if isinstance(n, ast.FunctionDef)}
        given = {n.id for n in ast.walk(live[0]) if isinstance(n, ast.Name)}  # held by the widget
        uses: set[str] = set()
        new = given
        while new:
            new = set().union(*(read_in(functions[name]) for name in new & set(functions))) - uses
            uses |= new
        wrong |= uses & {name for t in trees[i + 1 :] for name in bound(t)}
    return wrong


def test_no_later_cell_binds_anew_what_a_live_widget_draws_with(root: Path) -> None:
    """Its sliders draw when they are moved, which is after the last cell: with what the names mean by then."""
    widget = "c = 1\ndef f(a):\n    b = a\n    return [b, c, d(a)]\nexplore(f, live=True, a=[1, 2])"
    earlier = "e = [k for k in (1, 2)]\ndef d(x): return e"
    harmless = "a = b = x = k = 1\ndef g():\n    c = 2\nimport f"
    assert bound_anew([earlier, widget, harmless]) == set()
    assert bound_anew([earlier, widget, "for e in (1, 2): c, (d, h) = 1, (2, 3)"]) == set("cde")
    assert bound_anew([earlier, widget, "with open(x) as c:\n    def d(): pass"]) == {"c", "d"}
    assert bound_anew([earlier, widget, "def f(): pass"]) == set()  # the widget holds its own
    assert bound_anew([earlier, widget.replace("live=True, ", ""), "c = 2"]) == set()
    wrong = {}
    for chapter in sorted((root / "book").glob("*.ipynb")):
        cells = json.loads(chapter.read_text(encoding="utf-8"))["cells"]
        code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
        wrong[chapter.stem] = bound_anew(code[1:])  # the first is Colab's
    assert {name: found for name, found in wrong.items() if found} == {}


# --- pictures on a dark page ---------------------------------------------------------------------------


def turned(color: tuple[float, float, float], ground: tuple[float, float, float]) -> np.ndarray:
    """A colour as a dark page shows it: `invert(1) hue-rotate(180deg)`, then `screen` over the page."""
    luma = np.array([0.213, 0.715, 0.072])
    rotate = 2 * np.outer(np.ones(3), luma) - np.eye(3)  # the filter's matrix at half a turn
    seen = np.clip(rotate @ (1 - np.array(color)), 0, 1)
    return 1 - (1 - seen) * (1 - np.array(ground))


def luminance(color: np.ndarray) -> float:
    linear = np.where(color <= 0.04045, color / 12.92, ((color + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def contrast(one: np.ndarray, other: np.ndarray) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("color", [*plotting.PALETTE, plotting.GREY])
@pytest.mark.parametrize("ground", ["#121212", "#14181e", "#222832"])
def test_lines_are_seen_on_a_light_and_on_a_dark_page(color: str, ground: str) -> None:
    from matplotlib.colors import to_rgb

    white = np.ones(3)
    assert contrast(np.array(to_rgb(color)), white) >= 3
    page = turned((1.0, 1.0, 1.0), to_rgb(ground))
    assert page == pytest.approx(to_rgb(ground), abs=1e-9)  # white lets the page through
    assert contrast(turned(to_rgb(color), to_rgb(ground)), page) >= 3


def test_the_style_sheet_turns_pictures_on_dark_pages_so(root: Path) -> None:
    sheet = (root / "book/_static/custom.css").read_text(encoding="utf-8")
    assert "filter: invert(1) hue-rotate(180deg);\n  mix-blend-mode: screen;" in sheet


# --- the theme's weight ------------------------------------------------------------------------------


FONT = (
    'x={bars:[448,512,["navicon"],"f0c9","M0 96"],"arrow-up":[1,2,[8593],"f062","M1 1"]};'
    'y={bars:[9,9,[],"f0c9","M9 9"]}'
)


def test_only_icons_that_are_shown_come_with_the_page() -> None:
    page = '<i class="fa-solid fa-bars"></i><i class="fas fa-arrow-up fa-lg"></i>'
    assert light.icon_names(page) == {"solid", "bars", "arrow-up", "lg"}
    sheet = light.icons(light.icon_names(page), FONT)
    assert set(re.findall(r"\.fa-([\w-]+) \{ --icon", sheet)) == {"bars", "arrow-up"}
    assert "viewBox%3D%220%200%209%209" in sheet  # the solid one, which comes last


def site(folder: Path, files: dict[str, str]) -> light.Files:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    known = (text for name, text in files.items() if not name.endswith(".css"))
    return light.Files(folder, bundle.words(known))


STATIC = {
    "_static/documentation_options.js": "const DOCUMENTATION_OPTIONS = {};",
    "_static/doctools.js": "let tools = 1 // no end",
    "_static/page.js": "let ours = 2;\n//# sourceMappingURL=page.js.map",
    "_static/pendulum.js": "let pendulum = 3;",
    "_static/searchtools.js": "let search = 4;",
    "searchindex.js": "let index = 5;",
    "_static/a.css": "p { color: red; }",
    "_static/styles/b.css": '@import "../a.css"; .gone { color: blue; } .here { background: url(c.png); }',
    "_static/icons.css": ".fa-bars { --icon: url(data:x); }",
}
PAGE = (
    '<html><head><link href="../_static/styles/b.css?v=1" rel="stylesheet" />\n'
    '<script defer src="../_static/scripts/fontawesome.js?digest=1"></script>\n'
    '<script src="../_static/doctools.js?v=2"></script>\n'
    '<script src="../_static/documentation_options.js"></script>\n'
    "<script>DOCUMENTATION_OPTIONS.x = 1;</script>\n"
    '<script async="async" src="https://cdn/mathjax.js"></script>\n'
    '<script src="../_static/page.js"></script>\n'
    '<script src="../_static/pendulum.js"></script>\n'
    '<script src="../_static/searchtools.js"></script>\n'
    '<script src="../searchindex.js"></script></head>'
    '<body class="here fa-bars"><span class="math">x</span><script>stays()</script>'
    '<script type="application/json">{}</script><script>kernelName = "python3"</script></body></html>'
)


def test_a_page_asks_for_one_sheet_and_one_script(tmp_path: Path) -> None:
    files = site(tmp_path, {**STATIC, "book/a.html": PAGE})
    new = light.lighten(PAGE, tmp_path / "book/a.html", tmp_path, files)
    head, body = new.split("</head>")
    # What stands in the head comes first: after the sheet it would wait for it, and the whole page with it.
    assert re.findall(r"<(script|link)\b", head) == ["script", "script", "link", "script", "link"]
    assert re.findall(r"<script>(.*?)</script>", head) == [
        "const DOCUMENTATION_OPTIONS = {};",
        "DOCUMENTATION_OPTIONS.x = 1;",
    ]
    assert re.findall(r"<script>(.*?)</script>", body) == ["stays()"]
    assert '<script type="application/json">{}</script>' in body
    (css,) = re.findall(r'<link rel="stylesheet" href="../(_static/book.\w+.css)" />', head)
    (script,) = re.findall(r'<script defer src="../(_static/book.\w+.js)"></script>', head)
    sheet = (tmp_path / css).read_text(encoding="utf-8")
    assert sheet.splitlines() == [
        "p{color: red;}",
        ".here{background: url(styles/c.png);}",
        ".fa-bars{--icon: url(data:x);}",
    ]
    assert (tmp_path / script).read_text(encoding="utf-8") == (
        "let ours = 2;\n;\nlet tools = 1 // no end\n;\n"  # ours come first
    )
    # MathJax is fetched, not run, and only where there is a formula.
    assert (
        'rel="preload" as="script" fetchpriority="low" id="mathjax" href="https://cdn/mathjax.js"'
        in head
    )
    assert "mathjax" not in light.lighten(
        PAGE.replace("math", "word").replace("wordjax", "mathjax"),
        tmp_path / "book/a.html",
        tmp_path,
        files,
    )


def test_a_page_has_its_own_scripts_and_the_search_has_its(tmp_path: Path) -> None:
    files = site(tmp_path, {**STATIC, "book/a.html": PAGE})
    front = PAGE.replace('class="here', 'class="lielab-live-demo')
    new = light.lighten(front, tmp_path / "book/a.html", tmp_path, files)
    waiting = re.findall(r'<script defer src="([^"]*)">', new)
    assert waiting[1:] == ["../_static/pendulum.js"]
    search = PAGE.replace("../", "")
    new = light.lighten(search, tmp_path / "search.html", tmp_path, files)
    waiting = re.findall(r'<script defer src="([^"]*)">', new)
    # In this order: each needs the one before.
    assert waiting[1:] == ["_static/searchtools.js", "searchindex.js"]
    assert len(list((tmp_path / "_static").glob("book.*"))) == 2  # all pages share them


def test_pictures_have_sizes(tmp_path: Path) -> None:
    files = site(tmp_path, {"book/a.html": ""})
    (tmp_path / "_images").mkdir()
    (tmp_path / "_images/a.png").write_bytes(plotting.png(plt.figure(figsize=(1, 2))))
    text = (
        '<img alt="one" src="../_images/a.png" style="width: 80px;" />'
        '<img alt="two" src="../_images/a.png" />'
    )
    new = light.lighten(text, tmp_path / "book/a.html", tmp_path, files)
    one, two = re.findall(r"<img [^>]*>", new)
    assert 'width="80" height="160"' in one
    assert "lazy" not in one
    assert 'width="160" height="320" loading="lazy"' in two


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("a, .gone , .here:is(.gone, b) { x: y }", "a,.here:is(.gone, b){x: y}\n"),
        ("#gone .here, p:not(.gone) > .here { x: y }", "p:not(.gone) > .here{x: y}\n"),
        ("@media (min-width: 1px) { .gone { x: y } }", ""),
        ("@media print { .here { x: y } .gone { x: y } }", "@media print{.here{x: y}\n}\n"),
        ("@keyframes gone { from { x: y } to { x: z } }", "@keyframes gone{from { x: y } to { x: z }}\n"),
        ('@charset "UTF-8"; /* a { */ .here::after { content: "} /* \\" */"; }',
         '.here::after{content: "} /* \\" */";}\n'),
        ("/*! a licence: { */ .gone { x: y }", "/*! a licence: { */\n"),
        (".bs-tooltip-top, .w-1\\/2 { x: y }", ".bs-tooltip-top,.w-1\\/2{x: y}\n"),
        ('[class="gone.x"] .here { x: y }', '[class="gone.x"] .here{x: y}\n'),
        ('@font-face { font-family: "Font Awesome 6"; src: url(f.woff2) }', ""),
        (".here { x: url(data:image/png;base64,a{}b) }", ".here{x: url(data:image/png;base64,a{}b)}\n"),
    ],
)  # fmt: skip
def test_a_sheet_keeps_what_may_be_needed(text: str, kept: str) -> None:
    assert bundle.thin(text, {"here"}) == kept


def test_pictures_are_named_by_their_contents(files: Files) -> None:
    picture = base64.b64encode(plotting.png(plt.figure(figsize=(1, 1)))).decode()
    assert files.keep(picture) == files.keep(picture)
    assert len(list(files.folder.iterdir())) == 1
