"""Drift and defect: what they say of runs whose answer is known."""

import dataclasses

import numpy as np
import pytest

import lielab
from lielab import diagnostics
from lielab.study import orders, report_card, structure
from lielab.systems import FreeRigidBody, SphericalPendulum

BODY = FreeRigidBody()


@pytest.fixture
def run():
    return lielab.solve(BODY, (0, 10), method="RKMK4", h=0.1)


def with_states(run, y):
    return dataclasses.replace(run, y=np.asarray(y))


def test_a_linear_trend_is_found_exactly(run):
    found = diagnostics.drift(run, lambda y: 3.0 - 0.25 * run.t)
    assert found.slope == pytest.approx(-0.25, abs=1e-14)
    assert found.slope_error < 1e-14
    assert found.largest == pytest.approx(2.5)


def test_noise_has_no_trend_beyond_its_uncertainty(run):
    noise = np.random.default_rng(1).normal(size=len(run.t))
    found = diagnostics.drift(run, lambda y: noise)
    spread = np.std(noise) / np.sqrt(len(noise)) / np.std(run.t)
    assert found.slope_error == pytest.approx(spread, rel=0.05)
    assert abs(found.slope) < 3 * found.slope_error


def test_drift_of_a_vector_takes_its_worst_component(run):
    found = diagnostics.drift(run, lambda y: np.stack([0.1 * run.t, -run.t], axis=1))
    assert found.slope == pytest.approx(-1.0)
    assert found.largest == pytest.approx(np.hypot(1.0, 10.0))


def test_drift_by_name(run):
    energy = run.energy()
    assert diagnostics.drift(run).largest == np.abs(energy - energy[0]).max()
    assert diagnostics.drift(run, "|mu|").largest < 1e-14
    with pytest.raises(ValueError, match=r"quantity must be one of energy, \|mu\|"):
        diagnostics.drift(run, "momentum")


def test_energy_of_rk4_walks_away_and_that_of_a_fine_run_does_not():
    coarse = lielab.solve(BODY, (0, 500), method="RK4", h=0.5)
    found = diagnostics.drift(coarse)
    assert abs(found.slope) > 100 * found.slope_error
    fine = lielab.solve(BODY, (0, 500), rtol=1e-12, atol=1e-12)
    assert diagnostics.drift(fine).largest < 1e-8


def test_defect_is_the_largest_distance():
    pendulum = SphericalPendulum()
    sol = lielab.solve(pendulum, (0, 1), method="RKMK4", h=0.1)
    assert diagnostics.defect(sol) < 1e-14
    y = sol.y.copy()
    y[3, :3] *= 1.25
    y[3, 3:] = 0.0
    assert diagnostics.defect(with_states(sol, y)) == pytest.approx(0.25)
    ambient = lielab.solve(pendulum, (0, 20), method="RK4", h=0.1)
    assert diagnostics.defect(ambient) == ambient.defect().max()
    assert diagnostics.defect(ambient) > 1e-3


def interrupted_at(monkeypatch, module, name, k):
    """Make the k-th call of a function that a study calls an interrupt."""
    function, calls = getattr(module, name), []

    def called(*arguments, **options):
        calls.append(arguments)
        if len(calls) == k:
            raise KeyboardInterrupt
        return function(*arguments, **options)

    monkeypatch.setattr(module, name, called)


def kept(study):
    with pytest.raises(KeyboardInterrupt) as caught:
        study()
    return caught.value.result


def test_an_interrupted_order_study_keeps_its_runs(monkeypatch):
    def study():
        steps = (8, 16, 32, 64, 128)
        exact = np.array([0.6, 0.0, 0.8])
        return diagnostics.order(BODY, "LieEuler", steps=steps, reference=exact)

    whole = study()
    with monkeypatch.context() as patch:
        interrupted_at(patch, orders, "solve", 4)
        part = kept(study)
    assert (part.h == whole.h[:3]).all()
    assert (part.errors == whole.errors[:3]).all()
    assert np.isnan(part.order)
    assert "no asymptotic window" in part.message
    interrupted_at(monkeypatch, orders, "solve", 1)
    assert len(kept(study).h) == 0


def test_an_interrupted_row_of_end_states_keeps_those_before(monkeypatch):
    def study():
        return diagnostics.end_states(BODY, "LieEuler", (0.5, 0.25, 0.125))

    whole = study()
    interrupted_at(monkeypatch, orders, "solve", 3)
    assert (kept(study) == whole[:2]).all()


def test_an_interrupted_table_keeps_its_finished_rows(monkeypatch):
    calls = []

    def one(system, method, **options):
        calls.append(method)
        if len(calls) == 3:
            interrupt = KeyboardInterrupt()
            interrupt.result = "what the study within had done"
            raise interrupt
        h = np.array([0.5, 0.25, 0.125, 0.0625])
        return diagnostics.OrderStudy(method, h, h**2, h > 0, 2.0, "")

    monkeypatch.setattr(orders, "reference_state", lambda *given: (np.zeros(3), 0.0))
    monkeypatch.setattr(orders, "order", one)
    problems = {"one": (BODY, 1.0, None), "two": (BODY, 1.0, None)}
    rows = kept(lambda: diagnostics.order_table(problems, ["LieEuler", "RKMK2"]))
    assert [(row["problem"], row["method"]) for row in rows] == [
        ("one", "LieEuler"),
        ("one", "RKMK2"),
    ]


def test_an_interrupted_drift_test_keeps_its_finished_rows(monkeypatch):
    interrupted_at(monkeypatch, structure, "solve", 3)
    rows = kept(
        lambda: diagnostics.energy_drift_test(
            ["RKMK2", "RKMK4"], (0.5, 0.25), t_end=20, system=BODY
        )
    )
    assert [(row.method, row.h) for row in rows] == [("RKMK2", 0.5), ("RKMK2", 0.25)]


def test_an_interrupted_report_card_keeps_its_finished_methods(monkeypatch):
    monkeypatch.setattr(
        report_card, "measure", lambda method, cost: {"method": method.name, "order": None}
    )
    interrupted_at(monkeypatch, report_card, "measure", 3)
    card = kept(lambda: diagnostics.report_card(["ELN", "TLN", "VLV"], cost=False))
    assert [row["method"] for row in card.rows] == ["ELN", "TLN"]


def test_ctrl_c_ends_a_report_card_at_once_and_keeps_what_is_done(monkeypatch, interrupt):
    """In the middle of the second method, however long the first took."""
    measure, calls = report_card.measure, []

    def timed(method, cost):
        calls.append(method)
        if len(calls) == 2:
            clock.start()
        return measure(method, cost=cost)

    whole = diagnostics.report_card(["ELN"], cost=False)  # compiled
    monkeypatch.setattr(report_card, "measure", timed)
    with pytest.raises(KeyboardInterrupt) as caught, interrupt(0.1, waits=True) as clock:
        diagnostics.report_card(["ELN"] * 50, cost=False)
    assert clock.late < 20.0
    rows = caught.value.result.rows
    assert rows
    assert rows == whole.rows * len(rows)


def test_an_interrupted_list_of_forms_keeps_its_rows(monkeypatch):
    columns = dict.fromkeys(report_card.COLUMNS, "yes")
    monkeypatch.setattr(report_card, "measure", lambda form, cost: dict(columns))
    whole = report_card.candidates()
    interrupted_at(monkeypatch, report_card, "measure", 3)
    assert kept(report_card.candidates) == whole[:2]


def test_ctrl_c_ends_studies_at_once_and_keeps_what_is_done(interrupt):
    diagnostics.order(BODY, "LieEuler", steps=(8, 16, 32, 64))  # compiled
    with pytest.raises(KeyboardInterrupt) as caught, interrupt(1.0) as clock:
        diagnostics.order(BODY, "LieEuler", steps=(8, 16, 32, 64, 10**10))  # hours
    assert clock.late < 20.0
    assert len(caught.value.result.h) == 4
    problems = {f"body {k}": (BODY, 1.0, None) for k in range(10**4)}
    with pytest.raises(KeyboardInterrupt) as caught, interrupt(3.0) as clock:
        diagnostics.order_table(problems, ["LieEuler"])
    assert clock.late < 20.0
    assert [row["method"] for row in caught.value.result] == ["LieEuler"] * len(caught.value.result)
