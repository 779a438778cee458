"""Fill the compile cache in one process; see `lielab.warm`."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import actions, control, methods, quaternions, se2, se3, so2, so3, solve, solve_many, systems
from .actions.action import KERNELS
from .core.jit import ACT, ENABLED, compiled

_OF_VECTORS = ("hat", "exp", "ad", "coad", "dexp", "dexpinv", "cay", "dcay", "dcayinv")
_OF_ELEMENTS = ("log", "Ad", "coAd", "cayinv", "inverse", "ccskinv", "rotation")
_SECOND_KIND = ("ccsk", "dccsk", "dccskinv")


def warm() -> None:
    """Run every compiled method once on every built-in system, and every function of the groups."""
    for group in (so2, se2, so3, se3, quaternions):
        _group(group)
    quaternions.from_rotation(so3.identity((2,)))
    for action in vars(actions).values():
        if isinstance(action, actions.Action) and ENABLED:
            for name in KERNELS:
                if getattr(action, name) is not None:
                    compiled(getattr(action, name).into, ACT)
    examples = (
        systems.FreeRigidBody(),
        systems.FreeRigidBody(attitude=True),
        systems.SphericalPendulum(),
    )
    for system in examples:
        for method in methods().values():
            if method.formulation(system):
                fixed = {} if method.family == "classical" and method.embedded else {"h": 0.01}
                solve(system, (0.0, 0.01), method=method, **fixed)
    # The call that does many runs, for the family of most methods; others compile theirs, in half a second, where used.
    body = examples[1]
    solve_many(body, body.y0[None], (0.0, 0.01), "RKMK4", h=0.01)
    # One step of one method compiles the kernels of a system; the loops are compiled by then.
    for system in _systems():
        sol = solve(system, (0.0, 1e-3), method="RKMK4", h=1e-3)
        sol.energy()
        sol.invariants()
    for method in ("VLV", "TLN"):  # the well's torque and its derivative
        solve(systems.RigidBodyInWell(), (0.0, 0.1), method=method, h=0.1)
    solve(systems.DoubleSphericalPendulum(), (0.0, 0.01), method="RATTLE", h=0.01)
    # The free body has compiled SLGI, LGVI and the leapfrog on groups; here it is on the sphere, and with constraints.
    solve(systems.EllipsoidParticle(), (0.0, 0.05), method="RiemannianLeapfrog", h=0.05)
    solve(systems.QuadrotorWithLoad(), (0.0, 0.01), method="LGVI", h=0.01)
    _closed_loop()


def _closed_loop() -> None:
    """Linearization, regulator and loop of the pendulum at its upper equilibrium."""
    pendulum = systems.Pendulum3D(control="constant", inputs=(0.0, 0.0, 0.0))
    upright = pendulum.pack(R=so3.exp([np.pi, 0.0, 0.0]), p=np.zeros(3))
    weights = np.eye(6), np.eye(3)
    control.track(pendulum, (upright, np.zeros(3)), *weights, y0=upright, h=0.02, steps=2)


def _group(group: Any) -> None:
    """Every function of a group, for one element and for a batch."""
    for batch in ((), (2,)):
        u = np.full((*batch, group.dim), 0.1)
        g = group.exp(u)
        for name in (*_OF_VECTORS, *_SECOND_KIND):
            if hasattr(group, name):
                getattr(group, name)(u)
        for name in _OF_ELEMENTS:
            if hasattr(group, name):
                getattr(group, name)(g)
        group.bracket(u, u)
        group.compose(g, g)
        group.distance(g, g)


def _systems() -> tuple[systems.System, ...]:
    """The other systems that the chapters use; the rest are compiled where they are used first."""
    return (
        *(systems.HeavyTop(form) for form in ("right", "left", "se3dual", "quadratic")),
        systems.DoubleSphericalPendulum(),
        systems.PendulumChain(),
        systems.PendulumChain(formulation="momentum"),
    )
