"""A body with an offset centre of mass on SE(3): forced, tied, and in the right trivialisation; and two helpers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lielab import so3
from lielab.core.jit import jit
from lielab.core.linear import lu_factor, lu_solve
from lielab.groups import factors as _factors
from lielab.groups.factors import SE3
from lielab.groups.so3 import back_core, cross_core, mul_core
from lielab.systems import CotangentFormulation, LagrangianFormulation, System


@jit
def offset_lagrangian(t, z, p):
    """xi . I xi / 2 - m g e3 . (x + R rho), with p = m, rho (3), J about the origin (3), g, then damping."""
    m, g = p[0], p[7]
    rho = p[1:4]
    out = np.zeros(1 + 12 + 108)
    mass = np.zeros((6, 6))
    for i in range(3):
        mass[i, i], mass[3 + i, 3 + i] = p[4 + i], m
    for a, b, c in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):  # |v + W x rho|^2: W . (rho x v)
        mass[a, 3 + c], mass[3 + c, a] = -m * rho[b], -m * rho[b]
        mass[a, 3 + b], mass[3 + b, a] = m * rho[c], m * rho[c]
    for i in range(6):
        for j in range(6):
            out[7 + i] += mass[i, j] * z[12 + j]
            out[85 + 6 * i + j] = mass[i, j]
        out[0] += 0.5 * out[7 + i] * z[12 + i]
    e = (z[6], z[7], z[8])  # R' e3
    out[0] -= m * g * (z[11] + e[0] * rho[0] + e[1] * rho[1] + e[2] * rho[2])
    # along g exp(A, a): x moves by R a, R rho by R (A x rho); e3 . R v = e . v
    gain = -m * g
    for i in range(3):
        out[4 + i] = gain * e[i]
    out[1] = gain * (rho[1] * e[2] - rho[2] * e[1])
    out[2] = gain * (rho[2] * e[0] - rho[0] * e[2])
    out[3] = gain * (rho[0] * e[1] - rho[1] * e[0])
    # e moves by e x A
    for j in range(3):
        d = np.zeros(3)
        d[(j + 1) % 3] = e[(j + 2) % 3]  # e x e_j
        d[(j + 2) % 3] = -e[(j + 1) % 3]
        out[13 + j] = gain * (rho[1] * d[2] - rho[2] * d[1])
        out[19 + j] = gain * (rho[2] * d[0] - rho[0] * d[2])
        out[25 + j] = gain * (rho[0] * d[1] - rho[1] * d[0])
        for i in range(3):
            out[13 + 6 * (3 + i) + j] = gain * d[i]
    return out


@jit
def offset_cotangent(t, y, p):
    """f1 = Ad_g xi, f2 = Ad*_{g^-1} dL/dg + ad*_{f1} mu: the same body in the right trivialisation, mu in space."""
    z, xi, mass, pivots = np.zeros(18), np.empty(6), np.empty((6, 6)), np.empty(6, np.int64)
    for i in range(12):
        z[i] = y[i]
    r, m, f = (y[9], y[10], y[11]), (y[12], y[13], y[14]), (y[15], y[16], y[17])
    c = cross_core(r, f)
    xi[0], xi[1], xi[2] = back_core(y, (m[0] - c[0], m[1] - c[1], m[2] - c[2]))
    xi[3], xi[4], xi[5] = back_core(y, f)
    d = offset_lagrangian(t, z, p)
    for i in range(6):
        for j in range(6):
            mass[i, j] = d[85 + 6 * i + j]
    lu_factor(mass, pivots)
    lu_solve(mass, pivots, xi)
    W, v = mul_core(y, (xi[0], xi[1], xi[2])), mul_core(y, (xi[3], xi[4], xi[5]))
    c = cross_core(r, W)
    v = (v[0] + c[0], v[1] + c[1], v[2] + c[2])
    # dL/dg at fixed xi is -dH/dg at fixed p
    force = mul_core(y, (d[4], d[5], d[6]))
    moment = mul_core(y, (d[1], d[2], d[3]))
    lever = cross_core(r, force)
    # ad*_(A, a) (m, f) = (m x A + f x a, f x A)
    mW, fv, fW = cross_core(m, W), cross_core(f, v), cross_core(f, W)
    out = np.empty(12)
    for i in range(3):
        out[i], out[3 + i] = W[i], v[i]
        out[6 + i] = moment[i] + lever[i] + mW[i] + fv[i]
        out[9 + i] = force[i] + fW[i]
    return out


def to_space(y):
    """(g, Ad*_{g^-1} p)"""
    y = np.array(y, dtype=float)
    R = y[..., :9].reshape(*y.shape[:-1], 3, 3)
    moment, force = (np.einsum("...ij,...j->...i", R, y[..., k : k + 3]) for k in (12, 15))
    y[..., 12:15], y[..., 15:] = moment + np.cross(y[..., 9:12], force), force
    return y


def to_body(y):
    y = np.array(y, dtype=float)
    R = y[..., :9].reshape(*y.shape[:-1], 3, 3)
    moment = y[..., 12:15] - np.cross(y[..., 9:12], y[..., 15:])
    for k, value in ((12, moment), (15, y[..., 15:].copy())):
        y[..., k : k + 3] = np.einsum("...ji,...j->...i", R, value)
    return y


@jit
def wind(t, z, p):
    """f = -c xi + u + sin(2 t) (R' e1 in the translations), with two inputs on two components."""
    out = np.zeros(6 + 72 + 12)
    c, s = p[8], np.sin(2.0 * t)
    e = (z[0], z[1], z[2])
    for i in range(6):
        out[i] = -c * z[12 + i]
        out[42 + 7 * i] = -c
    for i in range(3):
        out[3 + i] += s * e[i]
    for j in range(3):
        out[6 + 6 * (3 + (j + 2) % 3) + j] = -s * e[(j + 1) % 3]
        out[6 + 6 * (3 + (j + 1) % 3) + j] = s * e[(j + 2) % 3]
    out[1] += z[18]
    out[5] += z[19]
    out[78 + 2], out[78 + 11] = 1.0, 1.0
    return out


@jit
def pushing(t, y, p):
    out = np.empty(2)
    out[0], out[1] = p[9], p[10]
    return out


@jit
def on_a_cable(t, g, p):
    """phi = (|x|^2 - 1)/2 and phi_2 = x_1 + R_11: the origin of the body on a sphere, and coupled to its attitude."""
    out = np.zeros(2 + 12 + 72)
    x, R = g[9:12], g
    out[0] = 0.5 * (x[0] ** 2 + x[1] ** 2 + x[2] ** 2 - 1.0)
    out[1] = x[0] + R[0]
    for j in range(3):
        out[5 + j] = x[0] * R[j] + x[1] * R[3 + j] + x[2] * R[6 + j]  # R' x
        out[11 + j] = R[j]
    out[9], out[10] = -R[2], R[1]  # R e1 -> R (A x e1)
    y = (out[5], out[6], out[7])
    for j in range(3):
        k, l = (j + 1) % 3, (j + 2) % 3
        # R' x moves by (R' x) x A + a, row (3 + i), column j
        out[14 + 6 * (3 + l) + j] = -y[k]
        out[14 + 6 * (3 + k) + j] = y[l]
        out[14 + 6 * (3 + j) + 3 + j] = 1.0
        # row 1 of R is R' e1, it moves by (R' e1) x A
        out[50 + 6 * (3 + l) + j] = -R[k]
        out[50 + 6 * (3 + k) + j] = R[l]
    # -R_13 moves by -(r x A)_3 = -(r1 A2 - r2 A1), R_12 by (r x A)_2 = r3 A1 - r1 A3, with r = (R_11, R_12, R_13)
    out[50 + 6], out[50 + 6 + 1] = R[1], -R[0]
    out[50 + 12], out[50 + 12 + 2] = R[2], -R[0]
    return out


@dataclass(frozen=True)
class OffsetBody(System):
    """The body; `push` turns forces on, `tied` the constraints."""

    push: bool = False
    tied: bool = False

    parts = (("R", (3, 3)), ("x", (3,)), ("moment", (3,)), ("force", (3,)))

    @property
    def params(self):
        return np.array([1.3, 0.2, -0.1, 0.3, 0.9, 1.2, 0.7, 9.81, 0.2, 0.5, -0.4])

    @property
    def y0(self):
        R = so3.exp([0.4, -0.3, 0.5])
        x = np.array([-R[0, 0], 0.0, 0.0])
        x[1:] = np.sqrt(1.0 - x[0] ** 2) * np.array([0.6, -0.8])
        g = np.concatenate([R.ravel(), x])
        xi = np.array([0.3, -0.2, 0.5, 0.1, 0.4, -0.6])
        if self.tied:
            D = on_a_cable(0.0, g, self.params)[2:14].reshape(2, 6)
            xi = xi - D.T @ np.linalg.solve(D @ D.T, D @ xi)
        z = np.concatenate([g, xi])
        return np.concatenate([g, offset_lagrangian(0.0, z, self.params)[7:13]])

    @property
    def formulations(self):
        more = {"force": wind, "control": pushing, "inputs": 2} if self.push else {}
        if self.tied:
            more |= {"constraint": on_a_cable, "constraints": 2}
        free = {
            "cotangent": CotangentFormulation(
                (SE3,), offset_cotangent, self.params, to_space, to_body
            )
        }
        return {
            "lagrangian": LagrangianFormulation((SE3,), offset_lagrangian, self.params, **more)
        } | ({} if more else free)

    def velocity(self, y):
        mass = offset_lagrangian(0.0, np.concatenate([y[:12], np.zeros(6)]), self.params)
        return np.linalg.solve(mass[85:].reshape(6, 6), y[12:])

    def energy(self, y):
        y = np.atleast_2d(y)
        values = []
        for row in y:
            z = np.concatenate([row[:12], self.velocity(row)])
            values.append(row[12:] @ z[12:] - offset_lagrangian(0.0, z, self.params)[0])
        return np.array(values)

    def check(self, y):
        pass

    def defect(self, y):
        return np.zeros(np.shape(y)[:-1])


def slopes(function, n, step=1e-3):
    """Central differences of order 6."""
    columns = []
    for e in np.eye(n):
        parts = ((1, 0.75), (2, -0.15), (3, 1.0 / 60.0))
        columns.append(
            sum(c / step * (function(k * step * e) - function(-k * step * e)) for k, c in parts)
        )
    return np.stack(columns, axis=-1)


def two_form(p, factors):
    """Omega(p) = [[-K, 1], [-1, 0]], K v = ad*_v p, in left-trivialised (eta, dp)."""
    n = len(p)
    K = np.zeros((n, n))
    _factors.coad_of(np.array(factors, dtype=np.int64), p, K)
    return np.block([[-K, np.eye(n)], [-np.eye(n), np.zeros((n, n))]])
