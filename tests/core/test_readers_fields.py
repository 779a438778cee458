"""Fields of readers that misbehave: none changes the state, p or the next run, or gives a wrong number unseen."""

import functools
import os
import signal
import threading
import time

import numpy as np
import pytest
from numpy import ascontiguousarray as contiguous

import lielab
from lielab.core import jit as _jit
from lielab.core import readers as _fields
from lielab.systems import ActionSystem, ParticleOnSphere

SPHERE = lielab.actions.SO3_ON_S2
compiled_only = pytest.mark.skipif(not _jit.ENABLED, reason="nothing is compiled")


def run(field, p=(1.0, 2.0, 3.0)):
    system = field if isinstance(field, ActionSystem) else ActionSystem(SPHERE, field, (1, 0, 0), p)
    return lielab.solve(system, (0, 1), method="RKMK4", h=0.1).y[-1].tolist()


def _writes_in_a_function_inside(t, y, p):
    def put(v):
        np.ascontiguousarray(v)[0] = 9.0

    put(y)
    return 2.0 * y


def _writes_under_another_name(t, y, p):
    contiguous(y)[0] = 9.0
    return 2.0 * y


def _writes_in_object_mode(t, y, p):
    with _jit.numba.objmode():
        y[0] = 9.0
    return 2.0 * y


def _writes_into_p(t, y, p):
    p[0] += 1.0
    return p[0] * y


@pytest.mark.filterwarnings("ignore:Code running in object mode")
@compiled_only
@pytest.mark.parametrize(
    "function",
    [
        _writes_in_a_function_inside,
        _writes_under_another_name,
        _writes_in_object_mode,
        _writes_into_p,
    ],
)
def test_a_field_that_writes_gets_copies(function):
    y, p = np.arange(1.0, 4.0), np.ones(1)
    kernel = _fields.field_kernel(function, (0.0, y.copy(), p.copy()), 3)
    assert kernel(0.0, y, p).tolist() in ([18.0, 4.0, 6.0], [2.0, 4.0, 6.0])
    assert y.tolist() == [1.0, 2.0, 3.0]
    assert p.tolist() == [1.0]


def test_a_field_that_writes_into_p_gives_the_same_run_twice():
    def field(t, y, p):
        p[0] += 1.0
        return np.array([0.0, p[0], 1.0])

    system = ActionSystem(SPHERE, field, (1, 0, 0), (1.0,))
    assert run(system) == run(system) == run(lambda t, y, p: [0.0, 2.0, 1.0])


def test_a_kernel_that_writes_into_p_leaves_the_next_run_alone():
    class Own(ActionSystem):
        @property
        def formulations(self):
            return kept

    @_jit.jit
    def field(t, y, p):
        p[0] += 1.0
        return np.array([0.0, 0.0, 1e-3 * p[0]])

    system = Own(SPHERE, lambda t, y, p: [0, 0, 0], (1, 0, 0), (1.0,))
    kept = {"action": lielab.systems.ActionFormulation(SPHERE, field, np.ones(1))}
    assert run(system) == run(system)


def _short(t, y, p):
    if t < 0.5:
        return np.array([0.0, 0.0, 1.0])
    return np.array([1.0])


def _long(t, y, p):
    if t < 0.5:
        return np.array([0.0, 0.0, 1.0])
    return np.ones(5)


def _short_list(t, y, p):
    values = [0.0, 0.0, 1.0]
    if t > 0.5:
        values.pop()
    return values


@pytest.mark.filterwarnings("ignore:.*could not be compiled")
@pytest.mark.parametrize("kind", ["compiled", "python"])
@pytest.mark.parametrize("field", [_short, _long, _short_list])
def test_a_field_whose_length_changes_ends_the_run(field, kind):
    chosen = field if kind == "compiled" else functools.partial(field)
    with pytest.raises(ValueError, match="must return 3 numbers at every t and y") as caught:
        run(chosen)
    assert 0.3 < caught.value.solution.t[-1] < 0.6


def test_an_index_outside_y_ends_the_run():
    def field(t, y, p):
        return np.array([0.0, y[int(10.0 * t)], 1.0])

    with pytest.raises(IndexError, match="out of bounds") as caught:
        run(field)
    assert caught.value.solution.t[-1] == pytest.approx(0.2)


def test_a_potential_that_misbehaves_is_found_out():
    def outside(x, p):
        return x[int(2.0 + 1.2 * abs(x[1]))]

    system = ParticleOnSphere(lambda x, p: np.eye(3), outside, (1, 0, 0, 0, 1, 0))
    with pytest.raises(IndexError, match="out of bounds"):
        lielab.solve(system, (0, 3), method="RKMK4", h=0.1)


class Callable:
    def __call__(self, t, y, p):
        return [0.0, 0.0, 1.0]

    def method(self, t, y, p):
        return [0.0, 0.0, 1.0]


@compiled_only
@pytest.mark.parametrize(
    "field",
    [Callable(), Callable().method, functools.partial(lambda k, t, y, p: [0, 0, k], 1.0)],
    ids=["object", "method", "partial"],
)
def test_other_callables_run_as_python(field):
    with pytest.warns(RuntimeWarning, match="runs as Python.* no plain function") as found:
        assert run(field) == run(lambda t, y, p: [0.0, 0.0, 1.0])
    assert found[0].filename == __file__  # it points at the reader's line, not into the package


@compiled_only
@pytest.mark.filterwarnings("error")
def test_fields_compiled_by_the_reader_keep_their_options():
    numba = _jit.numba

    def field(t, y, p):
        return np.array([0.0, y[0], 1.0])

    wanted = run(field)
    for made in (
        numba.njit("f8[:](f8, f8[:], f8[:])"),
        numba.njit("f8[::1](f8, f8[::1], f8[::1])"),
        numba.njit(error_model="python"),
        numba.njit(boundscheck=True),
    ):
        assert run(made(field)) == wanted


gain = 1.0


def _with_a_global(t, y, p):
    return [0.0, 0.0, gain]


def _with_a_global_inside(t, y, p):
    def scaled(x):
        return gain * x

    return [0.0, 0.0, scaled(1.0)]


@pytest.mark.parametrize("field", [_with_a_global, _with_a_global_inside])
def test_a_global_changed_between_runs_counts(field, monkeypatch):
    system = ActionSystem(SPHERE, field, (1, 0, 0))
    assert run(system)[0] == pytest.approx(np.cos(1.0))
    monkeypatch.setitem(globals(), "gain", 2.0)
    assert run(system)[0] == pytest.approx(np.cos(2.0))
    assert run(field)[0] == pytest.approx(np.cos(2.0))


def test_arrays_changed_in_place_between_runs_count():
    table, fixed = np.ones(3), np.ones(3)

    def field(t, y, p, more=(fixed,)):
        return [0.0, 0.0, table[2]]

    def potential(x, p):
        return table[0] * x[2]

    system = ActionSystem(SPHERE, field, (1, 0, 0))
    particle = ParticleOnSphere(lambda x, p: np.eye(3), potential, (1, 0, 0, 0, 1, 0))
    run(system)
    before = lielab.solve(particle, (0, 1), method="RKMK4", h=0.1).y[-1]
    table[:] = 2.0
    assert run(system)[0] == pytest.approx(np.cos(2.0))
    after = lielab.solve(particle, (0, 1), method="RKMK4", h=0.1).y[-1]
    assert abs(after[2] - before[2]) > 0.1
    assert system.formulations is system.formulations
    assert particle.formulations is particle.formulations


@compiled_only
@pytest.mark.filterwarnings("ignore:.*could not be compiled")
@pytest.mark.skipif(os.name != "posix", reason="signals are sent")
@pytest.mark.usefixtures("ctrl_c")
def test_an_interrupt_of_a_field_in_python_stays_one():
    """What is raised in the line of Python by which Numba hands over the arrays would be lost."""
    late = threading.Event()

    def turn(t, y, p):
        if t > 1.0:
            late.set()
        return [0, 0, 1]

    def interrupt():  # not before the run is under way: pytest would take it
        late.wait()
        time.sleep(0.02)
        os.kill(os.getpid(), signal.SIGINT)

    system = ActionSystem(SPHERE, functools.partial(turn), (1, 0, 0))
    run(system)
    for _ in range(8):
        late.clear()
        thread = threading.Thread(target=interrupt)
        thread.start()
        with pytest.raises(KeyboardInterrupt) as caught:
            lielab.solve(system, (0, 1e5), method="RKMK4", h=0.001, save_every=100)
        thread.join()
        assert caught.value.solution.t[-1] > 0.0
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


class _TooFar(ArithmeticError):
    pass


class _NoNumber(ValueError):
    pass


class _Pole(ZeroDivisionError):
    pass


def _late(error):
    """A field that raises after t = 0.5, and that Numba cannot compile."""

    def field(t, y, p):
        if t > 0.5 and str(t):
            raise error
        return [0.0, 0.0, 1.0]

    return field


MEANT = [ArithmeticError("x"), _TooFar("x"), _NoNumber("math domain error"), _Pole("x")]
UNDEFINED = [
    ZeroDivisionError("division by zero"),
    OverflowError("math range error"),
    FloatingPointError("invalid value"),
    ValueError("math domain error"),
]


@pytest.mark.filterwarnings("ignore:.*runs as Python")
@pytest.mark.parametrize("error", MEANT, ids=repr)
def test_an_error_that_a_field_raises_on_purpose_is_raised(error):
    system = ActionSystem(SPHERE, _late(error), (1, 0, 0))
    with pytest.raises(type(error)) as caught:
        lielab.solve(system, (0, 1), method="RKMK4", h=0.1)
    assert caught.value is error
    assert 0.3 < error.solution.t[-1] < 0.6


@pytest.mark.filterwarnings("ignore:.*runs as Python")
@pytest.mark.parametrize("error", UNDEFINED, ids=repr)
def test_what_is_undefined_ends_the_run_as_in_compiled_code(error):
    system = ActionSystem(SPHERE, _late(error), (1, 0, 0))
    found = lielab.solve(system, (0, 1), method="RKMK4", h=0.1)
    assert not found.success
    assert "NaN or infinity" in found.message
    assert 0.3 < found.t[-1] < 0.6


def test_an_error_raised_on_purpose_at_the_first_call_is_not_taken_for_an_undefined_start():
    def field(t, y, p):
        raise _TooFar("never here")

    with pytest.raises((_TooFar, ValueError), match="never here"):
        lielab.solve(ActionSystem(SPHERE, field, (1, 0, 0)), (0, 1), method="RKMK4", h=0.1)
