"""A reader's program as a type checker in strict mode sees it; `tests/test_typing.py` runs one over it.

Nothing here is executed. Each function promises a type: where the package says nothing of what it returns, or refuses
a call that works, that is an error; where it must refuse, the comment that expects the error is one if there is none.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

import lielab
import lielab.diagnostics
from lielab import Event, control, cotangent_so3, quaternions, se2, se3, so2, so3
from lielab.explore import explore
from lielab.plotting import figure
from lielab.systems import ActionSystem, FreeRigidBody, HeavyTop, SphericalPendulum

Array: TypeAlias = npt.NDArray[np.float64]


def of_rotations(u: Array, R: Array) -> list[Array]:
    return [
        *(so3.hat(u), so3.vee(R), so3.exp(u), so3.log(R), so3.Ad(R), so3.ad(u), so3.coAd(R)),
        *(so3.bracket(u, u), so3.compose(R, R), so3.inverse(R), so3.project(R), so3.identity()),
        *(so3.dexp(u), so3.dexpinv(u), so3.dexp_left(u), so3.dexpinv_series(u, 4), so3.cay(u)),
        *(so3.interpolate(R, R, 0.5), so3.mean([R, R]), so3.random(0), so3.align(R, R)),
        *(so3.from_euler(u, "XYZ"), so3.to_euler(R, "XYZ")[0], so3.from_directions(u, u)),
    ]


def exponential(u: Array) -> Array:
    return so3.exp(u)


def by_name(u: Array, R: Array) -> Array:
    return so3.compose(so3.exp(u=u), S=so3.cay([0.1, 0.2, 0.3])) @ so3.log(R=R)


def of_motions(u: Array) -> Array:
    return se3.log(se3.compose(se3.exp(u), se3.from_parts(np.eye(3), [1.0, 0.0, 0.0])))


def of_others(u: Array) -> list[Array]:
    return [
        so2.exp(u[:1]),
        se2.dexpinv(u),
        quaternions.exp(u),
        quaternions.ad(u),
        quaternions.mean([u]),
    ]


def dual(u: Array) -> list[Array]:
    return [cotangent_so3.log(cotangent_so3.exp(u)), cotangent_so3.dexpinv(u)]


def of_products(u: Array) -> Array:
    G = lielab.product(so3, lielab.rn(3))
    log: Array = G.log(G.identity())
    return G.Ad(G.exp(u)) @ G.dexpinv(u) @ G.dexpinv_series(u, order=3) @ log


def of_matrices(u: Array) -> list[Array]:
    G = lielab.special_linear(2)
    return [G.dexp_left(u), G.log(G.exp(u)), G.mean([G.identity()]), G.dexpinv_series(u, 3)]


def how_far(R: Array) -> float:
    far: float = so3.distance(R, np.eye(3))
    return far


def misused(u: Array) -> None:
    so3.exp(u, u)  # type: ignore[call-overload]
    so3.compose(u)  # fits by name only: the second argument is missed when it runs
    so3.dexp_left(v=u)  # type: ignore[call-arg]
    text: str = so3.exp(u)  # type: ignore[assignment]
    lielab.solve(u, (0, 1))  # type: ignore[arg-type]
    print(text)


def of_a_solution() -> Array:
    top = HeavyTop("left")
    sol = lielab.solve(top, (0, 1), method="RKMK4", h=0.01, events=Event(lambda t, y: y[0]))
    state = sol(0.5) + sol.y[-1]
    counts: int = sol.nfev + sol.nsteps
    message: str = sol.message
    print(counts, message, sol.success, sol.energy(), sol.defect(), sol.invariants()["energy"])
    return np.concatenate([state, sol.t, sol.R.ravel()])


def of_many() -> list[Array]:
    body = FreeRigidBody()
    many = lielab.solve_many(body, [body.y0, body.y0], (0, 1), "RKMK4", h=0.1)
    solver = lielab.prepare(SphericalPendulum(), "RKMK54")
    one: lielab.Solution = solver.run((0, 1))
    return [many.y, many[0].y, one.t]


def field(t: float, y: Array, p: Array) -> Array:
    return np.array([0.0, p[0], t])


def of_a_system() -> float:
    system = ActionSystem(lielab.actions.SO3_ON_S2, field, (1.0, 0.0, 0.0), p=(1.0,))
    study = lielab.diagnostics.order(system, "RKMK4")
    table: lielab.SweepResult = lielab.sweep(lambda h: h, [0.1, 0.2])
    print(table.values, lielab.methods()["RKMK4"].order, lielab.compose("LieMidpoint", "yoshida4"))
    return study.order


def regulated() -> list[Array]:
    pendulum = lielab.systems.Pendulum3D(control="constant", inputs=(0.0, 0.0, 0.0))
    up = pendulum.pack(R=so3.exp([np.pi, 0, 0]), p=np.zeros(3))
    A, B = control.linearize(pendulum, up, np.zeros(3), 0.02)
    K, _ = control.lqr(A, B, np.eye(6), np.eye(3), steps=10)
    run = control.track(pendulum, (up, np.zeros(3)), np.eye(6), np.eye(3), y0=up, h=0.02, steps=9)
    return [A, B, K, run.y, run.u, run.error]


def shown() -> None:
    fig, ax = figure()
    explore(lambda n: fig, n=[1, 2])
