"""Assignment 12: what typical answers earn."""

from tests.grading.assignment import AssignmentTests

_VORTEX = """
def vortex_rates(q, strengths):
    xi = np.zeros((len(q), 3))
    for i in range(len(q)):
        for j in range(len(q)):
            if i != j:
                xi[i] += {sign}strengths[{k}] * q[j] / ({factor} * np.pi * (1 - q[i] @ q[j]))
    return xi
"""
_V = {"sign": "", "k": "j", "factor": "4"}
_SPIN = """
def spin_rates(m, exchange, anisotropy, field, g, damping):
    H = np.tile(np.asarray(field, dtype=float), (len(m), 1))
    {neighbours}
    H[:, 2] += {axis} * anisotropy * m[:, 2]
    return {sign}g * H {friction}
"""
_S = {
    "neighbours": "H[1:] += exchange * m[:-1]; H[:-1] += exchange * m[1:]",
    "axis": "2",
    "sign": "",
    "friction": "+ damping * np.cross(m, H)",
}
_STEP = """
def midpoint_step(rates, m, h):
    half = np.array([exp({h} * u) @ y for u, y in zip(rates(m), m)])
    return np.array([exp(h * u) @ y for u, y in zip(rates(half), {start})])
"""


class TestSpinsAndVortices(AssignmentTests):
    NAME = "12_spins_and_vortices"
    WRONG = {
        "identity": {
            "q1": "def vortex_rates(q, strengths): return q",
            "q2": "def vortex_energy(q, strengths): return 0.0",
            "q3": "def spin_rates(m, exchange, anisotropy, field, g, damping): return m",
            "q4": "def midpoint_step(rates, m, h): return m",
        },
        "sign flipped": {
            "q1": _VORTEX.format(**{**_V, "sign": "-"}),
            "q2": "def vortex_energy(q, strengths):\n    i, j = np.triu_indices(len(q), 1)\n    d = q[i] - q[j]\n"
            "    return float(np.sum(strengths[i] * strengths[j] * np.log((d * d).sum(axis=1))) / (4 * np.pi))",
            "q3": _SPIN.format(**{**_S, "sign": "-"}),
        },
        "its own strength": {"q1": _VORTEX.format(**{**_V, "k": "i"})},
        "every pair twice": {
            "q2": "def vortex_energy(q, strengths):\n    t = 0.0\n    for i in range(len(q)):\n"
            "        for j in range(len(q)):\n            if i != j:\n"
            "                t -= strengths[i] * strengths[j] * np.log(2 - 2 * q[i] @ q[j]) / (4 * np.pi)\n    return t"
        },
        "half the anisotropy": {"q3": _SPIN.format(**{**_S, "axis": "1"})},
        "a ring": {
            "q3": _SPIN.format(
                **{**_S, "neighbours": "H += exchange * (np.roll(m, 1, 0) + np.roll(m, -1, 0))"}
            )
        },
        "from the midpoint": {"q4": _STEP.format(h="h / 2", start="half")},
        "flat": {"q4": "def midpoint_step(rates, m, h): return m + h * np.cross(rates(m), m)"},
        "Lie-Euler": {
            "q4": "def midpoint_step(rates, m, h):\n"
            "    return np.array([exp(h * u) @ y for u, y in zip(rates(m), m)])"
        },
    }
    PARTLY = {
        "cancellation": ({"q1": _VORTEX.format(**_V)}, {"q1": 2.0}),
        "the implicit midpoint rule": (  # symmetric and of order two, but another step
            {
                "q4": "def midpoint_step(rates, m, h):\n    xi = rates(m)\n    for _ in range(60):\n"
                "        xi = rates(np.array([exp(h / 2 * u) @ y for u, y in zip(xi, m)]))\n"
                "    return np.array([exp(h * u) @ y for u, y in zip(xi, m)])"
            },
            {"q4": 0.0},
        ),
        "friction forgotten": ({"q3": _SPIN.format(**{**_S, "friction": ""})}, {"q3": 2.0}),
    }
