"""A million steps: what stays, for every method on the free body and for the structured ones in a potential.

Which methods bring the attitude back onto SO(3), and the cost in momentum: all of them, in each step; for the RKMK and
commutator-free methods and the leapfrog the march does it, where the action says that rotations are. A turn that is the
same in every step rounds the same way each time: without that the defect grows to 1e-10, with it the momentum moves by
2e-12.
"""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

import lielab
from benchmarks import long_run
from lielab import matrix_group, se2, se3, so3, special_linear, special_orthogonal, symplectic
from lielab.actions import (
    QUATERNIONS_ON_S3,
    SE2_ON_SE2,
    SE3_ON_SE3,
    SE3_ON_SE3_RIGHT,
    SE3_ON_TS2,
    SO2_ON_S1,
    SO3_ON_S2,
    SO3_ON_SO3,
    SO3_R3_ON_S2_R3,
    SO3N_ON_SPHERES,
    cotangent_action,
    matrix_action,
    product_action,
    quadrotors_action,
    rn_on_rn,
    so_n_on_sphere,
    so_n_on_stiefel,
)
from lielab.study.structure import line
from lielab.systems import (
    ActionSystem,
    DoubleSphericalPendulum,
    EllipsoidParticle,
    FreeRigidBody,
    HeavyTop,
    Pendulum3D,
    RigidBodyInWell,
    SphericalPendulum,
)

MILLION, KEPT = 1_000_000, 1e-11
FREE = FreeRigidBody((1.0, 2.0, 2.5), attitude=True)
R0 = so3.exp([0.3, -0.2, 0.5]).ravel()
# These lose R mu by construction, not by round-off.
NO_MOMENTUM = {"ELN", "TLN", "LieNewmark", "Algo1"}
QUICK = [
    "ELN",
    "VLV",
    "RATTLE",
    "SimoWong",
    "LieEuler",
    "RKMK4",
    "CF4",
    "CG3",
    "LGVI",
    "RiemannianLeapfrog",
]
LIE_GROUP = {"RKMK", "commutator-free", "Crouch-Grossman", "implicit RKMK"}
REST = [
    m.name
    for m in lielab.methods().values()
    if m.family in {*LIE_GROUP, "rigid body", "variational", "cotangent"}
    and m.formulation(FREE)
    and m.name not in QUICK
]


TUMBLING, STEADY = [0.6, -0.8, 1.1], [0.0, 0.0, 1.1]  # STEADY: the same turn in every step


def check(method, *starts):
    for mu in starts:
        sol = lielab.solve(
            FREE,
            (0, 0.2 * MILLION),
            np.concatenate([R0, mu]),
            method=method,
            h=0.2,
            save_every=MILLION // 100,
        )
        assert sol.success, sol.message
        assert sol.defect().max() < 1e-14
        momentum = sol.invariants()["spatial momentum"]
        change = np.abs(momentum - momentum[0]).max()
        assert (change < KEPT) or (method in NO_MOMENTUM and change < 0.01)


@pytest.mark.parametrize("method", QUICK)
def test_free_body(method):
    check(method, TUMBLING, STEADY)


@pytest.mark.slow
@pytest.mark.parametrize("method", REST)
def test_free_body_of_all_others(method):
    check(method, STEADY)


WITHOUT_GRAVITY = {
    "top right": HeavyTop("right", (1.0, 2.0, 2.5), 1.0, 0.3, (0.0, 0.0, 1.0), (0.0, 0.0, 0.0)),
    "top left": HeavyTop("left", (1.0, 2.0, 2.5), 1.0, 0.3, (0.0, 0.0, 1.0), (0.0, 0.0, 0.0)),
    "3D pendulum": Pendulum3D((1.0, 2.0, 2.5), g=0.0),
}


@pytest.mark.parametrize("name", WITHOUT_GRAVITY)
def test_equal_turns_under_the_actions_of_the_top(name):
    system = WITHOUT_GRAVITY[name]
    momentum = R0.reshape(3, 3) @ STEADY if name == "top right" else STEADY
    y0 = np.concatenate([R0, momentum])
    sol = lielab.solve(
        system, (0, 0.2 * MILLION), y0, method="RKMK4", h=0.2, save_every=MILLION // 100
    )
    assert sol.success, sol.message
    assert sol.defect().max() < 1e-14
    assert np.abs(sol.energy() - sol.energy()[0]).max() < KEPT


@pytest.mark.parametrize(
    "action",
    [SE3_ON_SE3, SE3_ON_SE3_RIGHT, product_action(rn_on_rn(2), SO3_ON_SO3), quadrotors_action(1)],
    ids=lambda action: action.name,
)
def test_equal_turns_wherever_the_rotation_stands(action):
    rate = np.linspace(0.3, 1.1, action.algebra) * (1.0 if action.group == "SE(3)" else 0.0)
    turns = {6: slice(0, 3), 5: slice(2, 5), 18: slice(6, 9)}[action.algebra]  # the part in so(3)
    rate[turns] = [0.0, 0.3, 1.1]
    y0 = action.sample(np.random.default_rng(4))
    system = ActionSystem(action, lambda t, y, p: p.copy(), tuple(y0), p=tuple(rate))
    sol = lielab.solve(system, (0, 0.2 * MILLION), method="RKMK4", h=0.2, save_every=MILLION // 100)
    assert sol.success, sol.message
    first, row = action.rotations[0]
    R = np.stack([sol.y[:, first + row * i : first + row * i + 3] for i in range(3)], axis=1)
    assert np.abs(np.swapaxes(R, 1, 2) @ R - np.eye(3)).max() < 1e-14


def constant(t, y, p):
    return p.copy()


def steady(action, rate, y0=None):
    """A million equal motions under the action."""
    y0 = action.sample(np.random.default_rng(4)) if y0 is None else y0
    system = ActionSystem(action, constant, tuple(y0), p=tuple(map(float, rate)))
    sol = lielab.solve(
        system, (0, 0.01 * MILLION), method="LieEuler", h=0.01, save_every=MILLION // 100
    )
    assert sol.success, sol.message
    return sol


@pytest.mark.parametrize(
    "action",
    [
        SO2_ON_S1,
        QUATERNIONS_ON_S3,
        SE2_ON_SE2,
        SO3_ON_S2,
        SO3N_ON_SPHERES,
        SE3_ON_TS2,
        SO3_R3_ON_S2_R3,
        product_action(QUATERNIONS_ON_S3, SO2_ON_S1),
    ],
    ids=lambda action: action.name,
)
def test_equal_motions_stay_on_the_manifold(action):
    """Unit quaternions, circles, SE(2), directions: where nothing brings them back, off by 1e-10 at the end."""
    sol = steady(action, np.linspace(0.3, 1.1, action.algebra)[::-1])
    assert (sol.defect() / np.abs(sol.y).max(axis=-1)).max() < 2e-14


def unit(n, i, j):
    E = np.zeros((n, n))
    E[i, j] = 1.0
    return E


LORENTZ = matrix_group(
    [unit(3, 1, 0) - unit(3, 0, 1), unit(3, 0, 2) + unit(3, 2, 0), unit(3, 1, 2) + unit(3, 2, 1)]
)
# A group, the rate of a motion that stays bounded, and what is kept: forms from the left or the right
OF_A_BASIS = {
    "SO(4)": (special_orthogonal(4), [0.3, 0.7, 1.1, 0.2, -0.4, 0.9]),
    "SL(2)": (special_linear(2), [1.0, -1.3, 0.2]),
    "Sp(4)": (
        symplectic(2),
        symplectic(2).vee(
            np.block([[np.zeros((2, 2)), np.eye(2)], [-np.diag([1.0, 1.7]), np.zeros((2, 2))]])
        ),
    ),
    "SE(2), nothing but its basis": (matrix_group(se2.hat(np.eye(3))), [1.1, 0.3, 0.7]),
    "SE(3), nothing but its basis": (matrix_group(se3.hat(np.eye(6))), [0, 0, 1.1, 0.4, 0.3, 0.0]),
    "SO(2, 1), nothing but its basis": (LORENTZ, [1.1, 0.3, 0.7]),
}


def off(name, g):
    if "SE" in name:
        R = g[..., :-1, :-1]
        return np.abs(np.swapaxes(R, -1, -2) @ R - np.eye(R.shape[-1])).max()
    if "1)" in name:
        P = np.diag([1.0, 1.0, -1.0])
        return np.abs(np.swapaxes(g, -1, -2) @ P @ g - P).max()
    return OF_A_BASIS[name][0].defect(g).max()


@pytest.mark.parametrize("name", OF_A_BASIS)
def test_equal_motions_on_a_group_from_a_basis(name):
    group, rate = OF_A_BASIS[name]
    sol = steady(matrix_action(group), rate, np.eye(group.shape[0]).ravel())
    assert off(name, sol.y.reshape(-1, *group.shape)) < 1e-13


@pytest.mark.parametrize(
    "name", [pytest.param("SL(2)", marks=pytest.mark.slow), "SE(2), nothing but its basis"]
)
def test_equal_motions_on_the_cotangent_bundle(name):
    group, rate = OF_A_BASIS[name]
    k = group.shape[0] ** 2
    y0 = np.append(np.eye(group.shape[0]), np.zeros(group.dim))
    sol = steady(cotangent_action(group), [*rate, *np.zeros(group.dim)], y0)
    assert off(name, sol.y[:, :k].reshape(-1, *group.shape)) < 1e-13


@pytest.mark.parametrize("action", [so_n_on_sphere(5), so_n_on_stiefel(4, 2)], ids=lambda a: a.name)
def test_equal_turns_in_more_dimensions(action):
    assert steady(action, np.linspace(-1.0, 1.1, action.algebra)).defect().max() < 2e-14


def test_what_is_no_round_off_stays_as_it_is():
    """A start that is off by more is not moved onto the group: the map of a step stays linear there."""
    for action in (QUATERNIONS_ON_S3, matrix_action(special_linear(2)), SE2_ON_SE2, SE3_ON_TS2):
        y = action.sample(np.random.default_rng(1))
        u = np.linspace(0.1, 0.4, action.algebra)
        off_before = float(action.defect(y * (1.0 + 1e-9)))
        assert float(action.defect(action.exp_act(u, y * (1.0 + 1e-9)))) > 0.5 * off_before > 1e-10


def bounded(sol):
    """No trend of the energy error beyond three standard errors of 20 block means."""
    error = sol.energy() - sol.energy()[0]
    blocks = np.array_split(np.arange(len(error)), 20)
    slope, doubt = line(
        np.array([sol.t[i].mean() for i in blocks]), np.array([error[i].mean() for i in blocks])
    )
    return abs(slope) < 3.0 * doubt


POTENTIALS = {
    "well": (RigidBodyInWell(), 0.2, ("VLV", "RATTLE", "SLGI", "LGVI")),
    "top": (
        HeavyTop(
            "right", (1.0, 2.0, 2.5), 1.0, 0.3, (0.6, 0.0, 0.8), (0.0, 0.0, 9.81), (0.3, 1, 2)
        ),
        0.02,
        ("VLV", "RATTLE", "SLGI"),
    ),
    "pendulum": (SphericalPendulum(), 0.01, ("ELN", "RATTLE")),
    "double pendulum": (DoubleSphericalPendulum(), 0.005, ("RATTLE",)),
    "ellipsoid": (EllipsoidParticle(), 0.05, ("RiemannianLeapfrog",)),
}


@pytest.mark.parametrize(
    ("name", "method"),
    [
        *[(name, m) for name, case in POTENTIALS.items() for m in case[2]],
        pytest.param("well", "RiemannianLeapfrog", marks=pytest.mark.slow),
    ],
)
def test_in_a_potential(name, method):
    system, h, _ = POTENTIALS[name]
    sol = lielab.solve(system, (0, h * MILLION), method=method, h=h, save_every=100)
    assert sol.success, sol.message
    assert sol.defect().max() < KEPT
    assert bounded(sol)
    if "vertical momentum" in sol.invariants():
        vertical = sol.invariants()["vertical momentum"]
        assert np.abs(vertical - vertical[0]).max() < 1e-10 * np.abs(sol.y).max()


def test_legs_are_one_run_bit_for_bit_in_flat_memory(tmp_path, root):
    """Stopped after one leg of four and taken up by another process it ends where one call of solve does."""
    steps, rows = 4 * MILLION, 2500
    command = [sys.executable, "-m", "benchmarks.long_run", "--folder", str(tmp_path)]
    command += ["--steps", f"{steps}", "--leg", f"{MILLION}"]

    def started(*more):
        done = subprocess.run([*command, *more], cwd=root, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert started("--stop-after", "1").startswith("     1,000,000 steps")
    said = started()
    assert "1,000,000 steps" not in said.split("2,000,000 steps")[0]
    found = json.loads(said[said.index("{") :])
    assert found["legs of this process"] == 3
    assert found["leg from its checkpoint"] == "the same bits"
    assert found["verdict"] == "bounded"
    assert abs(found["slope, J/s"]) < 5 * found["its standard error"]
    assert found["largest defect"] < 1e-14
    if sys.platform != "win32":  # all rows would be 400 MB, those of three legs 300
        assert found["peak after, MB"] - found["peak before, MB"] < 16

    whole = lielab.solve(
        long_run.WELL,
        (0, steps * long_run.H),
        method="VLV",
        h=long_run.H,
        save_every=MILLION // rows,
    )
    assert found["final state"] == long_run.digest(whole.y[-1])
    with np.load(tmp_path / "long_run.npz") as kept:
        np.testing.assert_array_equal(kept["states"], whole.y[::rows])
        np.testing.assert_array_equal(kept["energies"].ravel(), whole.energy()[1:])


def test_checkpoints_of_other_runs(tmp_path, capsys):
    """A longer run goes on from a shorter one, a shorter one takes what it needs; other legs are not taken."""
    file = tmp_path / "long_run.npz"
    states = [long_run.WELL.y0 + k for k in range(3)]
    long_run.save(file, states, [np.ones(3), np.zeros(3)], [0.0, 1.0], 100)
    for legs, there in ((4, 2), (1, 1)):
        states, energies, defects = long_run.load(file, 100, legs)
        assert (len(states), len(energies), len(defects)) == (there + 1, there, there)
    assert len(long_run.load(file, 200, 4)[0]) == 1
    assert "legs of another length" in capsys.readouterr().out
    assert [path.name for path in tmp_path.iterdir()] == ["long_run.npz"]


def test_the_chapter_says_what_the_kept_run_found(root):
    found = json.loads(long_run.RESULTS.read_text(encoding="utf-8"))
    chapter = json.loads((root / "book/long_times.ipynb").read_text(encoding="utf-8"))
    text = "".join(line for cell in chapter["cells"] for line in cell["source"])
    assert found["steps"] >= 10**8
    assert f"a run of {found['steps'] // MILLION} million steps" in text
    assert found["leg from its checkpoint"] == "the same bits"
    grown = found["peak after, MB"] - found["peak before, MB"]
    assert grown < 16.0
    page = (root / "book/sweeps.md").read_text(encoding="utf-8")
    assert f"takes {found['steps'] // MILLION} million steps" in page
    assert f"grew by {max(grown, 0.0):.0f} MB, to at most {found['peak after, MB']:.0f} MB" in page
    assert f"the verdict is *{found['verdict']}*" in text
    power = int(np.floor(np.log10(abs(found["slope, J/s"]))))
    slope, doubt = (found[key] / 10.0**power for key in ("slope, J/s", "its standard error"))
    assert f"({slope:.1f} \\pm {doubt:.1f})\\cdot10^{{{power}}}$ J/s" in text
    assert f"a largest error of {1000 * found['largest energy error, J']:.0f} mJ" in text
