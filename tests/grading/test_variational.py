"""Assignment 08: what typical answers earn, the steps of lielab, and what the text says of the energy."""

import numpy as np

import lielab
from lielab.systems import FreeRigidBody, RigidBodyInWell
from tests.grading.assignment import AssignmentTests

_SLOPES = """
def slopes(M, dV, q0, q1, h, theta):
    v, g = M @ (q1 - q0) / h, {sign} h * dV({at})
    return {first} - (1 - {weight}) * g, v - {weight} * g
"""
_SLOPES_RIGHT = {"sign": "", "at": "q0 + theta * (q1 - q0)", "first": "-v", "weight": "theta"}
_VERLET = """
def slopes(M, dV, q0, q1, h, theta):
    v = M @ (q1 - q0) / h
    return -v - h / 2 * dV(q0), v - h / 2 * dV(q1)
"""
_THETA = """
def theta_step(M, dV, q, p, h, theta):
    end = q
    for _ in range({sweeps}):
        end = end + h * np.linalg.solve(M, p + slopes(M, dV, q, end, h, {theta})[0])
    return end, slopes(M, dV, q, end, h, {theta})[1]
"""
_RK4 = """
def theta_step(M, dV, q, p, h, theta):
    def f(q, p):
        return np.array([np.linalg.solve(M, p), -dV(q)])
    y = np.array([q, p])
    a = f(*y)
    b = f(*(y + h / 2 * a))
    c = f(*(y + h / 2 * b))
    d = f(*(y + h * c))
    return tuple(y + h / 6 * (a + 2 * b + 2 * c + d))
"""
_DEFECT = """
def form_defect(step, y):
    n = len(y) // 2
    D = np.array([{column} for d in {e} * np.eye(2 * n)]){turned} / {e}
    form = {form}
    return float(np.abs(D.T @ form @ D - form).max())
"""
_DEFECT_RIGHT = {
    "column": "(step(y + d) - step(y - d)) / 2",
    "e": "1e-5",
    "turned": ".T",
    "form": "np.kron([[0, 1], [-1, 0]], np.eye(n))",
}
_DETERMINANT = """
def form_defect(step, y):
    D = np.array([step(y + d) - step(y - d) for d in 1e-5 * np.eye(len(y))]).T / 2e-5
    return float(abs(np.linalg.det(D) - 1))
"""
_VLV = """
def vlv_step(J, torque, R, pi, h):
    c, v = h / 2, np.linalg.solve(J, pi)
    b = pi + {kick} * torque(R)
    for _ in range({sweeps}):
        m = J @ v
        v = np.linalg.solve(J, b {sign} c * np.cross(m, v) - {square} * (v @ m) * v)
    m, {new} = J @ v, R @ {map}
    return {new}, m {sign} c * np.cross(m, v) + {square} * (v @ m) * v + {last} * torque({at})
"""
_VLV_RIGHT = {
    "kick": "c", "sweeps": 80, "sign": "+", "square": "c * c", "map": "cay(h * v)", "last": "c", "at": "R1",
    "new": "R1",
}  # fmt: skip
_EXP = (
    "(lambda u, t: np.eye(3) + np.sin(t) / t * hat(u) + (1 - np.cos(t)) / t**2 * hat(u) @ hat(u))"
    "(h * v, np.linalg.norm(h * v))"
)


def _slopes(**changes):
    return _SLOPES.format(**{**_SLOPES_RIGHT, **changes})


def _defect(**changes):
    return _DEFECT.format(**{**_DEFECT_RIGHT, **changes})


def _vlv(**changes):
    return _VLV.format(**{**_VLV_RIGHT, **changes})


class TestVariational(AssignmentTests):
    NAME = "08_variational"
    SEEDS = 10  # each draws some forty random steps
    WRONG = {
        "identity": {
            "q1": "def slopes(M, dV, q0, q1, h, theta): return 0 * q0, 0 * q1",
            "q2": "def theta_step(M, dV, q, p, h, theta): return q, p",
            "q3": "def form_defect(step, y): return 0.0",
            "q4": "def vlv_step(J, torque, R, pi, h): return R, pi",
        },
        "a sign": {
            "q1": _slopes(first="v"),
            "q2": _RK4,
            "q4": _vlv(sign="-"),
        },
        "V with a plus": {"q1": _slopes(sign="-"), "q4": _vlv(map="cay(-h * v)")},
        "Verlet": {"q1": _VERLET},
        "one-sided": {"q3": _defect(column="step(y + d) - step(y)")},
        "not solved": {"q4": _vlv(sweeps=0)},
        "one sweep": {"q4": _vlv(sweeps=1)},
        "no square": {"q4": _vlv(square="0")},
        "exp for cay": {"q4": _vlv(map=_EXP)},
    }
    PARTLY = {
        "theta at the other end": ({"q1": _slopes(at="q1 + theta * (q0 - q1)")}, {"q1": 1.0}),
        "weights exchanged": ({"q1": _slopes(weight="(1 - theta)")}, {"q1": 1.0}),
        "explicit only": ({"q2": _THETA.format(sweeps=1, theta="theta")}, {"q2": 1.0}),
        "five sweeps": ({"q2": _THETA.format(sweeps=5, theta="theta")}, {"q2": 1.0}),
        "determinant": ({"q3": _DETERMINANT}, {"q3": 1.0}),
        "rows for columns": ({"q3": _defect(turned="")}, {"q3": 1.0}),
        "q and p in turns": (
            {"q3": _defect(form="np.kron(np.eye(n), [[0, 1], [-1, 0]])")}, {"q3": 1.0}
        ),
        "slip in q1, paid for once": ({"q1": _slopes(first="v")}, {"q1": 0.0}),
        "a whole kick first": ({"q4": _vlv(kick="h", last="0")}, {"q4": 2.0}),
        "both kicks at the start": ({"q4": _vlv(at="R")}, {"q4": 2.0}),
        "last kick forgotten": ({"q4": _vlv(last="0")}, {"q4": 2.0}),
    }  # fmt: skip

    def test_the_master_makes_the_steps_of_lielab(self):
        space = self.solved()
        for system in (FreeRigidBody(inertia=(1.0, 2.0, 3.0), attitude=True), RigidBodyInWell()):
            sol = lielab.solve(system, (0, 1), method="VLV", h=0.1)
            body = system.formulations["rigid_body"]
            J, R = np.diag(system.inertia), sol.R[0]

            def torque(R, body=body):
                return body.torque(0.0, np.concatenate([R.ravel(), np.zeros(3)]), body.params)

            pi = sol.y[0][-3:] if isinstance(system, FreeRigidBody) else J @ sol.Omega[0]
            for _ in range(10):
                R, pi = space["vlv_step"](J, torque, R, pi, 0.1)
            assert np.abs(sol.R[-1] - R).max() < 1e-12
            assert np.linalg.norm(sol.R[-1] - sol.R[0]) > 0.1

    def test_the_energy_of_the_pendulum_stays_in_a_band_or_has_a_trend(self):
        space = self.solved()
        rk4 = {"np": np}
        exec(_RK4, rk4)
        found = {}
        for name, step in (("midpoint", space["theta_step"]), ("RK4", rk4["theta_step"])):
            q, p, energies = np.ones(1), np.zeros(1), []
            for _ in range(500):
                q, p = step(np.eye(1), np.sin, q, p, 0.5, 0.5)
                energies.append(p[0] ** 2 / 2 - np.cos(q[0]))
            found[name] = np.abs(np.reshape(energies, (5, 100)) + np.cos(1.0)).max(axis=1)
        assert found["midpoint"].max() < 1.05 * found["midpoint"].min()
        assert (np.diff(found["RK4"]) > 0.5 * found["RK4"][0]).all()

    def test_form_defect_tells_the_methods_apart(self):
        space = self.solved()
        rk4 = {"np": np}
        exec(_RK4, rk4)
        y, M = np.array([0.3, -0.8, 0.7, -0.4]), np.array([[1.0, 0.3], [0.3, 2.0]])
        defects = [
            space["form_defect"](
                lambda y, step=step: np.concatenate(step(M, np.sin, y[:2], y[2:], 0.8, 0.3)), y
            )
            for step in (space["theta_step"], rk4["theta_step"])
        ]
        assert defects[0] < 1e-8
        assert defects[1] > 1e-4
