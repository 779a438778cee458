"""The atlas of methods: complete, current, equal to what was measured, and readable without scripts."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

import atlas
import atlas_cards
import lielab
from benchmarks import atlas as measured
from lielab import tableaus
from lielab.study.orders import measured_table

PAGE = (atlas.ROOT / atlas.PAGE).read_text(encoding="utf-8")
STORED = measured.stored()
ROWS = {row["name"]: row for row in STORED["methods"]}
NAMES = list(measured.everything())
each_method = pytest.mark.parametrize("name", NAMES)
SAME = 0.5  # of a last digit shown, relative to one digit: 2e-2 stands for 0.015 to 0.025


def cards() -> dict[str, str]:
    parts = re.split(r"^### `([^`]+)`$", PAGE, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def table() -> dict[str, dict[str, str]]:
    """method -> column -> cell."""
    lines = PAGE.split("## All methods")[1].split("\n## ")[0].splitlines()
    lines = [line for line in lines if line.startswith("|")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {
        re.search(r"`([^`]+)`", line[0])[1]: dict(zip(cells[0], line, strict=True))
        for line in cells[2:]
    }


CARDS, TABLE = cards(), table()


def test_the_page_is_what_the_script_makes_today() -> None:
    """Registry, measurements, cards and the source's lines: a change of any of them has to be in the page."""
    assert atlas.page() == PAGE, "run: python book/_tools/atlas.py"


def test_every_method_has_a_row_a_card_and_measurements() -> None:
    assert set(lielab.methods()) <= set(NAMES)
    assert set(CARDS) == set(TABLE) == set(ROWS) == set(NAMES)
    assert list(TABLE) == NAMES


def test_a_method_without_a_card_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(atlas_cards.CARDS, "VLV")
    with pytest.raises(ValueError, match=r"no card in atlas_cards\.py for VLV"):
        atlas.page()


def test_a_method_without_measurements_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    fewer = {**STORED, "methods": [row for row in STORED["methods"] if row["name"] != "CF4"]}
    monkeypatch.setattr(measured, "stored", lambda: json.loads(json.dumps(fewer)))
    with pytest.raises(ValueError, match="no row in .*atlas.json for CF4"):
        atlas.page()


@each_method
def test_a_card_says_everything_in_words(name: str) -> None:
    """Formula, origin and year, what it needs and keeps, cost, chapter, the line of code; no script fills it."""
    card, words = CARDS[name], atlas_cards.CARDS[name]
    formula = re.search(r"\$\$\n(.+?)\n\$\$", card, re.DOTALL)[1]
    assert all(line in formula for line in words.formula)
    assert formula.count("\\\\\n") == len(words.formula) - 1 in (1, 2), "two or three lines"
    assert re.search(r"\b(?:18|19|20)\d\d\b", words.origin), "a year"
    facts = dict(re.findall(r"^\| ([^|]+) \| (.+) \|$", card, re.MULTILINE))
    wanted = {"from", "needs", "order", "keeps exactly", "largest changes", "one step"}
    assert wanted | {"a step costs", "largest stable step", "taught in"} <= set(facts)
    assert all(text.strip() for text in facts.values())
    code = re.search(r"```python\n# (\S+)\n(.+?)\n```", card, re.DOTALL)
    assert (atlas.ROOT / code[1]).is_file()
    source = (atlas.ROOT / code[1]).read_text(encoding="utf-8")
    assert code[2].splitlines()[0].strip() in source
    assert "<script" not in card


def close(text: str, value: float) -> bool:
    """Does a number of one digit stand for the value?"""
    shown = float(text)
    return (
        shown == value
        or abs(shown - value) <= SAME * 10.0 ** np.floor(np.log10(abs(value))) * 1.001
    )


@each_method
def test_numbers_of_the_table_are_those_measured(name: str) -> None:
    row, cells = ROWS[name], TABLE[name]
    assert int(cells["order"]) == row["order"] == measured.everything()[name].order
    orders = [x for x in row["orders"].values() if x is not None]
    if orders:
        low, *high = cells["measured"].split(" to ")
        assert abs(float(low) - min(orders)) <= 0.0051
        assert abs(float((high or [low])[0]) - max(orders)) <= 0.0051
    for column, key in (
        ("symplectic", "symplecticity"),
        ("volume", "volume"),
        ("symmetric", "symmetry"),
    ):
        value = row["structure"][key]
        assert (cells[column] == "–") == (value is None)
        if value is not None and cells[column] != "yes":
            assert close(re.search(r"\((.+)\)", cells[column])[1], value)
            assert value > 1e-7, "neither rounding nor clearly a defect"
    for test in (row["long"].get(row["home"]),):
        if test:
            word, number = re.fullmatch(r"(\w+) \((.+)\)", cells["energy"]).groups()
            assert close(number, test["largest"])
            assert word == ("lost" if test["largest"] > 1.0 else test["verdict"])
    for column, key in (("calls", "field calls"), ("exps", "exponentials")):
        assert float(cells[column]) == pytest.approx(row[key], rel=0.006, abs=1e-12)
    assert ("time" in cells) == all(other["time"] for other in ROWS.values())


@each_method
def test_numbers_of_the_card_are_those_measured(name: str) -> None:
    row, card = ROWS[name], CARDS[name]
    few, many = row["work"][0], row["work"][-1]
    said = re.search(
        r"^Error after 10 s: (\S+) with (\d+) calls, (\S+) with (\d+)\.", card, re.MULTILINE
    )
    assert (int(said[2]), int(said[4])) == (few[0], many[0])
    assert close(said[1], few[1])
    assert close(said[3], many[1])
    points = re.search(r'class="own" points="([^"]+)"', card)[1].split()
    assert len(points) == len(row["work"])
    changes = re.search(r"^\| largest changes \| (.+) \|$", card, re.MULTILINE)[1]
    defect = re.search(r"distance from the manifold (\S+?)(?:;|$)", changes)[1]
    assert close(defect, row["kept"]["manifold"])
    assert ("time not measured yet" in card) == (row["time"] is None)


def test_links_lead_somewhere(root: Path) -> None:
    targets = set(re.findall(r"^\(([\w-]+)\)=$", PAGE, re.MULTILINE))
    assert set(re.findall(r"\]\(#([\w-]+)\)", PAGE)) <= targets
    assert len(targets) == len(NAMES) + 1
    keys = set(
        re.findall(
            r"^@\w+\{([\w-]+),", (root / "book/references.bib").read_text("utf-8"), re.MULTILINE
        )
    )
    assert set(re.findall(r"references\.md#([\w-]+)\)", PAGE)) <= keys


@pytest.mark.parametrize("name", list(lielab.methods()))
def test_the_chapters_named_teach_the_method(root: Path, name: str) -> None:
    """One of them at least speaks of it by its name; of LieNewmark by its family's."""
    texts = [(root / f"book/{c}.ipynb").read_text("utf-8") for c in atlas_cards.CARDS[name].taught]
    word = "Newmark" if name == "LieNewmark" else name
    assert any(re.search(rf"\b{word}\b", text) for text in texts)


# --- the formulas of the cards against the coefficients of the package -------------------------------


def weights(tex: str) -> list[np.ndarray]:
    r"""The arguments of the factors \exp(...) of a line, over h, as weights of k_1 ... k_5, from left to right."""
    tex = tex.replace(r"\bigl", "").replace(r"\bigr", "")
    found = []
    for start in re.finditer(r"\\exp\(", tex):
        end, depth = start.end(), 1
        while depth:
            depth += {"(": 1, ")": -1}.get(tex[end], 0)
            end += 1
        text = tex[start.end() : end - 1]
        text = re.sub(r"\\tfrac\s*(\{[^}]*\}|\w)\s*(\{[^}]*\}|\w)", r"((\1)/(\2))", text)
        text = re.sub(r"[{}]", "", re.sub(r"(\d)h", r"\1*h", text))
        text = re.sub(r"k_(\d)", r"k[\1]", text)
        text = re.sub(r"(?<=[\w\])])\s*(?=[k(])", "*", text)
        found.append(np.array(eval(text, {"h": 1.0, "k": {i + 1: np.eye(5)[i] for i in range(5)}})))
    return found


def padded(row: np.ndarray) -> np.ndarray:
    return np.pad(np.asarray(row, dtype=float), (0, 5 - len(row)))


@pytest.mark.parametrize("name", ["CF4", "CF32a", "CF32b", "CF43", "CG2", "CG3"])
def test_formulas_without_commutators_are_the_coefficients(name: str) -> None:
    coefficients = getattr(tableaus, name.upper() if name[:2] == "CF" else name)
    formula = " ".join(atlas_cards.CARDS[name].formula)
    # what stands behind Y_2 =, ..., y_1 =
    points = re.split(r"(?:Y_\d|\\hat y_1|y_1) =", formula)[1:]
    if name == "CF43":  # its y_1 is told by words
        points.insert(4, atlas_cards.CARDS["CF4"].formula[-1].removeprefix("y_1 ="))
    shown = [row for point in points for row in reversed(weights(point))]
    assert len(shown) == len(coefficients.rows)
    np.testing.assert_allclose(shown, [padded(row) for row in coefficients.rows], atol=1e-14)


@pytest.mark.parametrize(
    ("name", "tableau"),
    [
        ("LieEulerHeun", tableaus.HEUN),
        ("RKMK2", tableaus.MIDPOINT),
        ("RKMK3", tableaus.KUTTA3),
        ("RKMK4", tableaus.RK4),
        ("RKMK4t1", tableaus.RK4),
        ("RKMK4t2", tableaus.RK4),
    ],
)
def test_updates_of_rkmk_are_the_tableaus(name: str, tableau: tableaus.Tableau) -> None:
    (shown,) = weights(atlas_cards.CARDS[name].formula[-1].split(r"y_1 =")[-1])
    np.testing.assert_allclose(shown, padded(tableau.b), atol=1e-15)


# --- what was measured ------------------------------------------------------------------------------


def test_orders_are_those_of_the_stored_table() -> None:
    for row in measured_table():
        if not row["options"]:
            assert ROWS[row["method"]]["orders"][row["problem"]] == row["measured"]


def test_exponentials_are_those_that_the_registry_counts() -> None:
    counted = {name: m.n_exponentials for name, m in lielab.methods().items() if m.n_exponentials}
    assert len(counted) > 15
    assert {name: ROWS[name]["exponentials"] for name in counted} == counted


@pytest.mark.parametrize("name", ["RKMK4", "VLV", "MCG", "SphericalMidpoint"])
def test_some_rows_are_measured_again(name: str) -> None:
    method, row = measured.everything()[name], ROWS[name]
    limits = atlas.STRUCTURE
    for key, value in measured.structure(method).items():
        old = row["structure"][key]
        assert (value is None) == (old is None)
        if value is not None:
            assert (value < limits[key]) == (old < limits[key])
            assert value < limits[key] or value == pytest.approx(old, rel=0.06)
    assert measured.field_calls(method) == pytest.approx(row["field calls"], rel=0.02)
    assert measured.largest_stable_steps(method) == row["stable"]


def test_times_are_taken_on_a_quiet_machine_only(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    """Neither where others compute at the start, nor where they begin in the middle."""
    monkeypatch.setattr(measured, "RESULTS", tmp_path / "atlas.json")
    one = {**STORED, "methods": [{**ROWS["VLV"], "time": None}]}
    monkeypatch.setattr(measured.sys, "argv", ["atlas", "--timings", "VLV"])
    monkeypatch.setattr(measured, "times", lambda method: {"ratio": 1.5})
    for before, after, kept in ((1.7, 1.7, None), (0.1, 2.6, None), (0.1, 1.1, {"ratio": 1.5})):
        loads = iter([before, after])
        monkeypatch.setattr(
            measured.os, "getloadavg", lambda loads=loads: (next(loads), 0.0, 0.0), raising=False
        )
        measured.RESULTS.write_text(json.dumps(one))
        measured.main()
        (row,) = measured.stored()["methods"]
        assert row["time"] == kept
        assert ("no times are kept" in capsys.readouterr().out) == (kept is None)


def test_a_time_is_a_ratio_of_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """RK4 against itself; few steps, so that the ratio is only near one."""
    monkeypatch.setattr(measured, "TIMED_STEPS", 4000)
    found = measured.times(lielab.methods()["RK4"])
    assert 0.2 < found["ratio"] < 5.0
    assert found["low"] <= found["ratio"] <= found["high"]
