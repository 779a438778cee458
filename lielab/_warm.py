"""Fill the compile cache in one process; see `lielab.warm`."""

from __future__ import annotations

import numpy as np

from . import methods, so3, solve, systems


def warm() -> None:
    """Run every compiled method once on every built-in system, and every function of the groups."""
    u, R = np.array([0.1, 0.2, 0.3]), so3.identity()
    for batch in ((), (2,)):
        vector, element = np.broadcast_to(u, (*batch, 3)), np.broadcast_to(R, (*batch, 3, 3))
        for name in ("hat", "exp", "ad", "coad", "dexp", "dexpinv", "cay", "dcay", "dcayinv"):
            getattr(so3, name)(vector)
        for name in ("log", "Ad", "coAd", "cayinv", "inverse"):
            getattr(so3, name)(element)
        so3.bracket(vector, vector)
        so3.compose(element, element)
        so3.distance(element, element)
    examples = (
        systems.FreeRigidBody(),
        systems.FreeRigidBody(attitude=True),
        systems.SphericalPendulum(),
    )
    for system in examples:
        for method in methods().values():
            if method.needs in system.formulations:
                fixed = {} if method.family == "classical" and method.embedded else {"h": 0.01}
                solve(system, (0.0, 0.01), method=method, **fixed)
    # One step of one method compiles the kernels of a system; the loops are compiled by then.
    for system in _systems():
        sol = solve(system, (0.0, 1e-3), method="RKMK4", h=1e-3)
        sol.energy()
        sol.invariants()


def _systems() -> tuple[systems.System, ...]:
    """The other systems that the chapters use; the rest are compiled where they are used first."""
    return (
        *(systems.HeavyTop(form) for form in ("right", "left", "se3dual", "quadratic")),
        systems.DoubleSphericalPendulum(),
        systems.PendulumChain(),
        systems.PendulumChain(formulation="momentum"),
    )
