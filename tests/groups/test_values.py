"""Values of the maps at one point, from independent implementations, to round-off."""

from __future__ import annotations

import cmath
import json
from pathlib import Path

import numpy as np

from lielab import control, se3, so3
from lielab.actions import SE3_ON_TS2
from lielab.groups import phi
from lielab.systems import Pendulum3D

VALUES = json.loads((Path(__file__).parent / "values.json").read_text())
ROUND = 5e-16
MAPS = ("exp", "cay", "dexp", "dexpinv", "dcay", "dcayinv")


def close(value, expected, atol=ROUND):
    np.testing.assert_allclose(value, expected, rtol=0, atol=atol)


def test_maps_of_so3():
    for paper in ("ortolan", "fan"):
        x = np.array(VALUES[paper]["x"])
        for name in MAPS:
            close(getattr(so3, name)(x), VALUES[paper][name])


def test_the_slope_of_the_dual_tangent_map():
    """d/dx of dtauinv_x^T m, m frozen."""
    x, m = np.array(VALUES["fan"]["x"]), np.array(VALUES["fan"]["m"])
    for name in ("exp", "cay"):
        d = control.DiscreteSystem(Pendulum3D(), 0.01, name)
        close(d.dual_slope(x, m), VALUES["fan"][f"Dd{name}inv_T_m"])


def test_rotations_and_motions():
    known = VALUES["celledoni"]
    u, v = np.array(known["u"]), np.array(known["v"])
    A, a = u[:3], v[:3]
    close(so3.exp(A), known["expSO3(u[:3])"])
    close(so3.exp(A) @ a, known["rot(u[:3],v[:3])"])
    close(so3.cay(A), known["cay3"])
    close(so3.dexp(A) @ a, known["dexp3"])
    close(so3.dexpinv(A) @ a, known["dexpinv3"])
    close(so3.dcayinv(A) @ a, known["dcayinv3"])
    close(se3.parts(se3.exp(u))[1], known["V(A)a"])
    close(se3.bracket(u, v), known["br6"])
    close(se3.dexpinv(u) @ v, known["dexpinv6"])
    close(SE3_ON_TS2.dexpinv(u, v), known["dexpinv6"])
    close(se3.Ad(se3.exp(u)) @ v, known["act_Ad(u,v)"])
    close(se3.Ad(se3.cay(u)) @ v, known["cay6(u) acting on v"])
    close(se3.dcayinv(u) @ v, known["dcayinv6"])
    close(se3.dexpinv([4.0, -3.0, 1.0, 1.0, 2.0, -1.0]) @ v, known["large dexpinv6"], 2e-15)


def test_the_coefficients_of_dexpinv():
    """g2 and g2~ of celledoni 2.3 for phi(z) = z/(e^z - 1)."""
    alpha = float(np.linalg.norm(VALUES["celledoni"]["u"][:3]))

    def bernoulli(z):
        return z / (cmath.exp(z) - 1)

    def slope(z):
        return (1 - bernoulli(z) * cmath.exp(z)) / (cmath.exp(z) - 1)

    _, g2, _, g2_tilde = phi.coefficients(bernoulli, slope, phi.dexpinv_series(), alpha)
    close([g2, g2_tilde], VALUES["celledoni"]["g2 g2~"], 3e-15)
