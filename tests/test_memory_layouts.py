"""How an array lies in memory never matters: column-major, strided, reversed, read-only ones give the same numbers.

Nor does single precision, for the numbers that it holds. Everything public is walked: groups, actions and systems by
what they offer and how their arguments are called, the rest by the table CALLS. What is new and takes no array is named
in NO_ARRAY; what is in neither fails the last test.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Mapping
from functools import partial
from types import ModuleType
from typing import Any

import matplotlib
import numpy as np
import pytest
import scipy.spatial.transform

import lielab
from lielab import (
    actions,
    animate,
    control,
    cotangent_so3,
    diagnostics,
    explore,
    plotting,
    quaternions,
    se2,
    se3,
    so2,
    so3,
    systems,
    tableaus,
    testing,
)
from lielab.core.kernels import Kernel
from tests.systems.data import EXAMPLES

matplotlib.use("agg")
SL2 = lielab.special_linear(2)
LAYOUTS = ("column-major", "strided", "reversed", "read-only")


def laid(a: np.ndarray, how: str) -> np.ndarray:
    """The same numbers, lying otherwise."""
    back = (slice(None, None, -1),) * a.ndim
    if how == "column-major":
        return np.asfortranarray(a)
    if how == "reversed":
        return a[back].copy()[back]
    if how == "read-only":
        other = a.copy()
        other.flags.writeable = False
        return other
    other = np.full(tuple(2 * n for n in a.shape), np.nan)[(slice(None, None, 2),) * a.ndim]
    other[...] = a
    return other


def each(value: Any, change: Callable[[np.ndarray], np.ndarray]) -> Any:
    """The value with every float array in it changed."""
    if isinstance(value, np.ndarray):
        return change(value) if value.ndim and value.dtype == float else value
    if isinstance(value, (tuple, list)):
        return type(value)(each(one, change) for one in value)
    if isinstance(value, dict):
        return {name: each(one, change) for name, one in value.items()}
    return value


def numbers(value: Any) -> list[np.ndarray]:
    """All numbers of a result, as float arrays in order."""
    if value is None or isinstance(value, str):
        return []
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, (tuple, list)):
        return [array for one in value for array in numbers(one)]
    if hasattr(value, "as_matrix"):
        value = value.as_matrix()
    return [np.asarray(value, dtype=float)]


def same(function: Callable, given: dict[str, Any], other: dict[str, Any], why: str) -> None:
    wanted, found = numbers(function(**given)), numbers(function(**other))
    assert len(found) == len(wanted), why
    for a, b in zip(found, wanted, strict=True):
        # BLAS sums strided rows in another order.
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12, err_msg=why)


def check(function: Callable, **given: Any) -> None:
    for how in LAYOUTS:
        same(function, given, each(given, lambda a, how=how: laid(a, how)), how)
    rounded = each(given, lambda a: a.astype(np.float32).astype(float))
    try:
        function(**rounded)
    except ValueError:  # off the manifold by the rounding
        return
    same(function, rounded, each(given, np.float32), "single precision")


def takes(function: Callable) -> list[str]:
    """The names of its arguments."""
    parameters = inspect.signature(function).parameters.values()
    return [p.name for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]


# --- groups ----------------------------------------------------------------------------------------

GROUPS = [
    *(so2, so3, se2, se3, quaternions, cotangent_so3, lielab.direct_tso3, lielab.rn(3)),
    *(lielab.product(so3, lielab.rn(2), se2), lielab.power(quaternions, 2)),
    *(SL2, lielab.special_orthogonal(3), lielab.symplectic(1), lielab.product(SL2, so2)),
]
HELPERS = ("batch", "derived", "_sampled", "scalars", "signatures")
ELSEWHERE = {"aligned", "motion_from_scipy", "motion_to_scipy"}  # public under other names
# Without an array among their arguments.
NO_ARRAY_IN_GROUPS = {"identity", "random", "from_scipy"}
# Not where a group offers it in name only.
REFUSED = {"cay", "cayinv", "dcay", "dcayinv", "dcay_left", "dcayinv_left"}


def offered(group: Any) -> list[str]:
    """The public functions of a group, and no helpers that its module imports."""
    found = []
    for name in dir(group):
        function = getattr(group, name)
        if name.startswith("_") or inspect.isclass(function) or not callable(function):
            continue
        if isinstance(group, ModuleType):
            room = getattr(function, "__module__", "").removeprefix("lielab.groups.")
            annotated = "return" in getattr(function, "__annotations__", {})
            if (
                "." in room
                or room in HELPERS
                or name in ELSEWHERE
                or not (annotated or hasattr(function, "kernel"))
            ):
                continue
        found.append(name)
    return found


def arguments(group: Any, function: str, names: list[str]) -> dict[str, Any]:
    """Four of everything, fit for the function of that name; KeyError for an argument that nobody thought of."""
    rng = np.random.default_rng(5)
    u, v = 0.4 * rng.normal(size=(2, 4, group.dim))
    g, h = group.exp(u), group.exp(v)
    t, weights = np.array([0.0, 0.3, 0.5, 1.1]), np.array([0.1, 0.4, 0.3, 0.2])
    points, others = rng.normal(size=(2, 4, 3))
    known = {
        **dict.fromkeys(("u", "omega", "xi"), u),
        **dict.fromkeys(("g", "R", "q", "elements"), g),
        **dict.fromkeys(("h", "S"), h),
        "v": v,
        "t": t,
        "weights": weights,
        "X": group.hat(u),
        "rule": "cubic",
        "frame": "space",
        "scale": True,
    }
    if group is quaternions or isinstance(group, type(lielab.rn(3))):
        known |= {"x": g, "y": h, "p": h}
    special: dict[str, dict[str, Any]] = {
        "project": dict.fromkeys(("g", "X", "q", "x"), g),
        "align": {"x": points, "y": others, "weights": weights},
        "from_directions": {"a": points, "b": others},
        "from_euler": {"angles": points, "order": "XYZ"},
        "to_euler": {"order": "ZYX"},
        "from_rotation": {"R": so3.exp(points)},
        "from_parts": {"R": so3.exp(points), "r": others},
        "integrate": {"start": each(g, lambda a: a[0])},
        **dict.fromkeys(("dexp_series", "dexpinv_series"), {"order": 5}),
    }
    if group is se2:
        special["from_parts"] = {"R": so2.exp(points[:, :1]), "r": others[:, :2]}
    known |= special.get(function, {})
    return {name: known[name] for name in names}


@pytest.mark.parametrize("group", GROUPS, ids=lambda group: group.name)
def test_groups(group):
    names = set(offered(group)) - NO_ARRAY_IN_GROUPS
    assert {"exp", "log", "compose", "interpolate", "mean", "vee", "dexpinv_series"} <= names
    if getattr(group, "form", so3) is None or not hasattr(group, "cay"):
        names -= REFUSED
    if not getattr(group, "projects", True):
        names -= {"project"}
    if not testing._groups._offers(group, "cay", np.zeros(group.dim)):
        names -= REFUSED
    if group is se3 and not hasattr(scipy.spatial.transform, "RigidTransform"):
        names -= {"to_scipy"}
    for name in sorted(names):
        function = getattr(group, name)
        named = [one for one in takes(function) if one not in ("batch", "rng")]
        check(function, **arguments(group, name, named))


# --- actions ---------------------------------------------------------------------------------------


def still(xi, y):
    return y + xi


MADE = [
    actions.so_n_on_sphere(4),
    actions.so_n_on_stiefel(4, 2),
    actions.rn_on_rn(3),
    actions.quadrotors_action(3),
    actions.matrix_action(SL2),
    actions.cotangent_action(so3),
    actions.product_action(actions.SO3_ON_S2, actions.rn_on_rn(2)),
    actions.diagonal_action(actions.SO3_ON_S2, actions.SO3_ON_R3),
]
ACTIONS = {
    name: getattr(actions, name)
    for name in actions.__all__
    if isinstance(getattr(actions, name), actions.Action)
} | {action.name: action for action in MADE}


@pytest.mark.parametrize("action", list(ACTIONS))
def test_actions(action):
    action = ACTIONS[action]
    rng = np.random.default_rng(6)
    rows = [
        rng.normal(size=action.point) if action.sample is None else action.sample(rng)
        for _ in "abc"
    ]
    y = np.concatenate(rows[:2]) if action.blocks else rows[0]
    points = np.stack([y, y])
    u, v = 0.3 * rng.normal(size=(2, action.algebra_dim(len(y))))
    for name in actions.action.KERNELS:
        kernel = getattr(action, name)
        if isinstance(kernel, Kernel):
            check(kernel, u=u, v=y if name in actions.action._MOVES else v)
    check(action.defect, y=points)
    check(action.project, y=points)
    check(action.check, y=y)


# --- systems ---------------------------------------------------------------------------------------

# Methods that take no array.
NO_ARRAY_IN_SYSTEMS = {"at_rest", "beam", "benchmark", "layout", "ring", "unit", "wrench"}
STEERED_ONLY = {"desired", "link_targets", "inputs_at"}
ONE_STATE = {"check", "inputs_at", "link_targets", "scene"}  # the others take rows of states


@pytest.mark.parametrize("system", list(EXAMPLES))
def test_systems(system):
    system = EXAMPLES[system]
    states = np.stack([system.y0, system.y0, system.y0])
    known = {"y": states, "R": so3.exp(states[:, :3]), "t": np.array([0.1, 0.2, 0.7])}
    methods = {
        name: getattr(system, name)
        for name in dir(type(system))
        if not name.startswith("_")
        and inspect.isfunction(inspect.getattr_static(type(system), name))
    }
    for name, method in methods.items():
        if name in NO_ARRAY_IN_SYSTEMS or name == "pack":
            continue
        one = {"y": states[0], "t": 0.3} if name in ONE_STATE else known
        if name in STEERED_ONLY and isinstance(system, systems.TwoQuadrotors):
            method = getattr(systems.TwoQuadrotors(control="tracking"), name)
        names = [p for p in takes(method) if p != "rotors"]
        check(method, **{word: one[word] for word in names})
    for invariant in system.invariants.values():
        check(invariant, **{takes(invariant)[0]: states})
    check(system.pack, **system.unpack(states))
    check(system.pack, **system.unpack(states[0]))
    for one in dataclasses.fields(system):
        value = getattr(system, one.name)
        if one.init and isinstance(value, tuple) and value and not any(map(callable, value)):
            data = {one.name: np.array(value, dtype=float)}
            check(lambda **data: dataclasses.replace(system, **data).energy(states), **data)


def test_states_of_a_readers_own_system():
    """Fields, parameters and starts may be what they like as well."""

    def field(t, y, p):
        wide = np.zeros(6)
        wide[0], wide[2], wide[4] = p[0], p[1], t
        return wide[::2]

    def end(start, p, rows):
        system = systems.ActionSystem(actions.SO3_ON_S2, field, start, p=p)
        one = lielab.solve(system, (0, 1), rows[1], method="RKMK4", h=0.1).y[-1]
        solver = lielab.prepare(system, "RKMK4", h=0.1)
        many = lielab.solve_many(system, rows, (0, 1), "RKMK4", h=0.1, params=[p, p, 2.0 * p])
        return one, solver.run((0, 1), start, p).y[-1], many.y, many[2].y

    rows = np.eye(3)[[0, 2, 1]]
    check(end, start=rows[0], p=np.array([0.5, 0.25]), rows=rows)


@pytest.mark.parametrize("method", ["RKMK4", "LGVI", "RATTLE", "SLGI", "RK45"])
def test_starts(method):
    top = systems.HeavyTop("left")
    options = {} if method == "RK45" else {"h": 0.01}
    check(lambda y: lielab.solve(top, (0, 0.05), y, method=method, **options).y, y=top.y0)


# --- the rest --------------------------------------------------------------------------------------

BODY, PENDULUM = systems.FreeRigidBody(attitude=True), systems.SphericalPendulum()
STEERED = systems.Pendulum3D(control="constant", inputs=(0.0, 0.0, 0.0))
UP = STEERED.pack(R=so3.exp([np.pi, 0, 0]), p=np.zeros(3))
DISCRETE = control.DiscreteSystem(STEERED, 0.02)
A, B = control.linearize(STEERED, UP, np.zeros(3), 0.02)
Q, R, NONE = np.diag(np.arange(1.0, 7.0)), np.diag([1.0, 2.0, 3.0]), np.zeros(3)
NEAR = STEERED.pack(R=so3.exp([np.pi - 0.1, 0.05, 0]), p=np.array([0.1, 0.2, 0.3]))
SOLUTION = lielab.solve(BODY, (0, 1), method="RKMK4", h=0.1)
KNOTS, TURNS = np.arange(4.0), so3.exp(np.arange(12.0).reshape(4, 3) / 5.0)
BASIS = np.array([[[0.0, -1.0], [1.0, 0.0]]])
UNIT = np.array([0.6, 0.0, 0.8])
H, ERRORS = 0.1 / 2.0 ** np.arange(6.0), 1e-2 / 4.0 ** np.arange(6.0)
DOUBLE = np.array([[0.0, 0.0], [0.5, 0.0]])


def line(function, *given, **named):
    """What is drawn, as numbers."""
    fig, ax = plotting.figure()
    function(ax, *given, **named)
    drawn = [one.get_xydata() for one in ax.lines] + [one.get_offsets() for one in ax.collections]
    matplotlib.pyplot.close(fig)
    return drawn


def commutator_free(a, b):
    flow = tableaus.Flow
    made = tableaus.CommutatorFree("x", 2, [flow(a[1:])], flow([b]))
    return made.rows, made.b


def controlled(reference, Q, R, QN, limits, y0):
    run = control.Controller(STEERED, reference, Q, R, QN, h=0.02, steps=3, limits=limits)
    one, many = run.run(y0), run.run_many(np.stack([y0, reference[0]]))
    regulator = control.euler_regulator(run, "ZYX").inputs
    return one.y, one.u, run.errors(np.array(DISCRETE.encode(one.y))), many.y, many.cost, regulator


def spline(make, **given):
    made = make(so3, **given)
    return made(np.array([0.3, 1.7])), made.velocity(0.4), made.acceleration(np.array([0.2, 2.0]))


# Every public callable that takes arrays, of no group, action or system: a call of it, and its arrays.
CALLS: dict[str, tuple[Callable, dict[str, Any]]] = {
    "Event": (
        lambda y: lielab.Event(lambda t, x: x[0])(0.0, y),
        {"y": UNIT},
    ),
    "Solution": (lambda t: SOLUTION(t), {"t": np.array([[0.11, 0.52], [0.3, 0.97]])}),
    "Spline": (lambda t, C: lielab.Spline(so3, t, C)(t[1:3]), {"t": KNOTS, "C": TURNS}),
    "b_spline": (lambda **given: spline(lielab.b_spline, **given), {"t": KNOTS, "control": TURNS}),
    "cubic_spline": (
        lambda **given: spline(lielab.cubic_spline, **given),
        {"t": KNOTS, "elements": TURNS},
    ),
    "compose": (
        lambda f: lielab.solve(BODY, (0, 1), method=lielab.compose("RKMK2", f), h=0.1).y,
        {"f": np.array([0.25, 0.5, 0.25])},
    ),
    "matrix_group": (
        lambda basis, form, u: lielab.matrix_group(basis, form=form).exp(u),
        {"basis": BASIS, "form": np.eye(2), "u": np.array([[0.3], [0.4]])},
    ),
    "phi_ad": (
        lambda series, u: lielab.phi_ad(so3, np.exp, np.exp, series, u),
        {"series": 1.0 / np.cumprod(np.arange(1.0, 30.0)), "u": np.eye(3)},
    ),
    "retraction": (
        lambda u: [
            f(u)
            for one in map(lielab.retraction, [so3] * 3, ("exp", "cay", "ccsk"))
            for f in (one.map, one.tangent, one.tangent_inverse, one.tangent_left)
        ],
        {"u": 0.1 * np.arange(6.0).reshape(2, 3)},
    ),
    "solve": (
        lambda y0, rtol, atol: lielab.solve(BODY, (0, 1), y0, rtol=rtol, atol=atol).y,
        {"y0": BODY.y0, "rtol": np.full(12, 1e-6), "atol": np.full(12, 1e-8)},
    ),
    "prepare": (
        lambda y0: lielab.prepare(BODY, "VLV", h=0.1).run((0, 1), y0).y,
        {"y0": BODY.y0},
    ),
    "solve_many": (
        lambda starts: lielab.solve_many(BODY, starts, (0, 1), "RKMK4", h=0.1, save_every=2).y,
        {"starts": np.stack([BODY.y0, BODY.y0, SOLUTION.y[-1]])},
    ),
    "sweep": (
        lambda cases: lielab.sweep(lambda case: case[:, ::2], list(cases), progress=False).values,
        {"cases": TURNS},
    ),
    # actions
    "Connection": (
        lambda W, y, v, xi: [
            f(y, x)
            for C in [actions.Connection(actions.SO3_ON_S2, W)]
            for f, x in ((C.lift, v), (C.horizontal, xi), (C.vertical, xi))
        ],
        {"W": np.diag([1.0, 2.0, 3.0]), "y": UNIT, "v": np.array([0.8, 1.0, -0.6]), "xi": UNIT},
    ),
    "frozen_action": (
        lambda structure, y: actions.frozen_action(
            name="x",
            manifold="R^3",
            algebra=3,
            point=3,
            flow=still,
            generator=still,
            structure=structure,
        ).bracket(y, y[::-1]),
        {"structure": np.array(lielab.special_orthogonal(3).structure), "y": UNIT},
    ),
    "lifted": (actions.lifted, {"xi": np.arange(12.0), "y": np.arange(12.0)[::-1].copy()}),
    **{
        name: (partial(getattr(actions, name), actions.SO3_ON_S2), {"y": UNIT})
        for name in ("generator_matrix", "is_transitive", "isotropy", "orbit_dimension")
    },
    "rotation_distance": (actions.rotation_distance, {"y": TURNS.reshape(4, 9)}),
    "sphere_distance": (actions.sphere_distance, {"y": TURNS[0]}),
    "ts2_distance": (actions.ts2_distance, {"y": np.arange(12.0).reshape(2, 6)}),
    # control
    "Controller": (
        controlled,
        {
            "reference": (UP, NONE),
            "Q": Q,
            "R": R,
            "QN": 2.0 * Q,
            "limits": (-np.ones(3), np.ones(3)),
            "y0": NEAR,
        },
    ),
    "DiscreteSystem": (
        lambda y, x, rows: [
            *DISCRETE.step(DISCRETE.encode(y), x[:3]),
            *(
                DISCRETE.decode(DISCRETE.encode(rows)),
                DISCRETE.on_group("y", y),
                DISCRETE.inputs(x[:3]),
            ),
            *(DISCRETE.moved(DISCRETE.encode(y), x), DISCRETE.log(rows, rows[::-1])),
            *(DISCRETE.dtauinv(x[:3]), DISCRETE.Ad(x[:3]), DISCRETE.dual_slope(x[:3], x[3:])),
        ],
        {"y": NEAR, "x": 0.1 * np.arange(6.0), "rows": np.stack([NEAR, UP])},
    ),
    "at": (lambda y, u: control.at(DISCRETE, y, u), {"y": DISCRETE.encode(NEAR), "u": NONE}),
    "check_linearization": (
        lambda y, u: control.check_linearization(STEERED, y, u, 0.02) < 1e-9,
        {"y": NEAR, "u": NONE},
    ),
    "linearize": (lambda y, u: control.linearize(STEERED, y, u, 0.02), {"y": NEAR, "u": NONE}),
    "lqr": (
        lambda **given: [*control.lqr(**given), *control.lqr(**given, steps=3)],
        {"A": A, "B": B, "Q": Q, "R": R},
    ),
    "track": (
        lambda reference, Q, R, y0: (
            control.track(STEERED, reference, Q, R, y0=y0, h=0.02, steps=3).y
        ),
        {"reference": (UP, NONE), "Q": Q, "R": R, "y0": NEAR},
    ),
    "variation": (
        lambda **given: control.variation(DISCRETE, **given),
        {"x": UNIT, "F_g0": TURNS[0], "F_g1": TURNS[1], "F_xi": TURNS[2]},
    ),
    "flat_reference": (
        lambda way: control.flat_reference(
            systems.QuadrotorWithLoad(),
            lambda t: np.multiply(t, way, dtype=float),
            lambda t: 0.1 * t,
            0.01,
            3,
        ),
        {"way": UNIT},
    ),
    # diagnostics
    "asymptotic_window": (
        lambda h, errors: diagnostics.asymptotic_window(h, errors, 1e-13)[0],
        {"h": H, "errors": ERRORS},
    ),
    "drift": (
        lambda w: vars(diagnostics.drift(SOLUTION, lambda y: y @ w)),
        {"w": np.arange(12.0)},
    ),
    "end_states": (
        lambda h, y0: diagnostics.end_states(BODY, "RKMK4", h, y0=y0),
        {"h": np.array([0.5, 0.25]), "y0": BODY.y0},
    ),
    "energy_drift_test": (
        lambda h, y0: (
            diagnostics.energy_drift_test("RKMK4", h, t_end=20, system=BODY, y0=y0)[0].largest
        ),
        {"h": np.array([0.25, 0.125]), "y0": BODY.y0},
    ),
    "order": (
        lambda y0, reference: (
            diagnostics.order(BODY, "RKMK2", steps=(8, 16, 32), y0=y0, reference=reference).errors
        ),
        {"y0": BODY.y0, "reference": SOLUTION.y[-1]},
    ),
    "order_table": (
        lambda y0: diagnostics.order_table({"body": (BODY, 1.0, y0)}, ["RKMK4"])[0]["measured"],
        {"y0": BODY.y0},
    ),
    "reference_state": (
        lambda y0: diagnostics.reference_state(BODY, 0.3, y0)[0],
        {"y0": BODY.y0},
    ),
    **{
        name: (
            partial(getattr(diagnostics, name), PENDULUM, "RKMK4", 0.01),
            {"y0": PENDULUM.y0},
        )
        for name in ("reversibility", "symmetry", "symplecticity", "volume")
    },
    "symplectic_form": (
        lambda y, X: diagnostics.symplectic_form(PENDULUM)(y, X),
        {"y": PENDULUM.y0, "X": np.eye(6)[:4]},
    ),
    # tableaus
    "Tableau": (
        lambda a, b: tableaus.Tableau("x", 2, a, b).c,
        {"a": DOUBLE, "b": np.array([0.0, 1.0])},
    ),
    "ImplicitTableau": (
        lambda a, b: tableaus.ImplicitTableau("x", 2, a, b).c,
        {"a": np.array([[0.5]]), "b": np.array([1.0])},
    ),
    "CommutatorFree": (commutator_free, {"a": DOUBLE, "b": np.array([0.0, 1.0])}),
    # systems
    "added_inertia": (
        lambda axes: systems.added_inertia(axes, 1.0),
        {"axes": np.array([1.0, 1.3, 0.7])},
    ),
    "field_kernel": (
        lambda y, p: systems.field_kernel(lambda t, y, p: p[0] * y, (0.0, y, p), 3)(
            0.0, UNIT, UNIT
        ),
        {"y": UNIT, "p": UNIT},
    ),
    "classical_order": (
        lambda a, b: tableaus.classical_order(a, b, 3),
        {"a": DOUBLE, "b": np.array([0.0, 1.0])},
    ),
    # testing
    "check_action": (
        lambda points: bool(
            testing.check_action(actions.SO3_ON_S2, points, require=False).failures
        ),
        {"points": np.eye(3)},
    ),
    "flat": (testing.flat, {"g": (TURNS, H)}),
    "gap": (testing.gap, {"a": TURNS[0], "b": TURNS[1]}),
    "same": (
        lambda a, b: float(
            str(pytest.raises(AssertionError, testing.same, a, b).value).split()[4][:-1]
        ),
        {"a": TURNS[0], "b": TURNS[1]},
    ),
    "velocity": (lambda y: testing.velocity(BODY, y), {"y": BODY.y0}),
    "relative": (testing.relative, {"a": TURNS[0], "b": TURNS[1]}),
    "slope": (
        lambda a: testing.slope(lambda t: np.multiply(np.exp(t), a, dtype=float)),
        {"a": TURNS[0]},
    ),
    # plotting and animate
    "plotting.convergence": (
        lambda h, errors: line(plotting.convergence, h, {"x": errors}),
        {"h": H, "errors": ERRORS},
    ),
    "plotting.drift": (
        lambda t, values: line(plotting.drift, t, values, label="x"),
        {"t": H, "values": ERRORS},
    ),
    "plotting.path": (
        lambda points: line(plotting.path, points, label="x"),
        {"points": TURNS[:, 0]},
    ),
    "plotting.arrow": (
        lambda start, end: line(plotting.arrow, start, end),
        {"start": np.array([0.1, 0.2]), "end": np.array([0.5, 0.7])},
    ),
    "plotting.project": (plotting.project, {"points": TURNS}),
    "animate.Scene": (
        lambda lines, dots, by: [
            one
            for scene in [animate.Scene(lines, dots, ground=lines).turned(by)]
            for one in (*scene.lines, scene.dots, *scene.ground)
        ],
        {"lines": [TURNS[0], TURNS[1]], "dots": TURNS[2], "by": TURNS[3]},
    ),
    "animate.scene": (lambda y: animate.scene(BODY, y).lines, {"y": BODY.y0}),
    "explore.explore": (
        lambda h: list(explore.explore(lambda h: plotting.figure()[0], h=h).choices["h"]),
        {"h": np.array([0.1, 0.2])},
    ),
}


@pytest.mark.parametrize("name", list(CALLS))
def test_calls(name):
    function, given = CALLS[name]
    check(function, **given)


@pytest.mark.parametrize("how", LAYOUTS)
def test_a_file_for_results_is_no_array(how):
    """`out` of `solve_many`, the one argument of that name, is a file: arrays are refused by name."""
    for out in (laid(np.empty((1, 2, 12)), how), np.empty((1, 2, 12), dtype=np.float32), [1.0]):
        with pytest.raises(ValueError, match="out must be the name of a file, got"):
            lielab.solve_many(BODY, BODY.y0[None], (0, 1), "RKMK4", h=0.1, out=out)


# --- nothing is left out ---------------------------------------------------------------------------

# Public callables without an array of numbers among their arguments. Actions, systems and groups that they make are
# walked above where EXAMPLES, MADE and GROUPS have one.
NO_ARRAY = {
    "lielab": "Solutions Solver SweepResult adjoint commutator_free excerpt implicit_rkmk methods power product "
    "rkmk rn special_linear special_orthogonal symmetrised symplectic warm",
    "actions": "Action cotangent_action diagonal_action matrix_action product_action quadrotors_action rn_on_rn "
    "so_n_on_sphere so_n_on_stiefel",
    "control": "Ensemble Linearization Regulator Tracking euler_regulator",
    "diagnostics": "Drift DriftRow OrderStudy ReportCard defect report_card stored_report_card",
    # The arrays of a formulation are read where a method is prepared, for which see the solutions above.
    "systems": "ActionFormulation CotangentFormulation DiscreteLagrangianFormulation LagrangianFormulation "
    "MetricFormulation RigidBodyFormulation SpheresFormulation SymmetricPair",
    "tableaus": "Flow",
    "testing": "Report check_group check_lagrangian",
    "plotting": "animate bundle drawing figure log_ticks png power show sphere style",
    "animate": "animate figure film frames",
    "explore": "Explorer",
}
ROOMS = (systems, actions, control, diagnostics, tableaus, testing, plotting, animate, explore)


def public(room: ModuleType) -> list[str]:
    """Functions and classes of a room: what its `__all__` lists, or what is defined there."""
    own = [
        name
        for name, value in vars(room).items()
        if not name.startswith("_") and getattr(value, "__module__", "") == room.__name__
    ]
    names = getattr(room, "__all__", own)
    found = {name: getattr(room, name) for name in names}
    return [
        name
        for name, value in found.items()
        if callable(value)
        and not isinstance(value, (ModuleType, actions.Action))
        and not (inspect.isclass(value) and issubclass(value, systems.System))  # those of EXAMPLES
    ]


@pytest.mark.parametrize("room", [lielab, *ROOMS], ids=lambda room: room.__name__)
def test_nothing_is_left_out(room):
    short = room.__name__.split(".")[-1]
    names = set(public(room)) - {group.name for group in GROUPS}
    without = set(NO_ARRAY[short].split())
    covered = {name for name in names if name in CALLS or f"{short}.{name}" in CALLS}
    assert names - covered - without == set()
    assert without <= names  # none that has gone
    assert without & covered == set()


def test_every_kind_of_system_is_walked():
    kinds = {type(system).__name__ for system in EXAMPLES.values()} | {"ActionSystem"}
    kinds |= {"CotangentSystem"}
    offered = [
        name
        for name in systems.__all__
        if inspect.isclass(getattr(systems, name))
        and issubclass(getattr(systems, name), systems.System)
    ]
    assert set(offered) - {"System"} <= kinds


def test_no_other_public_callable_fills_an_array_given_as_out():
    """Where one comes, its layout, shape and type are to be refused by name, or filled rightly: test it here."""
    for room in (lielab, *ROOMS):
        for name in public(room):
            try:
                words = takes(getattr(room, name))
            except (TypeError, ValueError):
                continue
            assert "out" not in words or name == "solve_many", name
    for group in GROUPS:
        for name in offered(group):
            assert "out" not in takes(getattr(group, name)), name
