"""Systems and solutions copied, pickled, and used by several threads at once."""

import copy
import pickle
import threading

import numpy as np
import pytest

import lielab
from lielab.systems import ActionSystem, PendulumChain, SphericalPendulum, TwoQuadrotors


def steady(t, y, p):
    return [0.1, 0.2, y[0]]


OWN = ActionSystem(lielab.actions.SO3_ON_S2, steady, (1.0, 0.0, 0.0))


@pytest.mark.parametrize(
    "system", [OWN, TwoQuadrotors(), PendulumChain(2)], ids=lambda s: type(s).__name__
)
@pytest.mark.parametrize(
    "way", [copy.copy, copy.deepcopy, lambda found: pickle.loads(pickle.dumps(found))]
)
def test_a_system_and_its_solution_travel_after_they_were_used(system, way):
    def run(system):
        return lielab.solve(system, (0, 0.2), method="RKMK4", h=0.1)

    sol = run(system)
    there = way(system)
    assert run(there).y.tolist() == sol.y.tolist()
    found = way(sol)
    assert found.y.tolist() == sol.y.tolist()
    assert found.defect().tolist() == sol.defect().tolist()


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
