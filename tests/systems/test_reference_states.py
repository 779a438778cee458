"""States of the papers' examples against values computed in extended precision."""

import numpy as np
import pytest

import lielab
from lielab import systems
from tests.systems.data import OPEN_LOOP, REFERENCES

STATE = 1e-9
CASES = {  # system, its reference, method settings that resolve it
    "heavy_top": (systems.HeavyTop("right"), {"h": 1e-4}),
    "chain": (systems.PendulumChain(2), {"rtol": 1e-12, "atol": 1e-13}),
    "pendulum": (systems.SphericalPendulum(), {"rtol": 1e-12, "atol": 1e-13}),
    "double_pendulum": (systems.DoubleSphericalPendulum(), {"h": 2.5e-4}),
    "well": (systems.RigidBodyInWell(), {"rtol": 1e-12, "atol": 1e-13}),
    "ellipsoid": (systems.EllipsoidParticle(), {"rtol": 1e-12, "atol": 1e-13}),
    "two_quadrotors": (
        systems.TwoQuadrotors(control="constant", inputs=OPEN_LOOP),
        {"rtol": 1e-12, "atol": 1e-13},
    ),
    "bodies": (systems.ConnectedBodies(), {"rtol": 1e-12, "atol": 1e-13}),
}


@pytest.mark.parametrize("name", CASES)
def test_states(name):
    system, settings = CASES[name]
    reference = REFERENCES[name]
    for t, state in zip(reference["times"], reference["states"], strict=True):
        sol = lielab.solve(system, (0, t), method="RKMK54", save_every=10**6, **settings)
        np.testing.assert_allclose(sol.y[-1], state, rtol=0, atol=STATE, err_msg=f"t = {t}")


@pytest.mark.parametrize(
    "name", ["heavy_top", "chain", "pendulum", "double_pendulum", "well", "ellipsoid", "bodies"]
)
def test_energy_of_the_start(name):
    system, _ = CASES[name]
    assert system.energy(system.y0) == pytest.approx(REFERENCES[name]["energy"], rel=1e-14)


def test_vertical_momenta():
    for name in ("pendulum", "double_pendulum"):
        system, reference = CASES[name][0], REFERENCES[name]
        found = system.invariants["vertical momentum"](system.y0)
        assert found == pytest.approx(reference["vertical_momentum"], rel=1e-14)


@pytest.mark.parametrize("method", REFERENCES["chain_ten_steps_h_0.02"])
def test_ten_steps_of_the_chain(method):
    """The gauge of the paper, f = (w_i, q_i x w_i'): another one gives another numerical method."""
    sol = lielab.solve(systems.PendulumChain(2), (0, 0.2), method=method, h=0.02)
    expected = REFERENCES["chain_ten_steps_h_0.02"][method]
    np.testing.assert_allclose(sol.y[-1], expected, rtol=0, atol=1e-13)
