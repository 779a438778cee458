"""Deliberate slips: each must fail the order suite. Some lose two orders, one loses three, none stays unseen."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import lielab
from lielab import diagnostics, tableaus
from lielab.actions import SE3_ON_TS2, SO3_ON_BODY, SO3_ON_DUAL
from lielab.core.jit import jit
from lielab.study.order_problems import problems
from lielab.systems import ActionSystem, System
from lielab.tableaus import CommutatorFree, Flow

PROBLEMS = problems()
so3_dexpinv, se3_dexpinv = SO3_ON_DUAL.dexpinv.into, SE3_ON_TS2.dexpinv.into
exp_vectors = SO3_ON_DUAL.exp_act.into
TOLERANCE = 0.1  # of the order suite


@jit
def flipped_so3(u, v, out):
    so3_dexpinv(-u, v, out)


@jit
def flipped_se3(u, v, out):
    se3_dexpinv(-u, v, out)


@jit
def identity(u, v):
    return v.copy()


@jit
def flipped_so3_bracket(u, v):
    out = np.empty(3)
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        out[i] = u[k] * v[j] - u[j] * v[k]
    return out


@jit
def along_the_tangent(u, y, out):
    """Moves y along u x y on a great circle: right only where u is orthogonal to y."""
    along = (u[0] * y[0] + u[1] * y[1] + u[2] * y[2]) / (y[0] ** 2 + y[1] ** 2 + y[2] ** 2)
    exp_vectors(u - along * y, y, out)


class WithAction(System):
    """A system with another action: the slip."""

    def __init__(self, system, action):
        self.system, self.action, self.parts = system, action, system.parts

    @property
    def formulations(self):
        form = self.system.formulations["action"]
        return {"action": dataclasses.replace(form, action=self.action)}


def reverse(method):
    """The exponentials of a Crouch-Grossman method composed the other way round."""
    points = [*method.stages, method.update]
    turned = [Flow(list(point.rows)[::-1], point.base) for point in points]
    return CommutatorFree("reversed", method.order, turned[:-1], turned[-1])


def with_update(method, update):
    return CommutatorFree("slip", method.order, method.stages, update)


def at_the_start(tableau):
    """All stages at t instead of t + c_i h."""
    copy = dataclasses.replace(tableau, a=tableau.a, b=tableau.b, b_hat=None)
    object.__setattr__(copy, "c", np.zeros(copy.stages))
    return lielab.rkmk(copy)


CF4_STAGES = tableaus.CF4.stages
FREE, SHAKEN = PROBLEMS["free body"], PROBLEMS["shaken pendulum"]
PENDULUM, ISOTROPIC = PROBLEMS["double pendulum"], PROBLEMS["free body with isotropy"]
FORM = FREE[0].formulations["action"].action
replace = dataclasses.replace


def on(problem, **kernels):
    system = problem[0]
    return WithAction(system, replace(system.formulations["action"].action, **kernels))


# name -> (problem, slipped kernels, method or slipped coefficients, declared order, order that it falls to)
SLIPS = {
    "dexpinv flipped, so(3)": (FREE, {"dexpinv": flipped_so3}, "RKMK4", 4, 2),
    "dexpinv flipped, se(3)": (PENDULUM, {"dexpinv": flipped_se3}, "RKMK4", 4, 2),
    "dexpinv omitted": (FREE, {"dexpinv": identity}, "RKMK4", 4, 2),
    "dexpinv omitted, order 3": (PENDULUM, {"dexpinv": identity}, "RKMK3", 3, 2),
    "dexpinv omitted, Gauss": (FREE, {"dexpinv": identity}, "RKMKGL4", 4, 2),
    "bracket flipped, RKMK4c2": (FREE, {"bracket": flipped_so3_bracket}, "RKMK4c2", 4, 2),
    "bracket flipped, RKMK4t2": (FREE, {"bracket": flipped_so3_bracket}, "RKMK4t2", 4, 2),
    "exp for cay": (FREE, {"dexpinv": FORM.dcayinv}, "RKMK4", 4, 2),
    "cay in CF4": (FREE, {"exp_act": FORM.cay_act}, "CF4", 4, 2),
    "cay in CG3": (FREE, {"exp_act": FORM.cay_act}, "CG3", 3, 2),
    "along the tangent": (ISOTROPIC, {"exp_act": along_the_tangent}, "RKMK4", 4, 1),
    "CF4 swapped": (
        FREE,
        {},
        with_update(tableaus.CF4, Flow(tableaus.CF4.update.rows[::-1])),
        4,
        2,
    ),
    "CF4, Y4 from y": (
        FREE,
        {},
        CommutatorFree(
            "slip", 4, [*CF4_STAGES[:2], Flow(CF4_STAGES[2].rows, base=0)], tableaus.CF4.update
        ),
        4,
        1,
    ),
    "(34) swapped": (
        FREE,
        {},
        CommutatorFree(
            "slip",
            3,
            [*CF4_STAGES, *tableaus.CF43.extra],
            Flow(tableaus.CF43.update_hat.rows[::-1]),
        ),
        3,
        2,
    ),
    "CF32a swapped": (
        FREE,
        {},
        with_update(tableaus.CF32A, Flow([*tableaus.CF32A.update.rows, [1 / 3]])),
        3,
        2,
    ),
    "CG3 reversed": (FREE, {}, reverse(tableaus.CG3), 3, 2),
    "CG4 reversed": (PENDULUM, {}, reverse(tableaus.CG4), 4, 2),
    "times of the stages": (SHAKEN, {}, at_the_start(tableaus.RK4), 4, 1),
}


@pytest.mark.parametrize("slip", SLIPS)
def test_slip_is_seen(slip):
    problem, kernels, method, declared, left = SLIPS[slip]
    system, t_end, y0 = problem
    if isinstance(method, CommutatorFree):
        method = lielab.commutator_free(method)
    exact, uncertainty = diagnostics.reference_state(system, t_end, y0)
    study = diagnostics.order(
        on(problem, **kernels),
        method,
        t_end=t_end,
        y0=y0,
        reference=exact,
        uncertainty=uncertainty,
    )
    assert not abs(study.order - declared) < TOLERANCE
    assert study.order == pytest.approx(left, abs=TOLERANCE), study.message
    assert study.points >= 4


def test_a_wrong_dexpinv_is_not_hidden_by_its_own_reference():
    """`order` takes its reference from DOP853, which knows nothing of dexpinv."""
    slipped = ActionSystem(
        replace(SO3_ON_DUAL, dexpinv=flipped_so3),
        lambda t, y, p: [-y[0], -y[1] / 2.0, -y[2] / 3.0],
        (0.6, -0.3, 1.1),
    )
    study = diagnostics.order(slipped, "RKMK4", t_end=2.0)
    assert study.order == pytest.approx(2.0, abs=TOLERANCE)


def test_the_actions_used_here_are_those_of_the_systems():
    assert FORM is SO3_ON_BODY
    assert PENDULUM[0].formulations["action"].action is SE3_ON_TS2
