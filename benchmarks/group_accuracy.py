"""Errors of exp, log, dexp and dexpinv on SE(3), and of Cayley's map, against 50 digits: lielab and other libraries.

    python benchmarks/group_accuracy.py            # about 4 minutes; the first time it also installs the others
    python benchmarks/group_accuracy.py --ours     # lielab alone, no network

The other libraries are installed with pip into a venv of their own, `.cache/accuracy-venv`, each alone, so that one
that does not install takes no other down; their versions are written into the table. The sweep takes every decade of
angle from 1e-16 to 1, angles up to pi and at pi, translations of 0 and from 1e-8 to 1e8, along the axis and not. An
error is the Frobenius norm of a block's difference over that of the exact block, for the same float input. Results:
results/group_accuracy.json (worst error for each angle) and .md (worst of all, a table).
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import mpmath  # noqa: E402

from benchmarks import _accuracy_worker as worker  # noqa: E402
from benchmarks import _exact as exact  # noqa: E402
from lielab import se3  # noqa: E402

RESULTS = ROOT / "benchmarks" / "results"
VENV = Path(os.environ.get("LIELAB_BENCH_VENV", ROOT / ".cache" / "accuracy-venv"))
NOT_MEASURED = {"pymlg": "pip finds no release"}
BLOCKS = {  # name: (function, what is compared, how it is called in the table)
    "exp R": ("exp", lambda M: M[:3, :3], "exp, rotation"),
    "exp r": ("exp", lambda M: M[:3, 3], "exp, translation"),
    "log A": ("log", lambda v: v[:3], "log, rotation"),
    "log a": ("log", lambda v: v[3:], "log, translation"),
    "dexp diagonal": ("dexp", lambda M: M[:3, :3], "dexp, diagonal block"),
    "dexp low": ("dexp", lambda M: M[3:, :3], "dexp, lower left block"),
    "dexpinv diagonal": ("dexpinv", lambda M: M[:3, :3], "dexpinv, diagonal block"),
    "dexpinv low": ("dexpinv", lambda M: M[3:, :3], "dexpinv, lower left block"),
    "cay R": ("cay", lambda M: M[:3, :3], "cay, rotation"),
    "cay r": ("cay", lambda M: M[:3, 3], "cay, translation"),
}


def angles() -> list[float]:
    """0, every decade, some in between, and the approach to pi."""
    decades = [m * 10.0**-k for k in range(16, 0, -1) for m in (1.0, 3.0)]
    return [
        0.0,
        *decades,
        1.0,
        math.pi / 2,
        2.0,
        2.5,
        *(math.pi - 10.0**-k for k in range(1, 16)),
        math.pi,
    ]


def sweep(seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Angles (n,) and algebra vectors (n, 6)."""
    rng = np.random.default_rng(seed)
    rows = []
    for angle in angles():
        for size in (0.0, 1e-8, 1e-4, 1.0, 1e4, 1e8):
            for along in (False, True):
                axis, a = rng.standard_normal((2, 3))
                axis /= np.linalg.norm(axis)
                a = axis if along else a / np.linalg.norm(a)
                rows.append((angle, *(angle * axis), *(size * a)))
    data = np.array(rows)
    return data[:, 0], data[:, 1:]


def others(u: np.ndarray, g: np.ndarray) -> dict[str, np.ndarray]:
    """Install what installs, run the worker, collect its results."""
    python = VENV / ("Scripts" if os.name == "nt" else "bin") / "python"
    if not python.exists():
        print(f"creating {VENV.name}")
        venv.create(VENV, with_pip=True)
        for package in worker.LIBRARIES:
            command = [python, "-m", "pip", "install", "--quiet", package]
            done = subprocess.run(command, capture_output=True, text=True)
            print(
                f"  {package}: {'installed' if done.returncode == 0 else 'does not install here'}"
            )
    environment = {**os.environ, "JAX_PLATFORMS": "cpu"}
    environment.pop("PYTHONPATH", None)
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "inputs.npz"
        np.savez(source, u=u, g=g)
        for package in worker.LIBRARIES:
            target = Path(folder) / f"{package}.npz"
            command = [python, worker.__file__, package, source, target]
            done = subprocess.run(command, capture_output=True, text=True, env=environment)
            if done.returncode:
                last = (done.stderr.strip() or "crashed").splitlines()[-1]
                NOT_MEASURED[package] = last if done.returncode > 0 else "the interpreter crashed"
                print(f"  {package}: {NOT_MEASURED[package]}")
                continue
            with np.load(target) as data:
                results.update(data)
    return results


def rounded(u: np.ndarray) -> np.ndarray:
    """exp of each row, exact and rounded to floats: what every library is asked for the logarithm of."""
    g = se3.identity((len(u),))
    for row, out in zip(u, g, strict=True):
        R, r = exact.exp(row)
        out[:3, :3] = [[float(x) for x in line] for line in R]
        out[:3, 3] = [float(x) for x in r]
    return g


def references(u: np.ndarray, g: np.ndarray) -> list[dict]:
    """For each row the exact blocks by name; the logarithm as a list of candidates."""
    rows = []
    for row, element in zip(u, g, strict=True):
        blocks = {}
        for name in ("exp", "cay"):
            blocks[f"{name} R"], blocks[f"{name} r"] = getattr(exact, name)(row)
        for name in ("dexp", "dexpinv"):
            blocks[f"{name} diagonal"], blocks[f"{name} low"] = getattr(exact, name)(row)
        blocks["log"] = exact.logs(element)
        blocks["turns"] = [blocks]
        # Libraries that take dexpinv of a group element cannot know, at pi, from which side it came.
        if np.linalg.norm(row[:3]) > math.pi - 1e-12:
            pair = exact.dexpinv(exact.other_branch(row))
            blocks["turns"] = [
                blocks,
                {"dexpinv diagonal": pair[0], "dexpinv low": pair[1]},
            ]
        rows.append(blocks)
    return rows


def errors(values: dict[str, np.ndarray], truth: list[dict]) -> dict[str, np.ndarray]:
    """Relative error of each block for each row; inf stands for NaN, infinity and exceptions."""
    table = {}
    for block, (function, pick, _) in BLOCKS.items():
        if function not in values:
            continue
        column = np.empty(len(truth))
        for i, (value, blocks) in enumerate(zip(values[function], truth, strict=True)):
            if function == "log":
                both = [
                    (exact.error(value[:3], A), exact.error(value[3:], a)) for A, a in blocks["log"]
                ]
                best = min(both, key=max)
                column[i] = best[0] if block == "log A" else best[1]
            elif function == "dexpinv":
                turns = [turn[block] for turn in blocks["turns"]]
                column[i] = min(exact.error(pick(value), turn) for turn in turns)
            else:
                column[i] = exact.error(pick(value), blocks[block])
        table[block] = column
    return table


def per_angle(angle: np.ndarray, column: np.ndarray) -> list[float | None]:
    """Worst error at each angle, two digits; None for infinite."""
    result = []
    for value in dict.fromkeys(angle):
        worst = column[angle == value].max()
        result.append(float(f"{worst:.1e}") if np.isfinite(worst) else None)
    return result


def markdown(table: dict[str, dict[str, np.ndarray]], versions: dict[str, str]) -> str:
    names = list(table)
    lines = [
        "Worst relative error over the sweep (angles from 0 to pi, translations from 0 to 1e8), a block at a time.",
        "",
        "| block | " + " | ".join(names) + " |",
        "|---|" + "---|" * len(names),
    ]
    for block, (_, _, title) in BLOCKS.items():
        cells = []
        for name in names:
            column = table[name].get(block)
            if column is None:
                cells.append("")
            else:
                worst = column.max()
                cells.append(f"{worst:.0e}" if np.isfinite(worst) else "NaN or error")
        lines.append(f"| {title} | " + " | ".join(cells) + " |")
    stated = "; ".join(versions.values())
    missing = "; ".join(f"{name}: {why}" for name, why in NOT_MEASURED.items())
    lines += ["", f"Versions: {stated}. Not measured: {missing}. Empty: not offered."]
    return "\n".join(lines) + "\n"


def main(ours_only: bool = False) -> dict[str, dict[str, np.ndarray]]:
    """Measure, print the table, and (with the other libraries) write the results."""
    with mpmath.workdps(exact.DIGITS):
        angle, u = sweep()
        g = rounded(u)
        values = {
            "lielab": {
                name: getattr(se3, name)(g if name == "log" else u)
                for name in ("exp", "log", "dexp", "dexpinv", "cay")
            }
        }
        versions = {"lielab": "lielab, this checkout"}
        if not ours_only:
            for key, array in others(u, g).items():
                name, function = (
                    key.split(".", 1) if not key.startswith("version.") else (key[8:], "")
                )
                if function:
                    values.setdefault(name, {})[function] = array
                else:
                    versions[name] = str(array)
        truth = references(u, g)
        table = {name: errors(functions, truth) for name, functions in values.items()}
    text = markdown(table, versions)
    print(text)
    if not ours_only:
        RESULTS.mkdir(exist_ok=True)
        data = {
            "angles": list(dict.fromkeys(angle)),
            "versions": versions,
            "errors": {
                name: {block: per_angle(angle, column) for block, column in columns.items()}
                for name, columns in table.items()
            },
        }
        body = json.dumps(data, indent=None, separators=(", ", ": ")).replace('}, "', '},\n"')
        (RESULTS / "group_accuracy.json").write_text(
            body.replace('], "', '],\n"') + "\n", encoding="utf-8"
        )
        (RESULTS / "group_accuracy.md").write_text(text, encoding="utf-8")
    return table


if __name__ == "__main__":
    main(ours_only="--ours" in sys.argv[1:])
