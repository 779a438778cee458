"""The report card: Table 2.1 of ortolan with every question mark measured, and what contradicts a paper.

`lielab.diagnostics` offers `report_card` and `stored_report_card`; `python -m benchmarks.report_card --write` makes the
stored one anew.
"""

from __future__ import annotations

import json
import textwrap
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..core.interrupts import keeps
from ..groups import so3
from ..methods import Method, get
from ..methods.momentum_balance import CANDIDATES
from ..solve import solve
from ..systems import FreeRigidBody, HeavyTop, RigidBodyInWell, System
from .orders import order, reference_state, several_methods
from .structure import energy_drift_test, reversibility, symmetry, symplecticity

# The rows of Table 2.1 as far as its text can be read: on the free body, then in a generic potential, is the symplectic
# form, the energy, the momentum (map) kept? "" is a blank, a cross or a mark that is lost: no claim is taken from it.
# A column can be lost too: the one mark of MCG stands under energy, and may have been meant for the momentum.
TABLE = {
    "ELN": ("Lie-Newmark 1988", "?", "", "", "?", "", ""),
    "TLN": ("Lie-Newmark 1988", "?", "", "", "?", "", ""),
    "Algo1": ("Algo_1 1991", "", "yes", "", "", "?", ""),
    "SimoWong": ("Algo_C1 1991", "", "yes", "yes", "", "?", "?"),
    "AKW": ("Austin et al. 1993", "", "yes", "yes", "", "?", "?"),
    "LewisSimo": ("Lewis & Simo 1994", "yes", "yes", "yes", "", "", ""),
    "RATTLE": ("RATTLE 1994", "yes", "yes", "yes", "yes", "nearly", "yes"),
    "VLV": ("Variational 1998", "yes", "nearly", "yes", "yes", "nearly", "yes"),
    "LIEMID": ("LIEMID(EA) 2005", "?", "", "", "?", "", ""),
    "PRK": ("PRK 2007", "?", "yes", "yes", "?", "?", "?"),
    "MCG": ("MCG 2007", "?", "yes", "", "?", "?", ""),
    "NEW3": ("NEW3 2010", "?", "", "yes", "?", "", ""),
}
COLUMNS = (
    "free symplectic",
    "free energy",
    "free momentum",
    "potential symplectic",
    "potential energy",
    "potential momentum",
)
# What the texts say beside the table, with the entry of the card that decides it.
CLAIMS = (
    ("LIEMID", "symplectic, from its energy on tops (Krysl 2005)", "free symplectic", "yes"),
    ("NEW3", "free of energy drift, from tests of its authors", "potential energy", "nearly"),
    ("LIEMID", "keeps the spatial momentum of the free body", "free momentum", "yes"),
    ("MCG", "keeps the spatial momentum of the free body", "free momentum", "yes"),
    ("PRK", "keeps the spatial momentum of the free body", "free momentum", "yes"),
)
WIDTH = 83  # columns of the printed table: what a page of the book shows without scrolling
_KEPT = 1e-10  # of the size of a momentum: round-off
_SYMPLECTIC = 1e-9  # the differences are good to about 1e-11


@dataclass(frozen=True)
class Problem:
    """A system with a state off its symmetry axes, the step and the time of the energy test."""

    system: System
    y0: np.ndarray
    h: float
    t_end: float
    momentum: str | None


def problems() -> dict[str, Problem]:
    """The free body, an asymmetric heavy top, the fast and the slow Lagrange top, a generic potential."""
    J = (1.0, 2.0, 2.5)

    def top(
        inertia: Any, M: float, l: float, chi: Any, spin: Any, start: Any
    ) -> tuple[System, np.ndarray]:
        system = HeavyTop("right", inertia, M, l, chi, (0.0, 0.0, 9.81), spin)
        Q = so3.exp(start)
        return system, np.concatenate([Q.ravel(), Q @ (np.array(inertia) * spin)])

    # The Lagrange tops of Simo & Wong: J = (5, 5, 1), M g l = 20, tilted by 0.3 rad, spinning at 50 and 5 rad/s.
    lagrange = ((5.0, 5.0, 1.0), 20.0 / 9.81, 1.0, (0.0, 0.0, 1.0))
    heavy = top(J, 1.0, 0.3, (0.6, 0.0, 0.8), (0.3, 1.0, 2.0), (0.0, 0.0, 0.0))
    fast = top(*lagrange, (0.0, 0.0, 50.0), (0.3, 0.0, 0.0))
    slow = top(*lagrange, (0.0, 0.0, 5.0), (0.3, 0.0, 0.0))
    free = np.concatenate([so3.exp([0.3, -0.2, 0.5]).ravel(), [0.6, -0.8, 1.1]])
    well = RigidBodyInWell()
    return {
        "free body": Problem(
            FreeRigidBody(J, attitude=True), free, 0.2, 2000.0, "spatial momentum"
        ),
        "heavy top": Problem(*heavy, 0.05, 4000.0, "vertical momentum"),
        "fast top": Problem(*fast, 0.01, 1000.0, "vertical momentum"),
        "slow top": Problem(*slow, 0.05, 2000.0, "vertical momentum"),
        "well": Problem(well, well.y0, 0.125, 10000.0, None),
    }


def generic() -> tuple[System, np.ndarray]:
    """The well with three different moments, at a state without symmetry: for order and symplectic form."""
    return (
        RigidBodyInWell((1.0, 2.0, 2.5)),
        np.concatenate([so3.exp([0.3, 0.6, 0.2]).ravel(), [0.2, -0.3, 0.4]]),
    )


@dataclass(frozen=True)
class ReportCard:
    """Rows of measurements, one a method: dictionaries with the keys of `report_card`; printed as Table 2.1."""

    rows: list[dict[str, Any]]

    def row(self, method: str) -> dict[str, Any]:
        """The row of a method."""
        for row in self.rows:
            if row["method"] == method:
                return row
        known = ", ".join(row["method"] for row in self.rows)
        raise ValueError(f"method must be one of {known}; got {method!r}")

    def contradictions(self) -> list[str]:
        """Where a measurement contradicts a paper: a sentence for each entry."""
        found = []
        for row in self.rows:
            said = TABLE.get(row["method"], ("",) * 7)[1:]
            for column, claim in zip(COLUMNS, said, strict=True):
                measured = row[column]
                if claim in ("yes", "nearly") and measured != claim and measured != "yes":
                    found.append(
                        f"{row['method']}: Table 2.1 says {column} {claim}, measured {measured}"
                    )
            for method, text, column, claim in CLAIMS:
                if method == row["method"] and row[column] not in (claim, "yes"):
                    found.append(f"{method}: said to be {text}; measured {column} {row[column]}")
        return found

    def answered(self) -> list[str]:
        """The question marks of Table 2.1 and their answers."""
        return [
            f"{row['method']}, {column}: {row[column]}"
            for row in self.rows
            for column, claim in zip(COLUMNS, TABLE.get(row["method"], ("",) * 7)[1:], strict=True)
            if claim == "?"
        ]

    def __str__(self) -> str:
        lines = [
            f"{'':9}{'free body':^34}{'potential':^34}".rstrip(),
            f"{'method':9}{'sympl.':>10}{'energy':>14}{'momentum':>10}"
            f"{'sympl.':>10}{'energy':>14}{'momentum':>10}{'order':>6}",
        ]
        for row in self.rows:
            defects = (
                row["free defect"],
                row["free energy error"],
                row["free momentum error"],
                row["potential defect"],
                row["well energy error"],
                row["heavy top momentum error"],
            )
            cells = [
                "yes" if row[c] == "yes" else f"{row[c]} ({d:.0e})".replace("e-0", "e-")
                for c, d in zip(COLUMNS, defects, strict=True)
            ]
            lines.append(
                f"{row['method']:9}{cells[0]:>10}{cells[1]:>14}{cells[2]:>10}"
                f"{cells[3]:>10}{cells[4]:>14}{cells[5]:>10}{row['order']:6.2f}"
            )
        lines.append("")
        for note in self.contradictions() or ["no measurement contradicts a paper"]:
            lines.extend(textwrap.wrap(note, WIDTH, subsequent_indent="  "))
        return "\n".join(lines)


def _rounded(x: float, digits: int = 2) -> float:
    return float(f"{x:.{digits - 1}e}") if np.isfinite(x) else float("nan")


def _momentum_error(problem: Problem, method: Method, t_end: float, name: str = "") -> tuple:
    """Largest change of the momentum (or the invariant of that name) relative to its size, and of R from SO(3)."""
    span = problem.h * round(t_end / problem.h)
    sol = solve(problem.system, (0.0, span), problem.y0, method=method, h=problem.h)
    values = problem.system.invariants[name or str(problem.momentum)](sol.y)
    return float(np.abs(values - values[0]).max() / np.abs(values).max()), float(sol.defect().max())


def _seconds_a_step(method: Method) -> float:
    problem = problems()["well"]
    count, best = 10000, np.inf
    for _ in range(5):
        began = time.process_time()
        solve(
            problem.system,
            (0.0, count * problem.h),
            method=method,
            h=problem.h,
            save_every=count,
        )
        best = min(best, time.process_time() - began)
    return best / count


def measure(method: str | Method, *, cost: bool = True) -> dict[str, Any]:
    """One row of the report card.

    `free defect`, `potential defect`: relative symplectic defect of a step of 0.2 at generic states; `symmetry`,
    `reversibility` likewise; `order`; per problem `energy` verdict, `energy error`, `slope`, `slope error`; for the
    momenta, and the Casimir of the free body, the largest relative change; `orthogonality`; `cost` of a step relative
    to ELN (time, not pinned). The six columns of Table 2.1 are read off: symplectic "yes" or "no"; energy "yes"
    (round-off), "nearly" (bounded) or "no" (drifts or wanders, in the well); momentum "yes" (round-off) or "no".
    """
    chosen = get(method)
    there = problems()
    body, state = generic()
    exact, uncertainty = reference_state(body, 2.0, state)
    study = order(
        body,
        chosen,
        t_end=2.0,
        y0=state,
        reference=exact,
        uncertainty=uncertainty,
        steps=[32, 64, 128, 256, 512, 1024],
    )
    free, top = there["free body"], there["heavy top"]
    row: dict[str, Any] = {
        "method": chosen.name,
        "order": _rounded(study.order, 3),
        "symmetry": _rounded(symmetry(body, chosen, 0.2, state)),
        "reversibility": _rounded(reversibility(body, chosen, 0.2, state)),
        "free defect": _rounded(symplecticity(free.system, chosen, 0.2, free.y0)),
        "potential defect": _rounded(
            max(
                symplecticity(body, chosen, 0.2, state),
                symplecticity(top.system, chosen, 0.2, top.y0),
            )
        ),
    }
    for name, problem in there.items():
        (drift,) = energy_drift_test(
            [chosen], problem.h, t_end=problem.t_end, system=problem.system, y0=problem.y0
        )
        key = name.replace(" body", "")
        row[f"{key} energy"] = drift.verdict
        row[f"{key} energy error"] = _rounded(drift.largest)
        row[f"{key} slope"] = _rounded(drift.slope, 3)
        row[f"{key} slope error"] = _rounded(drift.slope_error)
    free_momentum, distance = _momentum_error(free, chosen, 1000.0)
    row["free momentum error"] = _rounded(free_momentum)
    row["free casimir error"] = _rounded(_momentum_error(free, chosen, 1000.0, "|mu|")[0])
    row["orthogonality"] = _rounded(distance)
    for name in ("heavy top", "fast top", "slow top"):
        change, distance = _momentum_error(there[name], chosen, 200.0)
        row[f"{name} momentum error"] = _rounded(change)
    if cost:
        row["cost"] = _rounded(_seconds_a_step(chosen) / _seconds_a_step(get("ELN")))
    words = {"exact": "yes", "bounded": "nearly"}
    row["free symplectic"] = "yes" if row["free defect"] < _SYMPLECTIC else "no"
    row["free energy"], row["free verdict"] = (
        words.get(row["free energy"], "no"),
        row["free energy"],
    )
    row["free momentum"] = "yes" if free_momentum < _KEPT else "no"
    row["potential symplectic"] = "yes" if row["potential defect"] < _SYMPLECTIC else "no"
    row["potential energy"] = words.get(row["well energy"], "no")
    row["potential momentum"] = "yes" if row["heavy top momentum error"] < _KEPT else "no"
    return row


CARD = (
    *("ELN", "TLN", "Algo1", "SimoWong", "AKW", "LewisSimo"),
    *("RATTLE", "VLV", "LIEMID", "PRK", "MCG", "NEW3"),
)


def report_card(
    methods: str | Method | Iterable[str | Method] = CARD, *, cost: bool = True
) -> ReportCard:
    """Measure methods on rigid bodies: structure, energy, momenta, order, cost. Prints as Table 2.1 of ortolan.

    Any method fits that runs on `FreeRigidBody(attitude=True)`, `HeavyTop("right")` and `RigidBodyInWell`, those of
    actions too. About half a second a method. Interrupted, the KeyboardInterrupt carries the card of the methods that
    are done as its `.result`.
    """
    chosen = [get(method) for method in several_methods(methods)]  # a wrong name among them at once
    rows: list[dict[str, Any]] = []
    with keeps(lambda: ReportCard(rows)):
        for method in chosen:
            rows.append(measure(method, cost=cost))
    return ReportCard(rows)


def candidates() -> list[dict[str, Any]]:
    """The forms tried for ALGO_1 and Lewis & Simo: a row each, with `fits`: is all that Table 2.1 marks measured so,
    and nothing kept that it leaves blank? Interrupted, the KeyboardInterrupt carries the rows done as its `.result`."""
    rows: list[dict[str, Any]] = []
    with keeps(lambda: rows):
        for name, forms in CANDIDATES.items():
            said = TABLE[name][1:]
            for form in forms:
                row = measure(form, cost=False)
                row["form of"], row["description"] = name, form.source
                row["fits"] = all(
                    row[column] == claim if claim == "yes" else row[column] != "yes" or claim == "?"
                    for column, claim in zip(COLUMNS, said, strict=True)
                )
                rows.append(row)
    return rows


def stored_report_card() -> tuple[ReportCard, list[dict[str, Any]]]:
    """The stored report card, and the rows of `candidates`."""
    data = json.loads((Path(__file__).parent / "report_card.json").read_text(encoding="utf-8"))
    return ReportCard(data["methods"]), data["candidates"]
