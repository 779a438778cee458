"""Structured linearization on SE(3): a body with an offset centre of mass, free, forced by its state, and tied."""

import numpy as np
import pytest

from lielab import control, se3
from tests.methods.offset_body import OffsetBody, on_a_cable

H = 0.02


def omega(p):
    """Omega(p) = [[<p, [e_i, e_j]>, 1], [-1, 0]]"""
    e = np.eye(6)
    brackets = np.array([[p @ (se3.ad(e[i]) @ e[j]) for j in range(6)] for i in range(6)])
    return np.block([[brackets, e], [-e, np.zeros((6, 6))]])


@pytest.mark.parametrize("retraction", ["cay", "exp"])
@pytest.mark.parametrize("push", [False, True])
@pytest.mark.parametrize("tied", [False, True])
def test_differences(retraction, push, tied):
    body = OffsetBody(push=push, tied=tied)
    u = [0.5, -0.4] if push else None
    assert control.check_linearization(body, body.y0, u, H, retraction) < 1e-9


@pytest.mark.parametrize("retraction", ["cay", "exp"])
def test_a_free_step_preserves_omega_of_the_group(retraction):
    body = OffsetBody()
    (A, _), y1, _ = control.at(control.DiscreteSystem(body, H, retraction), body.y0)
    np.testing.assert_allclose(
        A.T @ omega(y1[12:]) @ A, omega(body.y0[12:]), atol=1e-12 * np.abs(A).max() ** 2
    )
    canonical = omega(np.zeros(6))
    assert np.abs(A.T @ canonical @ A - canonical).max() > 1e-3


def test_a_tied_step_has_its_kernel_and_its_hidden_constraint():
    body = OffsetBody(tied=True)
    d = control.DiscreteSystem(body, H)
    (A, _), y1, _ = control.at(d, body.y0)
    D0, D1 = (on_a_cable(0.0, y[:12].copy(), d.params)[2:14].reshape(2, 6) for y in (body.y0, y1))
    assert np.abs(A @ np.vstack([np.zeros((6, 2)), D0.T])).max() < 1e-11
    assert np.abs(D1 @ A[:6]).max() < 1e-11
    assert np.linalg.matrix_rank(A, tol=1e-9) == 10
