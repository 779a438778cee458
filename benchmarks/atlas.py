"""What the page "Atlas of methods" shows of every method, measured.

    python -m benchmarks.atlas                  measures and stores benchmarks/results/atlas.json: some minutes
    python -m benchmarks.atlas --no-timings     without times
    python -m benchmarks.atlas --timings        only the times of the rows that are stored
    python -m benchmarks.atlas VLV RKMK4        only these rows anew

Times are taken on a quiet machine only: where others compute, the rows keep none, and the page says so. They are ratios
to RK4 on the same problem, which runs in turn with each method. `python book/_tools/atlas.py` makes the page.

The problem of almost all rows is a rigid body with three different moments in a well (`report_card.generic`), on which
methods for actions, metrics, rigid bodies, Lagrangians and cotangent bundles all run. SLGIKK has the heavy top in its
quadratic form, SphericalMidpoint a ring of spins.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

import lielab
from lielab import diagnostics
from lielab.methods import Method
from lielab.study import report_card
from lielab.study.order_problems import problems as order_problems
from lielab.study.orders import measured_table
from lielab.systems import HeavyTop, LandauLifshitz, System

RESULTS = Path(__file__).parent / "results" / "atlas.json"
SCIPY = ("RK45", "DOP853")
WELL, QUADRATIC, SPINS = "body in a well", "heavy top, quadratic form", "ring of four spins"
STEP = 0.8  # s, of symplectic form, volume, symmetry and reversibility: large, so that no order hides what is missed
SMALL_STEP = 0.2  # s, where the loop runs in Python: its iteration does not take the large one
SOON, LATER = 200.0, 1000.0  # s, of the momenta on the heavy top and of the free body
# Seconds, likewise large: at 0.2 s order 8 would seem to keep the free body's energy.
FREE_STEP, TOP_STEP = 0.5, 0.15
SLOW_T_END = 400.0  # s, of the energy test of methods that march in Python
WORK_T_END, WORK_STEPS = 10.0, (8, 2048)
# At a tenth of the energy round-off decides about the four spins at 0.5 s, whose motion is chaotic.
STABLE_T_END, STABLE_ENERGY = 100.0, 0.125
STABLE_STEPS = [2.0 ** (k / 2) for k in range(-16, 7)]  # s
EXPONENTIALS_STEPS = 20
TIMED_H, TIMED_STEPS, TIMED_ROUNDS = 0.01, 20000, 9  # s
QUIET = 0.5  # so many others at work at most, on average over a minute


def compositions() -> dict[str, Method]:
    """Those of the page: one of each kind."""
    made = [lielab.compose("VLV", scheme) for scheme in ("yoshida4", "suzuki4", "yoshida6")]
    made += [lielab.adjoint("LGVI1"), lielab.symmetrised("LGVI1")]
    return {method.name: method for method in made}


def everything() -> dict[str, Method]:
    """Name -> method: the registry in its order, then the compositions."""
    return {**lielab.methods(), **compositions()}


def homes() -> dict[str, tuple[System, np.ndarray]]:
    top = HeavyTop(
        "quadratic", (1.0, 2.0, 2.5), 1.0, 0.3, (0.6, 0.0, 0.8), (0.0, 0.0, 9.81), (0.3, 1.0, 2.0)
    )
    angles = np.array([0.5, 1.1, 1.9, 2.6])
    turns = np.array([0.0, 1.4, 2.9, 4.1])
    ring = np.column_stack(
        [np.sin(angles) * np.cos(turns), np.sin(angles) * np.sin(turns), np.cos(angles)]
    )
    spins = LandauLifshitz(4, anisotropy=0.3, ring=True)
    return {WELL: report_card.generic(), QUADRATIC: (top, top.y0), SPINS: (spins, ring.ravel())}


def home_of(method: Method) -> str:
    """The name of the problem on which it is measured."""
    return {"quadratic": QUADRATIC, "directions": SPINS}.get(method.needs, WELL)


def in_python(method: Method) -> bool:
    """Does its loop run in Python, so that long runs would take too long?"""
    return method.name.startswith(("adjoint", "symmetrised"))


def rounded(x: float | None, digits: int = 2) -> float | None:
    return None if x is None or not np.isfinite(x) else float(f"{x:.{digits - 1}e}")


# --- order ----------------------------------------------------------------------------------------


def orders(method: Method) -> dict[str, float | None]:
    """Problem -> order: the nine problems of the stored table as far as the method runs on them, and its own."""
    if method.name in SCIPY:
        return {}
    stored = {
        row["problem"]: row["measured"]
        for row in measured_table()
        if row["method"] == method.name and not row["options"]
    }
    system, y0 = homes()[home_of(method)]
    there = {home_of(method): (system, 2.0, y0)}
    if not stored:
        nine = {name: p for name, p in order_problems().items() if method.formulation(p[0])}
        if in_python(method):
            nine = {"free body": nine["free body"]}
        there = {**nine, **there}
    options: dict[str, Any] = {"steps": (16, 32, 64, 128, 256, 512)} if in_python(method) else {}
    found = dict(stored)
    for name, (system, t_end, y0) in there.items():
        try:
            study = diagnostics.order(system, method, t_end=t_end, y0=y0, **options)
        except ValueError as refused:  # the registry says what it needs, some systems need more
            print(f"  {method.name} does not run on {name}: {refused}")
            continue
        found[name] = rounded(study.order, 4)
    return found


# --- what is kept ---------------------------------------------------------------------------------


def or_none(measure: Callable[[], float]) -> float | None:
    """A number, or None where it has no meaning: the step leaves the manifold, or the form is not known."""
    try:
        return rounded(measure())
    except ValueError:
        return None


def structure(method: Method) -> dict[str, float | None]:
    """Of one step of `STEP`: relative defects of the symplectic form and of the volume, symmetry, reversibility."""
    names = ("symplecticity", "volume", "symmetry", "reversibility")
    if method.name in SCIPY:
        return dict.fromkeys(names)
    system, y0 = homes()[home_of(method)]
    h = SMALL_STEP if in_python(method) else STEP
    return {
        name: or_none(lambda name=name: getattr(diagnostics, name)(system, method, h, y0))
        for name in names
    }


def run(system: System, method: Method, t_end: float, y0: np.ndarray, h: float) -> Any:
    """SciPy's choose their steps, at the usual tolerance; the others take h."""
    if method.name in SCIPY:
        return lielab.solve(system, (0.0, t_end), y0, method=method)
    return lielab.solve(system, (0.0, h * round(t_end / h)), y0, method=method, h=h)


def whole(sol: Any) -> Any:
    """The solution, which reached its end."""
    if not sol.success:
        raise RuntimeError(f"{sol.method} {sol.message}")
    return sol


def change(values: np.ndarray) -> float:
    """Largest change of a quantity relative to its size."""
    return float(np.abs(values - values[0]).max() / np.abs(values).max())


def kept(method: Method) -> dict[str, float | None]:
    """Largest distance from the manifold and largest relative changes over some hundred seconds."""
    there, found = report_card.problems(), {}
    slow = 0.1 if in_python(method) else 1.0
    free, top = there["free body"], there["heavy top"]
    if method.formulation(free.system):
        sol = whole(run(free.system, method, slow * LATER, free.y0, FREE_STEP))
        names = {
            "free energy": "energy",
            "free momentum": "spatial momentum",
            "free casimir": "|mu|",
        }
        for name, invariant in names.items():
            found[name] = rounded(change(free.system.invariants[invariant](sol.y)))
        found["manifold"] = rounded(diagnostics.defect(sol))
    system, y0 = top.system, top.y0
    if method.needs == "quadratic":
        system, y0 = homes()[QUADRATIC]
    if method.formulation(system):
        sol = whole(run(system, method, slow * SOON, y0, TOP_STEP))
        found["top momentum"] = rounded(change(system.invariants["vertical momentum"](sol.y)))
    if "manifold" not in found:
        system, y0 = homes()[home_of(method)]
        sol = whole(run(system, method, slow * SOON, y0, TOP_STEP))
        found["manifold"] = rounded(diagnostics.defect(sol))
        for name, invariant in system.invariants.items():
            if "moment" in name and "top momentum" not in found:
                found["own momentum"] = rounded(change(invariant(sol.y)))
    return found


def long_times(method: Method) -> dict[str, dict[str, Any]]:
    """The energy drift test, in the well and on the heavy top, or on the method's own problem."""
    if method.name in SCIPY:
        return {}
    there = report_card.problems()
    cases = {
        WELL: (there["well"].system, there["well"].y0, there["well"].h, there["well"].t_end),
        "heavy top": (
            there["heavy top"].system,
            there["heavy top"].y0,
            there["heavy top"].h,
            there["heavy top"].t_end,
        ),
        QUADRATIC: (*homes()[QUADRATIC], there["heavy top"].h, there["heavy top"].t_end),
        SPINS: (*homes()[SPINS], 0.05, 2000.0),
    }
    wanted = [home_of(method)]
    if wanted == [WELL] and not in_python(method):
        wanted.append("heavy top")
    found = {}
    for name in wanted:
        system, y0, h, t_end = cases[name]
        if not method.formulation(system):
            continue
        if in_python(method):
            t_end = SLOW_T_END
        (row,) = diagnostics.energy_drift_test([method], h, t_end=t_end, system=system, y0=y0)
        size = float(abs(system.energy(y0)))
        found[name] = {
            "verdict": row.verdict,
            "largest": rounded(row.largest / size),
            "slope": rounded(row.slope / size),
            "slope error": rounded(row.slope_error / size),
            "h": h,
            "t_end": t_end,
        }
    return found


# --- what a step costs, and how large it may be ---------------------------------------------------


def field_calls(method: Method) -> float:
    """Calls of the field (torque, force, Lagrangian) of a step, as `Solution.nfev` counts them."""
    system, y0 = homes()[home_of(method)]
    half, sol = (run(system, method, t_end, y0, 0.1) for t_end in (50.0, 100.0))
    if method.name in SCIPY:
        return rounded(sol.nfev / sol.nsteps, 3) or 0.0
    calls = (sol.nfev - half.nfev) / (sol.nsteps - half.nsteps)  # without those of the start
    return rounded(calls, 3) or 0.0


def interpreted_exponentials(names: list[str]) -> dict[str, float]:
    """Name -> exp and Cayley maps of a step, counted as the source runs in Python."""
    counted = {("rotations.py", "exp"), ("rotations.py", "cay")}
    calls = 0

    def profile(frame: Any, event: str, _: Any) -> None:
        nonlocal calls
        code = frame.f_code
        if event == "call" and (Path(code.co_filename).name, code.co_name) in counted:
            calls += 1

    found = {}
    for name in names:
        method = everything()[name]
        system, y0 = homes()[home_of(method)]
        counts = []
        for steps in (1, 1 + EXPONENTIALS_STEPS):  # the difference: without what is done once
            calls = 0
            sys.setprofile(profile)
            try:
                run(system, method, 0.1 * steps, y0, 0.1)
            finally:
                sys.setprofile(None)
            counts.append(calls)
        found[name] = (counts[1] - counts[0]) / EXPONENTIALS_STEPS
    return found


def exponentials(names: list[str]) -> dict[str, float]:
    """The same from a process of its own, which interprets the source."""
    names = [name for name in names if name not in SCIPY]
    command = [sys.executable, "-m", "benchmarks.atlas", "--count", *names]
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def largest_stable_steps(method: Method) -> dict[str, float | None]:
    """The largest step of the grid up to which every run of 100 s ends, with an energy error of at most an eighth."""
    if method.name in SCIPY:
        return {}
    top = report_card.problems()["heavy top"]
    cases = {home_of(method): homes()[home_of(method)], "heavy top": (top.system, top.y0)}
    found = {}
    for name, (system, y0) in cases.items():
        if not method.formulation(system):
            continue
        largest = None
        for h in STABLE_STEPS[6 if in_python(method) else 0 :]:
            sol = run(system, method, STABLE_T_END, y0, h)
            with np.errstate(all="ignore"):
                energy = sol.energy()
                bounded = np.abs(energy - energy[0]).max() <= STABLE_ENERGY * abs(energy[0])
            if not (sol.success and bounded):
                break
            largest = h
        found[name] = None if largest is None else round(largest, 6)
    return found


def work_precision(method: Method) -> list[list[float]]:
    """[field calls, error at 10 s], from coarse to fine, as long as the error falls."""
    system, y0 = homes()[home_of(method)]
    exact, _ = diagnostics.reference_state(system, WORK_T_END, y0)
    first, last = WORK_STEPS
    settings: Iterator[dict] | list[dict]
    if method.name in SCIPY:
        settings = [{"rtol": 10.0**-k, "atol": 10.0 ** -(k + 2)} for k in range(2, 12)]
    else:
        count = 512 if in_python(method) else last
        settings = [
            {"h": WORK_T_END / n} for n in first * 2 ** np.arange(int(np.log2(count // first)) + 1)
        ]
    points: list[list[float]] = []
    for options in settings:
        sol = lielab.solve(
            system, (0.0, WORK_T_END), y0, method=method, save_every=10**9, **options
        )
        error = float(np.linalg.norm(sol.y[-1] - exact)) if sol.success else np.inf
        if np.isfinite(error) and error < 1e3:
            points.append([sol.nfev, float(f"{error:.2e}")])
        if error < 1e-12 or len(points) > 1 and error > points[-2][1] < 1e-8:
            break  # rounding
    return points


# --- times ----------------------------------------------------------------------------------------


def quiet(others: float = 0.0) -> bool:
    """Does nobody else compute? `others` is what this process itself has added to the load."""
    return hasattr(os, "getloadavg") and os.getloadavg()[0] - others < QUIET


def seconds(system: System, y0: np.ndarray, method: Method, steps: int) -> tuple[float, int]:
    """How long a run takes, and its steps."""
    options = {} if method.name in SCIPY else {"h": TIMED_H, "save_every": steps}
    began = time.perf_counter()
    sol = lielab.solve(system, (0.0, steps * TIMED_H), y0, method=method, **options)
    return time.perf_counter() - began, sol.nsteps


def seconds_a_step(system: System, y0: np.ndarray, method: Method, steps: int) -> float:
    """From a long and a short run, so that what a call of `solve` costs is in neither method's favour."""
    short, few = seconds(system, y0, method, steps // 10)
    long, many = seconds(system, y0, method, steps)
    return (long - short) / (many - few)


def times(method: Method) -> dict[str, float]:
    """Time of a step over that of RK4 on the same problem: median and range of rounds, the two in turn."""
    system, y0 = homes()[home_of(method)]
    steps = TIMED_STEPS // 100 if in_python(method) else TIMED_STEPS
    seconds_a_step(system, y0, method, steps)
    ratios, own = [], []
    for _ in range(TIMED_ROUNDS):
        base = seconds_a_step(system, y0, lielab.methods()["RK4"], TIMED_STEPS)
        own.append(seconds_a_step(system, y0, method, steps))
        ratios.append(own[-1] / base)
    return {
        "ratio": rounded(median(ratios), 3),
        "low": rounded(min(ratios), 3),
        "high": rounded(max(ratios), 3),
        "ns": rounded(1e9 * median(own), 3),
    }


def machine(timed: bool) -> dict[str, Any]:
    return {
        "processor": platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "lielab": lielab.__version__,
        "load": "quiet" if timed else "others were computing, so that no times were taken",
    }


# --- the whole ------------------------------------------------------------------------------------


def measure(method: Method, count: float | None) -> dict[str, Any]:
    """A row without its times."""
    return {
        "name": method.name,
        "family": method.family,
        "order": method.order,
        "home": home_of(method),
        "orders": orders(method),
        "kept": kept(method),
        "structure": structure(method),
        "long": long_times(method),
        "field calls": field_calls(method),
        "exponentials": count,
        "stable": largest_stable_steps(method),
        "work": work_precision(method),
        "time": None,
    }


def store(rows: dict[str, dict], about: dict[str, Any]) -> None:
    ordered = [rows[name] for name in everything() if name in rows]
    body = ",\n".join(json.dumps(row) for row in ordered)
    RESULTS.write_text(
        f'{{"machine": {json.dumps(about)},\n"methods": [\n{body}\n]}}\n',
        encoding="utf-8",
    )


def stored() -> dict[str, Any]:
    """What was measured last; no methods where nothing was."""
    if not RESULTS.is_file():
        return {"machine": machine(False), "methods": []}
    return json.loads(RESULTS.read_text(encoding="utf-8"))


def main() -> None:
    """Measure, print, store."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "names", nargs="*", help="rows to measure anew; all of them if none is given"
    )
    parser.add_argument("--no-timings", action="store_true", help="leave out the times")
    parser.add_argument("--timings", action="store_true", help="nothing but the times")
    parser.add_argument("--count", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    names = asked.names or list(everything())
    if asked.count:
        print(json.dumps(interpreted_exponentials(names)))
        return
    calm = quiet()
    before = stored()
    rows = {row["name"]: row for row in before["methods"]}
    if not asked.timings:
        counts = exponentials(names)
        for name in names:
            began = time.perf_counter()
            old = rows.get(name, {}).get("time")
            rows[name] = measure(
                everything()[name], counts.get(name, 0.0 if name in SCIPY else None)
            )
            rows[name]["time"] = old
            print(f"{name:20s} {time.perf_counter() - began:6.1f} s", flush=True)
            store(rows, before["machine"])
    if not asked.no_timings:
        found = {}
        for name in names if calm else ():
            found[name] = times(everything()[name])
            print(f"{name:20s} {found[name]}", flush=True)
        if found and quiet(others=1.0):
            for name in found:
                rows[name]["time"] = found[name]
        else:
            print("other programs are at work: no times are kept")
    store(rows, machine(all(row["time"] for row in rows.values())))


if __name__ == "__main__":
    main()
