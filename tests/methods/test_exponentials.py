"""`n_exponentials` is what a step really takes: calls of exp are counted, interpreted, in a child process."""

from __future__ import annotations

import json
import os
import subprocess
import sys

COUNT = """
import dataclasses, json
import lielab
from lielab.systems import FreeRigidBody, System

body = FreeRigidBody()
form = body.formulations["action"]
calls = [0]

def counted(u, y):
    calls[0] += 1
    return form.action.exp_act(u, y)

class Counting(System):
    parts = body.parts
    params, y0 = body.params, body.y0
    action = dataclasses.replace(form.action, exp_act=counted)
    formulations = {"action": dataclasses.replace(form, action=action)}

    def check(self, y):
        pass

found = {}
for name, method in lielab.methods().items():
    if method.family in ("RKMK", "commutator-free", "Crouch-Grossman"):
        for how in ({"h": 0.1}, {"h0": 0.1, "max_step": 0.1}):
            if "h" in how or method.embedded:
                calls[0] = 0
                sol = lielab.solve(Counting(), (0, 1), method=name, **how)
                found[name + " adaptive" * ("h0" in how)] = (
                    calls[0] / (sol.nsteps + sol.nrejected),
                    sol.n_exponentials,
                )
print(json.dumps(found))
"""


def test_exponentials_of_a_step(root):
    done = subprocess.run(
        [sys.executable, "-c", COUNT],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout)
    assert len(found) == 23
    for name, (counted, reported) in found.items():
        assert counted == reported, name
