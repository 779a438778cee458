"""Reference values of the systems, and one example of each system with a generic state.

The states were computed in 80-bit arithmetic and agree with DOP853 and a second formulation; see the conventions there.
"""

import json
from pathlib import Path

import numpy as np

from lielab import systems

REFERENCES = json.loads((Path(__file__).parent / "references.json").read_text())
OPEN_LOOP = (0.5, -0.2, -9.0, 0.02, -0.01, 0.03, -0.4, 0.3, -8.5, -0.01, 0.02, 0.01)


def bumpy_metric(x, p):
    scale = 1.0 + 0.3 * np.sin(2.0 * x[0])
    return np.array(
        [
            [scale + 0.1 * x[0] * x[0], 0.1 * x[0] * x[1], 0.1 * x[0] * x[2]],
            [0.1 * x[0] * x[1], 1.69 * scale + 0.1 * x[1] * x[1], 0.1 * x[1] * x[2]],
            [0.1 * x[0] * x[2], 0.1 * x[1] * x[2], 0.49 * scale + 0.1 * x[2] * x[2]],
        ]
    )


def bumpy_potential(x, p):
    return p[0] * np.exp(x[0] * x[1])


def tilted_potential(R, p):
    return p[0] * R[0, 2] + R[1, 1] ** 2


EXAMPLES = {
    "body": systems.FreeRigidBody(),
    "body with attitude": systems.FreeRigidBody(attitude=True),
    "top right": systems.HeavyTop("right"),
    "top left": systems.HeavyTop("left"),
    "top se3dual": systems.HeavyTop("se3dual"),
    "top quadratic": systems.HeavyTop("quadratic"),
    "pendulum": systems.SphericalPendulum(),
    "double pendulum": systems.DoubleSphericalPendulum((2.0, 0.7), (0.8, 1.3)),
    "chain": systems.PendulumChain(4, (1.0, 0.5, 2.0, 0.8), (0.6, 1.1, 0.9, 1.4)),
    "chain in momenta": systems.PendulumChain(
        4, (1.0, 0.5, 2.0, 0.8), (0.6, 1.1, 0.9, 1.4), formulation="momentum"
    ),
    "dipoles": systems.MagneticDipoles(2, 3),
    "vortices": systems.PointVortices((1.0, -0.5, 2.0, 0.0, 0.7)),
    "spins": systems.LandauLifshitz(5, anisotropy=0.3),
    "ring of spins": systems.LandauLifshitz(4, exchange=-0.8, field=(0, 0, 0), ring=True),
    "ellipsoid": systems.EllipsoidParticle((1.2, 1.2, 0.7)),
    "hyperbolic plane": systems.ParticleOnHyperbolicPlane(1.3, 0.7),
    "own metric": systems.ParticleOnSphere(bumpy_metric, bumpy_potential, p=(0.4,)),
    "well": systems.RigidBodyInWell(),
    "own potential": systems.RigidBodyInPotential((1.0, 2.0, 2.5), tilted_potential, p=(0.5,)),
    "3D pendulum": systems.Pendulum3D(),
    "quadrotor with load": systems.QuadrotorWithLoad(),
    "two quadrotors": systems.TwoQuadrotors(),
    "fish": systems.ConnectedBodies(),
    "fish in velocities": systems.ConnectedBodies("lagrangian"),
}


def generic(system, seed=0):
    """A state away from every symmetry: the system's own, stirred and projected."""
    rng = np.random.default_rng(seed)
    y = system.y0
    careful = (systems.QuadrotorWithLoad, systems.ParticleOnHyperbolicPlane)
    scale = 0.02 if isinstance(system, careful) else 0.3
    return np.asarray(system.project(y + scale * rng.standard_normal(len(y))))


def velocity(system, y, t=0.0):
    """y' of the action formulation."""
    form = system.formulations["action"]
    return form.action.generator(form.field(t, y, form.params), y)
