"""Many runs: the numbers of `solve` one by one, whatever the threads; failures, files and interrupts lose nothing."""

import os
import shutil
import threading
import time
import warnings
from collections import namedtuple

import numpy as np
import pytest

import lielab
from lielab import actions, systems
from lielab.core import jit
from lielab.many import _Work
from lielab.systems import ActionSystem

in_blocks = pytest.mark.skipif(not jit.ENABLED, reason="runs are done one by one")
BODY = systems.FreeRigidBody(attitude=True)
PENDULUM = systems.SphericalPendulum()
LOAD = systems.QuadrotorWithLoad()
ENDS = 2**53  # save_every that keeps the first row and the last


def turned(rng):
    """A random attitude and momentum of the body."""
    return np.concatenate([lielab.so3.random(rng).ravel(), rng.normal(size=3)])


STARTS = np.array([turned(np.random.default_rng(i)) for i in range(9)])
CASES = {
    "explicit": (BODY, STARTS, {"method": "RKMK4", "h": 0.05}),
    "shorter last step": (BODY, STARTS, {"method": "RKMK4", "h": 0.03}),
    "pair": (BODY, STARTS, {"method": "RKMK54", "rtol": 1e-8}),
    "commutator-free": (BODY, STARTS, {"method": "CF43"}),
    "rigid body": (BODY, STARTS, {"method": "VLV", "h": 0.05}),
    "variational": (BODY, STARTS, {"method": "LGVI", "h": 0.05}),
    "multipliers": (LOAD, np.tile(LOAD.y0, (3, 1)), {"method": "LGVI", "h": 0.05}),
    "composition": (BODY, STARTS, {"method": lielab.compose("LieMidpoint", "yoshida4"), "h": 0.05}),
    "lift": (
        PENDULUM,
        np.tile(PENDULUM.y0, (3, 1)),
        {"method": "RKMK4", "h": 0.05, "action": "lift"},
    ),
    "one step": (BODY, STARTS, {"method": "RKMK4", "h": 5.0}),
    "scipy": (BODY, STARTS, {"method": "DOP853"}),
}


@pytest.mark.parametrize("every", [None, 1, 7])
@pytest.mark.parametrize("span", [(0.0, 2.0), (1.0, -1.0)])
@pytest.mark.parametrize(("system", "starts", "asked"), CASES.values(), ids=CASES)
def test_every_run_is_that_of_solve_bit_for_bit(system, starts, asked, span, every):
    many = lielab.solve_many(system, starts, span, save_every=every, workers=3, **asked)
    assert len(many) == len(starts)
    assert many.success.all()
    assert many.done.all()
    for i, start in enumerate(starts):
        one = lielab.solve(system, span, start, save_every=every or ENDS, **asked)
        assert many[i] == one
        t = many.t if many.t.ndim == 1 else many.t[i, : len(one.t)]
        np.testing.assert_array_equal(t, one.t)
        np.testing.assert_array_equal(many.y[i, : len(one.t)], one.y)
        assert np.isnan(many.y[i, len(one.t) :]).all()
        np.testing.assert_array_equal(many.last[i], one.y[-1])
        assert many.t_last[i] == span[1]
        assert (many.nfev[i], many.nsteps[i]) == (one.nfev, one.nsteps)
        if one.flow is not None and i < 2:
            times = np.linspace(*span, 5)
            np.testing.assert_array_equal(many[i](times), one(times))


def test_the_number_of_workers_changes_nothing():
    found = [
        lielab.solve_many(BODY, STARTS, (0, 2), save_every=1, workers=w).y for w in (1, 2, 5, None)
    ]
    for y in found[1:]:
        np.testing.assert_array_equal(y, found[0])


def test_seeds_draw_each_start_by_itself():
    many = lielab.solve_many(BODY, turned, (0, 1), "RKMK4", h=0.1, seeds=range(9))
    np.testing.assert_array_equal(many.y[:, 0], STARTS)
    few = lielab.solve_many(BODY, turned, (0, 1), "RKMK4", h=0.1, seeds=[7, 2])
    np.testing.assert_array_equal(few.y, many.y[[7, 2]])


def wobble(t, y, p):
    return [p[0] * y[2], p[1], np.cos(t)]


OWN = ActionSystem(actions.SO3_ON_S2, wobble, (0.0, 0.6, 0.8), p=(0.3, -0.7))


@pytest.mark.parametrize("asked", [{"method": "RKMK4", "h": 0.1}, {"method": "RKMK54"}])
def test_a_run_for_each_p(asked):
    p = np.random.default_rng(0).normal(size=(6, 2))
    many = lielab.solve_many(OWN, OWN.y0, (0, 1), params=p, **asked)
    for i in range(6):
        one = ActionSystem(actions.SO3_ON_S2, wobble, (0.0, 0.6, 0.8), p=tuple(p[i].tolist()))
        assert many[i] == lielab.solve(one, (0, 1), save_every=ENDS, **asked)
        assert many[i].system == one


@pytest.mark.parametrize("method", ["RKMK4", "VLV"])
def test_a_run_for_each_set_of_fields_and_one_that_none_can_have(method):
    params = [{"inertia": (1.0, 2.0, 2.0 + 0.1 * i)} for i in range(4)]
    params[2] = {"inertia": (1.0, 2.0, -1.0)}
    many = lielab.solve_many(BODY, STARTS[:4], (0, 1), method, h=0.1, params=params)
    assert list(many.success) == [True, True, False, True]
    assert "inertia" in many.message[2]
    assert "-1" in many.message[2]
    assert np.isnan(many.y[2]).all()
    other = systems.FreeRigidBody(params[3]["inertia"], attitude=True)
    assert many[3] == lielab.solve(other, (0, 1), STARTS[3], method, h=0.1, save_every=ENDS)


def test_a_run_that_fails_is_recorded_and_the_others_are_whole():
    starts = STARTS.copy()
    starts[3, 9:] *= 1e200  # the field overflows
    for every in (None, 1, 2):
        many = lielab.solve_many(BODY, starts, (0, 2), "RKMK4", h=0.5, save_every=every)
        one = lielab.solve(BODY, (0, 2), starts[3], "RKMK4", h=0.5, save_every=every or ENDS)
        assert list(np.flatnonzero(~many.success)) == [3]
        assert many.status[3] == one.status < 0
        assert many.message[3] == one.message
        assert many.done.all()
        assert many[3] == one
        assert not many[3].success
        assert np.isfinite(many.y[[0, 1, 2, 4, 5, 6, 7, 8]]).all()


@pytest.mark.parametrize("every", [None, 1, 3])
def test_a_run_that_fails_late_keeps_what_it_reached(every):
    """Between two rows, too: the last state is not in y, whose rows are at the times t."""
    many = lielab.solve_many(BODY, STARTS, (0, 50), max_steps=20, save_every=every)
    assert not many.success.any()
    for i, start in enumerate(STARTS):
        one = lielab.solve(BODY, (0, 50), start, max_steps=20, save_every=every or ENDS)
        assert many[i] == one
        np.testing.assert_array_equal(many.last[i], one.y[-1])
        assert many.t_last[i] == one.t[-1] < 50


def broken(t, y, p):
    if t > 0.5 and p[0] > 0.0:
        raise RuntimeError("the motor burnt out")
    return [0.1, 0.2, y[0]]


def test_an_error_in_a_readers_field_is_recorded_for_its_run():
    system = ActionSystem(actions.SO3_ON_S2, broken, (0.0, 0.6, 0.8), p=(0.0,))
    many = lielab.solve_many(
        system, system.y0, (0, 1), "RKMK4", h=0.1, params=[(0.0,), (1.0,), (0.0,)], save_every=1
    )
    assert list(many.success) == [True, False, True]
    assert "RuntimeError: the motor burnt out" in many.message[1]
    assert many.status[1] == -10
    assert many.t_last[1] < 1.0
    assert not many[1].success


@pytest.mark.parametrize("every", [None, 1, 7])
def test_results_go_to_a_file_that_numpy_reads(tmp_path, every):
    asked = {"method": "RKMK4", "h": 0.05, "save_every": every}
    path = tmp_path / "runs.npy"
    many = lielab.solve_many(BODY, STARTS, (0, 2), out=path, **asked)
    inside = lielab.solve_many(BODY, STARTS, (0, 2), **asked)
    assert isinstance(many.y, np.memmap)
    np.testing.assert_array_equal(many.y, inside.y)
    np.testing.assert_array_equal(np.load(path), inside.y)
    assert many[4] == inside[4]
    shorter = lielab.solve_many(BODY, STARTS[:2], (0, 1), out=str(path), **asked)
    np.testing.assert_array_equal(np.load(path), shorter.y)


def test_a_file_that_the_disk_has_no_room_for_is_refused(tmp_path, monkeypatch):
    """A map of a file that cannot grow would end the process."""
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage(10**6, 10**6 - 100, 100))
    with pytest.raises(ValueError, match="would need .* GB, and its disk has .* save_every"):
        lielab.solve_many(BODY, STARTS, (0, 2), "RKMK4", h=0.1, out=tmp_path / "runs.npy")
    assert not list(tmp_path.iterdir())


def test_an_interrupt_keeps_what_is_done(interrupt, tmp_path):
    starts = np.tile(STARTS, (50, 1))
    lielab.solve_many(BODY, STARTS, (0, 1), "RKMK4", h=0.1, workers=2)  # compiled
    with pytest.raises(KeyboardInterrupt) as caught, interrupt(0.7) as sent:
        lielab.solve_many(
            BODY, starts, (0, 2000.0), "RKMK4", h=1e-3, workers=2, out=tmp_path / "runs.npy"
        )
    assert sent.late < 20.0
    many = caught.value.result
    assert (~many.done).sum() > 0
    for i in np.flatnonzero(many.done)[:1]:
        assert many[int(i)] == lielab.solve(
            BODY, (0, 2000.0), starts[i], "RKMK4", h=1e-3, save_every=ENDS
        )
    cut = [i for i in range(len(many)) if not many.done[i] and many.nsteps[i]]
    assert cut
    assert all("the call was interrupted" in many.message[i] for i in cut)
    assert not many.success[cut].any()
    assert 0.0 < many[cut[0]].t[-1] < 2000.0
    assert many.message[-1] == "not begun: the call was interrupted before"
    assert len(many[-1].t) == 1
    assert threading.active_count() < 10


def test_an_interrupt_ends_runs_of_a_slow_field_in_python_at_their_next_step(interrupt):
    """Their threads look up between two chunks of steps only: no chunk may take seconds."""

    def slow(t, y, p):
        time.sleep(0.04)
        return np.array([0.0, 0.0, 1.0])

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # it runs as Python
        system = ActionSystem(actions.SO3_ON_S2, slow, (1.0, 0.0, 0.0))
        lielab.solve(system, (0, 0.1), method="RKMK4", h=0.1)
    with pytest.raises(KeyboardInterrupt) as caught, interrupt(0.3) as sent:
        lielab.solve_many(system, system.y0[None], (0, 1000.0), "RKMK4", h=0.1, workers=2)
    assert sent.late < 20.0
    many = caught.value.result
    assert many.nsteps[0] > 0
    assert not many.done[0]


def test_progress_counts_runs(capsys):
    lielab.solve_many(BODY, STARTS, (0, 1), "RKMK4", h=0.1, progress=True)
    assert "9/9" in capsys.readouterr().err
    lielab.solve_many(BODY, STARTS, (0, 1), "RKMK4", h=0.1)
    assert capsys.readouterr().err == ""


@pytest.mark.skipif(not jit.ENABLED, reason="Python holds its lock")
def test_a_loop_lets_other_threads_run():
    """That compiled runs go side by side, as a test that no busy machine disturbs: Python counts on meanwhile."""
    solver = lielab.prepare(BODY, "RKMK4", h=1e-6)
    run = solver.begin(lielab._runs.Wish(0.0, 1.0, BODY.y0, 2**53))
    run.budget = 10**6  # one call, of a tenth of a second or more
    thread = threading.Thread(target=run.chunk)
    counted = 0
    thread.start()
    while thread.is_alive():
        counted += 1
    assert run.status == 1
    assert counted > 1000


def test_what_is_returned_reads_as_a_sequence():
    many = lielab.solve_many(BODY, STARTS, (0, 1), "RKMK4", h=0.1)
    assert repr(many) == "<Solutions RKMK4 of FreeRigidBody, 9 of 9 runs succeeded>"
    assert many[-1] == many[8] == list(many)[8]
    assert many[np.int64(2)].y.shape == (2, 12)
    assert many.method == "RKMK4"
    assert many.system is BODY
    np.testing.assert_allclose(many[3].R[0], STARTS[3, :9].reshape(3, 3))
    assert many.R.shape == (9, 2, 3, 3)
    np.testing.assert_array_equal(many.mu[5], many[5].mu)
    assert {"R", "mu"} <= set(dir(many))
    with pytest.raises(AttributeError, match="'x'; the parts of a state: R, mu"):
        _ = many.x
    with pytest.raises(IndexError, match="i must be from 0 to 8, got 9"):
        many[9]
    with pytest.raises(TypeError, match=r"y\[i\] are the states of several"):
        many[1:3]


OFF = STARTS.copy()
OFF[4, 0] += 0.1
BAD = {
    "off the manifold": ({"starts": OFF}, r"starts\[4\] is not on SO.*project"),
    "not finite": (
        {"starts": np.where(STARTS[2, 3] == STARTS, np.nan, STARTS)},
        r"starts\[2\] must be finite",
    ),
    "width": ({"starts": np.ones((4, 3))}, r"starts\[0\] must have shape \(12,\), got \(3,\)"),
    "one state": (
        {"starts": STARTS[0]},
        r"starts must have shape \(n, 12\), got \(12,\); for one run use solve",
    ),
    "none": ({"starts": STARTS[:0]}, "starts must hold at least one state"),
    "number": ({"starts": 3.0}, "starts must be a sequence of states, one for each run, got 3.0"),
    "no seeds": ({"starts": turned}, "starts is a function, which needs seeds.*range"),
    "seeds of states": ({"seeds": [1, 2]}, "seeds are for starts that are drawn.*leave seeds out"),
    "seed": (
        {"starts": turned, "seeds": [1, -2]},
        "seed must be a whole number of at least 0, got -2",
    ),
    "seeds": ({"starts": turned, "seeds": 7}, "seeds must be a sequence of whole numbers.*got 7"),
    "takes": ({"starts": lambda: STARTS[0], "seeds": [1]}, r"starts must take \(rng\)"),
    "params": (
        {"params": [{}] * 3},
        "params must have as many members as there are starts, 9, got 3",
    ),
    "workers": ({"workers": 0}, "workers must be a whole number of at least 1, got 0"),
    "save_every": ({"save_every": 0}, "save_every must be a whole number of at least 1, got 0"),
    "out": ({"out": 7}, "out must be the name of a file, got 7"),
    "folder": (
        {"out": os.path.join("no", "such", "x.npy")},
        "folder that does not exist; give the name",
    ),
    "is a folder": ({"out": "."}, "out '.' is a folder; give the name"),
    "rows": (
        {"method": "RKMK54", "h": None, "save_every": 1, "out": "x.npy"},
        "out='x.npy' needs the number of rows.*give h",
    ),
    "h": ({"h": 0.0}, "h must be a positive number, got 0.0"),
    "option": ({"dt": 0.1}, "no option 'dt'; the step is h"),
    "span": ({"t_span": (0, 0)}, "t_span must be two different finite times"),
    "grid": ({"method": "VLV", "h": 0.3}, "whole number of equal steps"),
}


@pytest.mark.parametrize(("given", "message"), BAD.values(), ids=BAD)
def test_bad_arguments_are_refused_before_anything_runs(given, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    asked = {"starts": STARTS, "t_span": (0, 1), "method": "RKMK4", "h": 0.1, **given}
    with pytest.raises(ValueError, match=message):
        lielab.solve_many(BODY, **asked)
    assert not list(tmp_path.iterdir())


def test_starts_as_solve_takes_them():
    """Pairs, named parts, single precision."""
    R, mu = STARTS[:, :9].reshape(-1, 3, 3), STARTS[:, 9:]
    expected = lielab.solve_many(BODY, STARTS, (0, 1), "RKMK4", h=0.1).y
    pairs = lielab.solve_many(BODY, list(zip(R, mu, strict=True)), (0, 1), "RKMK4", h=0.1)
    np.testing.assert_array_equal(pairs.y, expected)
    named = [{"R": a, "mu": b} for a, b in zip(R, mu, strict=True)]
    np.testing.assert_array_equal(
        lielab.solve_many(BODY, named, (0, 1), "RKMK4", h=0.1).y, expected
    )
    single = lielab.solve_many(BODY, STARTS.astype(np.float32), (0, 1), "RKMK4", h=0.1)
    np.testing.assert_allclose(single.y, expected, atol=1e-5)


# Blocks of runs in one compiled call


@pytest.fixture
def only_blocks(monkeypatch):
    """No run is done by itself."""

    def never(*_):
        raise AssertionError("a run was done by itself")

    monkeypatch.setattr(_Work, "one", never)


def pairs():
    """A system for each method with a compiled loop, and one for each layout that a method converts."""
    found = {}
    for name, method in lielab.methods().items():
        if name in ("RK45", "DOP853"):
            continue
        fitting = [system for system in EXAMPLES if method.formulation(system)]
        for system in fitting[:1] + [s for s in fitting[1:] if method.needs in CONVERTED]:
            found[f"{name}: {type(system).__name__}"] = system, name
    return found


EXAMPLES = [
    BODY,
    systems.FreeRigidBody(),
    PENDULUM,
    systems.RigidBodyInWell(),
    systems.HeavyTop("right"),
    systems.EllipsoidParticle(),
    systems.DoubleSphericalPendulum(),
]
CONVERTED = ("rigid_body", "lagrangian", "cotangent")
PAIRS = pairs()


def near(system, count):
    """States that runs of different lengths lead to from the system's own."""
    h = 0.003
    sol = lielab.solve(system, (0.0, count * h), method="RKMK4", h=h)
    return system.project(sol.y[:count])


@in_blocks
@pytest.mark.parametrize(("system", "method"), PAIRS.values(), ids=PAIRS)
def test_a_block_of_runs_gives_the_numbers_of_solve(system, method, only_blocks):
    starts = near(system, 40)
    for every in (None, 2):
        found = lielab.solve_many(
            system, starts, (0.0, 0.005), method, h=0.001, save_every=every, workers=2
        )
        assert found.success.all()
        for i, start in enumerate(starts):
            one = lielab.solve(
                system, (0.0, 0.005), start, method, h=0.001, save_every=every or ENDS
            )
            assert found[i] == one, (i, np.abs(found[i].y - one.y).max())
            np.testing.assert_array_equal(found.last[i], one.y[-1])


@in_blocks
@pytest.mark.parametrize(
    "asked",
    [
        {"method": "RKMK54", "rtol": 1e-9},
        {"method": "RKMK8", "h0": 0.01, "controller": "PI"},
        {"method": "CF43", "atol": {"R": 1e-9}},
        {"method": "RKMK4", "h": 0.01, "retraction": "cay"},
        {"method": lielab.compose("LieMidpoint", "yoshida4"), "h": 0.05},
    ],
    ids=lambda asked: str(asked["method"]),
)
def test_blocks_of_adaptive_runs_options_and_compositions(asked, only_blocks, tmp_path):
    starts = near(BODY, 300)
    found = lielab.solve_many(BODY, starts, (0.0, 2.0), workers=3, out=tmp_path / "y.npy", **asked)
    assert found.success.all()
    for i in (0, 7, 151, 299):
        assert found[i] == lielab.solve(BODY, (0.0, 2.0), starts[i], save_every=ENDS, **asked)
    assert found.nsteps.min() > 1


@in_blocks
def test_many_blocks_with_failures_in_them(only_blocks):
    starts = near(BODY, 1000)
    bad = np.arange(3, 1000, 17)
    starts[bad, 9:] *= 1e200  # the field overflows
    for method in ("RKMK4", lielab.compose("LieMidpoint", "yoshida4")):
        found = lielab.solve_many(BODY, starts, (0.0, 1.0), method, h=0.1, save_every=4, workers=2)
        np.testing.assert_array_equal(np.flatnonzero(~found.success), bad)
        assert found.done.all()
        for i in (3, 20, 21, 999):
            with np.errstate(all="ignore"):  # whether a composition is symmetric is tried there
                one = lielab.solve(BODY, (0.0, 1.0), starts[i], method, h=0.1, save_every=4)
            assert found[i] == one
            assert found.message[i] == one.message


@in_blocks
def test_a_run_that_raises_in_a_block_is_done_by_itself_and_no_other(monkeypatch):
    alone, one = [], _Work.one
    monkeypatch.setattr(_Work, "one", lambda work, i: (alone.append(i), one(work, i)))
    system = ActionSystem(actions.SO3_ON_S2, broken, (0.0, 0.6, 0.8), p=(0.0,))
    params = [(float(i in (5, 6, 90)),) for i in range(100)]
    found = lielab.solve_many(system, system.y0, (0, 1), "RKMK4", h=0.1, params=params, workers=2)
    assert sorted(alone) == [5, 6, 90]
    assert sorted(np.flatnonzero(~found.success)) == [5, 6, 90]
    assert "the motor burnt out" in found.message[90]
    assert found[91] == lielab.solve(system, (0, 1), method="RKMK4", h=0.1, save_every=ENDS)


def fussy(t, y, p):
    if t < 0.01 and p[0] > 0.0:
        raise RuntimeError("the motor did not start")
    return [0.1, 0.2, y[0]]


def test_a_field_that_raises_where_runs_begin_ends_these_runs_only():
    """An adaptive run asks it for its first step."""
    system = ActionSystem(actions.SO3_ON_S2, fussy, (0.0, 0.6, 0.8), p=(0.0,))
    params = [(float(i in (0, 1, 30)),) for i in range(40)]
    found = lielab.solve_many(system, system.y0, (0, 1), params=params, workers=2)
    assert list(np.flatnonzero(~found.success)) == [0, 1, 30]
    assert "RuntimeError: the motor did not start" in found.message[30]
    assert found.status[30] == -10
    assert found[31] == lielab.solve(system, (0, 1), save_every=ENDS)


def test_a_function_in_python_is_done_run_by_run():
    """It would take the lock in each step."""

    def field(t, y, p):
        return np.array([0.0, float(str(0.5)), 1.0])

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        system = ActionSystem(actions.SO3_ON_S2, field, (1.0, 0.0, 0.0))
        solver = lielab.prepare(system, "RKMK4", h=0.1)
    assert solver.ensemble() is None
    found = lielab.solve_many(system, np.tile(system.y0, (3, 1)), (0, 1), "RKMK4", h=0.1)
    assert found[2] == lielab.solve(system, (0, 1), method="RKMK4", h=0.1, save_every=ENDS)


@in_blocks
def test_an_interrupt_in_blocks_of_short_runs_keeps_them_all(interrupt, only_blocks, monkeypatch):
    starts = np.tile(STARTS, (40_000, 1))
    alone = lielab.solve_many(BODY, STARTS, (0, 2.0), "RKMK4", h=1e-2)
    sent, waiting = interrupt(0.3, waits=True), _Work._wait
    monkeypatch.setattr(_Work, "_wait", lambda *given: (sent.start(), waiting(*given)))
    with pytest.raises(KeyboardInterrupt) as caught, sent:
        lielab.solve_many(BODY, starts, (0, 2.0), "RKMK4", h=1e-2, workers=2)
    assert sent.late < 20.0
    found = caught.value.result
    done = np.flatnonzero(found.done)
    assert 0 < len(done) < len(starts)
    assert found.success[done].all()
    np.testing.assert_array_equal(found.y[done], alone.y[done % len(STARTS)])
    assert np.isnan(found.y[-1]).all()
    assert (~found.done & (found.nsteps > 0)).sum() <= 2


@in_blocks
def test_an_interrupt_inside_the_step_of_a_composition(interrupt, only_blocks):
    method = lielab.compose("LieMidpoint", "yoshida4")
    lielab.solve_many(BODY, STARTS, (0, 0.1), method, h=1e-2, save_every=10, workers=2)  # compiled
    with pytest.raises(KeyboardInterrupt) as caught, interrupt(0.5):
        lielab.solve_many(BODY, STARTS, (0, 1e5), method, h=1e-2, save_every=10, workers=2)
    found = caught.value.result
    for i in np.flatnonzero(found.nsteps):
        so_far = found[int(i)]
        assert "the call was interrupted" in so_far.message
        assert not so_far.success
        k = len(so_far.t) - 1
        assert so_far.nsteps >= 10 * (k - 1)
        one = lielab.solve(BODY, (0, 0.3), STARTS[i], method, h=1e-2, save_every=10)
        np.testing.assert_array_equal(so_far.y[:3], one.y[:3])
