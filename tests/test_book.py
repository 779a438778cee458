"""The book: tidy chapters with stored outputs, honest staging, strict pages."""

from __future__ import annotations

import importlib
import inspect
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

import build
import chapters
import lielab
import outputs
import stage

ALL = chapters.chapters()
CORRECTIONS = [path for path in ALL if path.stem.startswith("corrections_")]  # lists, not lessons
each_chapter = pytest.mark.parametrize("chapter", ALL, ids=[path.stem for path in ALL])


def read(path: Path) -> nbformat.NotebookNode:
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    return notebook


# --- the chapters as they are kept -----------------------------------------------------------------


def test_the_table_of_contents_lists_exactly_what_exists(root: Path) -> None:
    listed = {chapters.source_of(entry, root) for entry in chapters.toc_files(root)}
    present = {path for kind in ("*.ipynb", "*.md") for path in (root / "book").glob(kind)}
    assert listed == present


@each_chapter
def test_metadata_is_tidy(chapter: Path) -> None:
    notebook = read(chapter)
    assert dict(notebook.metadata) == stage.METADATA, "run: make outputs"
    ids = [cell.id for cell in notebook.cells]
    assert len(set(ids)) == len(ids)
    for cell in notebook.cells:
        assert set(cell.metadata) <= {"tags"}, "run: make outputs"
        assert not cell.get("attachments")


@each_chapter
def test_outputs_are_stored_and_compared(chapter: Path) -> None:
    cells = stage.code_cells(read(chapter))
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    found = [out for cell in cells for out in cell.outputs]
    assert {out.output_type for out in found} <= {"stream", "display_data", "execute_result"}
    assert [out.text for out in found if out.get("name") == "stderr"] == []
    assert all(stage_free(out) for out in found), "widget state: run make outputs"
    compared = [
        out.get("text", "") or out.get("data", {}).get("text/plain", "")
        for cell in cells
        for out in cell.outputs
        if "nbval-ignore-output" not in cell.metadata.get("tags", [])
    ]
    assert re.search(r"\d", "".join(compared)), "nbval would compare nothing: run make outputs"
    if chapter not in CORRECTIONS:
        assert any("image/png" in out.get("data", {}) for out in found), "no picture is stored"


def stage_free(output: nbformat.NotebookNode) -> bool:
    return outputs.WIDGET_VIEW not in output.get("data", {})


@each_chapter
def test_first_code_cell_is_for_colab(root: Path, chapter: Path) -> None:
    first = stage.code_cells(read(chapter))[0]
    wanted = (root / "book/_tools/colab_cell.txt").read_text(encoding="utf-8").strip()
    assert first.source == wanted, f"run: python book/_tools/address.py --colab {chapter.name}"
    assert first.metadata.tags == ["remove-cell"]


PAGE = 83  # columns of code and of outputs that a screen of 1280 pixels shows (`custom.css` sets the size)


@each_chapter
def test_nobody_has_to_scroll_sideways(chapter: Path) -> None:
    """Code that a page shows unfolded, and every output of text, is no wider than the page."""
    wide = []
    for cell in stage.code_cells(read(chapter)):
        lines = [line for out in cell.outputs for line in out.get("text", "").splitlines()]
        if not {"remove-cell", "hide-input", "hide-cell"} & set(cell.metadata.get("tags", [])):
            lines += cell.source.splitlines()
        wide += [line for line in lines if len(line) > PAGE]
    assert wide == []


SHOWN = 66  # lines of code a chapter, "about sixty": what a reader reads on the way


@each_chapter
def test_what_code_a_chapter_shows(root: Path, chapter: Path) -> None:
    """The line of the library that is its formula; and no more than a page of code beside what is from scratch."""
    if chapter in CORRECTIONS:
        pytest.skip("a list")
    heading, count, library = "", 0, False
    for cell in read(chapter).cells:
        if cell.cell_type == "markdown":
            heading = ([heading] + re.findall(r"^#+ (.*)$", cell.source, re.MULTILINE))[-1]
        elif not {"remove-cell", "hide-input", "hide-cell"} & set(cell.metadata.get("tags", [])):
            library |= "lielab.excerpt(" in cell.source
            if "rom scratch" not in heading:
                lines = cell.source.splitlines()
                count += sum(bool(line.strip()) and line.strip()[0] != "#" for line in lines)
    assert library, "show the line of the library by lielab.excerpt"
    if chapter.stem != "inside":  # a tour of the source
        assert count <= SHOWN


def texts(root: Path) -> dict[str, str]:
    """The prose of the book: every markdown cell, and every page that is Markdown already."""
    found = {path.name: path.read_text(encoding="utf-8") for path in (root / "book").glob("*.md")}
    for chapter in ALL:
        for cell in read(chapter).cells:
            if cell.cell_type == "markdown":
                found[f"{chapter.name}, cell {cell.id}"] = cell.source
    return found


def test_no_backslash_was_escaped_twice(root: Path) -> None:
    r"""`\\exp` in the file of a notebook shows as a line break and "exp"; `\\` before a space is one."""
    wrong = re.compile(r"\\\\(?=[A-Za-z])")
    assert wrong.search(r"$\\exp u$")
    assert not wrong.search("a & b \\\\\nc & d")
    assert {
        name: wrong.findall(text) for name, text in texts(root).items() if wrong.search(text)
    } == {}


def strays(text: str, known: set[str]) -> list[str]:
    """Links to pages of the book that are none of the known ones."""
    pages = re.findall(r"\{doc\}`(?:[^`<]*<)?([^`<>]+)>?`", text)
    pages += re.findall(r"\]\((?!\w+:)([^)\s#]+?)\.(?:ipynb|md|html)(?:#[^)]*)?\)", text)
    return [page for page in pages if page.removeprefix("./") not in known]


def test_links_between_chapters_lead_somewhere(root: Path) -> None:
    """Checked on the sources: the build would find it too, after all the chapters were executed."""
    known = {Path(entry).name for entry in chapters.toc_files(root)}
    known |= {
        f"../exercises/{path.stem}/{path.stem}" for path in (root / "exercises").glob("*/*.ipynb")
    }
    assert strays(
        "{doc}`none` {doc}`words <rkmk>` [a](b.ipynb#c) [d](https://e.f/g.html)", known
    ) == [
        "none",
        "b",
    ]
    wrong = {name: found for name, text in texts(root).items() if (found := strays(text, known))}
    assert wrong == {}


def test_chapters_are_named_not_counted(root: Path) -> None:
    """`_toc.yml` decides the order of the chapters; a text that counts on it goes stale."""
    counted = re.compile(r"\b(next|last|previous|preceding|following)\s+chapter\b", re.IGNORECASE)
    assert counted.search("as the next\nchapter says")
    assert {
        name: counted.findall(text) for name, text in texts(root).items() if counted.search(text)
    } == {}


def test_assignments_are_linked_relatively(root: Path) -> None:
    """So the links open in a local build, on a fork and in Binder; the build puts student copies beside the pages."""
    masters = {path.stem for path in (root / "exercises").glob("*/*.ipynb")}
    linked = {
        name: re.findall(r"[^\s()\[\]]*\bexercises/[^\s()\[\]`]+\.ipynb", t)
        for name, t in texts(root).items()
    }
    page = re.compile(r"\.\./exercises/(\w+)/(\w+)\.ipynb")
    links = [(name, page.fullmatch(link), link) for name, found in linked.items() for link in found]
    assert [x for x in links if not x[1] or x[1][1] != x[1][2] or x[1][1] not in masters] == []
    assert masters == {x[1][1] for x in links}, "an assignment that no chapter links"


@each_chapter
def test_a_chapter_has_its_skeleton(root: Path, chapter: Path) -> None:
    """From scratch, the same by lielab, a widget, where it fails, what to remember, drills, further reading."""
    if chapter in CORRECTIONS or chapter.stem == "inside":
        pytest.skip("a list, or a tour of the source")
    cells = read(chapter).cells
    text = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    heads = " | ".join(re.findall(r"^## (.*)$", text, re.MULTILINE))
    wanted = ["What to remember", "Drills", "Further reading"]
    if chapter.stem not in ("own_system", "toolbox"):
        wanted += ["rom scratch", "same with `lielab`", "Where it fails"]
    assert [part for part in wanted if part not in heads] == []
    wanted = ["<summary>Answer", "What to look for", "**Graded exercise"]
    assert [part for part in wanted if part not in text] == []
    assert any(re.search(r"^explore\(", cell.source, re.MULTILINE) for cell in cells)


def test_cells_that_time_are_not_compared() -> None:
    """A wall-clock number differs from run to run: nbval must not compare it."""
    clock = re.compile(r"\b(process_time|perf_counter|timeit|monotonic|time\.time)\b")
    assert clock.search("began = time.perf_counter()")
    timed = [
        (path.stem, cell.source)
        for path in ALL
        for cell in stage.code_cells(read(path))
        if clock.search(cell.source) and "nbval-ignore-output" not in cell.metadata.get("tags", [])
    ]
    assert timed == []


def test_the_api_page_has_every_public_module(root: Path) -> None:
    page = (root / "book/api.md").read_text(encoding="utf-8")
    assert "automodule:: lielab\n   :members:" in page  # what `lielab.__all__` lists
    names = [*lielab.__all__, "plotting", "grading"]
    modules = [m for m in (getattr(lielab, n) for n in names) if isinstance(m, ModuleType)]
    assert len(modules) > 5
    shown = [importlib.import_module(name) for name in re.findall(r"automodule:: (\S+)", page)]
    assert [m.__name__ for m in modules if m not in shown] == []


def members(page: str, module: str) -> set[str]:
    found = re.search(rf"automodule:: {module}\n\s+:members: (.+)", page)
    return {name.strip() for name in found.group(1).split(",")} if found else set()


def test_the_api_page_has_every_function_of_the_groups_and_the_actions(root: Path) -> None:
    page = (root / "book/api.md").read_text(encoding="utf-8")
    common = members(page, "lielab.groups.so3")
    for group in (lielab.so3, lielab.so2, lielab.se2, lielab.se3, lielab.quaternions):
        own = (group.__name__, "lielab.groups._euler")
        public = {
            name
            for name, value in vars(group).items()
            if inspect.isfunction(value)
            and value.__module__ in own
            and not re.search("^_|_core$|_kernel$", name)
        }
        assert {"exp", "interpolate", "mean"} <= public
        assert public <= common | members(page, group.__name__)
    functions = {name for name in lielab.actions.__all__ if name == name.lower()}
    assert functions <= members(page, "lielab.actions")


# --- staging, on a small book of its own -----------------------------------------------------------

GOOD = """\
import lielab_probe
from ipywidgets import HTML, SelectionSlider, Stack, VBox
print(f"{lielab_probe.VALUE:.3f}", object())
slider = SelectionSlider(options=[("low", 0), ("high", 1)], description="frame")
picture = '<img alt="A dot" width="1" height="1" src="data:image/png;base64,iVBORw0KGgo=">'
box = VBox([slider, Stack([HTML(picture), HTML(picture)], selected_index=0)])
box.add_class("lielab-explore")
box"""


def small_book(folder: Path, root: Path, **sources: str) -> Path:
    """A book with the real settings and one chapter for each source."""
    shutil.copytree(root / "book/_ext", folder / "book/_ext")
    shutil.copytree(root / "book/_static", folder / "book/_static")
    shutil.copy(root / "book/references.bib", folder / "book")
    shutil.copy(root / "_config.yml", folder)
    toc = "format: jb-book\nroot: book/intro\nchapters:\n"
    (folder / "book/intro.md").write_text("# Small\n\nA book for the tests.\n")
    for name, source in sources.items():
        cells = [new_markdown_cell(f"# {name}", id="title"), new_code_cell(source, id="code")]
        cells += [new_code_cell("1 + 1", id="more", metadata={"tags": ["hide-input"]})]
        nbformat.write(
            new_notebook(cells=cells, metadata=stage.METADATA), folder / f"book/{name}.ipynb"
        )
        toc += f"  - file: book/{name}\n"
    (folder / "_toc.yml").write_text(toc)
    (folder / "lielab").mkdir()
    (folder / "lielab/__init__.py").write_text('__version__ = "0"\n')
    (folder / "lielab_probe.py").write_text("VALUE = 0.5\n")
    return folder


@pytest.fixture(scope="module")
def staged(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[stage.Run]]:
    root = Path(__file__).resolve().parents[1]
    folder = small_book(
        tmp_path_factory.mktemp("a book"),
        root,
        good=GOOD,
        bad="h = 0.1\n" * 20 + "raise ValueError('h too big')",
    )
    return folder, stage.stage(root=folder)


def test_a_failing_chapter_is_named_and_the_others_are_kept(
    staged: tuple[Path, list[stage.Run]], capsys: pytest.CaptureFixture
) -> None:
    folder, runs = staged
    by_name = {run.path.stem: run for run in runs}
    assert not by_name["good"].error
    assert stage.report(runs) is False
    said = capsys.readouterr().err
    assert "bad.ipynb, code cell 1 of 2" in said
    assert "ValueError: h too big" in said
    assert "-> raise ValueError" in said
    assert stage.executed_path(folder / "book/good.ipynb", folder).is_file()
    assert not stage.executed_path(folder / "book/bad.ipynb", folder).exists()


def test_only_a_change_that_matters_runs_a_chapter_again(
    staged: tuple[Path, list[stage.Run]], tmp_path: Path
) -> None:
    folder = shutil.copytree(staged[0], tmp_path / "copy")
    chapter = folder / "book/good.ipynb"

    def kept() -> bool:
        return stage.kept_run(chapter, chapters.surroundings(folder), folder) is not None

    assert kept()
    notebook = read(chapter)
    notebook.cells[0].source = "# Other words"
    nbformat.write(notebook, chapter)
    assert kept()
    merged = stage.merge(chapter, read(stage.executed_path(chapter, folder)))
    assert merged.cells[0].source == "# Other words"
    assert merged.cells[1].outputs
    assert merged.metadata.widgets

    (folder / "lielab/new.py").write_text("x = 1\n")
    assert not kept()
    (folder / "lielab/new.py").unlink()
    assert kept()
    notebook.cells[2].source = "1 + 2"
    nbformat.write(notebook, chapter)
    assert not kept()


def nbval(folder: Path, root: Path) -> str:
    """What `make nbval` says of the good chapter of a small book."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "tests.kept_runs", "--rootdir", "."]
    command += ["--nbval", "--nbval-current-env", "book/good.ipynb"]
    path = os.pathsep.join(map(str, (folder, root, root / "book/_tools")))
    env = os.environ | {"PYTHONPATH": path}
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True).stdout


def test_nbval_compares_the_run_of_the_pages(
    staged: tuple[Path, list[stage.Run]], root: Path, tmp_path: Path
) -> None:
    """A chapter is executed once for both; where no run is kept that fits, nbval executes it."""
    folder = shutil.copytree(staged[0], tmp_path / "copy")
    chapter = folder / "book/good.ipynb"
    notebook = read(chapter)
    notebook.cells[1].source = notebook.cells[1].source.replace(", object()", "")
    nbformat.write(notebook, chapter)
    assert not stage.stage(["good"], folder)[0].error
    assert outputs.write_back(chapter, folder)
    kept = stage.executed_path(chapter, folder)
    assert "1 of 2 chapters compared as they were run" in (said := nbval(folder, root)), said
    assert "2 passed" in said

    run = read(kept)
    run.cells[2].outputs[0].data["text/plain"] = "3"  # what a run would have to say to fail
    nbformat.write(run, kept)
    said = nbval(folder, root)
    assert "Cell 1: Cell outputs differ" in said, said

    (folder / "lielab/new.py").write_text("x = 1\n", encoding="utf-8")  # the run is out of date
    said = nbval(folder, root)
    assert "0 of 2 chapters" in said, said
    assert "2 passed" in said


def test_outputs_written_back_are_tidy_and_stable(
    staged: tuple[Path, list[stage.Run]], tmp_path: Path
) -> None:
    folder = shutil.copytree(staged[0], tmp_path / "copy")
    chapter = folder / "book/good.ipynb"
    assert outputs.write_back(chapter, folder)
    assert not outputs.write_back(chapter, folder)
    text = chapter.read_text(encoding="utf-8")
    assert "0.500 <object object at 0x...>" in text
    assert "model_id" not in text
    assert "widget-state" not in text
    assert [cell.execution_count for cell in stage.code_cells(read(chapter))] == [1, 2]


def test_a_failed_build_names_the_pages_there_are(tmp_path: Path) -> None:
    index = tmp_path / "index.html"
    assert build.usable(index, 0.0) == ""
    index.touch()
    written = index.stat().st_mtime
    assert "written all the same" in build.usable(index, written)
    assert "earlier build" in build.usable(index, written + 1.0)
    assert index.as_uri() in build.usable(index, written)


# --- the pages, on the same small book -------------------------------------------------------------


@pytest.fixture(scope="module")
def pages(staged: tuple[Path, list[stage.Run]], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = shutil.copytree(staged[0], tmp_path_factory.mktemp("pages") / "book")
    (folder / "book/bad.ipynb").unlink()
    toc = folder / "_toc.yml"
    toc.write_text(toc.read_text().replace("  - file: book/bad\n", ""))
    source = build.put_together(folder)
    assert build.jupyter_book(source, folder, folder) == 0
    return folder


@pytest.mark.book
def test_a_page_has_its_links_and_scripts(root: Path, pages: Path) -> None:
    import address

    page = (pages / "_build/html/book/good.html").read_text(encoding="utf-8")
    slug = "/".join(address.current(root).split("/")[-2:])
    assert f"https://mybinder.org/v2/gh/{slug}/main?urlpath=lab/tree/book/good.ipynb" in page
    assert f"https://colab.research.google.com/github/{slug}/blob/main/book/good.ipynb" in page
    assert "2026" in page
    assert "THEBE_JS_URL" not in page  # declared twice it is a console error
    assert "html-manager" not in page  # the widgets are native controls
    assert "widget-state+json" not in page
    assert '<div class="lielab-explore"><div class="controls"><div class="control"><label' in page
    assert (pages / "_build/html/_frames").is_dir()
    assert "fontawesome" not in page
    scripts = re.findall(r"<script ([^>]*src=[^>]*)>", page)
    assert [s for s in scripts if "defer" not in s] == []
    assert 'data-default-mode="auto"' in page
    assert set(re.findall(r"(?:Show|Hide)[^<]*code[^<]*", page)) == {
        "Show the code",
        "Hide the code",
    }


@pytest.mark.book
def test_student_copies_stand_beside_the_pages(root: Path, tmp_path: Path) -> None:
    """Where the chapters' links lead: every assignment, and nothing of its solution."""
    output = tmp_path / "html" / "exercises"
    build.release(output, root)
    build.release(output, root)  # a second build replaces the first
    masters = sorted((root / "exercises").glob("*/*.ipynb"))
    copies = sorted(output.rglob("*.ipynb"))
    assert [p.relative_to(output) for p in copies] == [
        p.relative_to(root / "exercises") for p in masters
    ]
    for path in copies:
        text = path.read_text(encoding="utf-8")
        assert "BEGIN SOLUTION" not in text
        assert "BEGIN HIDDEN TESTS" not in text


@pytest.mark.book
def test_a_warning_fails_the_build(pages: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(pages, tmp_path / "copy")
    intro = folder / "book/intro.md"
    intro.write_text(intro.read_text() + "\nSee {doc}`no_such_page`.\n")
    assert build.jupyter_book(build.put_together(folder), folder, folder) != 0


def test_which_method_says_what_the_kept_benchmark_does(root: Path) -> None:
    """Compiled DOP853 with the field built in is two to three times faster, not with ours; SciPy's is far behind."""
    times, table = (
        (root / "benchmarks/results/double_pendulum.md").read_text("utf-8").split("their time over")
    )
    shown = {  # rows of the page, in milliseconds
        "lielab RKMK8 ": "`RKMK8`, as on this page",
        "lielab RKMK8, PI ": "`RKMK8`, a controller that remembers the step before",
        "lielab RKMK8, PI, Cayley": "`RKMK8`, Cayley map, a controller that remembers the step before",
        "DOP853 compiled, kernels": "DOP853, compiled, the field from outside, as `RKMK8` has it",
        "DOP853 compiled, inlined": "DOP853, compiled, the field compiled into it",
    }
    ratios = {
        line[:30].strip(): [float(x) for x in line[30:].split()]
        for line in table.splitlines()
        if "DOP853" in line
    }
    assert len(ratios) == 4
    built_in = ratios["DOP853 compiled, inlined"]
    assert len(built_in) == 3
    assert all(1.9 < 1.0 / ratio < 3.2 for ratio in built_in)
    with_ours = ratios["DOP853 compiled, kernels"]
    assert 1.6 < 1.0 / with_ours[0] < 1.8
    assert 0.9 < 1.0 / with_ours[2] < 1.1
    assert min(ratios["solve_ivp DOP853, NumPy"]) > 20.0
    page = (root / "book/which_method.ipynb").read_text(encoding="utf-8")
    assert "two to three times as fast as `RKMK8`" in page
    assert "1.7 times its time at four digits" in page
    call = table.split("takes one step: ")[1].split(" ms")[0]
    assert f"({call} ms of each time of `RKMK8` are the call of `solve`" in page
    for name, row in shown.items():
        (line,) = (line for line in times.splitlines() if line.strip().startswith(name))
        a, b, c = (float(x) for x in line[35:].split()[:3])
        assert f"| {row} | {a:.2f} | {b:.2f} | {c:.2f} |" in page
