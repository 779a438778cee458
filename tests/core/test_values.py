"""`Vec3` and `Mat3`: every operation against NumPy, compiled, in Python, and both alike to the last bit."""

from __future__ import annotations

import operator
import os
import subprocess
import sys

import numpy as np
import pytest

from lielab.core import values
from lielab.core.jit import ENABLED, jit
from lielab.core.values import Mat3, Vec3

V, W = Vec3(0.3, -1.2, 0.7), Vec3(-2.1, 0.4, 1.9)
A = Mat3(0.9, -0.3, 0.2, 0.5, 1.4, -0.7, -1.1, 0.6, 2.2)
B = Mat3(-0.4, 1.3, 0.8, 0.1, -0.6, 1.7, 2.3, 0.2, -0.9)


def array(x):
    """What NumPy makes of a value, or of a number."""
    if isinstance(x, Mat3):
        return np.array(list(x)).reshape(3, 3)
    return np.array(list(x)) if isinstance(x, Vec3) else x


def hat(v):
    return np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])


@jit
def add(x, y):
    return x + y


@jit
def sub(x, y):
    return x - y


@jit
def mul(x, y):
    return x * y


@jit
def div(x, y):
    return x / y


@jit
def matmul(x, y):
    return x @ y


@jit
def neg(x):
    return -x


@jit
def in_place(x, y):
    x += y
    x *= 2.0
    x -= y
    x /= 3.0
    return x


@jit
def cross(x, y):
    return values.cross(x, y)


@jit
def dot(x, y):
    return values.dot(x, y)


@jit
def outer(x, y):
    return values.outer(x, y)


@jit
def scale_rows(x, y):
    return values.scale_rows(x, y)


@jit
def scale_columns(x, y):
    return values.scale_columns(x, y)


@jit
def solve(x, y):
    return values.solve(x, y)


@jit
def hat_of(x):
    return values.hat(x)


@jit
def axial(x):
    return values.axial(x)


@jit
def transpose(x):
    return values.transpose(x)


@jit
def trace(x):
    return values.trace(x)


@jit
def diag(x):
    return values.diag(x)


@jit
def columns(x, y, z):
    return values.columns(x, y, z)


@jit
def sizes(x):
    return values.norm(x), values.largest(x), values.finite(x)


CASES = [
    *[(add, np.add, x) for x in ((V, W), (A, B))],
    *[(sub, np.subtract, x) for x in ((V, W), (A, B))],
    *[(mul, np.multiply, x) for x in ((V, W), (V, 1.7), (1.7, V), (A, -0.3), (-0.3, A), (2, V))],
    *[(div, np.divide, x) for x in ((V, W), (V, 1.7), (A, -0.3), (A, 3))],
    *[(matmul, np.matmul, x) for x in ((A, V), (A, B))],
    *[(neg, np.negative, x) for x in ((V,), (A,))],
    *[(in_place, lambda x, y: ((x + y) * 2 - y) / 3, x) for x in ((V, W), (A, B))],
    (cross, np.cross, (V, W)),
    (dot, np.dot, (V, W)),
    (outer, np.outer, (V, W)),
    (scale_rows, lambda v, M: np.diag(v) @ M, (V, A)),
    (scale_columns, lambda M, v: M @ np.diag(v), (A, V)),
    (solve, np.linalg.solve, (A, V)),
    (hat_of, hat, (V,)),
    (axial, lambda M: np.array([M[2, 1] - M[1, 2], M[0, 2] - M[2, 0], M[1, 0] - M[0, 1]]), (A,)),
    (transpose, np.transpose, (A,)),
    (trace, np.trace, (A,)),
    (diag, np.diag, (V,)),
    (columns, lambda u, v, w: np.array([u, v, w]).T, (V, W, V)),
]


@pytest.mark.parametrize(("function", "expected", "arguments"), CASES)
def test_against_numpy(function, expected, arguments):
    found = function(*arguments)
    wanted = expected(*map(array, arguments))
    assert np.shape(array(found)) == np.shape(wanted)
    np.testing.assert_allclose(array(found), wanted, rtol=4e-16, atol=4e-16)
    if ENABLED:  # the same source, run in Python
        assert found == function.py_func(*arguments)


def test_sizes():
    assert sizes(V) == (float(np.linalg.norm(array(V))), 1.2, True)
    assert not sizes(Vec3(1.0, np.nan, 0.0))[2]


@jit
def moved(y, out, i):
    v, M = values.vec3(y, i), values.mat3(y, i + 3)
    values.store(M, out, 0)
    values.store(values.ONE @ v + values.ZERO, out, 9)
    values.store(values.mat3(y, 0, 4), out, 12, 5)


def test_arrays():
    """Loaded from an entry on and stored, rows of a matrix some way apart where that is said."""
    y, out = np.arange(20.0), np.full(25, -1.0)
    moved(y, out, 2)
    np.testing.assert_array_equal(out[:12], [*y[5:14], *y[2:5]])
    rows = np.array([out[12:15], out[17:20], out[22:25]])
    np.testing.assert_array_equal(rows, y[:12].reshape(3, 4)[:, :3])
    np.testing.assert_array_equal(out[[15, 16, 20, 21]], -1.0)


def test_in_python():
    assert np.float64(2.0) * V == V * 2.0 == V + V
    assert repr(V) == "Vec3(0.3, -1.2, 0.7)"
    assert V != W
    assert list(values.ONE) == list(np.eye(3).ravel())
    with np.errstate(divide="ignore", invalid="ignore"):
        assert not values.finite(values.solve(values.diag(Vec3(1.0, 0.0, 2.0)), V))
    for wrong in (operator.add, operator.mul, operator.matmul, operator.truediv):
        with pytest.raises((TypeError, AttributeError)):
            wrong(V, A)


@pytest.mark.skipif(not ENABLED, reason="this process is the interpreted one already")
def test_the_same_without_a_compiler(root):
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", __file__]
    run = subprocess.run(
        command,
        cwd=root,
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stdout


@pytest.mark.skipif(not ENABLED, reason="nothing is compiled")
def test_wrong_arguments_are_refused_when_compiled():
    from numba.core.errors import TypingError

    for wrong, arguments in ((add, (V, A)), (mul, (V, A)), (matmul, (V, W)), (cross, (V, 1.0))):
        with pytest.raises(TypingError):
            wrong(*arguments)


@pytest.mark.skipif(not ENABLED, reason="nothing is compiled")
def test_an_edit_of_the_values_makes_a_new_cache():
    from lielab.core import jit as _jit

    sources = [path for path in (_jit._PACKAGE / "core").glob("*.py") if path.stem != "__init__"]
    assert len(sources) > 1
    assert not {path.parent.name for path in sources} & _jit._NOT_KERNELS
