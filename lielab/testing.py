"""Property checks for groups and actions: for those of this package, and for a reader's own.

    from lielab.testing import check_action, check_group

    print(check_group(lielab.se3))            # a table of properties, worst residual, limit
    check_group(my_group)                     # AssertionError names the properties that fail, with numbers

A group is any module or object with the functions of `lielab.so3`; Cayley is checked where it is offered.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .actions import Action
from .groups._derived import truncated
from .groups.matrix_groups import expm

# Residuals are relative to the sizes involved. Algebraic identities hold to a few hundred units of round-off,
# fourth-order differences with steps of 1e-3 to about 1e-11.
ROUND_OFF = 1e-12
DIFFERENCE = 1e-8
_STEP = 1e-3
SMALL = tuple(10.0**-k for k in range(16, 0, -1))
NEAR_PI = tuple(math.pi - 10.0**-k for k in (2, 4, 6, 8, 10, 12, 14)) + (math.pi,)


@dataclass
class Report:
    """What was checked: `worst[name] = (residual, limit, where)`; `skipped[name]` says why."""

    subject: str
    worst: dict[str, tuple[float, float, str]] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)

    def note(self, name: str, residual: Any, limit: float, where: str = "") -> None:
        """Record a residual; NaN counts as infinite."""
        size = float(np.max(residual, initial=0.0))
        size = math.inf if math.isnan(size) else size
        if name not in self.worst or size / limit > self.worst[name][0] / self.worst[name][1]:
            self.worst[name] = (size, limit, where)

    @property
    def failures(self) -> list[str]:
        """Names of the properties that do not hold."""
        return [name for name, (size, limit, _) in self.worst.items() if not size <= limit]

    def lines(self, names: Sequence[str]) -> list[str]:
        width = max(map(len, names), default=0)
        return [
            f"  {name:{width}}  residual {size:9.2e}  limit {limit:7.0e}  {where}"
            for name, (size, limit, where) in self.worst.items()
            if name in names
        ]

    def __str__(self) -> str:
        skipped = [f"  not checked: {name} ({why})" for name, why in self.skipped.items()]
        return "\n".join([self.subject, *self.lines(list(self.worst)), *skipped])

    def require(self) -> Report:
        """The report itself, or an AssertionError that lists what failed, with numbers."""
        if self.failures:
            raise AssertionError("\n".join([f"{self.subject} fails:", *self.lines(self.failures)]))
        return self


def flat(g: Any) -> np.ndarray:
    """Entries of one group element, or of its hat, as a flat array."""
    if isinstance(g, (tuple, list)):
        return np.concatenate([flat(part) for part in g])
    return np.asarray(g, dtype=float).reshape(-1)


def gap(a: Any, b: Any) -> float:
    """Largest difference of two elements, relative to the larger of 1 and their entries."""
    a, b = flat(a), flat(b)
    if a.shape != b.shape:
        return math.inf
    return float(np.abs(a - b).max(initial=0.0) / max(1.0, np.abs(a).max(initial=0.0)))


def slope(f: Callable[[float], np.ndarray], h: float = _STEP) -> np.ndarray:
    """Derivative at 0 by differences of fourth order."""
    return (8.0 * (f(h) - f(-h)) - (f(2.0 * h) - f(-2.0 * h))) / (12.0 * h)


def _relative(a: np.ndarray, b: np.ndarray, floor: float = 1.0) -> float:
    return float(np.abs(a - b).max(initial=0.0) / max(floor, np.abs(b).max(initial=0.0)))


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
    rng = np.random.default_rng(seed)
    report = Report(f"group {getattr(group, 'name', group)}")
    for _ in range(samples):
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
    report.note("project leaves elements", gap(group.project(g), g) / scale, ROUND_OFF)
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
    report.note("Ad is a homomorphism", _relative(Ad @ group.Ad(h), together, size), ROUND_OFF)
    u = rng.standard_normal(group.dim)
    u *= 0.1 / max(1.0, np.abs(Ad).max() * np.linalg.norm(u))
    moved = group.compose(group.compose(g, group.exp(u)), group.inverse(g))
    report.note("exp(Ad_g u) = g exp(u) g^-1", gap(group.exp(Ad @ u), moved) / size, ROUND_OFF)
    report.note("coAd is the transpose of Ad", _relative(group.coAd(g), Ad.T), ROUND_OFF)


def _algebra(
    report: Report, group: Any, g: Any, u: np.ndarray, v: np.ndarray, w: np.ndarray
) -> None:
    bracket, ad = group.bracket, group.ad(u)
    report.note("vee is the inverse of hat", _relative(group.vee(group.hat(u)), u), ROUND_OFF)
    report.note("ad_u v = [u, v]", _relative(ad @ v, bracket(u, v)), ROUND_OFF)
    report.note("bracket is antisymmetric", _relative(bracket(u, v), -bracket(v, u)), ROUND_OFF)
    jacobi = bracket(u, bracket(v, w)) + bracket(v, bracket(w, u)) + bracket(w, bracket(u, v))
    scale = max(1.0, *(np.abs(x).max() for x in (u, v, w))) ** 3
    report.note("Jacobi identity", np.abs(jacobi).max() / scale, ROUND_OFF)
    report.note("coad is the transpose of ad", _relative(group.coad(u), ad.T), ROUND_OFF)
    X, Y, Z = group.hat(u), group.hat(v), group.hat(bracket(u, v))
    for a, b, c in zip(*(x if isinstance(x, tuple) else (x,) for x in (X, Y, Z)), strict=True):
        if isinstance(a, np.ndarray) and a.ndim == 2:
            report.note(
                "hat of a bracket is the commutator", _relative(a @ b - b @ a, c), ROUND_OFF
            )
    derivative = slope(lambda t: group.Ad(group.exp(t * u)))
    size = max(1.0, np.abs(ad).max() ** 3)
    report.note("ad is the derivative of Ad", _relative(derivative, ad, size), DIFFERENCE)
    Ad = group.Ad(group.exp(u))
    report.note("Ad of exp(u) = exp of ad_u", _relative(Ad, expm(ad)), ROUND_OFF)


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
        "dexp = (e^ad - 1)/ad", _relative(dexp, expm(block)[: group.dim, group.dim :]), ROUND_OFF
    )
    inverse = group.inverse(exp(u))

    def trivialised(t: float) -> np.ndarray:
        return group.log(mul(exp(u + t * v), inverse))

    loose = DIFFERENCE * size
    report.note("dexp against differences", _relative(slope(trivialised), dexp @ v), loose)
    conditioned = ROUND_OFF * max(1.0, np.abs(group.dexpinv(u)).max() * np.abs(dexp).max())
    report.note("dexp dexpinv = 1", _relative(dexp @ group.dexpinv(u), one), conditioned)
    for name in ("dexp", "dexpinv", "dcay", "dcayinv"):
        if hasattr(group, f"{name}_left") and _offers(group, name, u):
            values = getattr(group, f"{name}_left")(u), getattr(group, name)(-u)
            report.note("left-trivialised tangents are those at -u", _relative(*values), ROUND_OFF)
    small = 0.1 * u / max(1.0, np.abs(np.linalg.eigvals(ad)).max(initial=0.0))
    _, series = truncated(group.ad)
    report.note(
        "dexpinv against its series", _relative(group.dexpinv(small), series(small, 20)), ROUND_OFF
    )


def _offers(group: Any, name: str, u: np.ndarray) -> bool:
    if not hasattr(group, name):
        return False
    try:
        getattr(group, name)(u)
    except ValueError:
        return False
    return True


def _cayley(report: Report, group: Any, u: np.ndarray, v: np.ndarray) -> None:
    if not _offers(group, "cay", 0.0 * u):
        report.skipped["Cayley"] = "not offered"
        return
    cay, mul, one = group.cay, group.compose, np.eye(group.dim)
    size = max(1.0, np.abs(flat(cay(u))).max()) ** 2
    report.note("cayinv(cay(u)) = u", _relative(group.cayinv(cay(u)), u) / size, ROUND_OFF)
    report.note("cay(-u) is the inverse", gap(cay(-u), group.inverse(cay(u))) / size, ROUND_OFF)
    dcay = group.dcay(u)
    report.note("dcay dcayinv = 1", _relative(dcay @ group.dcayinv(u), one) / size, ROUND_OFF)
    inverse = group.inverse(cay(u))

    def trivialised(t: float) -> np.ndarray:
        return group.log(mul(cay(u + t * v), inverse))

    report.note(
        "dcay against differences", _relative(slope(trivialised), dcay @ v), DIFFERENCE * size
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
        _relative(dexp @ group.dexpinv(u), one) / size,
        ROUND_OFF,
        where,
    )
    direct = _relative(group.dexp(u), truncated(group.ad)[0](u, 50))
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
    calls += [(name, (g,)) for name in ("log", "Ad", "coAd", "inverse", "project")]
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
    vectors where the manifold is the whole space. With `require` an AssertionError lists what fails.
    """
    rng = np.random.default_rng(seed)
    report = Report(f"action {action.name}")
    if points is not None:
        ys = np.atleast_2d(np.asarray(points, dtype=float))
    elif action.sample is not None:
        ys = np.array([action.sample(rng) for _ in range(samples)])
    elif action.distance is None:
        ys = rng.standard_normal((samples, action.point))
    else:
        raise ValueError(
            f"points must be given: {action.name} has no sample, and its manifold is not the whole space"
        )
    for y in ys:
        y = np.ascontiguousarray(y)
        n = action.algebra_dim(len(y))
        report.note("the samples lie on the manifold", action.defect(y), 1e-9)
        for size in (1e-8, 0.3, 1.5):
            u = size * rng.standard_normal(n) / math.sqrt(n)
            _acts(report, action, u, rng.standard_normal(n), y)
        _closes(report, action, rng.standard_normal((3, n)), y)
    if action.blocks and action.exp_act is not None:
        _blockwise(report, action, ys, rng)
    return report.require() if require else report


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
    report.note("exp_act stays on the manifold", action.defect(moved) / size, ROUND_OFF)
    rate = slope(lambda t: act(t * v, y))
    report.note(
        "generator against differences", _relative(rate, generator(v, y)), DIFFERENCE * size
    )
    linear = generator(u + 2.0 * v, y) - generator(u, y) - 2.0 * generator(v, y)
    report.note("the generator is linear", np.abs(linear).max() / size, ROUND_OFF)
    if action.dexpinv is None:
        report.skipped["dexpinv, bracket"] = "frame fields without an algebra"
    else:
        w = action.dexpinv(u, v)
        rate = slope(lambda t: act(u + t * w, y))
        report.note(
            "dexpinv against differences", _relative(rate, generator(v, moved)), DIFFERENCE * size
        )
    if action.cay_act is None:
        report.skipped["Cayley"] = "not offered"
        return
    moved = action.cay_act(u, y)
    size = max(1.0, np.abs(moved).max()) * max(1.0, np.abs(y).max())
    report.note("cay_act stays on the manifold", action.defect(moved) / size, ROUND_OFF)
    w = action.dcayinv(u, v)
    rate = slope(lambda t: action.cay_act(u + t * w, y))
    report.note(
        "dcayinv against differences", _relative(rate, generator(v, moved)), DIFFERENCE * size
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
    report.note("bracket is antisymmetric", _relative(bracket(u, v), -bracket(v, u)), ROUND_OFF)
    jacobi = bracket(u, bracket(v, w)) + bracket(v, bracket(w, u)) + bracket(w, bracket(u, v))
    scale = max(1.0, np.abs(vectors).max()) ** 3
    report.note("Jacobi identity", np.abs(jacobi).max() / scale, ROUND_OFF)
    fields = slope(lambda t: X(v, y + t * X(u, y)) - X(u, y + t * X(v, y)))
    size = max(1.0, np.abs(y).max()) * scale
    report.note(
        "[X_u, X_v] = -X_[u, v] for the generators",
        _relative(fields, -X(bracket(u, v), y), size),
        DIFFERENCE,
    )
    if action.dexpinv is not None:
        u = 0.01 * u
        first = bracket(u, v)
        second = bracket(u, first)
        fourth = bracket(u, bracket(u, second))
        series = v - first / 2.0 + second / 12.0 - fourth / 720.0
        report.note("dexpinv against its series", _relative(action.dexpinv(u, v), series), 1e-9)


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
