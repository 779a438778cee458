"""Assignment 09: what typical answers earn, and that the master makes the steps of lielab."""

import numpy as np

import lielab
from lielab.systems import EllipsoidParticle, FreeRigidBody
from tests.grading.assignment import AssignmentTests

_NAIVE = """
def curvature(z):
    return (z / np.sin(z) - 1) / z**2, (z / np.tan(z) - 1) / z**2
"""
_STEP = """
def leapfrog_step(G, s, q, v, h):
    def A(q, w):
        g1, g2 = curvature(np.linalg.norm(w))
        P = great_circle(q, w)
        R = (w @ w) * np.eye(3) - np.outer(w, w)
        ahead, behind = G @ w, P.T @ G @ P @ w
        return sharp(G, q, -{f} * (q @ ahead) * w + ahead - {g} * g2 * R @ ahead - behind - {g} * g1 * R @ behind)
    w = start = h * v - h**2 / 2 * sharp(G, q, s)
    for _ in range({sweeps}):
        w = start + A(q, w) / 2
    P = great_circle(q, w)
    q, w = P @ q, P @ w
    return q, w / h - h / 2 * sharp(G, q, s) {sign} A(q, -w) / (2 * h)
"""
_RIGHT = {"f": 1, "g": 1, "sweeps": 30, "sign": "+"}
_GREAT_CIRCLE = """
def leapfrog_step(G, s, q, v, h):
    v = v - h / 2 * sharp(G, q, s)
    P = great_circle(q, h * v)
    q, v = P @ q, P @ v
    return q, v - h / 2 * sharp(G, q, s)
"""
_GENERATING = """
def generating_function(G, s, q1, q2, h):
    def reach(a, b):
        across = b - (a @ b) * a
        size = np.linalg.norm(across)
        return {length} / size * across
    w, back = reach(q1, q2), reach(q2, q1)
    return (w @ G @ w + {back} @ G @ {back}) / (4 * h) - {kick} * (s @ (q1 + q2))
"""
_BODY = """
def lie_poisson_step(J, pi, h):
    w = h * np.linalg.solve(J, pi)
    for _ in range({sweeps}):
        w = w + np.linalg.solve(J, h * pi - {d} @ J @ w)
    return w, pi {sign} np.cross(J @ w, w) / h
"""
_PRINTED = """
def lie_poisson_step(J, pi, h):
    # J w = h pi + A^T J w / 2 with the printed (45), A = ad - (2 - f1/f2 - 1/f2)
    w = h * np.linalg.solve(J, pi)
    for _ in range(60):
        th, X = np.linalg.norm(w) / 2, -hat(w) @ hat(w) / 4
        A = hat(w) - (2 - th / np.tan(th) - th / np.sin(th)) / th**2 * X
        w = np.linalg.solve(J, h * pi + A.T @ J @ w / 2)
    return w, pi + np.cross(J @ w, w) / h
"""


class TestRiemannian(AssignmentTests):
    NAME = "09_riemannian"
    WRONG = {
        "identity": {
            "q1": "def curvature(z): return 1 / 6, -1 / 3",
            "q2": "def sharp(G, q, alpha): return alpha",
            "q3": "def generating_function(G, s, q1, q2, h): return 0.0",
            "q4": "def leapfrog_step(G, s, q, v, h): return q, v",
            "q5": "def lie_poisson_step(J, pi, h): return 0 * pi, pi",
        },
        "inverse of the whole metric": {
            "q2": "def sharp(G, q, alpha): return np.linalg.solve(G, alpha)",
        },
        "printed sharp": {
            "q2": "def sharp(G, q, alpha):\n    y = np.linalg.solve(G, q)\n"
            "    return alpha - (alpha @ y) / (q @ y) * q",
        },
        "solved, then projected": {
            "q2": "def sharp(G, q, alpha):\n    z = np.linalg.solve(G, alpha)\n    return z - (q @ z) * q",
        },
        "chord": {"q3": _GENERATING.format(length="size", back="back", kick="h / 2")},
        "one end only": {
            "q3": _GENERATING.format(length="np.arctan2(size, a @ b)", back="w", kick="h / 2")
        },
        "one kick too few": {
            "q4": "def leapfrog_step(G, s, q, v, h):\n    P = great_circle(q, h * v)\n"
            "    return P @ q, P @ v - h * sharp(G, P @ q, s)",
        },
    }  # fmt: skip
    PARTLY = {
        "typed as printed": ({"q1": _NAIVE}, {"q1": 1.0}),
        "a short series": (
            {"q1": "def curvature(z):\n    x = z * z\n"
             "    return (1 / 6 + 7 * x / 360 + 31 * x**2 / 15120 + 127 * x**3 / 604800 + 73 * x**4 / 3421440,\n"
             "            -1 / 3 - x / 45 - 2 * x**2 / 945 - x**3 / 4725 - 2 * x**4 / 93555)"},
            {"q1": 1.0},
        ),
        "a whole kick": (
            {"q3": _GENERATING.format(length="np.arctan2(size, a @ b)", back="back", kick="h")}, {"q3": 1.0}
        ),
        "kick, great circle, kick": ({"q4": _GREAT_CIRCLE}, {"q4": 1.0}),
        "printed factor": ({"q4": _STEP.format(**{**_RIGHT, "f": 0.5})}, {"q4": 1.0}),
        "sign of the curvature": ({"q4": _STEP.format(**{**_RIGHT, "g": -1})}, {"q4": 1.0}),
        "sign of A": ({"q4": _STEP.format(**{**_RIGHT, "sign": "-"})}, {"q4": 1.0}),
        "flat": ({"q4": _STEP.format(**{**_RIGHT, "g": 0})}, {"q4": 1.0}),
        "one sweep": ({"q4": _STEP.format(**{**_RIGHT, "sweeps": 1})}, {"q4": 1.0}),
        "not solved": ({"q5": _BODY.format(d="1", sweeps=0, sign="+")}, {"q5": 0.0}),
        "not transposed": ({"q5": _BODY.format(d="dexpinv(w)", sweeps=60, sign="+")}, {"q5": 0.0}),
        "printed (45)": ({"q5": _PRINTED}, {"q5": 0.0}),
        "sign of the update": ({"q5": _BODY.format(d="dexpinv(w).T", sweeps=60, sign="-")}, {"q5": 1.0}),
    }  # fmt: skip

    def test_the_master_makes_the_steps_of_lielab(self):
        space = self.solved()
        particle = EllipsoidParticle(axes=(1.0, 1.3, 0.7), mass=1.0, mu=1.0)
        G, s = np.diag(particle.params[:3]), np.array([0.0, 0.0, 0.7])
        q, v = particle.y0[:3], particle.y0[3:]
        sol = lielab.solve(particle, (0, 0.5), method="RiemannianLeapfrog", h=0.1)
        for _ in range(5):
            q, v = space["leapfrog_step"](G, s, q, v, 0.1)
        assert np.abs(sol.y[-1] - np.concatenate([q, v])).max() < 1e-12
        body, pi = FreeRigidBody(inertia=(1, 2, 3)), np.array([0.6, 2.0, -1.2])
        sol = lielab.solve(body, (0, 0.5), pi, method="RiemannianLeapfrog", h=0.1)
        for _ in range(5):
            _, pi = space["lie_poisson_step"](np.diag([1.0, 2.0, 3.0]), pi, 0.1)
        assert np.abs(sol.y[-1] - pi).max() < 1e-12
