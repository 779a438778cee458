"""Assignment 10: what typical answers earn."""

from lielab.grading.checks.drift_detective import SUSPECTS
from tests.grading.assignment import AssignmentTests

_TREND = """
def trend(t, values, blocks):
    x = np.array([part.mean() for part in np.array_split(t, blocks)])
    y = np.array([part.mean() for part in np.array_split(values, blocks)])
    centred = x - x.mean()
    slope = centred @ y / (centred @ centred)
    rest = y - y.mean() - slope * centred
    return slope, np.sqrt(rest @ rest / {freedom} / (centred @ centred))
"""
_ALL_POINTS = """
def trend(t, values, blocks):
    c = t - t.mean()
    slope = c @ values / (c @ c)
    rest = values - values.mean() - slope * c
    return slope, np.sqrt(rest @ rest / (len(t) - 2) / (c @ c))
"""
_KEPT = """
def kept(J, R, Omega):
    group = np.abs(np.swapaxes(R, 1, 2) @ R - np.eye(3)).max()
    p = {momentum}
    E = (J * Omega**2).sum(axis=1)
    return group, np.abs(p - p[0]).max(), {energy}
"""
_SPACE, _ENERGY = 'np.einsum("nij,nj->ni", R, J * Omega)', "np.abs(E / E[0] - 1).max()"
_BACK = """
def symmetry(step, R, Omega, h):
    A, w = step(*step(R, Omega, h), {h})
    return max(np.abs(A - R).max(), np.abs(w - Omega).max())

def reversibility(step, R, Omega, h):
    A, w = step(R, Omega, h)
    A, w = step(A, {rho}w, {again})
    return max(np.abs(A - R).max(), np.abs({second}w - Omega).max())
"""
_RIGHT = {"h": "-h", "rho": "-", "again": "h", "second": "-"}
_DETECTIVE = """
def detective(file):
    group, momentum, energy = kept(file["J"], file["R"], file["Omega"])
    if group > {least}:
        return "RK4"
    if np.abs(file["R_back"] - file["R"][0]).max() > 1e-9:
        return "RKMK4"
    if {momentum}:
        return "ELN"
    slope, error = trend(file["t_well"], file["energy_well"], 20)
    if {drifts}:
        return "PRK" if energy < {exact} else "MCG"
    return "RATTLE" if energy < {exact} else "VLV"
"""
_FOUND = {
    "least": "1e-9",
    "momentum": "momentum > 1e-9",
    "drifts": "abs(slope) > 20 * error",
    "exact": "1e-9",
}


def _detective(**changes):
    return _DETECTIVE.format(**{**_FOUND, **changes})


class TestDriftDetective(AssignmentTests):
    NAME = "10_drift_detective"
    SEEDS = 5  # each runs fourteen files over 4000 s
    WRONG = {
        "nothing": {
            "q1": "def trend(t, values, blocks): return 0.0, 0.0",
            "q2": "def kept(J, R, Omega): return 0.0, 0.0, 0.0",
            "q3": "def symmetry(*a): return 0.0\ndef reversibility(*a): return 0.0",
            "q4": "def detective(file): return 'RATTLE'",
        },
        "a line through all points": {"q1": _ALL_POINTS},
        "each test in the other's place": {
            "q3": _BACK.format(h="h", rho="", again="-h", second="")
        },
        "no limit is met": {
            "q4": _detective(least="1e-17", drifts="False", exact="0"),
        },
        "constants": {
            "q1": "def trend(t, values, blocks): return 0.1, 0.05",
            "q2": "def kept(J, R, Omega): return 1e-15, 1e-15, 1e-15",
            "q3": "def symmetry(*a): return 1e-15\ndef reversibility(*a): return 1e-15",
            "q4": "def detective(file): return suspects[len(file['R']) % 7]",
        },
        **{
            f"constantly {name}": {"q4": f"def detective(file): return {name!r}"}
            for name in SUSPECTS
        },
        "a step of both signs at once": {  # y + h and back
            "q3": _BACK.format(h="0 * h", rho="", again="0 * h", second="")
        },
    }
    PARTLY = {
        "the number of blocks for the freedom": (
            {"q1": _TREND.format(freedom="blocks")}, {"q1": 1.0}
        ),
        "from end to end": (
            {"q1": "def trend(t, values, blocks):\n"
             "    return (values[-1] - values[0]) / (t[-1] - t[0]), 0.0"},
            {"q1": 0.0},
        ),
        "the momentum in the body": (
            {"q2": _KEPT.format(momentum="J * Omega", energy=_ENERGY)}, {"q2": 1.0}
        ),
        "the wrong way into space": (
            {"q2": _KEPT.format(momentum='np.einsum("nji,nj->ni", R, J * Omega)', energy=_ENERGY)}, {"q2": 1.0}
        ),
        "the absolute energy": (
            {"q2": _KEPT.format(momentum=_SPACE, energy="np.abs(E - E[0]).max()")}, {"q2": 1.0}
        ),
        "the printed definition": ({"q3": _BACK.format(**{**_RIGHT, "second": ""})}, {"q3": 1.0}),
        "back with -h and turned": ({"q3": _BACK.format(**{**_RIGHT, "again": "-h"})}, {"q3": 1.0}),
        "the same test twice": (
            {"q3": _BACK.format(h="-h", rho="", again="-h", second="")}, {"q3": 1.0}
        ),
        "only the attitude comes back": (
            {"q3": _BACK.format(**_RIGHT).replace(", np.abs(w - Omega).max()", ", 0.0")}, {"q3": 1.0}
        ),
        "first and last state only": (
            {"q2": _KEPT.format(momentum=_SPACE, energy="abs(E[-1] / E[0] - 1)")}, {"q2": 1.0}
        ),
        "the momentum not looked at": ({"q4": _detective(momentum="False")}, {"q4": 2.0}),
        "the long run not looked at": ({"q4": _detective(drifts="False")}, {"q4": 2.0}),
        "any slope is a drift": ({"q4": _detective(drifts="slope != 0")}, {"q4": 2.0}),
        "rounding taken for a defect": ({"q4": _detective(exact="1e-17")}, {"q4": 2.0}),
    }  # fmt: skip
