"""ELN and RATTLE on (S^2)^n, and RKMK on the lift: reference values, orders, what is kept, isotropy as a choice."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest

import lielab
from lielab import diagnostics
from lielab.actions import SO3_R3_ON_S2_R3
from lielab.core.jit import jit
from lielab.study.structure import mass_matrix
from lielab.systems import (
    ActionSystem,
    DoubleSphericalPendulum,
    LandauLifshitz,
    MagneticDipoles,
    PendulumChain,
    PointVortices,
    SphericalPendulum,
)

REFERENCE = json.loads((Path(__file__).parent / "ortolan.json").read_text())
lift_bracket = SO3_R3_ON_S2_R3.bracket.into
TEN, ERRORS = REFERENCE["spheres"], REFERENCE["sphere_errors"]
CUT = 5e-13  # the reference cuts dexpinv after two commutators, which RKMKGL4 has no option for
SYSTEMS = {
    "pendulum_w0_printed": SphericalPendulum(),
    "double_pendulum": DoubleSphericalPendulum(),
}
OPTIONS = {
    "ELN": {},
    "RATTLE": {},
    "RKMK4": {"action": "lift", "commutators": 2},
    "RKMKGL4": {"action": "lift"},
}
# Out of the plane, so that nothing is hidden by a symmetry.
TOSSED = [0.6, 0.0, 0.8, 2.4, 2.0, -1.8, -0.48, 0.6, 0.64, 1.2, -0.4, 1.275]
CHAIN = PendulumChain(3, masses=(1.0, 0.7, 1.5), lengths=(1.0, 0.8, 1.2))
CASES = {
    "pendulum": (SphericalPendulum(), TOSSED[:6]),
    "double": (DoubleSphericalPendulum(), TOSSED),
    "chain": (CHAIN, TOSSED + TOSSED[6:]),
    "dipoles": (MagneticDipoles(2, 2), np.tile(TOSSED, 2)),
}


def case(name):
    system, y = CASES[name]
    return system, system.project(y)


@pytest.mark.parametrize("method", OPTIONS)
@pytest.mark.parametrize("key", SYSTEMS)
def test_ten_steps(key, method):
    expected = TEN[key]["after_10_steps_h0.01"][method]
    sol = lielab.solve(SYSTEMS[key], (0, 0.1), method=method, h=0.01, **OPTIONS[method])
    blocks = sol.y[-1].reshape(-1, 2, 3)
    tolerance = CUT if method == "RKMKGL4" else 2e-15
    np.testing.assert_allclose(blocks[:, 0], expected["q"], rtol=0, atol=tolerance)
    np.testing.assert_allclose(blocks[:, 1], expected["w"], rtol=0, atol=tolerance)


@jit
def cut_dexpinv(u, v):
    once, twice = np.empty(len(v)), np.empty(len(v))
    lift_bracket(u, v, once)
    lift_bracket(u, once, twice)
    return v - once / 2 + twice / 12


@pytest.mark.parametrize("method", OPTIONS)
@pytest.mark.parametrize("key", SYSTEMS)
def test_errors_at_one_second(key, method):
    """Errors of q and of w for six steps, to round-off; the RKMK methods with dexpinv cut as in the reference."""
    system = SYSTEMS[key]
    if method.startswith("RKMK"):
        lift = system.actions["lift"]
        action = dataclasses.replace(lift.action, dexpinv=cut_dexpinv)
        system = ActionSystem(action, lift.field, tuple(system.y0), p=tuple(lift.params))
    # RKMK8 itself is checked against the reference states in tests/systems.
    exact = lielab.solve(SYSTEMS[key], (0, 1), method="RKMK8", h=0.004).y[-1]
    for h, q, w in zip(*(ERRORS[key][method][name] for name in "hqw"), strict=True):
        gap = (lielab.solve(system, (0, 1), method=method, h=h).y[-1] - exact).reshape(-1, 2, 3)
        assert np.linalg.norm(gap[:, 0]) == pytest.approx(q, abs=1e-12)
        assert np.linalg.norm(gap[:, 1]) == pytest.approx(w, abs=1e-12)


@pytest.mark.parametrize("method", ["ELN", "RATTLE"])
@pytest.mark.parametrize("name", CASES)
def test_order(name, method):
    system, y = case(name)
    steps = [256, 384, 512, 768, 1024, 1536]
    study = diagnostics.order(system, method, t_end=0.5, y0=y, steps=steps)
    assert study.points >= 4, study.message
    assert study.order == pytest.approx(2.0, abs=0.05)


@pytest.mark.parametrize("name", CASES)
def test_mass_matrix_belongs_to_the_energy(name):
    system = CASES[name][0]
    np.testing.assert_allclose(
        system.formulations["spheres"].mass(), mass_matrix(system), rtol=1e-9
    )


@pytest.mark.parametrize("name", CASES)
def test_symplectic_symmetric_and_on_the_manifold(name):
    """Errata C29: RATTLE is symplectic; ELN where the mass matrix is diagonal, a splitting then, and else not."""
    system, y = case(name)
    h = 0.005 if name in ("chain", "dipoles") else 0.02
    assert diagnostics.symplecticity(system, "RATTLE", h, y) < 1e-10
    eln = diagnostics.symplecticity(system, "ELN", h, y)
    assert (eln < 1e-10) if name in ("pendulum", "dipoles") else (eln > 1e-6)
    for method in ("ELN", "RATTLE"):
        assert diagnostics.symmetry(system, method, h, y, steps=5) < 1e-11
        assert diagnostics.reversibility(system, method, h, y, steps=5) < 1e-11
        sol = lielab.solve(system, (0, 2000 * h), y, method=method, h=h, save_every=10)
        assert sol.success, sol.message
        assert sol.defect().max() < 1e-12


@pytest.mark.parametrize("name", ["pendulum", "double", "chain"])
def test_vertical_momentum(name):
    system, y = case(name)
    for method, kept in (("RATTLE", True), ("ELN", name == "pendulum")):
        sol = lielab.solve(system, (0, 20), y, method=method, h=0.01)
        vertical = sol.invariants()["vertical momentum"]
        assert (np.abs(vertical - vertical[0]).max() < 1e-11) == kept, method


def test_eln_wanders_on_the_double_pendulum():
    """Errata C31: "comparable to RATTLE" holds over T = 200 only."""
    system = DoubleSphericalPendulum()
    means = {}
    for method in ("ELN", "RATTLE"):
        sol = lielab.solve(system, (0, 2000), method=method, h=0.01, save_every=10)
        error = sol.energy() - sol.energy()[0]
        means[method] = np.ptp([block.mean() for block in np.array_split(error, 20)])
    assert means["ELN"] > 0.05
    assert means["RATTLE"] < 0.005


def test_eln_with_the_cayley_map():
    """The option is there on spheres too: another turn of the same axis, second order as well."""
    system, y = case("double")
    ends = [
        lielab.solve(system, (0, 0.5), y, method="ELN", h=h, retraction="cay").y[-1]
        for h in (0.01, 0.005, 0.0025)
    ]
    ratio = np.abs(ends[0] - ends[1]).max() / np.abs(ends[1] - ends[2]).max()
    assert ratio == pytest.approx(4.0, abs=0.15)
    plain = lielab.solve(system, (0, 0.5), y, method="ELN", h=0.01).y[-1]
    assert np.abs(plain - ends[0]).max() > 1e-5


def test_rattle_has_no_solution_beyond_its_reach():
    """Errata C33: at h = 2^-4 the dipoles turn further than asin can say."""
    sol = lielab.solve(MagneticDipoles(), (0, 1), method="RATTLE", h=2.0**-4)
    assert not sol.success
    assert "did not converge" in sol.message
    assert lielab.solve(MagneticDipoles(), (0, 1), method="RATTLE", h=2.0**-6).success


def test_lift_and_se3_action_side_by_side():
    """Both keep |q|; only SE(3) keeps q . w; the energy errors are alike (ortolan 7.2.1, RKMK4, T = 200)."""
    system = SphericalPendulum()
    found = {}
    for action in ("lift", "TS2"):
        # the reference cuts dexpinv on the lift after two commutators
        cut = {"commutators": 2} if action == "lift" else {}
        run = {"method": "RKMK4", "h": 0.01, "action": action, "save_every": 10, **cut}
        sol = lielab.solve(system, (0, 200), **run)
        q, w = sol.q, sol.w
        across = np.abs((q * w).sum(1)).max()
        found[action] = across, np.abs(sol.energy() - sol.energy()[0]).max()
        assert np.abs(np.linalg.norm(q, axis=1) - 1).max() < 1e-13
    assert found["lift"][0] == pytest.approx(9.67e-8, rel=2e-3)  # three digits are stated
    assert found["TS2"][0] < 1e-12
    assert 1e-7 < found["TS2"][1] < 1e-5
    assert found["lift"][1] == pytest.approx(1.29e-6, rel=4e-3)


@pytest.mark.parametrize(
    "make",
    [
        lambda s: PointVortices((1.0, 2.0, -1.5, 0.7), isotropy=s),
        lambda s: LandauLifshitz(4, anisotropy=0.3, isotropy=s),
    ],
    ids=["vortices", "spins"],
)
def test_isotropy_is_a_choice(make):
    """Errata C32: f + s q has the same flow and is another method; the order stays."""
    ends = {}
    for s in (0.0, 1.5):
        system = make(s)
        ends[s] = [lielab.solve(system, (0, 2), method="RKMK4", h=h).y[-1] for h in (0.1, 0.001)]
        study = diagnostics.order(system, "RKMK4", t_end=2.0, steps=(32, 48, 64, 96, 128, 192))
        assert study.order == pytest.approx(4.0, abs=0.05), study.message
    np.testing.assert_allclose(ends[0.0][1], ends[1.5][1], atol=1e-11)
    assert np.abs(ends[0.0][0] - ends[1.5][0]).max() > 1e-9


def test_refused_where_nothing_fits():
    with pytest.raises(ValueError, match="needs the formulation 'rigid_body' or 'spheres'"):
        lielab.solve(PointVortices(), (0, 1), method="RATTLE", h=0.1)
    with pytest.raises(ValueError, match="whole number of equal steps"):
        lielab.solve(SphericalPendulum(), (0, 1), method="ELN", h=0.3)
