"""Systems, solutions, actions, groups and methods: copied, pickled, sent to processes, used by several threads."""

import copy
import dataclasses
import pickle
import sys
import threading
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest

import lielab
from lielab import actions, se3, so3, tableaus
from lielab.systems import (
    ActionSystem,
    CotangentSystem,
    Pendulum3D,
    PendulumChain,
    SphericalPendulum,
    TwoQuadrotors,
)
from tests.systems.data import EXAMPLES


def steady(t, y, p):
    return [0.1, 0.2, y[0]]


def turning(t, y, p):
    return [0.0, 0.0, 1.0, 0.0, 1.0, 0.0]


def hamiltonian(y, p):
    P = y[:9].reshape(3, 3).T @ y[9:]
    return 0.5 * (P[0] ** 2 + P[1] ** 2 / 2 + P[2] ** 2 / 3) + y[8]


def squares(y, p):
    return 0.5 * (y[-1] ** 2 + y[-2] ** 2 + y[-3] ** 2) + y[0]


def torque(t, y, p):
    return [0.1, 0.0, p[9]]


def shift(u, y):
    return y + u


def first(u, y):
    return 1.0 * u


def scaled(X):
    return X / np.linalg.det(X) ** 0.5


def excess(g):
    return np.linalg.det(g) - 1.0


PLANE = [[[0.0, 1.0], [0.0, 0.0]], [[0.0, 0.0], [1.0, 0.0]], [[1.0, 0.0], [0.0, -1.0]]]
GROUPS = {
    **{g.name: g for g in (lielab.so2, so3, lielab.se2, se3, lielab.quaternions)},
    "T*SO(3)": lielab.cotangent_so3,
    "R^3": lielab.rn(3),
    "product": lielab.product(so3, lielab.rn(3)),
    "nested product": lielab.product(lielab.power(se3, 2), lielab.special_linear(2), name="mine"),
    "direct_tso3": lielab.direct_tso3,
    "SO(4)": lielab.special_orthogonal(4),
    "SL(3)": lielab.special_linear(3),
    "Sp(2)": lielab.symplectic(1),
    "matrix group": lielab.matrix_group(PLANE, "SL", defect=excess, nearest=scaled),
}
ACTIONS = {name: vars(actions)[name] for name in actions.__all__ if name.isupper()}
del ACTIONS["POINT_TOLERANCE"]
TWO = actions.product_action(actions.SO3_ON_S2, actions.SO3_ON_S2)
ACTIONS |= {
    "product": TWO,
    "product of products": actions.product_action(TWO, actions.rn_on_rn(2)),
    "diagonal": actions.diagonal_action(actions.SO3_ON_S2, actions.SO3_ON_SO3),
    "frozen": actions.frozen_action(
        name="R^3",
        manifold="R^3",
        algebra=3,
        point=3,
        flow=shift,
        generator=first,
        structure=np.zeros((3, 3, 3)),
    ),
    "S^3": actions.so_n_on_sphere(4),
    "Stiefel": actions.so_n_on_stiefel(4, 2),
    "R^4": actions.rn_on_rn(4),
    "three quadrotors": actions.quadrotors_action(3),
    "matrices": actions.matrix_action(lielab.special_orthogonal(4)),
    "columns": actions.matrix_action(GROUPS["matrix group"], columns=1),
    "T*G": actions.cotangent_action(lielab.product(so3, lielab.special_linear(2))),
    "a reader's": actions.Action("R", "R", "R", 1, 1, shift, None, None, first),
}
OWN = ActionSystem(actions.SO3_ON_S2, steady, (1.0, 0.0, 0.0))
ON_TWO = ActionSystem(TWO, turning, (1.0, 0, 0, 0, 1.0, 0))
COTANGENT = CotangentSystem(so3, (np.eye(3), [0.1, 0.2, 0.3]), hamiltonian)
SYSTEMS = {
    **EXAMPLES,
    "own": OWN,
    "own on a product": ON_TWO,
    "own on matrices": ActionSystem(ACTIONS["columns"], steady, (1.0, 0.0)),
    "cotangent": COTANGENT,
    "cotangent of a product": CotangentSystem(
        lielab.product(lielab.rn(1), lielab.symplectic(1)), (([0.0], np.eye(2)), [1.0] * 4), squares
    ),
    "controlled": Pendulum3D(control=torque, inputs=(0.3,)),
}
METHODS = {
    **lielab.methods(),
    "own RKMK": lielab.rkmk(tableaus.RK4, "mine", commutators=1),
    "own commutator-free": lielab.commutator_free(tableaus.CF4, "my own"),
    "own implicit": lielab.implicit_rkmk(tableaus.GAUSS4, "mine too"),
    "composition": lielab.compose("LieMidpoint", "suzuki4"),
    "adjoint of one's own": lielab.adjoint(lielab.rkmk(tableaus.EULER, "e")),
    "symmetrised": lielab.symmetrised("LieEuler"),
}
THINGS = [
    pytest.param(thing, id=f"{kind}: {name}")
    for kind, found in (
        ("group", GROUPS),
        ("action", ACTIONS),
        ("system", SYSTEMS),
        ("method", METHODS),
    )
    for name, thing in found.items()
]


def by_pickle(thing):
    return pickle.loads(pickle.dumps(thing))


WAYS = pytest.mark.parametrize("way", [copy.copy, copy.deepcopy, by_pickle])


@WAYS
@pytest.mark.parametrize("thing", THINGS)
def test_a_copy_equals_what_it_was_made_of(thing, way):
    made = way(thing)
    assert type(made) is type(thing)
    assert made == thing
    assert hash(made) == hash(thing)


@WAYS
@pytest.mark.parametrize("name", ["T*SO(3)", "nested product", "SL(3)", "matrix group", "SO(4)"])
def test_the_copy_of_a_group_computes_the_same(name, way):
    group, made = GROUPS[name], way(GROUPS[name])
    u = 0.1 * np.arange(group.dim)
    np.testing.assert_array_equal(made.log(made.exp(u)), group.log(group.exp(u)))
    np.testing.assert_array_equal(made.dexpinv_left(u), group.dexpinv_left(u))


def test_different_things_are_not_equal():
    assert lielab.special_orthogonal(3) != lielab.special_orthogonal(4)
    assert lielab.product(so3, so3) != lielab.product(so3, se3)
    assert actions.so_n_on_sphere(4) != actions.so_n_on_sphere(5)
    assert dataclasses.replace(actions.SO3_ON_S2, name="another") != actions.SO3_ON_S2
    assert dataclasses.replace(OWN, start=(0.0, 1.0, 0.0)) != OWN
    assert dataclasses.replace(COTANGENT, p=(1.0,)) != COTANGENT
    assert OWN not in (COTANGENT, 1)
    sol = lielab.solve(OWN, (0, 0.2), method="RKMK4", h=0.1)
    assert sol != lielab.solve(OWN, (0, 0.2), method="RKMK4", h=0.05)
    assert sol != 1


def test_what_made_an_action_is_not_the_caller_s_array():
    structure = np.zeros((3, 3, 3))
    keywords = {"name": "R^3", "manifold": "R^3", "algebra": 3, "point": 3, "structure": structure}
    action = actions.frozen_action(flow=shift, generator=first, **keywords)
    structure[0, 1, 2] = 7.0
    assert by_pickle(action) == ACTIONS["frozen"]


RUN = {"own": OWN, "own on a product": ON_TWO, "cotangent": COTANGENT}
RUN |= {"quadrotors": TwoQuadrotors(), "chain": PendulumChain(2)}


def run(system):
    return lielab.solve(system, (0, 0.2), method="RKMK4", h=0.1)


@pytest.mark.parametrize("name", RUN)
def test_a_system_and_its_solution_travel_after_they_were_used(name):
    sol = run(RUN[name])
    for way in (copy.copy, copy.deepcopy, by_pickle):
        there = way(RUN[name])
        assert run(there).y.tolist() == sol.y.tolist()
        found = way(sol)
        assert found == sol
        assert found.defect().tolist() == sol.defect().tolist()
        assert found(sol.t).tolist() == sol.y.tolist()
        assert found(sol.t[1]).tolist() == sol.y[1].tolist()
        assert dataclasses.asdict(found)["y"].tolist() == sol.y.tolist()
        assert dataclasses.astuple(found)[1].tolist() == sol.y.tolist()
        assert dataclasses.replace(found, message="x") != sol
    with pytest.raises(ValueError, match=r"between its steps.* use the saved times"):
        found(0.15)


def answer(thing):
    """What another process finds out about a thing that was sent to it."""
    if isinstance(thing, lielab.System):
        return float(thing.defect(thing.y0))
    if isinstance(thing, actions.Action):
        rng = np.random.default_rng(0)
        return float(thing.defect(thing.sample(rng) if thing.sample else np.zeros(thing.point)))
    if isinstance(thing, lielab.Solution):
        return thing(thing.t[1]).tolist()
    return thing.name


def test_a_pool_of_processes():
    """A fresh interpreter takes all of them, and runs systems of readers' functions to the same states."""
    solutions = {name: run(system) for name, system in RUN.items()}
    things = [thing.values[0] for thing in THINGS] + list(solutions.values())
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        assert list(pool.map(answer, things)) == [answer(thing) for thing in things]
        assert list(pool.map(run, RUN.values())) == list(solutions.values())


def local():
    def field(t, y, p):
        return [0.0, 0.0, 1.0]

    return field


BARE = {"name": "R", "manifold": "R", "algebra": 1, "point": 1}
UNSENDABLE = {
    "field of ActionSystem is a lambda": ActionSystem(
        actions.SO3_ON_S2, lambda t, y, p: [0.0, 0.0, 1.0], (1.0, 0.0, 0.0)
    ),
    "field of ActionSystem is local.<locals>.field": ActionSystem(
        actions.SO3_ON_S2, local(), (1.0, 0.0, 0.0)
    ),
    r"invariants_of\['x'\] of ActionSystem is a lambda": dataclasses.replace(
        OWN, invariants_of={"x": lambda y: y[..., 0]}
    ),
    "hamiltonian of CotangentSystem is a lambda": dataclasses.replace(
        COTANGENT, hamiltonian=lambda y, p: y[9] ** 2
    ),
    "control of Pendulum3D is a lambda": Pendulum3D(control=lambda t, y, p: [0.1, 0.0, 0.0]),
    r"flow of frozen_action\(...\) is a lambda": actions.frozen_action(
        flow=lambda u, y: y + u, generator=first, **BARE
    ),
    "exp_act of Action is a lambda": actions.Action(
        "R", "R", "R", 1, 1, lambda u, y: y + u, None, None, first
    ),
    "nearest of G is a lambda": lielab.matrix_group(PLANE, "G", nearest=lambda X: X),
}


@pytest.mark.parametrize("message", UNSENDABLE)
def test_what_cannot_be_sent_says_so(message, monkeypatch):
    """Copies are no trouble; for another process the message names the function and the remedy."""
    for name in ("cloudpickle", "dill", "joblib.externals.cloudpickle"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    thing = UNSENDABLE[message]
    assert copy.deepcopy(thing) == thing
    assert copy.copy(thing) == thing
    with pytest.raises(pickle.PicklingError, match=f"{message}.*define it with def at the top"):
        pickle.dumps(thing)


def test_a_copy_of_a_solution_is_evaluated_like_it():
    sol = lielab.solve(SphericalPendulum(), (0, 1), method="RKMK4", h=0.25)
    for made in (copy.copy(sol), copy.deepcopy(sol)):
        assert made(0.3).tolist() == sol(0.3).tolist()
    made.y[:] = 0.0
    assert np.any(sol.y)


def test_threads_share_a_system_and_a_solution():
    system = ActionSystem(lielab.actions.SO3_ON_S2, lambda t, y, p: [t, y[0], 1.0], (1, 0, 0))
    times, found = np.linspace(0, 1, 50), []

    def work():
        found.append(lielab.solve(system, (0, 1), method="RKMK4", h=0.01)(times))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4
    assert all(one.tolist() == found[0].tolist() for one in found)
