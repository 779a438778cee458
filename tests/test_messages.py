"""What a slip is answered with: a ValueError that names the argument, what it was, and the remedy."""

import math

import numpy as np
import pytest

import lielab
from lielab import grading, se2, so3
from lielab.methods import get
from lielab.systems import (
    ActionSystem,
    FreeRigidBody,
    ParticleOnSphere,
    PendulumChain,
    RigidBodyInPotential,
    SphericalPendulum,
    TwoQuadrotors,
)

SPHERE = lielab.actions.SO3_ON_S2
POLE = (0.0, 0.0, 1.0)
BODY, PENDULUM = FreeRigidBody(), SphericalPendulum()


def steady(t, y, p):
    return [0.1, 0.2, 0.3]


# --- a reader's own functions, when the system is made -----------------------------------------------

FIELDS = [
    (lambda t, y, p: [y[7], 0.0, 0.0], "field raised IndexError.* y of 3 entries and p of 0"),
    (lambda t, y, p: [p[0], 0.0, 0.0], "field raised IndexError.* y of 3 entries and p of 0"),
    (lambda t, y, p: [y[0] + "a", 0.0, 0.0], "field raised"),
    (lambda t, y, p: None, "field returned None; does it end with `return`"),
    (lambda t, y, p: ["a", "b", "c"], r"field must return 3 numbers \(the algebra of SO\(3\)\)"),
    (lambda t, y, p: [1.0, [2.0], 3.0], "field must return 3 numbers"),
    (lambda t, y, p: [1j, 0.0, 0.0], "field must return 3 numbers"),
    (lambda t, y, p: [0.0, 1.0], r"field must return 3 numbers .* got shape \(2,\)"),
    (lambda t, y, p: 1.0, r"field must return 3 numbers .* got shape \(\)"),
    (lambda t, y: [0.0, 0.0, 1.0], r"field must take the arguments \(t, y, p\), got field\(t, y\)"),
    ([0.0, 0.0, 1.0], r"field must be a function field\(t, y, p\)"),
]


@pytest.mark.parametrize(("field", "message"), FIELDS)
def test_a_field_is_tried_when_the_system_is_made(field, message):
    with pytest.raises(ValueError, match=message):
        ActionSystem(SPHERE, field, POLE)


def test_a_compiled_field_is_tried_as_python():
    field = lielab.core.jit.closure(FIELDS[0][0]) if lielab.core.jit.ENABLED else FIELDS[0][0]
    with pytest.raises(ValueError, match="field raised IndexError"):
        ActionSystem(SPHERE, field, POLE)


def test_a_field_may_be_undefined_at_time_zero_and_write_into_y():
    start = (1.0, 0.0, 0.0)

    def late(t, y, p):
        y[0] = 0.0
        return [0.0, math.log(t), 1 / t]

    system = ActionSystem(SPHERE, late, start)
    np.testing.assert_array_equal(system.y0, start)


SYSTEMS = [
    ({"action": "S2"}, "action must be an Action, got 'S2'"),
    ({"start": 3}, "start must be a sequence of finite numbers.* got 3"),
    ({"start": (1.0, 2.0)}, "start must have length 3"),
    ({"start": (2.0, 0.0, 0.0)}, "start is not on the unit sphere.* distance 1"),
    ({"start": (np.nan, 0.0, 0.0)}, "start must be a sequence of finite numbers"),
    ({"p": 3}, "p must be a sequence of finite numbers.* got 3"),
    ({"p": np.array([1j])}, "p must be a sequence of finite numbers"),
    ({"p": np.ma.array([1.0, 2.0], mask=[0, 1])}, "p must be a sequence of finite numbers"),
    ({"p": {"mass": 3}}, "p must be a sequence of finite numbers"),
    ({"energy_function": 3}, "energy_function must be a function of states, got 3"),
    ({"invariants_of": len}, "invariants_of must be name -> function"),
]


@pytest.mark.parametrize(("change", "message"), SYSTEMS, ids=[str(c) for c, _ in SYSTEMS])
def test_what_a_system_is_made_of(change, message):
    with pytest.raises(ValueError, match=message):
        ActionSystem(**{"action": SPHERE, "field": steady, "start": POLE, **change})


def test_the_other_systems_try_readers_functions_too():
    def metric(x, p):
        return np.eye(3)

    with pytest.raises(ValueError, match="potential raised IndexError.* x of 3 entries"):
        ParticleOnSphere(metric, lambda x, p: x[3])
    with pytest.raises(ValueError, match=r"metric must take the arguments \(x, p\)"):
        ParticleOnSphere(lambda x: np.eye(3), lambda x, p: x[2])
    with pytest.raises(ValueError, match="potential returned None"):
        ParticleOnSphere(metric, lambda x, p: None)
    with pytest.raises(ValueError, match="potential raised ZeroDivisionError"):
        ParticleOnSphere(metric, lambda x, p: 1 / 0)
    with pytest.raises(ValueError, match=r"potential raised IndexError.* R of shape \(3, 3\)"):
        RigidBodyInPotential((1, 2, 3), lambda R, p: R[3, 0])
    with pytest.raises(ValueError, match=r"control must take the arguments \(t, y, p\)"):
        TwoQuadrotors(control=lambda t, y: np.zeros(12))


# --- solve -------------------------------------------------------------------------------------------


def test_events_are_tried_before_the_first_step():
    def run(events):
        return lielab.solve(BODY, (0, 1), method="RKMK4", h=0.1, events=events)

    with pytest.raises(ValueError, match=r"events\[0\] must take the arguments \(t, y\)"):
        run(lambda t: 1.0)
    with pytest.raises(ValueError, match=r"events\[1\] must return one number, got array"):
        run([lambda t, y: y[0], lambda t, y: y])
    with pytest.raises(ValueError, match=r"events\[0\] raised IndexError"):
        run(lambda t, y: y[3])
    assert run(lambda t, y: np.array(y[0])).success  # an array without axes is one number


@pytest.mark.parametrize("kind", [np.float32, np.float64, np.array, float])
def test_numbers_of_any_library(kind):
    fixed = lielab.solve(BODY, (0, 1), method="RKMK4", h=kind(0.125))
    np.testing.assert_array_equal(fixed.y, lielab.solve(BODY, (0, 1), method="RKMK4", h=0.125).y)
    loose = {"rtol": 0.125, "atol": 0.25, "h0": 0.5, "max_step": 0.5}
    one = lielab.solve(BODY, (0, 3), **{name: kind(value) for name, value in loose.items()})
    np.testing.assert_array_equal(one.y, lielab.solve(BODY, (0, 3), **loose).y)


@pytest.mark.parametrize("kind", [int, np.int64, np.uint8, np.array])
def test_whole_numbers_of_any_library(kind):
    every = {"h": kind(1), "save_every": kind(2), "max_steps": kind(9)}
    assert len(lielab.solve(BODY, (0, 4), method="RKMK4", **every).t) == 3
    assert lielab.solve(BODY, (0, 1), rtol=kind(0), atol=1e-3).success


@pytest.mark.parametrize("wrong", [True, np.bool_(True), 1j, np.ones(1), "1", None, [0.1]])
def test_what_is_no_number_stays_refused(wrong):
    for name in ("rtol", "atol", "max_step"):
        with pytest.raises(ValueError, match=f"{name} must be a"):
            lielab.solve(BODY, (0, 1), **{name: wrong})


ARGUMENTS = [
    ({"method": "rkmk4"}, "did you mean 'RKMK4'"),
    ({"method": "dopri853"}, "did you mean 'DOP853'"),
    ({"method": "Verlet"}, "got 'Verlet'$"),
    ({"method": None}, "method must be one of .* got None"),
    ({"method": lielab.tableaus.RK4}, r"'RK4'; pass lielab.rkmk\(tableau\)"),
    ({"method": lielab.tableaus.CF4}, r"pass lielab.commutator_free\(tableau\)"),
    ({"method": lielab.tableaus.GAUSS4}, r"pass lielab.implicit_rkmk\(tableau\)"),
    ({"dt": 0.1}, "no option 'dt'; the step is h"),
    ({"step": 0.1}, "no option 'step'; the step is h"),
    ({"t_eval": [0.5]}, r"no option 't_eval'; .* then sol\(t\)"),
    ({"dense_output": True}, r"no option 'dense_output'; .* then sol\(t\)"),
    ({"retractoin": "cay"}, "did you mean 'retraction'"),
    ({"save_evry": 2}, "did you mean 'save_every'"),
    ({"y0": [1.1, 0, 0, 0, 1, 0]}, r"^y0 is not on TS\^2.* use system.project\(y0\)"),
    (
        {"y0": {"q": [1, 0], "w": [0, 0, 1]}},
        r"q must have shape \(3,\) or \(\.\.\., 3\), got \(2,\)",
    ),
    ({"action": "lifted"}, "action of SphericalPendulum must be one of 'TS2', 'lift'"),
]


@pytest.mark.parametrize(("change", "message"), ARGUMENTS, ids=[str(c)[:40] for c, _ in ARGUMENTS])
def test_arguments_of_solve(change, message):
    with pytest.raises(ValueError, match=message):
        lielab.solve(PENDULUM, (0, 1), **{"method": "RKMK4", "h": 0.1, **change})


def test_the_factories_named_in_the_message_exist():
    assert lielab.solve(BODY, (0, 1), method=lielab.rkmk(lielab.tableaus.RK4), h=0.1).success
    assert callable(lielab.commutator_free)
    assert callable(lielab.implicit_rkmk)


def test_y0_off_the_manifold_names_what_mends_it():
    with pytest.raises(
        ValueError, match=r"^y0 is not on the unit sphere.*use system\.project\(y0\)$"
    ):
        lielab.solve(ActionSystem(SPHERE, steady, POLE), (0, 1), (0, 0, 2))
    with pytest.raises(ValueError, match="action of FreeRigidBody is not to be chosen here"):
        lielab.solve(BODY, (0, 1), action="lift")


def test_a_solution_in_one_line():
    sol = lielab.solve(BODY, (0, 1), method="RKMK4", h=0.1)
    assert repr(sol) == "<Solution RKMK4 of FreeRigidBody, t = 0 to 1, 10 steps, success>"
    short = lielab.solve(BODY, (0, 9), method="RKMK4", h=1.0, max_steps=1)
    assert "t = 0 to 1, 1 step, stopped at t = 1" in repr(short)
    assert "\n" not in repr(short)
    with pytest.raises(AttributeError, match="no attribute 'omega'; the parts of this state: q, w"):
        lielab.solve(PENDULUM, (0, 1), method="RKMK4", h=0.1).omega  # noqa: B018


# --- systems -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "system", [BODY, PENDULUM, PendulumChain(3), PendulumChain(2, formulation="momentum")]
)
def test_states_of_another_length_give_no_number(system):
    asked = [system.energy, system.defect, *system.invariants.values()]
    asked += [system.project] if not isinstance(system, FreeRigidBody) else []
    for function in asked:
        for shape in ((system.dim + 6,), (4, system.dim - 1), ()):
            with pytest.raises(ValueError, match=rf"y must have shape \(\.\.\., {system.dim}\)"):
                function(np.ones(shape))
        many = np.broadcast_to(system.y0, (2, 5, system.dim))
        assert np.shape(function(many))[:2] == (2, 5)


def test_parts_are_named_where_they_do_not_fit():
    with pytest.raises(ValueError, match="w has the leading axes"):
        PENDULUM.pack(q=np.ones((4, 3)), w=np.ones(3))
    with pytest.raises(ValueError, match="q must hold real numbers, got 'a'"):
        PENDULUM.pack(q="a", w=np.ones(3))
    with pytest.raises(
        ValueError, match=r"R must have shape \(3, 3\) or \(\.\.\., 3, 3\), got \(9,\)"
    ):
        FreeRigidBody(attitude=True).pack(R=np.ones(9), mu=np.ones(3))
    with pytest.raises(ValueError, match="w4.*, q6 .*, w6 .*, [.][.][.]$"):
        PendulumChain(9).energy(np.ones(3))


def test_complex_and_masked_states_and_texts_give_no_number():
    for wrong in (BODY.y0 + 1j, np.ma.array(BODY.y0, mask=[1, 0, 0]), ["a", "b", "c"]):
        with pytest.raises(ValueError, match="y must hold real numbers"):
            BODY.energy(wrong)
        with pytest.raises(ValueError, match="w must hold real numbers"):
            PENDULUM.pack(q=[1, 0, 0], w=wrong)
    with pytest.raises(ValueError, match="strengths must be 2 numbers, got '11'"):
        lielab.systems.PointVortices("11")
    with pytest.raises(ValueError, match="must be"):
        FreeRigidBody(inertia="123")


def test_an_inertia_matrix_asks_for_principal_moments():
    for given in (np.eye(3), np.eye(3).tolist()):
        with pytest.raises(ValueError, match="three principal moments, got a matrix"):
            FreeRigidBody(inertia=given)


# --- groups ------------------------------------------------------------------------------------------

GROUPS = [
    *(lielab.so2, so3, se2, lielab.se3, lielab.quaternions, lielab.cotangent_so3),
    *(lielab.rn(2), lielab.product(so3, lielab.rn(2)), lielab.special_orthogonal(3)),
]


@pytest.mark.parametrize("group", GROUPS, ids=[group.name for group in GROUPS])
def test_batches_and_seeds(group):
    for wrong in (3, "a", (1.5,), (-1,)):
        with pytest.raises(ValueError, match=r"batch must be a tuple of lengths such as \(3,\)"):
            group.identity(wrong)
        with pytest.raises(ValueError, match="batch must be a tuple"):
            group.random(0, wrong)
    for wrong in ("a", (3,), -1, 1.5, True):
        with pytest.raises(ValueError, match="rng must be a numpy Generator, a seed"):
            group.random(wrong)

    def flat(g):
        return np.concatenate([np.ravel(x) for x in (g if isinstance(g, tuple) else (g,))])

    first = flat(group.random(np.int64(5), [2]))
    np.testing.assert_array_equal(first, flat(group.random(5, (2,))))
    assert np.any(first != flat(group.random(None, (2,))))


def test_motions_of_the_plane_have_parts():
    g = se2.random(1, (4, 2))
    R, r = se2.parts(g)
    assert R.shape == (4, 2, 2, 2)
    assert r.shape == (4, 2, 2)
    np.testing.assert_array_equal(se2.from_parts(R, r), g)
    np.testing.assert_array_equal(se2.from_parts(np.eye(2), r)[..., :2, 2], r)
    with pytest.raises(ValueError, match="R is not a rotation"):
        se2.from_parts(2 * np.eye(2), [0, 0])
    with pytest.raises(ValueError, match="r must have shape"):
        se2.from_parts(np.eye(2), [0, 0, 0])


# --- measurements and exercises ----------------------------------------------------------------------


def test_order_refuses_what_it_cannot_measure():
    order = lielab.diagnostics.order
    for method in ("RK45", "DOP853"):
        with pytest.raises(ValueError, match=f"fixed steps .* {method} chooses its own"):
            order(BODY, method)
    for wrong in (0, np.inf, "1", None):
        with pytest.raises(ValueError, match="t_end must be a finite number other than 0"):
            order(BODY, "RKMK4", t_end=wrong)
    for wrong in (16, (), (0, 1), (8, 16.5), "ab"):
        with pytest.raises(ValueError, match="steps must be numbers of steps"):
            order(BODY, "RKMK4", steps=wrong)


def test_order_backward_in_time():
    study = lielab.diagnostics.order(BODY, "RKMK4", t_end=-2.0, steps=(16, 32, 64, 128, 256))
    assert study.order == pytest.approx(4.0, abs=0.1)


def test_an_unknown_assignment_lists_all_of_them():
    with pytest.raises(ValueError, match="there are: 01_rotations, 02_rigid_motions, 03_dexpinv"):
        grading.load("foo")


def test_a_method_in_the_place_of_the_start_is_told_where_to_go():
    for method in ("RKMK4", get("RKMK4")):
        with pytest.raises(ValueError, match="y0 must be a state.*write method='RKMK4'"):
            lielab.solve(FreeRigidBody(), (0.0, 1.0), method, h=0.1)


# --- what is printed ----------------------------------------------------------------------------------


def test_the_methods_are_printed_as_a_table():
    table = lielab.methods()
    head, *rows = repr(table).splitlines()
    assert head.split() == ["name", "order", "family", "source"]
    assert [row.split()[:2] for row in rows] == [[m.name, str(m.order)] for m in table.values()]
    assert {line.index(m.source) for line, m in zip(rows, table.values(), strict=True)} == {
        head.index("source")
    }
