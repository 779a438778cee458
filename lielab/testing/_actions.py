"""check_action: axioms, generator, dexpinv, bracket, Cayley, blocks."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..actions import Action
from ..core.arguments import count, named_array, seed_of
from ._report import DIFFERENCE, ROUND_OFF, Report, gap, relative, slope


def check_action(
    action: Action,
    points: Any = None,
    *,
    samples: int = 4,
    seed: int = 0,
    require: bool = True,
) -> Report:
    """Check an action: its axioms, its generator, dexpinv, bracket and Cayley map, and that it stays on the manifold.

    `points` (k, n) are points of the manifold; without them the action's own `sample` is used, or random
    vectors where the manifold is the whole space. What is about the manifold is tested by the action's `distance`: the
    report names it as not checked where points are given or drawn and the action has none. With `require` an
    AssertionError lists what fails.
    """
    rng = np.random.default_rng(seed_of(seed))
    count("samples", samples)
    if not isinstance(action, Action):
        raise ValueError(f"action must be an Action, got {action!r}; see lielab.actions")
    report = Report(f"action {action.name}")
    if points is not None:
        ys = np.atleast_2d(named_array("points", points))
    elif action.sample is not None:
        ys = np.array([action.sample(rng) for _ in range(samples)])
    elif action.distance is None:
        ys = rng.standard_normal((samples, action.point))
    else:
        raise ValueError(
            f"points must be given: {action.name} has no sample, and its manifold is not the whole space"
        )
    if action.distance is None and (points is not None or action.sample is not None):
        report.skipped["the points lie and stay on the manifold"] = "the action has no distance"
    for y in ys:
        y = np.ascontiguousarray(y)
        n = action.algebra_dim(len(y))
        _lies(report, action, "the samples lie on the manifold", y, 1e-9)
        for first, row in action.rotations:
            R = np.stack([y[first + row * i : first + row * i + 3] for i in range(3)])
            report.note("`rotations` are rotations", np.abs(R.T @ R - np.eye(3)).max(), 1e-9)
        for size in (1e-8, 0.3, 1.5):
            u = size * rng.standard_normal(n) / math.sqrt(n)
            _acts(report, action, u, rng.standard_normal(n), y)
        _closes(report, action, rng.standard_normal((3, n)), y)
    if action.blocks and action.exp_act is not None:
        _blockwise(report, action, ys, rng)
    return report.require() if require else report


def _lies(
    report: Report, action: Action, name: str, y: np.ndarray, limit: float, size: float = 1.0
) -> None:
    """Note how far y is from the manifold, where the action can tell."""
    if action.distance is not None:
        report.note(name, action.defect(y) / size, limit)


def _acts(report: Report, action: Action, u: np.ndarray, v: np.ndarray, y: np.ndarray) -> None:
    act, generator = action.exp_act, action.generator
    before = u.copy(), y.copy()
    moved = act(u, y)
    size = max(1.0, np.abs(moved).max()) * max(1.0, np.abs(y).max())
    untouched = np.array_equal(u, before[0]) and np.array_equal(y, before[1]) and moved is not y
    report.note("the kernels leave their arguments alone", 0.0 if untouched else 1.0, 0.5)
    report.note("exp(0) . y = y", gap(act(0.0 * u, y), y), ROUND_OFF)
    twice = act(0.7 * u, act(0.3 * u, y))
    report.note("exp(s u) . exp(t u) . y = exp((s+t) u) . y", gap(twice, moved) / size, ROUND_OFF)
    _lies(report, action, "exp_act stays on the manifold", moved, ROUND_OFF, size)
    rate = slope(lambda t: act(t * v, y))
    report.note("generator against differences", relative(rate, generator(v, y)), DIFFERENCE * size)
    linear = generator(u + 2.0 * v, y) - generator(u, y) - 2.0 * generator(v, y)
    report.note("the generator is linear", np.abs(linear).max() / size, ROUND_OFF)
    if action.dexpinv is None:
        report.skipped["dexpinv, bracket"] = "frame fields without an algebra"
    else:
        w = action.dexpinv(u, v)
        rate = slope(lambda t: act(u + t * w, y))
        report.note(
            "dexpinv against differences", relative(rate, generator(v, moved)), DIFFERENCE * size
        )
    if action.cay_act is None:
        report.skipped["Cayley"] = "not offered"
        return
    moved = action.cay_act(u, y)
    size = max(1.0, np.abs(moved).max()) * max(1.0, np.abs(y).max())
    _lies(report, action, "cay_act stays on the manifold", moved, ROUND_OFF, size)
    w = action.dcayinv(u, v)
    rate = slope(lambda t: action.cay_act(u + t * w, y))
    report.note(
        "dcayinv against differences", relative(rate, generator(v, moved)), DIFFERENCE * size
    )
    small = 0.05 * v / max(1.0, np.linalg.norm(v))
    first, second = (np.abs(action.cay_act(x, y) - act(x, y)).max() for x in (small, 0.5 * small))
    excess = 0.0 if first < 1e-13 else max(0.0, second / first - 1.0 / 7.0)
    report.note("cay_act agrees with exp_act to second order", excess, 0.01)


def _closes(report: Report, action: Action, vectors: np.ndarray, y: np.ndarray) -> None:
    """The bracket: a Lie bracket, the one in dexpinv, and minus that of the generators' vector fields."""
    if action.bracket is None:
        return
    u, v, w = np.ascontiguousarray(vectors)
    bracket, X = action.bracket, action.generator
    report.note("bracket is antisymmetric", relative(bracket(u, v), -bracket(v, u)), ROUND_OFF)
    jacobi = bracket(u, bracket(v, w)) + bracket(v, bracket(w, u)) + bracket(w, bracket(u, v))
    scale = max(1.0, np.abs(vectors).max()) ** 3
    report.note("Jacobi identity", np.abs(jacobi).max() / scale, ROUND_OFF)
    fields = slope(lambda t: X(v, y + t * X(u, y)) - X(u, y + t * X(v, y)))
    size = max(1.0, np.abs(y).max()) * scale
    report.note(
        "[X_u, X_v] = -X_[u, v] for the generators",
        relative(fields, -X(bracket(u, v), y), size),
        DIFFERENCE,
    )
    if action.dexpinv is not None:
        u = 0.01 * u
        first = bracket(u, v)
        second = bracket(u, first)
        fourth = bracket(u, bracket(u, second))
        series = v - first / 2.0 + second / 12.0 - fourth / 720.0
        report.note("dexpinv against its series", relative(action.dexpinv(u, v), series), 1e-9)


def _blockwise(report: Report, action: Action, ys: np.ndarray, rng: np.random.Generator) -> None:
    """Several blocks are moved independently."""
    y = np.concatenate([ys[k % len(ys)][: action.point] for k in range(3)])
    u, v = rng.standard_normal((2, 3 * action.algebra))

    def parts(x: np.ndarray, n: int) -> list[np.ndarray]:
        return [x[k * n : (k + 1) * n].copy() for k in range(3)]

    us, vs, points = parts(u, action.algebra), parts(v, action.algebra), parts(y, action.point)
    for name in ("exp_act", "generator", "cay_act"):
        kernel = getattr(action, name)
        if kernel is not None:
            one_by_one = np.concatenate([kernel(a, b) for a, b in zip(us, points, strict=True)])
            report.note("blocks move independently", gap(kernel(u, y), one_by_one), ROUND_OFF, name)
    for name in ("dexpinv", "bracket", "dcayinv"):
        kernel = getattr(action, name)
        if kernel is not None:
            one_by_one = np.concatenate([kernel(a, b) for a, b in zip(us, vs, strict=True)])
            report.note("blocks move independently", gap(kernel(u, v), one_by_one), ROUND_OFF, name)
