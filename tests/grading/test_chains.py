"""Assignment 11: what typical answers earn."""

from tests.grading.assignment import AssignmentTests

_DENSE = """
def tridiagonal(a, b, c, r):
    return np.linalg.solve(np.diag(b) + np.diag(a[1:], -1) + np.diag(c[:-1], 1), r)
"""
_TENSIONS = """
def tensions(q, w, masses, lengths, g):
    above = np.concatenate([[{fixed}], 1 / masses[:-1]])
    cosine = (q[:-1] * q[1:]).sum(axis=1)
    a = {sign}above * np.concatenate([[0.0], cosine])
    c = {sign}np.concatenate([cosine, [0.0]]) / masses
    r = {speed} * (w * w).sum(axis=1)
    r[0] {gravity} g * q[0, 2]
    return tridiagonal(a, above + 1 / masses, c, r)
"""
_T = {"fixed": "0.0", "sign": "-", "speed": "lengths", "gravity": "-="}
_TURN = """
def accelerations(q, w, masses, lengths, g):
    T = tensions(q, w, masses, lengths, g)
    push = np.zeros_like(q, dtype=float)
    push[:-1] += (T[1:] / masses[:-1])[:, None] * q[1:]
    push[1:] += (T[:-1] / masses[{i}])[:, None] * q[:-1]
    {where}
    return np.cross({order}) / lengths[:, None]
"""
_W = {"i": ":-1", "where": "push[0, 2] -= g", "order": "q, push"}


class TestChains(AssignmentTests):
    NAME = "11_chains"
    WRONG = {
        "identity": {
            "q1": "def energy(q, w, masses, lengths, g): return 0.0",
            "q2": "def tridiagonal(a, b, c, r): return r",
            "q3": "def tensions(q, w, masses, lengths, g): return masses * g",
            "q4": "def accelerations(q, w, masses, lengths, g): return w",
        },
        "bobs not added up": {
            "q1": "def energy(q, w, masses, lengths, g):\n"
            "    v = lengths[:, None] * np.cross(w, q)\n"
            "    return float(np.sum(masses * ((v * v).sum(axis=1) / 2 + g * lengths * q[:, 2])))"
        },
        "cross product flipped": {"q4": _TURN.format(**{**_W, "order": "push, q"})},
        "gravity on every rod": {"q4": _TURN.format(**{**_W, "where": "push[:, 2] -= g"})},
    }
    PARTLY = {
        "a dense matrix": ({"q2": _DENSE}, {"q2": 1.0}),
        "the arguments are worked on": (
            {
                "q2": "def tridiagonal(a, b, c, r):\n    for i in range(1, len(b)):\n        f = a[i] / b[i - 1]\n"
                "        b[i] -= f * c[i - 1]\n        r[i] -= f * r[i - 1]\n    r[-1] /= b[-1]\n"
                "    for i in range(len(b) - 2, -1, -1):\n        r[i] = (r[i] - c[i] * r[i + 1]) / b[i]\n    return r"
            },
            {"q2": 1.0},
        ),
        "without the lower diagonal": (
            {
                "q2": "def tridiagonal(a, b, c, r):\n    x = r / b\n"
                "    for i in range(len(b) - 2, -1, -1):\n        x[i] = (r[i] - c[i] * x[i + 1]) / b[i]\n    return x"
            },
            {"q2": 0.0},
        ),
        "as if at rest": (
            {
                "q3": "def tensions(q, w, masses, lengths, g): return g * np.cumsum(masses[::-1])[::-1]"
            },
            {"q3": 1.0},
        ),
        "coupling flipped": ({"q3": _TENSIONS.format(**{**_T, "sign": "+"})}, {"q3": 0.0}),
        "gravity flipped": ({"q3": _TENSIONS.format(**{**_T, "gravity": "+="})}, {"q3": 0.0}),
        "the fixed point weighs": (
            {"q3": _TENSIONS.format(**{**_T, "fixed": "1.0"})},
            {"q3": 0.0},
        ),
        "centripetal term forgotten": (
            {"q3": _TENSIONS.format(**{**_T, "speed": "0"})},
            {"q3": 1.0},
        ),
        "mass of the wrong bob": (
            {"q4": _TURN.format(**{**_W, "i": "1:"})},
            {"q4": 1.0},
        ),
    }
