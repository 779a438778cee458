"""States after one step and after ten, of every method on every system that takes it, as they were: the pins.

    python -m tests.pins             compares, and lists what differs by how many units in the last place
    python -m tests.pins VLV RATTLE  these methods only
    python -m tests.pins write       keeps the present numbers

An edit that keeps the order of arithmetic keeps every bit; one that does not shows here what it did. The numbers are
no reference values: they hold for one machine's elementary functions, and `test_pins` allows for others.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import lielab
from lielab import control, systems
from tests.control.problems import HOVER, INVERTED, PENDULUM, TORQUE, moving_quadrotor
from tests.methods.offset_body import OffsetBody
from tests.systems.data import EXAMPLES, generic, velocity

FILE = Path(__file__).with_name("pins.npz")

# Options that lead through code of their own, besides each method as it is.
OPTIONS: dict[str, tuple[dict[str, Any], ...]] = {
    "RKMK4": ({"retraction": "cay"}, {"commutators": 1}),
    "RKMKGL4": ({"solver": "newton"}, {"commutators": 2}),
    "ELN": ({"retraction": "cay"}, {"retraction": "exp"}),
    "PRK": ({"retraction": "exp"},),
    "SLGI": ({"theta": 0.0}, {"theta": 0.7}),
    "TLN": ({"retraction": "exp"},),
    "LieNewmark": ({"beta": 0.1, "gamma": 0.6},),
    "LGVI": (
        {"retraction": "exp"},
        {"quadrature": "midpoint"},
        {"quadrature": "midpoint", "retraction": "exp"},
        {"quadrature": "right"},
    ),
    "LGVI1": ({"retraction": "exp"},),
}
SYSTEMS = {
    **EXAMPLES,
    "tight double pendulum": systems.DoubleSphericalPendulum((1.0, 10.0), (1.0, 0.2)),
    "pushed pendulum": systems.Pendulum3D(control="constant", inputs=(0.3, -0.2, 0.1)),
    "flown quadrotor": systems.QuadrotorWithLoad(rotors=(HOVER + 1, HOVER, HOVER - 1, HOVER)),
    "body in SE(3)": OffsetBody(),
    "pushed body in SE(3)": OffsetBody(push=True),
    "tied body in SE(3)": OffsetBody(push=True, tied=True),
}


def start(name: str) -> np.ndarray:
    """A generic state, or the system's own where that must fit a constraint."""
    own = ("quadrotor with load", "flown quadrotor")
    if name in own or name.endswith("SE(3)"):
        return SYSTEMS[name].y0
    return generic(SYSTEMS[name])


def step(name: str, y: np.ndarray) -> float:
    """A step that moves the state by some hundredths."""
    system = SYSTEMS[name]
    if "action" not in system.formulations:
        return 0.02
    return 0.03 / (1.0 + float(np.abs(velocity(system, y)).max()))


def ten_steps(name: str, method: Any, options: dict[str, Any]) -> np.ndarray:
    """The states after one and after ten steps (2, dim), or the states as far as it went."""
    y = start(name)
    h = step(name, y)
    if method.family == "classical" and method.embedded:
        how: dict[str, Any] = {"h0": h, "rtol": 1e-8, "atol": 1e-8}
    else:
        how = {"h": h}
    sol = lielab.solve(SYSTEMS[name], (0.0, 10.0 * h), y, method=method, **how, **options)
    return sol.y[[1, -1]] if len(sol.y) > 1 else sol.y


def runs(name: str, only: Sequence[str] = ()) -> Iterator[tuple[str, np.ndarray]]:
    """(key, numbers) for every method and option on a system, or for some methods `only`."""
    for method in lielab.methods().values():
        if not method.formulation(SYSTEMS[name]) or (only and method.name not in only):
            continue
        for options in ({}, *OPTIONS.get(method.name, ())):
            words = " ".join(f"{key}={value}" for key, value in options.items())
            key = " ".join(filter(None, (method.name, words)))
            try:
                yield key, ten_steps(name, method, options)
            except ValueError:  # an option that this system does not take
                continue


def linearizations() -> Iterator[tuple[str, np.ndarray]]:
    """A and B of one step, free, forced and with a constraint."""
    quadrotor, speeds = moving_quadrotor()
    problem = systems.QuadrotorWithLoad(rotors=(HOVER,) * 4)
    for retraction in ("cay", "exp"):
        for key, system, y, u in (
            ("pendulum", PENDULUM, INVERTED, TORQUE),
            ("quadrotor", problem, quadrotor, speeds),
        ):
            A, B = control.linearize(system, y, u, 0.01, retraction)
            yield f"{key} {retraction}", np.hstack([A, B])


def every_run(only: Sequence[str]) -> Iterator[tuple[str, np.ndarray]]:
    """(key, numbers) for all pins, or for those of some methods; "linearize" counts as one."""
    for name in SYSTEMS:
        for key, values in runs(name, only):
            yield f"{name}: {key}", values
    if not only or "linearize" in only:
        for key, values in linearizations():
            yield f"linearize: {key}", values


def ulps(new: np.ndarray, old: np.ndarray) -> float:
    """Largest difference, in units of the last place of the largest number of its row."""
    if new.shape != old.shape or not np.array_equal(np.isfinite(new), np.isfinite(old)):
        return np.inf
    size = np.spacing(np.abs(old).max(axis=-1, keepdims=True))
    return float((np.abs(new - old) / size).max())


def main(words: list[str]) -> None:
    if words[:1] == ["write"]:
        np.savez_compressed(FILE, **dict(every_run(())))
        print(f"{FILE.name}: {len(np.load(FILE).files)} runs, {FILE.stat().st_size / 1000:.0f} kB")
        return
    pins, same = np.load(FILE), 0
    missing = set() if words else set(pins.files)
    for key, values in every_run(words):
        missing.discard(key)
        if key not in pins:
            print(f"{key}: not pinned")
        elif np.array_equal(values, pins[key], equal_nan=True):
            same += 1
        else:
            one, ten = (ulps(values[:n], pins[key][:n]) for n in (1, len(values)))
            print(f"{key}: {one:.1f} ulp after one step, {ten:.1f} after ten")
    for key in sorted(missing):
        print(f"{key}: pinned, but not run")
    print(f"{same} runs are bit-identical")


if __name__ == "__main__":
    main(sys.argv[1:])
