"""Assignment 07: what typical answers earn."""

from tests.grading.assignment import AssignmentTests

_LOOP = """
def integrate(step, t0, t1, y0, h0, q):
    t, y, h, rejected = t0, y0, h0, 0
    ts, ys = [t], [y]
    while {more}:
        last = {last}
        if last:
            h = t1 - t
        z, err = step(t, y, h)
        if {accept}:
            t, y = (t1 if last else t + h), z
            ts.append(t); ys.append(y)
            {after}
        else:
            rejected += 1
            h = next_step(h, err, q)
        if t != t1 and abs(h) < 1e-12:
            {small}
    return np.array(ts), np.array(ys), rejected
"""
_RIGHT = {
    "more": "t != t1",
    "last": "abs(h) >= abs(t1 - t) * (1 - 1e-12)",
    "accept": "err <= 1",
    "after": "h = next_step(h, err, q)",
    "small": "raise RuntimeError('too small')",
}


class TestStepSize(AssignmentTests):
    NAME = "07_step_size"
    WRONG = {
        "constants": {
            "q1": "def scaled_error(e, y, z, rtol, atol): return 1.0",
            "q2": "def next_step(h, err, q): return 0.5",
            "q3": "def integrate(step, t0, t1, y0, h0, q): return np.array([t0, t1]), np.array([y0, y0]), 0",
        },
        "largest component": {
            "q1": "def scaled_error(e, y, z, rtol, atol):\n"
            "    return float(np.max(np.abs(e) / (atol + rtol * np.maximum(np.abs(y), np.abs(z)))))"
        },
    }
    PARTLY = {
        # The loop calls next_step: it is judged with a right one, too.
        "no limits": ({"q2": "def next_step(h, err, q):\n    return 0.9 * h * (err or 1e-300) ** (-1 / q)"},
                      {"q2": 1.0}),
        "a NaN slips through the limits": (
            {"q2": "def next_step(h, err, q):\n    if err == 0: return 5 * h\n"
             "    if err == float('inf'): return 0.2 * h\n    return h * min(5.0, max(0.9 * err ** (-1 / q), 0.2))"},
            {"q2": 2.0},
        ),
        "a NaN is accepted": ({"q3": _LOOP.format(**{**_RIGHT, "accept": "not err > 1"})}, {"q3": 4.0}),
        "no new step after an accepted one": (
            {"q3": _LOOP.format(**{**_RIGHT, "after": "pass"})}, {"q3": 1.0}
        ),
        "no exception": ({"q3": _LOOP.format(**{**_RIGHT, "small": "break"})}, {"q3": 4.0}),
        "overshoots": (
            {"q3": _LOOP.format(**{**_RIGHT, "last": "False", "more": "(t1 - t) * h0 > 0"})}, {"q3": 0.0}
        ),
    }  # fmt: skip
