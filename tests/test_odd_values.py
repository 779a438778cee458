"""Odd values in every argument of what readers call: a ValueError of ours that says what is wrong, and no warning.

`tests/test_bad_arguments.py` does the same for single functions. Here whole families are walked through: the options of
`solve` and of every method, the fields and the functions of every system, group and action, the loops of control.
"""

import dataclasses
import inspect
import warnings

import numpy as np
import pytest

import lielab
from lielab import actions, control, plotting, systems, tableaus, testing
from lielab.explore import explore
from tests.core.test_travel import ACTIONS, GROUPS, METHODS, SYSTEMS

ODD = [
    *(None, 1j, True, float("nan"), float("inf"), -1, -0.5, "abc", "", b"x", [], {}, {1, 2}),
    *([None], [["a"]], [[1, 2], [3]], [1, 2, "3"], [float("nan")] * 3, object(), lambda: 0),
    *(10**30, 10**400, -(10**400), 1e308, 1e-320, np.float32(1), np.array(2.0)),
    *(np.array([1.0, 2.0]), np.zeros((2, 2, 2)), np.array([1 + 2j]), np.array([True])),
    *(np.array(["a"]), np.array([10**400, 0, 0], dtype=object)),
]
# What NumPy and Python say of bad values; it names no argument of ours.
NOT_OURS = (
    *("truth value", "number sections", "could not convert", "invalid literal", "operands could"),
    *("inhomogeneous", "cannot reshape", "setting an array", "too large to convert"),
)
ALLOWED = ("no rigid body has", "could not be compiled")  # warnings of ours, about the data


def odd_values(function, /, **good):
    """What went wrong where one argument after the other was replaced by the odd values."""
    return [
        f"{name}={value!r}: {wrong}"
        for name in good
        for value in ODD
        if (wrong := outcome(function, {**good, name: value}))
    ]


def outcome(function, arguments):
    with warnings.catch_warnings(record=True) as leaked:
        warnings.simplefilter("always")
        try:
            function(**arguments)
        except ValueError as error:
            if any(text in str(error) for text in NOT_OURS) and " raised " not in str(error):
                return f"ValueError of NumPy or Python: {error}"
        except NotImplementedError:
            pass  # a system without energy
        except Exception as error:
            return repr(error)
    known = [w for w in leaked if not any(text in str(w.message) for text in ALLOWED)]
    return f"leaked {known[0].message}" if known else ""


BODY, ATTITUDE = systems.FreeRigidBody(), systems.FreeRigidBody(attitude=True)


def test_solve():
    def solve(**named):
        return lielab.solve(named.pop("system"), named.pop("t_span"), **named)

    fixed = {"system": BODY, "t_span": (0, 1), "y0": None, "method": "RKMK4", "h": 0.5}
    fixed |= {"rtol": 1e-6, "atol": 1e-9, "save_every": 1, "max_steps": 100, "action": None}
    adaptive = {"system": BODY, "t_span": (0, 1), "max_steps": 50, "h0": 0.1, "max_step": 0.5}
    adaptive |= {"controller": "PI", "safety": 0.9, "factor_limits": (0.2, 5.0)}
    scipy = {"system": BODY, "t_span": (0, 1), "method": "RK45", "max_steps": 20, "h0": 0.1}
    for good in (fixed, {**adaptive, "error_norm": "scaled"}, {**scipy, "rtol": 1e-3}):
        assert not odd_values(solve, **good)
    assert not odd_values(lielab.solve(BODY, (0, 1), method="RKMK4", h=0.1), t=0.5)
    assert not odd_values(lielab.Event, function=len, terminal=False, direction=0)
    by_part = {"system": ATTITUDE, "t_span": (0, 1), "max_steps": 20}
    assert not odd_values(solve, **by_part, rtol={"R": 1e-6}, atol={"mu": np.ones(3)})
    for name in ("rtol", "atol"):
        assert not odd_values(lambda x, name=name: solve(**by_part, **{name: {"R": x}}), x=1e-6)


def test_splines_rates_and_alignment():
    t, g, u = np.arange(4.0), lielab.so3.identity((4,)), np.ones((4, 3))
    curve = lielab.cubic_spline(lielab.so3, t, g)
    assert not odd_values(lielab.cubic_spline, group=lielab.so3, t=t, elements=g, ends="natural")
    assert not odd_values(lielab.b_spline, group=lielab.so3, t=t, control=g)
    assert not odd_values(curve, t=0.5)
    assert not odd_values(curve.velocity, t=0.5, frame="body")
    assert not odd_values(curve.acceleration, t=0.5, frame="space")
    so3 = lielab.so3
    assert not odd_values(so3.integrate, t=t, omega=u, start=None, rule="cubic", frame="space")
    assert not odd_values(lielab.se3.integrate, t=t, xi=np.ones((4, 6)), start=None)
    assert not odd_values(so3.from_directions, a=np.ones(3), b=np.ones(3))
    assert not odd_values(so3.align, x=np.eye(3), y=np.eye(3), weights=None)
    assert not odd_values(lielab.se3.align, x=np.eye(3), y=np.eye(3), weights=None, scale=False)
    C, y = actions.Connection(actions.SO3_ON_S2), np.array([0.0, 0.0, 1.0])
    assert not odd_values(actions.Connection, action=actions.SO3_ON_S2, inner_product=None)
    for function in (C.horizontal, C.vertical):
        assert not odd_values(function, y=y, xi=np.ones(3))
    assert not odd_values(C.lift, y=y, v=np.array([1.0, 0.0, 0.0]))
    assert not odd_values(C.field, field=lambda t, y, p: y)


FITTING = (ATTITUDE, systems.SphericalPendulum(), systems.HeavyTop("left"))
FITTING += (systems.Pendulum3D(), systems.EllipsoidParticle())


@pytest.mark.parametrize("name", [name for name in METHODS if METHODS[name].options])
def test_the_options_of_methods(name):
    method = METHODS[name]
    system = next(s for s in FITTING if method.formulation(s))
    for option, usual in method.options.items():

        def solve(option=option, **value):
            return lielab.solve(system, (0, 0.1), method=method, h=0.1, **value)

        assert not odd_values(solve, **{option: usual})


def test_the_makers_of_methods():
    assert not odd_values(
        lielab.rkmk, tableau=tableaus.RK4, name="x", source="", commutators=None, order=None
    )
    assert not odd_values(lielab.commutator_free, coefficients=tableaus.CF4, name="x", family="x")
    assert not odd_values(lielab.implicit_rkmk, tableau=tableaus.GAUSS4, name="x", source="")
    assert not odd_values(lielab.adjoint, method="LieEuler")
    assert not odd_values(lielab.symmetrised, method="LieEuler")
    assert not odd_values(tableaus.Tableau, name="x", order=1, a=[[0.0]], b=[1.0])
    assert not odd_values(tableaus.ImplicitTableau, name="x", order=1, a=[[1.0]], b=[1.0])


@pytest.mark.parametrize("name", SYSTEMS)
def test_systems(name):
    system = SYSTEMS[name]
    kind = type(system)
    made = {f.name: getattr(system, f.name) for f in dataclasses.fields(system)}
    assert not odd_values(kind, **made)
    assert not odd_values(system.pack, **system.unpack(system.y0))
    for label, method in inspect.getmembers(kind, inspect.isfunction):
        parameters = list(inspect.signature(method).parameters)
        if not label.startswith("_") and len(parameters) == 2:
            (argument,) = parameters[1:]
            assert not odd_values(getattr(system, label), **{argument: None}), label
    for invariant in system.invariants.values():
        assert not odd_values(lambda y, invariant=invariant: invariant(y), y=None)
    far = [np.full(system.dim, value) for value in (np.inf, np.nan, 1e200, 1e308, 0.0)]
    for label in ("energy", "defect", "check", "project"):
        wrong = [outcome(getattr(system, label), {"y": y}) for y in far]
        assert not any(wrong), (label, wrong)


OF_VECTORS = ["hat", "exp", "ad", "coad", "dexp", "dexpinv", "dexp_left", "dexpinv_left"]
OF_ELEMENTS = ["log", "Ad", "coAd", "inverse", "project"]


@pytest.mark.parametrize("name", GROUPS)
def test_groups(name):
    group = GROUPS[name]
    u, g = 0.1 * np.ones(group.dim), group.identity()

    def call(function, *arguments):
        wrong = [outcome(lambda x: function(*arguments, x), {"x": value}) for value in ODD]
        return [one for one in wrong if one]

    for label in (*OF_VECTORS, *OF_ELEMENTS, "vee", "identity", "random"):
        if label != "project" or name != "matrix group":  # a reader's own `nearest`
            assert not call(getattr(group, label)), label
    assert not call(group.bracket, u)
    assert not call(group.compose, g)
    assert not call(group.distance, g)
    assert not call(group.dexp_series, u)
    assert not call(group.random, 0)
    if hasattr(group, "mean"):
        assert not call(group.mean)
        assert not call(group.interpolate, g, g)


@pytest.mark.parametrize("name", ACTIONS)
def test_actions(name):
    action = ACTIONS[name]
    for label in ("defect", "check", "project"):
        assert not odd_values(getattr(action, label), y=None), label
    assert not odd_values(action.algebra_dim, n=action.point)
    for function in (actions.isotropy, actions.orbit_dimension):
        assert not odd_values(lambda y, function=function: function(action, y), y=None)


def test_the_makers_of_groups_and_actions():
    for label in ("special_orthogonal", "special_linear", "symplectic", "rn"):
        assert not odd_values(getattr(lielab, label), n=2), label
    assert not odd_values(lielab.power, group=lielab.so3, n=2)
    for label in ("so_n_on_sphere", "rn_on_rn", "quadrotors_action"):
        assert not odd_values(getattr(actions, label), n=3), label
    assert not odd_values(actions.so_n_on_stiefel, n=3, p=2)
    assert not odd_values(actions.matrix_action, group=GROUPS["SO(4)"], columns=1)
    assert not odd_values(actions.cotangent_action, group=GROUPS["SO(4)"])
    fields = {
        f.name: getattr(actions.SO3_ON_S2, f.name) for f in dataclasses.fields(actions.Action)
    }
    assert not odd_values(actions.Action, **fields)


PUSHED = systems.Pendulum3D(control="constant", inputs=(0.0, 0.0, 0.0))
UP = PUSHED.pack(R=lielab.so3.exp([np.pi, 0, 0]), p=np.zeros(3))
REST = np.zeros(3)
LOOP = {"system": PUSHED, "reference": (UP, REST), "Q": np.eye(6), "R": np.eye(3), "QN": None}
LOOP |= {"h": 0.02, "steps": 3, "limits": None, "retraction": "cay"}


def test_control():
    assert not odd_values(control.Controller, **LOOP)
    loop, discrete = control.Controller(**LOOP), control.DiscreteSystem(PUSHED, 0.02)
    state, x = discrete.encode(UP), np.zeros(3)
    assert not odd_values(loop.run, y0=UP)
    assert not odd_values(loop.run_many, starts=np.stack([UP, UP]), workers=1)
    at = {"system": PUSHED, "y": UP, "u": REST, "h": 0.02, "retraction": "cay"}
    assert not odd_values(control.linearize, **at)
    assert not odd_values(control.check_linearization, **at, step=0.02)
    assert not odd_values(discrete.step, y=state, u=REST, t=0.0)
    assert not odd_values(discrete.moved, y=state, x=np.zeros(6))
    assert not odd_values(discrete.log, a=state[None], b=state[None])
    for label in ("encode", "decode", "dtauinv", "Ad"):
        usual = {"encode": {"y": UP}, "decode": {"y": state}}.get(label, {"x": x})
        assert not odd_values(getattr(discrete, label), **usual), label
    assert not odd_values(testing.check_lagrangian, system=PUSHED, samples=1, seed=0, require=True)


@pytest.mark.parametrize("limits", [-1.0, 0, True, 1j, "x", (1.0, -1.0), (None, 1.0), float("nan")])
def test_limits_that_are_none_are_refused(limits):
    with pytest.raises(ValueError, match="limits must"):
        control.Controller(**{**LOOP, "limits": limits})


REFUSED = [
    (lambda: lielab.solve(BODY, (0, 1), h=10**400), "h must be a positive number"),
    (lambda: lielab.solve(BODY, (0, 1), save_every=2**63), "save_every must be at most"),
    (lambda: lielab.solve(BODY, (0, 1), [True, False, True]), "y0 must hold real numbers"),
    (lambda: lielab.solve(BODY, (0, 1), ["1", "2", "3"]), "y0 must hold real numbers"),
    (lambda: lielab.solve(BODY, (0, 1), [10**400, 0, 0]), "y0 must be finite"),
    (
        lambda: lielab.solve(BODY, (0, 1), method="DOP853", factor_limits=np.array([0.2, 5.0])),
        "DOP853 takes h0 and max_step only",
    ),
    (
        lambda: lielab.solve(ATTITUDE, (0, 1), method="LGVI", h=0.1, quadrature=[1]),
        "quadrature must be one of",
    ),
    (lambda: BODY.check(None), "y must hold real numbers"),
    (lambda: BODY.check(1.0), r"y must have shape \(..., 3\)"),
    (lambda: systems.Pendulum3D(rho=(0, 0, 1e160)), "too large"),
    (lambda: systems.FreeRigidBody(inertia=(1.0, 1.0, 1j)), "inertia"),
    (lambda: systems.FreeRigidBody(inertia=("1", "2", "2")), "inertia"),
    (lambda: systems.FreeRigidBody(attitude="no"), "attitude must be True or False"),
    (lambda: systems.Pendulum3D(mass=True), "mass must be a positive number"),
    (lambda: systems.LandauLifshitz(n=2**63), "n must be at most"),
    (lambda: systems.MagneticDipoles(10**7), "needles are too many"),
    (lambda: systems.MagneticDipoles(cols=10**30), "cols must be at most"),
    (lambda: lielab.special_orthogonal(10**6), "n must be at most 30"),
    (lambda: lielab.rn(np.ones((3, 3))), "n must be a whole number"),
    (lambda: control.Controller(**{**LOOP, "steps": 10**30}), "steps must be at most"),
    (lambda: testing.check_lagrangian(PUSHED, samples=[]), "samples must be a whole number"),
    (lambda: testing.check_lagrangian(PUSHED, seed=len), "seed must be a whole number"),
    (lambda: plotting.png(plotting.figure()[0], colors=object()), "colors must be a whole"),
    (lambda: plotting.log_ticks(1.0), "axis must be an axis of matplotlib"),
    (lambda: explore(lambda h: None, h=np.array(2)), "h: got array.2.; pass a list"),
]


@pytest.mark.parametrize(("call", "message"), REFUSED)
def test_what_the_message_names(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_numbers_that_overflow_leak_no_warnings():
    big, pendulum = np.r_[1e308, ATTITUDE.y0[1:]], systems.DoubleSphericalPendulum()
    long = systems.DoubleSphericalPendulum(lengths=(1e160, 1))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError, match="y0 is not on SO"):
            lielab.solve(ATTITUDE, (0, 1), big, method="RKMK4", h=0.1)
        assert np.isnan(pendulum.energy(np.full(12, np.inf)))
        assert not np.isfinite(long.energy(pendulum.y0))
        assert lielab.solve(BODY, (0, 1), method="RK45", rtol=1e-300).success
