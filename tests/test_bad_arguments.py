"""No public function answers a wrong argument with a TypeError or the like from its inside."""

from __future__ import annotations

import numpy as np
import pytest

import lielab
from lielab import (
    actions,
    animate,
    control,
    diagnostics,
    plotting,
    systems,
    tableaus,
    testing,
)
from lielab.step_size import StepControl
from lielab.study import structure
from lielab.tableaus._trees import classical_order

BAD = [
    None,
    "abc",
    "",
    0.5,
    float("nan"),
    -1,
    [],
    (),
    {},
    [None],
    [["a"]],
    object(),
    1j,
    b"x",
    True,
]
BAD += [np.array([1.0, 2.0]), np.zeros((2, 2, 2)), 10**30, lambda: 0]

PENDULUM, QUADROTOR = systems.SphericalPendulum(), systems.QuadrotorWithLoad()
SOLUTION = lielab.solve(PENDULUM, (0, 1), method="RKMK4", h=0.1)
DISCRETE = control.DiscreteSystem(QUADROTOR, 0.01)
STATE = DISCRETE.encode(QUADROTOR.y0)
H, ERRORS = [0.1, 0.05, 0.025, 0.0125], [1e-2, 2.5e-3, 6.25e-4, 1.5625e-4]
KNOWN = {"system": PENDULUM, "method": "RKMK4", "h": 0.1}
BASIS = [[[0.0, 1.0], [-1.0, 0.0]]]
LAGRANGIAN = {"factors": (3,), "kernel": len, "params": np.empty(0)}


def flow(u, y):
    return y + u


# Each with good arguments; every one of them is replaced by every bad value in turn.
FUNCTIONS = {
    "matrix_group": (lielab.matrix_group, {"basis": BASIS, "form": np.eye(2), "defect": None}),
    "power": (lielab.power, {"group": lielab.so3, "n": 2}),
    "retraction": (lielab.retraction, {"group": lielab.so3, "name": "exp"}),
    "phi_ad": (
        lielab.phi_ad,
        {"group": lielab.so3, "phi": np.exp, "dphi": np.exp, "series": [1.0] * 9, "u": np.ones(3)},
    ),
    "cotangent_so3.project": (lielab.cotangent_so3.project, {"g": (np.eye(3), np.ones(3))}),
    "frozen_action": (
        actions.frozen_action,
        {
            "name": "R^3",
            "manifold": "R^3",
            "algebra": 3,
            "point": 3,
            "flow": flow,
            "generator": flow,
            "structure": None,
        },
    ),
    "quadrotors_action": (actions.quadrotors_action, {"n": 2}),
    "sphere_distance": (actions.sphere_distance, {"y": np.ones(3)}),
    "rotation_distance": (actions.rotation_distance, {"y": np.ones(9)}),
    "ts2_distance": (actions.ts2_distance, {"y": np.ones(6)}),
    "PendulumChain": (systems.PendulumChain, {"n": 2, "masses": 1.0, "formulation": "omega"}),
    "HeavyTop": (systems.HeavyTop, {"formulation": "left"}),
    "ConnectedBodies": (
        systems.ConnectedBodies,
        dict.fromkeys(("formulation", "inertia", "axes", "joints", "torques", "masses")),
    ),
    "QuadrotorWithLoad": (systems.QuadrotorWithLoad, {"inputs": (), "rotors": (1.0,) * 4}),
    "TwoQuadrotors": (systems.TwoQuadrotors, {"inputs": (), "path": None, "gains": (1.0,) * 5}),
    "RigidBodyInWell": (systems.RigidBodyInWell, {"attraction": (1.0, 0.0, 0.0), "alpha": 1.0}),
    "LagrangianFormulation": (systems.LagrangianFormulation, LAGRANGIAN),
    "field_kernel": (
        systems.field_kernel,
        {"function": lambda t, y, p: y, "example": (0.0, np.ones(3), np.ones(0)), "size": 3},
    ),
    "StepControl": (StepControl, {"h0": 0.1, "error_norm": "scaled", "controller": "PI"}),
    "CommutatorFree": (
        tableaus.CommutatorFree,
        {"name": "x", "order": 1, "stages": (), "update": tableaus.Flow(((1.0,),)), "extra": ()},
    ),
    "classical_order": (classical_order, {"a": np.zeros((1, 1)), "b": np.ones(1), "largest": 2}),
    "order": (
        diagnostics.order,
        {"system": PENDULUM, "method": "RKMK4", "steps": (4, 8), "error": None, "reference": None},
    ),
    "end_states": (diagnostics.end_states, {**KNOWN, "h": [0.5]}),
    "reference_state": (
        diagnostics.reference_state,
        {"system": PENDULUM, "t_end": 0.1, "y0": None},
    ),
    "order_table": (diagnostics.order_table, {"problems": {}, "methods": ["RKMK4"]}),
    "asymptotic_window": (
        diagnostics.asymptotic_window,
        {"h": H, "errors": ERRORS, "floor": 1e-12, "ceiling": 1.0, "rough": 0.0},
    ),
    "drift": (diagnostics.drift, {"solution": SOLUTION, "quantity": "energy"}),
    "symmetry": (diagnostics.symmetry, {**KNOWN, "y0": None, "steps": 1}),
    "reversibility": (
        diagnostics.reversibility,
        {**KNOWN, "y0": None, "steps": 1, "reversal": None},
    ),
    "symplecticity": (diagnostics.symplecticity, {**KNOWN, "y0": None, "steps": 1, "form": None}),
    "volume": (diagnostics.volume, {**KNOWN, "y0": None, "steps": 1, "form": None}),
    "symplectic_form": (diagnostics.symplectic_form, {"system": PENDULUM}),
    "reverse": (structure.reverse, {"system": PENDULUM, "y": PENDULUM.y0}),
    "mass_matrix": (structure.mass_matrix, {"system": PENDULUM}),
    "line": (structure.line, {"t": np.arange(4.0), "values": np.ones(4)}),
    "DiscreteSystem": (control.DiscreteSystem, {"system": QUADROTOR, "h": 0.01}),
    "at": (control.at, {"d": DISCRETE, "y": STATE}),
    "flat_reference": (
        control.flat_reference,
        {
            "system": QUADROTOR,
            "load": lambda t: np.array([t, 0.0, 0.0]),
            "yaw": lambda t: 0.0,
            "h": 0.01,
            "steps": 3,
        },
    ),
    "plotting.figure": (plotting.figure, {"rows": 1, "cols": 1, "size": (4.0, 3.0)}),
    "plotting.png": (plotting.png, {"fig": None}),
    "plotting.bundle": (plotting.bundle, {"picture": b"", "alt": "a line"}),
    "plotting.drift": (plotting.drift, {"ax": None, "t": H, "values": ERRORS, "label": "x"}),
    "plotting.convergence": (
        plotting.convergence,
        {"ax": None, "h": H, "errors": {"x": ERRORS}, "orders": (2,)},
    ),
    "plotting.project": (plotting.project, {"points": np.ones(3), "view": (0.0, 0.0)}),
    "plotting.sphere": (plotting.sphere, {"ax": None, "view": (0.0, 0.0), "radius": 1.0}),
    "plotting.path": (plotting.path, {"ax": None, "points": np.ones((2, 3)), "label": "x"}),
    "Scene": (animate.Scene, {"lines": [np.ones((2, 3))], "dots": (), "ground": ()}),
    "scene": (animate.scene, {"system": PENDULUM, "y": PENDULUM.y0}),
    "frames": (
        animate.frames,
        {"sol": SOLUTION, "count": 2, "draw": None, "size": 1.0, "ground": (), "view": (0.0, 0.0)},
    ),
    "film": (animate.film, {"pictures": []}),
    "animate.figure": (animate.figure, {"pictures": [], "alt": "a line", "seconds": 1.0}),
}
TIMES = np.arange(4.0)
FUNCTIONS |= {
    "cubic_spline": (
        lielab.cubic_spline,
        {"group": lielab.so3, "t": TIMES, "elements": lielab.so3.identity((4,)), "ends": "natural"},
    ),
    "b_spline": (
        lielab.b_spline,
        {"group": lielab.so3, "t": TIMES, "control": lielab.so3.identity((4,))},
    ),
    "Connection": (actions.Connection, {"action": actions.SO3_ON_S2, "inner_product": np.eye(3)}),
    "euler_regulator": (
        control.euler_regulator,
        {"controller": None, "order": "XYZ", "gain": "own"},
    ),
    "so3.from_directions": (lielab.so3.from_directions, {"a": np.ones(3), "b": np.eye(3)[0]}),
    "so3.align": (lielab.so3.align, {"x": np.eye(3), "y": np.eye(3), "weights": np.ones(3)}),
    "se3.align": (
        lielab.se3.align,
        {"x": np.eye(3), "y": np.eye(3), "weights": np.ones(3), "scale": True},
    ),
    **{
        f"{group.name} integrate": (
            group.integrate,
            {
                "t": TIMES,
                ("xi" if group in (lielab.se2, lielab.se3) else "omega"): np.ones((4, group.dim)),
                "start": group.identity(),
                "rule": "linear",
                "frame": "body",
            },
        )
        for group in (lielab.so3, lielab.se3, lielab.se2, lielab.quaternions)
    },
}
FUNCTIONS |= {
    name: (getattr(actions, name), {"action": actions.SO3_ON_S2, "y": np.array([0.0, 0.0, 1.0])})
    for name in ("generator_matrix", "is_transitive", "isotropy", "orbit_dimension")
}


@pytest.fixture
def axes():
    import matplotlib.pyplot as plt

    yield plt.subplots()[1]
    plt.close("all")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_wrong_argument_is_a_value_error(name, axes):
    function, good = FUNCTIONS[name]
    good = {key: axes if key == "ax" else value for key, value in good.items()}
    if name in ("ConnectedBodies", "TwoQuadrotors"):
        good = {key: value for key, value in good.items() if value is not None}
    for argument in FUNCTIONS[name][1]:
        for bad in BAD:
            if argument == "t_end" and type(bad) is int:
                continue  # a time, if a long one
            try:
                function(**{**good, argument: bad})
            except ValueError:
                pass
            except Exception as error:
                raise AssertionError(f"{name}({argument}={bad!r}): {error!r}") from error


SLIPS = [
    (lambda: diagnostics.report_card(None), "methods must be a sequence of names .* got None"),
    (lambda: diagnostics.report_card(3), "methods must be a sequence of names .* got 3"),
    (lambda: diagnostics.report_card(["RKMK4", "RKMK44"]), "did you mean 'RKMK4'"),
    (
        lambda: diagnostics.energy_drift_test(None),
        "methods must be a sequence of names .* got None",
    ),
    (lambda: diagnostics.order_table({}, None), "methods must be a sequence of names .* got None"),
    (lambda: diagnostics.order_table(None, ["RKMK4"]), "problems must be name -> .* got None"),
    (lambda: diagnostics.order(None, "RKMK4"), "system must be a lielab System, got None"),
    (
        lambda: diagnostics.symmetry(PENDULUM, "RKMK4", 0.1, steps=None),
        "steps must be a whole number",
    ),
    (lambda: diagnostics.symmetry(PENDULUM, "RKMK4", 0.1, [1.0]), r"y0 must have shape \(6,\)"),
    (lambda: diagnostics.drift(SOLUTION, []), r"quantity must be one of .* got \[\]"),
    (lambda: systems.HeavyTop(formulation=[]), r"formulation must be one of .*'left'.* got \[\]"),
    (lambda: systems.HeavyTop(formulation="lift"), "did you mean 'left'"),
    (lambda: systems.PendulumChain(10**30), "n must be at most"),
    (lambda: lielab.power(None, 2), "group must be a group such as lielab.so3, got None"),
    (lambda: plotting.drift(None, [0.0, 1.0], [1.0, 2.0], label="x"), "ax must be matplotlib Axes"),
    (lambda: testing.check_group(lielab.so3, samples=None), "samples must be a whole number"),
    (lambda: testing.check_group(lielab.so3, sizes=None), "sizes must be a sequence"),
    (lambda: testing.check_action(actions.SO3_ON_S2, seed=0.5), "seed must be a whole number"),
]


@pytest.mark.parametrize(("call", "message"), SLIPS)
def test_what_the_message_names(call, message):
    with pytest.raises(ValueError, match=message):
        call()
