"""Actions put together from kinds of blocks: any order, any place, over and over; and their kernels on disk."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from lielab import actions, so3
from lielab.actions import Action
from lielab.actions.blocks import product, translate
from lielab.actions.cotangent import BODY, SPACE
from lielab.actions.motions import TANGENT
from lielab.actions.rotations import COLUMNS, DIRECTIONS, ROWS, move_rows
from lielab.core import jit as _jit
from lielab.testing import check_action

LAID_OUT = {
    "one after the other": product(TANGENT, translate(2), COLUMNS, DIRECTIONS, BODY),
    "a kind twice": product(ROWS, translate(1), ROWS, translate(1)),
    "in places": product(
        SPACE.at(0, 4, 6, 16), translate(2).at(3, 2), translate(1).at(5, 1), COLUMNS.at(9, 19)
    ),
    "over and over": product(DIRECTIONS, translate(3), DIRECTIONS, each=True),
}


def made(blocks: dict) -> Action:
    return Action(name="blocks", group="a product", manifold="a product", **blocks)


@pytest.mark.parametrize("key", [key for key in LAID_OUT if key != "in places"])
def test_every_order_of_blocks_is_an_action(key: str) -> None:
    action = made(LAID_OUT[key])
    assert not check_action(action).failures
    y = action.sample(np.random.default_rng(4))
    action.check(action.project(y + 1e-6))
    assert action.defect(y + 1e-3) > 1e-4


def test_blocks_in_places_read_and_write_there_alone() -> None:
    """The body's rotation at u[0] and Q[4], its moment at u[6] and pi[16]; entry 0 of y belongs to nobody."""
    kernels = LAID_OUT["in places"]
    rng = np.random.default_rng(5)
    u, y = rng.standard_normal(12), rng.standard_normal(28)
    Q, P = so3.random(1), so3.random(2)
    y[4:13], y[19:28] = Q.ravel(), P.ravel()
    out = np.full(28, np.nan)
    kernels["exp_act"](u, y, out)
    R = so3.exp(u[:3])
    close = {"rtol": 0, "atol": 1e-14}
    np.testing.assert_allclose(out[4:13], (R @ Q).ravel(), **close)
    np.testing.assert_allclose(out[16:19], R @ y[16:19] + so3.dexp(u[:3]) @ u[6:9], **close)
    np.testing.assert_allclose(out[19:], (so3.exp(u[9:]) @ P).ravel(), **close)
    np.testing.assert_array_equal(out[2:4], y[2:4] + u[3:5])
    assert out[1] == y[1] + u[5]
    assert np.isnan(out[[0, 13, 14, 15]]).all()


def test_blocks_over_and_over_are_those_of_one_after_the_other() -> None:
    rng = np.random.default_rng(6)
    action = made(LAID_OUT["over and over"])
    y = np.concatenate([action.sample(rng) for _ in range(3)])
    u = rng.standard_normal(27)
    parts = [action.exp_act(u[9 * n : 9 * n + 9], y[9 * n : 9 * n + 9]) for n in range(3)]
    np.testing.assert_array_equal(action.exp_act(u, y), np.concatenate(parts))


def test_any_number_of_quadrotors() -> None:
    """Four are two and two, with one load."""
    rng = np.random.default_rng(7)
    two, four = actions.quadrotors_action(2), actions.quadrotors_action(4)
    y, u = four.sample(rng), rng.standard_normal(54)
    moved = four.exp_act(u, y)
    body, link = 6 + 12 * 4, 6 + 6 * 4
    points = np.r_[0:6, 6:30, body : body + 12]
    vectors = np.r_[0:6, 6:18, link : link + 12]
    np.testing.assert_array_equal(moved[points], two.exp_act(u[vectors], y[points]))


# --- compiled ----------------------------------------------------------------------------------------

compiled_only = pytest.mark.skipif(not _jit.ENABLED, reason="nothing is compiled here")
TRANSLATE = """
import sys
import numpy as np
from lielab.actions.blocks import product, translate
for k in map(int, sys.argv[1:]):
    kernel = product(translate(2).at(0, k))["exp_act"]
    out = np.zeros(4)
    kernel(np.array([1.0, 2.0]), np.array([10.0, 20.0, 30.0, 40.0]), out)
    print(*out.astype(int), sum(kernel.stats.cache_hits.values()))
"""


@compiled_only
def test_kernels_over_other_constants_are_kept_apart(tmp_path: Path) -> None:
    """Two that were compiled in two processes, each the first of its name there, and that a third one loads."""

    def run(*places: int) -> list[str]:
        environment = {"LIELAB_CACHE_DIR": str(tmp_path), "LIELAB_QUIET": "1"}
        done = subprocess.run(
            [sys.executable, "-c", TRANSLATE, *map(str, places)],
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.splitlines()

    assert run(0) == ["11 22 0 0 0"]
    assert run(2) == ["0 0 31 42 0"]
    assert run(1) == ["0 21 32 0 0"]
    assert run(2, 0, 1) == ["0 0 31 42 1", "11 22 0 0 1", "0 21 32 0 1"]


@compiled_only
def test_a_part_of_kernels_refuses_python() -> None:
    """It has no entry from there; a call would not end well."""
    actions.SO3_ON_BODY.exp_act(np.ones(3), actions.SO3_ON_BODY.sample(np.random.default_rng(1)))
    y = so3.random(1).ravel()
    with pytest.raises(TypeError, match="move_rows is part of other kernels"):
        move_rows(False, 3, np.ones(3), 0, 0, y, 0, 0, np.empty(9))
