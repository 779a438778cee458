"""SO(3)^n on (S^2)^n: each direction has a rotation of its own (point vortices, spins)."""

from __future__ import annotations

from ..core.jit import jit
from ..core.round_off import mend_unit
from ..groups.so3 import cay_core, cross_core, dcayinv_core, dexpinv_core, exp_core, mul_core
from .action import Action, sample_sphere
from .rotations import project_sphere, sphere_distance


@jit
def so3n_exp(u, y, out):
    for k in range(0, len(y), 3):
        g = exp_core(u[k], u[k + 1], u[k + 2])
        out[k], out[k + 1], out[k + 2] = mul_core(g, (y[k], y[k + 1], y[k + 2]))
        mend_unit(out, k, 3)


@jit
def so3n_cay(u, y, out):
    for k in range(0, len(y), 3):
        g = cay_core(u[k], u[k + 1], u[k + 2])
        out[k], out[k + 1], out[k + 2] = mul_core(g, (y[k], y[k + 1], y[k + 2]))
        mend_unit(out, k, 3)


@jit
def so3n_cross(u, v, out):
    """u x v block by block: the generator, and the bracket."""
    for k in range(0, len(u), 3):
        c = cross_core((u[k], u[k + 1], u[k + 2]), (v[k], v[k + 1], v[k + 2]))
        out[k], out[k + 1], out[k + 2] = c


@jit
def so3n_dexpinv(u, v, out):
    for k in range(0, len(u), 3):
        c = dexpinv_core((u[k], u[k + 1], u[k + 2]), (v[k], v[k + 1], v[k + 2]))
        out[k], out[k + 1], out[k + 2] = c


@jit
def so3n_dcayinv(u, v, out):
    for k in range(0, len(u), 3):
        c = dcayinv_core((u[k], u[k + 1], u[k + 2]), (v[k], v[k + 1], v[k + 2]))
        out[k], out[k + 1], out[k + 2] = c


SO3N_ON_SPHERES = Action(
    name="SO(3)^n on (S^2)^n",
    group="SO(3)^n",
    manifold="(S^2)^n (unit vectors)",
    algebra=3,
    point=3,
    dimension=2,
    exp_act=so3n_exp,
    dexpinv=so3n_dexpinv,
    bracket=so3n_cross,
    generator=so3n_cross,
    cay_act=so3n_cay,
    dcayinv=so3n_dcayinv,
    blocks=True,
    distance=sphere_distance,
    nearest=project_sphere,
    sample=sample_sphere(3),
)
