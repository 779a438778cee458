"""Readers' own flows and generators: any form works, none harms a run, and slips are named."""

from __future__ import annotations

import os
import pickle
import signal
import traceback
from contextlib import suppress

import numpy as np
import pytest

import lielab
from lielab import actions
from lielab.core.jit import ENABLED, FIELD, closure, compiled
from lielab.core.kernels import Kernel
from lielab.systems import ActionFormulation, ActionSystem, System

compiled_only = pytest.mark.skipif(not ENABLED, reason="nothing is compiled here")
slow_python = pytest.mark.filterwarnings("ignore:.*could not be compiled")
NAMED = {
    name: action for name, action in vars(actions).items() if isinstance(action, actions.Action)
}
KEPT: list = []
GAIN = 1.0


def turned(t, y, p):
    return [y[1], -y[0], 0.1]


def frames(flow, generator=lambda u, y: u + 0.0 * y, algebra=3, point=3):
    """R^3 with its translations; the brackets vanish, so that RKMK runs as well."""
    return actions.frozen_action(
        name="translations",
        manifold="R^3",
        algebra=algebra,
        point=point,
        flow=flow,
        generator=generator,
        structure=np.zeros((algebra,) * 3),
    )


def run(flow, method="RKMK4", field=turned, **more):
    system = ActionSystem(frames(flow, **more), field, (1.0, 0.0, 0.0))
    return lielab.solve(system, (0, 1), method=method, h=0.1)


def plain(u, y):
    return y + u


def as_list(u, y):
    return [y[0] + u[0], y[1] + u[1], y[2] + u[2]]


def as_tuple(u, y):
    return (y[0] + u[0], y[1] + u[1], y[2] + u[2])


def strided(u, y):
    return np.repeat(y + u, 2)[::2]


def into_y(u, y):
    for i in range(3):
        y[i] += u[i]
    return y


def into_u(u, y):
    for i in range(3):
        u[i] += y[i]
    return u


def spoils(u, y):
    moved = y + u
    u[:] = 7e7
    y[:] = -7e7
    return moved


def fills(u, y, out):
    for i in range(3):
        out[i] = y[i] + u[i]


def fills_and_spoils(u, y, out):
    for i in range(3):
        y[i] += u[i]
        out[i], u[i] = y[i], 7e7


def keeps(u, y):
    KEPT.append((u, y))
    return [float(str(x)) for x in y + u]


def fills_and_keeps(u, y, out):
    KEPT.append((u, y, out))
    out[:] = [float(str(x)) for x in y + u]


class Callable:
    def __call__(self, u, y):
        return y + u


FORMS = [as_list, as_tuple, strided, into_y, into_u, spoils, fills, fills_and_spoils]
FORMS += [
    keeps,
    fills_and_keeps,
    Callable(),
    lambda *both: both[0] + both[1],
    lambda u, y, k=1: y + u,
]


@slow_python
@pytest.mark.parametrize("method", ["RKMK4", "CF4"])
@pytest.mark.parametrize("flow", FORMS)
def test_every_form_of_a_flow_gives_the_same_run(flow, method):
    expected = run(plain, method)
    assert expected.y[-1] == pytest.approx([np.cos(1.0), -np.sin(1.0), 0.1], abs=1e-6)
    KEPT.clear()
    np.testing.assert_allclose(run(flow, method).y, expected.y, atol=4e-16)
    if KEPT:  # a run's own arrays would have been written to since, or freed
        # The first was of the trial when the system was made, at xi = 0; the next is of the first stage.
        u, y = KEPT[1][:2]
        np.testing.assert_array_equal(y, [1.0, 0.0, 0.0])
        assert all(array.base is None for kept in KEPT for array in kept)


SLIPS = [
    (lambda u, y: [y[0], y[1]], "flow must return as many numbers .* 3, got shape \\(2,\\)"),
    (lambda u, y: [y[0], y[1], 1.0, 2.0], "flow must return as many numbers .* 3, got shape"),
    (lambda u, y: 1.0, "flow must return as many numbers"),
    (lambda u, y: ["a", "b", "c"], "flow must return as many numbers"),
    (lambda u, y: None, "flow returned None; does it end with `return`"),
    (lambda u, y: y + u[7], "flow raised IndexError.* xi of 3 entries and y of 3 entries"),
    (lambda u: u, r"flow must take \(u, v\) and return, or take .*; got flow\(u\)"),
    (None, "flow must be a function of two or three arrays, got None"),
    ("exp", "flow must be a function of two or three arrays, got 'exp'"),
]


@pytest.mark.parametrize(("flow", "message"), SLIPS)
def test_a_flow_is_tried_when_the_system_is_made(flow, message):
    with pytest.raises(ValueError, match=message):
        run(flow)


def test_a_filling_flow_and_a_generator_are_tried_as_well():
    def beyond(u, y, out):
        for i in range(30):
            out[i] = y[0] + u[0]

    with pytest.raises(ValueError, match="flow raised IndexError.* out of 3 entries"):
        run(beyond)
    with pytest.raises(ValueError, match="generator must return as many numbers"):
        run(plain, generator=lambda u, y: u[:2])
    for missing in ("flow", "generator"):
        with pytest.raises(ValueError, match=f"{missing} must be a function"):
            run(**{"flow": plain, "generator": plain, missing: None})


def late(what):
    """A flow that goes wrong once y[2] has passed 0.05: not at the start, where it is tried."""

    def reads_beyond(u, y):
        return np.array([y[0] + u[0], y[1] + u[1], y[2] + (u[9] if y[2] > 0.05 else u[2])])

    def writes_beyond(u, y, out):
        for i in range(3 + (y[2] > 0.05)):
            out[i] = y[i % 3] + u[i % 3]

    def short(u, y):
        return (y + u)[: 2 if y[2] > 0.05 else 3]

    def refuses(u, y):
        if y[2] > 0.05:
            raise ArithmeticError("too far")
        return y + u

    return {f.__name__: f for f in (reads_beyond, writes_beyond, short, refuses)}[what]


@slow_python
@pytest.mark.parametrize("how", ["compiled", "Python"])
@pytest.mark.parametrize(
    ("what", "kind", "message"),
    [
        ("reads_beyond", IndexError, "out of bounds"),
        ("writes_beyond", IndexError, "out of bounds"),
        ("short", ValueError, "must return as many numbers"),
        ("refuses", ArithmeticError, "too far"),
    ],
)
def test_a_flow_that_goes_wrong_later_ends_the_run_and_loses_nothing(what, kind, message, how):
    flow = late(what)
    if how == "Python":
        inner, flow = flow, lambda *given: (str(given), inner(*given))[1]
        if what == "writes_beyond":
            flow = lambda u, y, out: (str(u), inner(u, y, out))[1]  # noqa: E731
    with pytest.raises(kind, match=message) as caught:
        run(flow, "CF4")
    assert 0.3 < caught.value.solution.t[-1] < 0.7
    for frame, _ in traceback.walk_tb(caught.value.__traceback__):
        for value in frame.f_locals.values():
            if isinstance(value, np.ndarray) and "_kernels" in frame.f_code.co_filename:
                # Not an array that the loop lent: that is nobody's.
                assert value.flags.owndata or value.base is not None


def test_what_a_flow_leaves_unwritten_is_not_a_number():
    def part(u, y, out):
        out[0] = y[0] + u[0]

    sol = run(part)
    assert not sol.success
    assert "NaN" in sol.message


def test_a_number_that_a_flow_refers_to_counts_when_it_has_changed():
    global GAIN

    def flow(u, y):
        return y + GAIN * u

    action = frames(flow)
    ends = []
    for GAIN in (1.0, 2.0):  # noqa: B007 (the flow reads it)
        system = ActionSystem(action, lambda t, y, p: [1.0, 0.0, 0.0], (1.0, 0.0, 0.0))
        ends.append(lielab.solve(system, (0, 1), method="LieEuler", h=0.1).y[-1, 0])
    GAIN = 1.0
    assert ends == pytest.approx([2.0, 3.0])


@compiled_only
def test_a_flow_that_was_compiled_before_is_not_compiled_again():
    into = Kernel(plain, "flow").into
    assert Kernel(plain, "flow").into is into
    assert Kernel(plain, "generator").into is not into  # its messages say what it is


@compiled_only  # a closure of the interpreter cannot be pickled
def test_an_action_of_ones_own_travels():
    action = frames(plain, plain)
    run(plain)
    action.exp_act.into  # noqa: B018 (compiled: what must not travel)
    other = pickle.loads(pickle.dumps(action))
    y = np.array([1.0, 2.0, 3.0])
    np.testing.assert_array_equal(other.exp_act(y, y), 2.0 * y)


@pytest.mark.parametrize(("algebra", "point"), [(1, 3), (5, 2), (7, 1)])
def test_algebra_and_point_of_any_two_dimensions(algebra, point):
    def flow(u, y):
        out = y.copy()
        for i in range(len(u)):
            out[i % len(y)] += u[i]
        return out

    action = frames(
        flow, lambda u, y: flow(u, 0.0 * y) if not ENABLED else moved(u, y), algebra, point
    )
    system = ActionSystem(action, lambda t, y, p: np.ones(algebra), (0.0,) * point)
    expected = flow(np.ones(algebra), np.zeros(point))
    for method in ("LieEuler", "RKMK4", "CF4", "RKMK54", "RKMKGL4", "RK4"):
        sol = lielab.solve(system, (0, 1), method=method, h=0.25)
        np.testing.assert_allclose(sol.y[-1], expected, atol=1e-14)
    sol = lielab.solve(system, (0, 1))
    np.testing.assert_allclose(sol.y[-1], expected, atol=1e-12)


@closure
def moved(u, y):
    out = np.zeros(len(y))
    for i in range(len(u)):
        out[i % len(y)] += u[i]
    return out


@pytest.mark.parametrize("name", NAMED)
def test_kernels_called_from_python_look_at_lengths(name):
    """Compiled code reads, and writes, past the end."""
    action = NAMED[name]
    for kind in ("exp_act", "generator", "cay_act", "dexpinv", "bracket", "dcayinv"):
        kernel = getattr(action, kind)
        if kernel is None:
            continue
        n = action.point if kind in ("exp_act", "generator", "cay_act") else action.algebra
        u, v = np.zeros(action.algebra), np.zeros(n)
        for bad in ((u[:-1], v), (np.append(u, 0.0), v), (u, v[:-1]), (u, np.append(v, 0.0))):
            with pytest.raises(ValueError, match=f"{kind}: .* must have length"):
                kernel(*bad)
        with pytest.raises(ValueError, match="must be flat"):
            kernel(u, v[None])
        with pytest.raises(ValueError, match="must hold real numbers|must be flat"):
            kernel(None, v)


@pytest.mark.parametrize(("n", "m"), [(6, 3), (3, 6), (7, 7), (12, 6), (1, 12)])
def test_lifted_looks_at_lengths(n, m):
    with pytest.raises(ValueError, match="of one length, a multiple of 6"):
        actions.lifted(np.zeros(n), np.zeros(m))


class Uncompiled(System):
    parts = (("point", (3,)),)
    y0 = np.array([0.0, 0.0, 1.0])
    formulations = {  # noqa: RUF012
        "action": ActionFormulation(actions.SO3_ON_S2, lambda t, y, p: np.ones(3), np.empty(0))
    }


@compiled_only
def test_a_formulation_with_a_plain_function_says_how_to_compile_it():
    with pytest.raises(ValueError, match="lielab.systems.field_kernel"):
        lielab.solve(Uncompiled(), (0, 1), method="RKMK4", h=0.1)


# --- the compiled functions that a reader's field calls --------------------------------------------------


@closure
def beyond(y):
    return y[8]


@closure
def calls_beyond(y):
    return beyond(y) + 1.0


@closure
def counts_down(n, y):
    if n == 0:
        return y[8]
    return counts_down(n - 1, y)


def through(helper):
    def field(t, y, p):
        return [0.0, 0.0, helper(y) if t > 0.5 else 1.0]

    return field


def by_name(t, y, p):
    return [0.0, 0.0, calls_beyond(y) if t > 0.5 else 1.0]


def by_recursion(t, y, p):
    return [0.0, 0.0, counts_down(3, y) if t > 0.5 else 1.0]


@closure
def compiled_itself(t, y, p):
    return np.array([0.0, 0.0, y[8] if t > 0.5 else 1.0])


@pytest.mark.parametrize(
    "field", [by_name, by_recursion, through(beyond), through(calls_beyond), compiled_itself]
)
def test_an_index_outside_an_array_is_noticed_in_helpers_too(field):
    system = ActionSystem(actions.SO3_ON_S2, field, (1.0, 0.0, 0.0))
    with pytest.raises(IndexError, match="out of bounds") as caught:
        lielab.solve(system, (0, 1), method="RKMK4", h=0.1)
    assert caught.value.solution.t[-1] == pytest.approx(0.5)


@compiled_only
def test_a_helper_keeps_the_options_and_signatures_that_its_author_gave_it():
    import numba

    from lielab.core._bounds import guarded

    trusting = numba.njit(boundscheck=False)(lambda y: y[0])
    assert guarded(trusting) is trusting
    fast = guarded(numba.njit(fastmath=True, error_model="python")(lambda y: y[0]))
    assert fast.targetoptions["fastmath"]
    assert fast.targetoptions["boundscheck"]
    assert fast.targetoptions["error_model"] == "python"
    typed = guarded(numba.njit("f8(f8)")(lambda x: x / 2))
    assert typed(3) == 1.5
    assert typed.nopython_signatures[0].args == (numba.float64,)


@compiled_only
@pytest.mark.skipif(os.name != "posix", reason="signals are sent")
@pytest.mark.usefixtures("ctrl_c")
def test_an_interrupt_that_llvm_swallows_while_it_compiles_is_raised_after(monkeypatch):
    """LLVM calls Python back while it compiles, and what is raised there is printed and forgotten."""
    kernel = closure(lambda t, y, p: y + t)

    def swallows(signature):
        with suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        compiling(signature)

    compiling = kernel.compile
    monkeypatch.setattr(kernel, "compile", swallows)
    with pytest.raises(KeyboardInterrupt):
        compiled(kernel, FIELD)
    assert compiled(kernel, FIELD) is kernel  # it is done, and the next one is not disturbed
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@slow_python
@pytest.mark.skipif(os.name != "posix", reason="signals are sent")
@pytest.mark.usefixtures("ctrl_c")
def test_an_interrupt_of_a_flow_in_python_stays_one():
    sent = []

    def flow(u, y):
        if y[2] > 0.05 and not sent:
            sent.append(str(u))
            signal.raise_signal(signal.SIGINT)
        return y + u

    with pytest.raises(KeyboardInterrupt) as caught:
        run(flow, "CF4")
    assert 0.3 < caught.value.solution.t[-1] < 0.7
