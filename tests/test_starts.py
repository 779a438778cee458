"""What is taken for a start: single precision, matrices, pairs, rotations of SciPy; else what the message says."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import lielab
from lielab import actions, quaternions, so3
from lielab.systems import ActionSystem, CotangentSystem, FreeRigidBody, RigidBodyInPotential
from tests.core.test_travel import ACTIONS, COTANGENT, SYSTEMS
from tests.systems.data import EXAMPLES, generic, tilted_potential


def still(t, y, p):
    return np.zeros(len(y))[:3]


def spin(t, y, p):
    return [0.0, 0.0, 1.0]


def energy(y, p):
    return 0.5 * (y[-1] ** 2 + y[-2] ** 2 + y[-3] ** 2)


@pytest.mark.parametrize("name", SYSTEMS)
def test_a_start_in_single_precision_is_projected(name):
    system = SYSTEMS[name]
    y = generic(system) if name in EXAMPLES else system.y0
    rough = y.astype(np.float32)
    sol = lielab.solve(system, (0, 1e-3), rough, method=method_for(system), h=1e-3)
    assert system.defect(sol.y[0]) < 1e-10 * (1.0 + np.abs(y).max())
    np.testing.assert_allclose(sol.y[0], rough, rtol=0, atol=1e-6 * max(1.0, np.abs(y).max()))
    named = {part: values.astype(np.float32) for part, values in system.unpack(rough).items()}
    again = lielab.solve(system, (0, 1e-3), named, method=method_for(system), h=1e-3)
    assert np.array_equal(again.y, sol.y)


def method_for(system):
    return "RKMK4" if "action" in system.formulations else "LGVI"


@pytest.mark.parametrize("name", SYSTEMS)
def test_what_the_message_names_mends_a_start_of_few_digits(name):
    """Data in double precision are not moved unasked; system.project, which the message names, exists on each."""
    system = SYSTEMS[name]
    y = generic(system) if name in EXAMPLES else system.y0
    rough = y.astype(np.float32).astype(float)
    if system.defect(rough) > 1e-7:
        with pytest.raises(ValueError, match=r"^y0.*use system\.project\(y0\)$"):
            lielab.solve(system, (0, 1e-3), rough, method=method_for(system), h=1e-3)
    near = system.project(rough)
    np.testing.assert_allclose(near, rough, rtol=0, atol=1e-6 * max(1.0, np.abs(y).max()))
    system.check(near)
    both = system.project(np.stack([rough, y]))
    np.testing.assert_allclose(both, [near, y], rtol=0, atol=1e-6 * max(1.0, np.abs(y).max()))


@pytest.mark.parametrize("name", ACTIONS)
def test_every_action_projects(name):
    action, rng = ACTIONS[name], np.random.default_rng(1)
    y = action.sample(rng) if action.sample else rng.standard_normal(action.point)
    near = action.project(y.astype(np.float32))
    assert action.defect(near) < 1e-12 * (1.0 + np.abs(y).max())
    np.testing.assert_allclose(near, y, rtol=0, atol=1e-6 * (1.0 + np.abs(y).max()))
    if action.distance is not None and name != "T*G":
        far = action.project(y + 0.01 * rng.standard_normal(len(y)))
        assert action.defect(far) < 1e-10
        np.testing.assert_allclose(far, y, rtol=0, atol=0.1 * (1.0 + np.abs(y).max()))


def test_project_says_where_it_cannot():
    with pytest.raises(ValueError, match="a direction of y is zero"):
        actions.SO3_ON_S2.project(np.zeros(3))
    with pytest.raises(ValueError, match="y is too far from the unit sphere S.2 to be projected"):
        replace(actions.SO3_ON_S2, nearest=None).project(np.zeros(3))
    with pytest.raises(ValueError, match="y must have length"):
        actions.SO3_ON_S2.project(np.zeros(4))
    with pytest.raises(ValueError, match="y must hold real numbers"):
        actions.SO3_ON_S2.project(None)


@pytest.mark.parametrize("name", ["SO3_ON_S2", "S^3", "Stiefel", "SE3_ON_TS2", "SE3_ON_SE3"])
def test_an_action_with_a_distance_alone_projects(name):
    """As readers' own do: along the gradient of the distance."""
    action = replace(ACTIONS[name], nearest=None)
    rng = np.random.default_rng(2)
    y = action.sample(rng)
    for off in (1e-8, 1e-4, 0.01):
        near = action.project(y + off * rng.standard_normal(len(y)))
        assert action.defect(near) < 1e-12
        np.testing.assert_allclose(near, y, rtol=0, atol=30 * off)


def test_blocks_are_projected_each():
    y = np.random.default_rng(0).standard_normal((5, 30))
    near = actions.SE3_ON_TS2.project(y)
    assert actions.SE3_ON_TS2.defect(near).max() < 1e-12
    alone = actions.SE3_ON_TS2.project(y[2, 12:18])
    np.testing.assert_array_equal(near[2, 12:18], alone)


R, MU = so3.exp([0.3, -0.2, 0.5]), np.array([0.1, 0.2, 0.3])
TURN = Rotation.from_matrix(R)
SINGLE = R.astype(np.float32)


@pytest.mark.parametrize("start", [R, TURN, R.ravel(), R.tolist(), SINGLE, list(SINGLE)])
def test_starts_on_a_group(start):
    system = ActionSystem(actions.SO3_ON_SO3, spin, start)
    np.testing.assert_allclose(system.y0, R.ravel(), atol=1e-7)
    assert len(system.start) == 9
    assert system.defect(system.y0) < 1e-8


@pytest.mark.parametrize("start", [(R, MU), (TURN, MU), [R, MU], (SINGLE, MU.tolist()), (*R, MU)])
def test_pairs(start):
    body = FreeRigidBody(attitude=True)
    wanted = np.concatenate([R.ravel(), MU])
    sol = lielab.solve(body, (0, 0.1), start, method="RKMK4", h=0.1)
    np.testing.assert_allclose(sol.y[0], wanted, atol=1e-7)
    own = RigidBodyInPotential((1.0, 2.0, 2.5), tilted_potential, p=(0.5,), start=start)
    np.testing.assert_allclose(own.y0, wanted, atol=1e-7)
    if len(start) == 2:
        there = CotangentSystem(so3, start, energy)
        np.testing.assert_allclose(there.y0, wanted, atol=1e-7)
        assert there.defect(there.y0) < 1e-8
    assert np.array_equal(body.pack(R=TURN, mu=MU)[9:], MU)


def test_a_rotation_where_a_quaternion_is_meant():
    on_s3 = ActionSystem(actions.QUATERNIONS_ON_S3, spin, TURN)
    np.testing.assert_allclose(quaternions.rotation(on_s3.y0), R, atol=1e-14)
    there = CotangentSystem(quaternions, (TURN, MU), energy)
    np.testing.assert_allclose(quaternions.rotation(there.y0[:4]), R, atol=1e-14)


SAID = [
    (lambda: ActionSystem(actions.SO3_ON_S2, spin, (0.0, 0.0, 1.01)),
     r"^start is not on the unit sphere.* use lielab\.actions\.SO3_ON_S2\.project\(start\)$"),
    (lambda: ActionSystem(actions.so_n_on_sphere(3), spin, (0.0, 0.0, 1.01)),
     r"^start is not on .* use action\.project\(start\)$"),
    (lambda: ActionSystem(actions.SO3_ON_S2, spin, (0.0, 0.0, 1.0), p=np.eye(3)),
     r"(?s)^p must be a sequence of finite numbers.*; pass np\.ravel\(p\)$"),
    (lambda: ActionSystem(actions.SO3_ON_SO3, spin, 1.0), "^start must be a sequence"),
    (lambda: ActionSystem(actions.SO3_ON_SO3, spin, np.eye(4)), "^start must have length 9 .* got 16"),
    (lambda: ActionSystem(actions.SO3_ON_SO3, spin, 1j * R), "^start must hold real numbers"),
    (lambda: CotangentSystem(so3, R, energy), r"^start must be a pair \(g, mu\)"),
    (lambda: so3.log(TURN), r"^R must hold real numbers.*; pass R\.as_matrix\(\)$"),
    (lambda: COTANGENT.check(np.ones((2, 12))), "^y must be one point, flat"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "message"), SAID)
def test_what_the_message_says_to_write(call, message):
    with pytest.raises(ValueError, match=message):
        call()
