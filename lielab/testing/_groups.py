"""check_group: axioms, exp and log, Ad, ad, duals, tangent maps, Cayley, batches."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.arguments import count, listed, positive, seed_of
from ..groups.batch import axes
from ..groups.derived import truncated
from ..groups.matrix_functions import expm
from ._report import DIFFERENCE, ROUND_OFF, Report, flat, gap, relative, slope

# Cayley's functions and `project` are not on every group; `dim` is its dimension.
CONTRACT = (
    *("dim", "hat", "vee", "exp", "log", "Ad", "ad", "bracket", "coAd", "coad", "dexp", "dexpinv"),
    *("identity", "compose", "inverse", "random", "distance"),
)
SMALL = tuple(10.0**-k for k in range(16, 0, -1))
NEAR_PI = tuple(math.pi - 10.0**-k for k in (2, 4, 6, 8, 10, 12, 14)) + (math.pi,)


def sized(group: Any, u: np.ndarray, angle: float) -> np.ndarray:
    """u scaled so that the fastest rotation in it, or its length where nothing turns, has this size."""
    turn = np.abs(np.linalg.eigvals(group.ad(u))).max(initial=0.0)
    length = np.linalg.norm(u)
    return u * (angle / (turn if turn > 1e-3 * length else length))


def check_group(
    group: Any,
    *,
    samples: int = 3,
    seed: int = 0,
    sizes: Sequence[float] = (0.5, 1.5),
    batches: Sequence[tuple[int, ...]] = ((1,), (3,), (2, 3), (0,)),
    require: bool = True,
) -> Report:
    """Check the contract of a group: axioms, exp and log, Ad, ad, duals, dexp, Cayley, batches, project.

    Algebra vectors are drawn with the given sizes, at every decade from 1e-16 to 0.1, and near pi. With
    `require` an AssertionError lists the properties that fail; otherwise look at `report.failures`.
    """
    missing = [name for name in CONTRACT if not hasattr(group, name)]
    if missing:
        raise ValueError(
            f"group must offer the functions of lielab.so3, got {group!r} without {', '.join(missing)}"
        )
    rng = np.random.default_rng(seed_of(seed))
    sizes = [positive("sizes", size) for size in listed("sizes", sizes, "sizes of vectors")]
    batches = [axes(batch) for batch in listed("batches", batches, "batch axes such as (2, 3)")]
    report = Report(f"group {getattr(group, 'name', group)}")
    for _ in range(count("samples", samples)):
        g, h, k = (group.random(rng) for _ in range(3))
        _axioms(report, group, g, h, k)
        _adjoint(report, group, g, h, rng)
        for size in sizes:
            u = sized(group, rng.standard_normal(group.dim), size)
            v, w = rng.standard_normal((2, group.dim))
            _algebra(report, group, g, u, v, w)
            _exponential(report, group, u, v)
            _cayley(report, group, u, v)
    for angle in (*SMALL, *NEAR_PI):
        direction = rng.standard_normal(group.dim)
        _scales(report, group, sized(group, direction, angle), f"at size {angle:.3g}")
    for batch in batches:
        _batches(report, group, batch, rng)
    return report.require() if require else report


def _axioms(report: Report, group: Any, g: Any, h: Any, k: Any) -> None:
    e, mul = group.identity(), group.compose
    # Products of three elements lose as many digits as their sizes have.
    scale = max(1.0, *(np.abs(flat(x)).max() for x in (g, h, k))) ** 2
    report.note("associativity", gap(mul(mul(g, h), k), mul(g, mul(h, k))) / scale, ROUND_OFF)
    report.note("identity from the left", gap(mul(e, g), g), ROUND_OFF)
    report.note("identity from the right", gap(mul(g, e), g), ROUND_OFF)
    report.note("inverse from the left", gap(mul(group.inverse(g), g), e) / scale, ROUND_OFF)
    report.note("inverse from the right", gap(mul(g, group.inverse(g)), e) / scale, ROUND_OFF)
    if _offers(group, "project", g):
        report.note("project leaves elements", gap(group.project(g), g) / scale, ROUND_OFF)
    else:
        report.skipped["project"] = "not offered"
    report.note(
        "distance is symmetric", abs(group.distance(g, h) - group.distance(h, g)), DIFFERENCE
    )
    report.note("distance of g to itself", group.distance(g, g) / scale, DIFFERENCE)
    apart = gap(g, h)
    report.note(
        "distance tells elements apart",
        0.0 if group.distance(g, h) > 0.1 * min(apart, 1.0) else 1.0,
        0.5,
    )


def _adjoint(report: Report, group: Any, g: Any, h: Any, rng: np.random.Generator) -> None:
    Ad = group.Ad(g)
    size = max(1.0, np.abs(Ad).max() ** 2)
    together = group.Ad(group.compose(g, h))
    report.note("Ad is a homomorphism", relative(Ad @ group.Ad(h), together, size), ROUND_OFF)
    u = rng.standard_normal(group.dim)
    u *= 0.1 / max(1.0, np.abs(Ad).max() * np.linalg.norm(u))
    moved = group.compose(group.compose(g, group.exp(u)), group.inverse(g))
    report.note("exp(Ad_g u) = g exp(u) g^-1", gap(group.exp(Ad @ u), moved) / size, ROUND_OFF)
    report.note("coAd is the transpose of Ad", relative(group.coAd(g), Ad.T), ROUND_OFF)


def _algebra(
    report: Report, group: Any, g: Any, u: np.ndarray, v: np.ndarray, w: np.ndarray
) -> None:
    bracket, ad = group.bracket, group.ad(u)
    report.note("vee is the inverse of hat", relative(group.vee(group.hat(u)), u), ROUND_OFF)
    report.note("ad_u v = [u, v]", relative(ad @ v, bracket(u, v)), ROUND_OFF)
    report.note("bracket is antisymmetric", relative(bracket(u, v), -bracket(v, u)), ROUND_OFF)
    jacobi = bracket(u, bracket(v, w)) + bracket(v, bracket(w, u)) + bracket(w, bracket(u, v))
    scale = max(1.0, *(np.abs(x).max() for x in (u, v, w))) ** 3
    report.note("Jacobi identity", np.abs(jacobi).max() / scale, ROUND_OFF)
    report.note("coad is the transpose of ad", relative(group.coad(u), ad.T), ROUND_OFF)
    X, Y, Z = group.hat(u), group.hat(v), group.hat(bracket(u, v))
    for a, b, c in zip(*(x if isinstance(x, tuple) else (x,) for x in (X, Y, Z)), strict=True):
        if isinstance(a, np.ndarray) and a.ndim == 2:
            report.note("hat of a bracket is the commutator", relative(a @ b - b @ a, c), ROUND_OFF)
    derivative = slope(lambda t: group.Ad(group.exp(t * u)))
    size = max(1.0, np.abs(ad).max() ** 3)
    report.note("ad is the derivative of Ad", relative(derivative, ad, size), DIFFERENCE)
    Ad = group.Ad(group.exp(u))
    report.note("Ad of exp(u) = exp of ad_u", relative(Ad, expm(ad)), ROUND_OFF)


def _exponential(report: Report, group: Any, u: np.ndarray, v: np.ndarray) -> None:
    exp, mul, one = group.exp, group.compose, np.eye(group.dim)
    size = max(1.0, np.abs(flat(exp(u))).max()) ** 2
    report.note(
        "exp((s+t) u) = exp(s u) exp(t u)",
        gap(mul(exp(0.3 * u), exp(0.7 * u)), exp(u)) / size,
        ROUND_OFF,
    )
    report.note("exp(-u) is the inverse", gap(exp(-u), group.inverse(exp(u))) / size, ROUND_OFF)
    dexp, ad = group.dexp(u), group.ad(u)
    block = np.block([[ad, one], [np.zeros_like(ad), np.zeros_like(ad)]])
    report.note(
        "dexp = (e^ad - 1)/ad", relative(dexp, expm(block)[: group.dim, group.dim :]), ROUND_OFF
    )
    inverse = group.inverse(exp(u))

    def trivialised(t: float) -> np.ndarray:
        return group.log(mul(exp(u + t * v), inverse))

    loose = DIFFERENCE * size
    report.note("dexp against differences", relative(slope(trivialised), dexp @ v), loose)
    conditioned = ROUND_OFF * max(1.0, np.abs(group.dexpinv(u)).max() * np.abs(dexp).max())
    report.note("dexp dexpinv = 1", relative(dexp @ group.dexpinv(u), one), conditioned)
    for name in ("dexp", "dexpinv", "dcay", "dcayinv"):
        if hasattr(group, f"{name}_left") and _offers(group, name, u):
            values = getattr(group, f"{name}_left")(u), getattr(group, name)(-u)
            report.note("left-trivialised tangents are those at -u", relative(*values), ROUND_OFF)
    small = 0.1 * u / max(1.0, np.abs(np.linalg.eigvals(ad)).max(initial=0.0))
    _, series = truncated(group.ad)
    report.note(
        "dexpinv against its series", relative(group.dexpinv(small), series(small, 20)), ROUND_OFF
    )


def _offers(group: Any, name: str, x: Any) -> bool:
    """Is the function there, and not one that only says that the group has none (as on a `matrix_group`)?"""
    if not hasattr(group, name):
        return False
    try:
        getattr(group, name)(x)
    except ValueError:
        return False
    return True


def _cayley(report: Report, group: Any, u: np.ndarray, v: np.ndarray) -> None:
    if not _offers(group, "cay", 0.0 * u):
        report.skipped["Cayley"] = "not offered"
        return
    cay, mul, one = group.cay, group.compose, np.eye(group.dim)
    size = max(1.0, np.abs(flat(cay(u))).max()) ** 2
    report.note("cayinv(cay(u)) = u", relative(group.cayinv(cay(u)), u) / size, ROUND_OFF)
    report.note("cay(-u) is the inverse", gap(cay(-u), group.inverse(cay(u))) / size, ROUND_OFF)
    dcay = group.dcay(u)
    report.note("dcay dcayinv = 1", relative(dcay @ group.dcayinv(u), one) / size, ROUND_OFF)
    inverse = group.inverse(cay(u))

    def trivialised(t: float) -> np.ndarray:
        return group.log(mul(cay(u + t * v), inverse))

    report.note(
        "dcay against differences", relative(slope(trivialised), dcay @ v), DIFFERENCE * size
    )
    # cay = exp + hat(u)^3/12 + ...: halving u divides the difference by eight, where there is any
    small = 0.05 * u / max(1.0, np.linalg.norm(u))
    first, second = (np.abs(flat(cay(x)) - flat(group.exp(x))).max() for x in (small, 0.5 * small))
    excess = 0.0 if first < 1e-13 else max(0.0, second / first - 1.0 / 7.0)
    report.note("cay agrees with exp to second order", excess, 0.01)


def _scales(report: Report, group: Any, u: np.ndarray, where: str) -> None:
    """exp, log and the tangent maps at one size: finite, and inverse to each other to round-off."""
    g = group.exp(u)
    size = max(1.0, np.abs(flat(g)).max()) ** 2
    try:
        logarithm = group.log(g)
    except ValueError as error:
        if np.linalg.norm(u) < 1.0:
            raise
        report.skipped[f"log {where}"] = str(error).splitlines()[0]
    else:
        report.note(
            "exp(log(g)) = g at every size", gap(group.exp(logarithm), g) / size, ROUND_OFF, where
        )
    if np.linalg.norm(u) < 1.0:
        # Entries next to 1 hold an angle only to round-off, so the limit is not purely relative.
        off = np.abs(logarithm - u).max() / (np.abs(u).max() + 1e-3)
        report.note("log(exp(u)) = u at every size", off, ROUND_OFF, where)
    one, dexp = np.eye(group.dim), group.dexp(u)
    report.note(
        "dexp dexpinv = 1 at every size",
        relative(dexp @ group.dexpinv(u), one) / size,
        ROUND_OFF,
        where,
    )
    direct = relative(group.dexp(u), truncated(group.ad)[0](u, 50))
    report.note("dexp against its series at every size", direct / size, ROUND_OFF, where)


def _batches(report: Report, group: Any, batch: tuple[int, ...], rng: np.random.Generator) -> None:
    """Every function on a batch equals the function on its members, and has the shape that it should have."""
    where = f"batch {batch}"
    u, v = 0.5 * rng.standard_normal((2, *batch, group.dim))
    g, h = group.random(rng, batch), group.random(rng, batch)

    def pick(x: Any, index: tuple[int, ...]) -> Any:
        return tuple(pick(part, index) for part in x) if isinstance(x, tuple) else x[index]

    def leads(x: Any) -> bool:
        if isinstance(x, tuple):
            return all(leads(part) for part in x)
        return np.shape(x)[: len(batch)] == batch

    calls: list[tuple[str, tuple]] = [
        (name, (u,)) for name in ("hat", "exp", "ad", "coad", "dexp", "dexpinv")
    ]
    calls += [
        (name, (u,))
        for name in ("cay", "dcay", "dcayinv")
        if _offers(group, name, np.zeros(group.dim))
    ]
    calls += [(name, (g,)) for name in ("log", "Ad", "coAd", "inverse")]
    if _offers(group, "project", group.identity()):
        calls += [("project", (g,))]
    calls += [
        ("bracket", (u, v)),
        ("compose", (g, h)),
        ("distance", (g, h)),
        ("vee", (group.hat(u),)),
    ]
    for name, arguments in calls:
        function = getattr(group, name)
        try:
            together = function(*arguments)
        except Exception as error:  # noqa: BLE001  a function for single elements fails in its own way
            text = f"{name}, {where}: {error}".splitlines()[0]
            report.note("batch axes lead in every result", math.inf, 0.5, text)
            continue
        report.note(
            "batch axes lead in every result",
            0.0 if leads(together) else 1.0,
            0.5,
            f"{name}, {where}",
        )
        for index in np.ndindex(batch):
            alone = function(*(pick(x, index) for x in arguments))
            report.note(
                "a batch is its members",
                gap(pick(together, index), alone),
                ROUND_OFF,
                f"{name}, {where}",
            )
