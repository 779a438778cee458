"""The compile cache, the ways to run without Numba, and what importing costs."""

import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

import lielab
from lielab import _fields, _jit

ROOT = Path(lielab.__file__).parent.parent
TESTS = Path(__file__).parent
CORE = [
    str(TESTS / "test_core.py"),
    "-q",
    "-p",
    "no:cacheprovider",
    "-p",
    "no:xdist",
    "--no-header",
]


def python(code: str, *, root: Path = ROOT, **environment: str) -> str:
    """Run code in a fresh interpreter that imports lielab from `root`; its standard output."""
    env = {**os.environ, "PYTHONPATH": str(root), **environment}
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        env=env,
        cwd=root,  # the first entry of its path
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def core_tests(path: str, **environment: str) -> str:
    env = {**os.environ, "PYTHONPATH": path, **environment}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *CORE],
        env=env,
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
    assert "passed" in done.stdout
    return done.stdout


def test_core_without_jit():
    core_tests(str(ROOT), NUMBA_DISABLE_JIT="1")


def test_core_without_numba(tmp_path):
    (tmp_path / "numba.py").write_text("raise ImportError('not installed')\n")
    core_tests(os.pathsep.join([str(tmp_path), str(ROOT)]))


@pytest.mark.skipif(not _jit.ENABLED, reason="nothing is compiled here")
def test_core_with_bounds_checks(tmp_path):
    """In a cache of its own: a warm cache would silently check nothing."""
    core_tests(str(ROOT), NUMBA_BOUNDSCHECK="1", LIELAB_CACHE_DIR=str(tmp_path))


def test_import_is_light():
    """Under a second from a warm cache, and nothing heavy that is used elsewhere."""
    code = """
        import time; t = time.process_time()  # wall clock would measure the machine's other work
        import lielab, sys
        print(time.process_time() - t)
        print([m for m in ("scipy.integrate", "scipy.spatial", "scipy.linalg",
            "scipy.optimize", "matplotlib", "ipywidgets", "mpmath", "tqdm") if m in sys.modules])
    """
    python(code)  # fills the file system's cache
    lines = [python(code).splitlines() for _ in range(3)]
    assert lines[0][1] == "[]"
    assert min(float(line[0]) for line in lines) < 1.0


SOLVE = """
    import lielab
    sol = lielab.solve(lielab.systems.FreeRigidBody(), (0, 1), method="LieEuler", h=0.5)
    print(repr(float(sol.y[-1][0])))
"""


@pytest.mark.skipif(not _jit.ENABLED, reason="nothing is compiled here")
def test_no_stale_results_after_an_edit(tmp_path):
    """Edit a callee (the cross product behind the action) and call the caller: the new code must run."""
    copy = tmp_path / "lielab"
    shutil.copytree(ROOT / "lielab", copy, ignore=shutil.ignore_patterns("__pycache__"))
    cache = {"LIELAB_CACHE_DIR": str(tmp_path / "cache")}
    first = python(SOLVE, root=tmp_path, **cache)
    assert python(SOLVE, root=tmp_path, **cache) == first
    scalars = copy / "groups" / "_scalars.py"
    text = scalars.read_text()
    edited = text.replace("return math.sin(theta) / theta", "return 2.0 * math.sin(theta) / theta")
    edited = edited.replace("return horner(_SINC, x)", "return 2.0 * horner(_SINC, x)")
    assert edited != text
    scalars.write_text(edited)
    second = python(SOLVE, root=tmp_path, **cache)
    interpreted = python(SOLVE, root=tmp_path, NUMBA_DISABLE_JIT="1")
    assert second != first
    assert float(second) == pytest.approx(float(interpreted), abs=1e-12)


@pytest.mark.skipif(not _jit.ENABLED, reason="nothing is compiled here")
def test_later_processes_load_the_cache(tmp_path):
    """The second process compiles nothing: Numba reports hits and no misses for the loop and the kernels."""
    code = (
        SOLVE
        + """
    from lielab.methods import rkmk
    from lielab.systems import free_rigid_body
    for f in (rkmk.march._function, free_rigid_body._field, lielab.actions.rotations.so3_exp_vectors):
        print(sum(f.stats.cache_hits.values()), sum(f.stats.cache_misses.values()))
    """
    )
    cache = {"LIELAB_CACHE_DIR": str(tmp_path)}
    assert python(code, **cache).splitlines()[1:] == ["0 1"] * 3
    assert python(code, **cache).splitlines()[1:] == ["1 0"] * 3


@pytest.mark.skipif(not _jit.ENABLED, reason="nothing is compiled here")
def test_old_cache_folders_are_pruned(tmp_path):
    for age in range(20):
        folder = tmp_path / f"old{age}"
        folder.mkdir()
        os.utime(folder, (1e9 + age, 1e9 + age))
    python("import lielab", LIELAB_CACHE_DIR=str(tmp_path))
    left = [entry.name for entry in tmp_path.iterdir()]
    assert len(left) == 1


def test_unwritable_cache_folder(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("")
    assert python(SOLVE, LIELAB_CACHE_DIR=str(blocked))


def test_namesake_is_reported(tmp_path):
    """The other distribution called lielab, installed beside ours: importing says what is wrong."""
    info = tmp_path / "lielab-1.0.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: lielab\nVersion: 1.0.0\n")
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), str(tmp_path)])}
    done = subprocess.run(
        [sys.executable, "-c", "import lielab"],
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    assert "another project" in done.stderr
    assert "pip uninstall lielab" in done.stderr


@pytest.mark.skipif(not _jit.ENABLED, reason="nothing is compiled here")
def test_long_compilations_say_so_once(capsys, monkeypatch):
    import time

    monkeypatch.delenv("LIELAB_QUIET", raising=False)
    monkeypatch.setattr(_jit, "_NOTICE_AFTER", 0.01)
    monkeypatch.setattr(_jit.notice, "said", False)
    for _ in range(2):
        with _jit.notice("march"):
            time.sleep(0.05)
    text = capsys.readouterr().err
    assert text.count("compiling march") == 1


@pytest.mark.skipif(not _jit.ENABLED, reason="nothing is compiled")
def test_a_readers_field_is_compiled_once_while_it_means_the_same():
    def make(gain, table, helper):
        def field(t, y, p):
            return [gain * table[0], helper(y[1]), 0.0]

        return field

    @_jit.numba.njit
    def double(x):
        return 2.0 * x

    @_jit.numba.njit
    def triple(x):
        return 3.0 * x

    def kernel(*arguments):
        return _fields.field_kernel(make(*arguments), (0.0, np.ones(3), np.empty(0)))

    one = kernel(1.0, np.ones(2), double)
    assert kernel(1.0, np.ones(2), double) is one
    table = np.ones(2)
    again = kernel(1.0, table, double)
    assert again is one
    table[0] = 5.0  # changed in place: another field
    for arguments, first in (((2.0, np.ones(2), double), 2.0), ((1.0, table, double), 5.0)):
        other = kernel(*arguments)
        assert other is not one
        assert other(0.0, np.ones(3), np.empty(0))[0] == first
    assert kernel(1.0, np.ones(2), triple)(0.0, np.ones(3), np.empty(0))[1] == 3.0
    assert one(0.0, np.ones(3), np.empty(0)).tolist() == [1.0, 2.0, 0.0]


def _writes(t, y, p):
    y[0] = 9.0
    return 2.0 * y


def _writes_through_a_view(t, y, p):
    R = y.reshape(3, 3)
    R[0] += 9.0
    return R[0].copy()


def _writes_unseen_by_the_types(t, y, p):
    np.ascontiguousarray(y)[0] = 9.0
    y.flat[1] = 9.0
    return 2.0 * y


def _writes_by_dot(t, y, p):
    np.dot(2.0 * np.eye(9), 1.0 * y, y)
    return 2.0 * y


def _returns_its_argument(t, y, p):
    return y


def _returns_its_argument_at_times(t, y, p):
    return y if t > 0.5 else 2.0 * y


def _returns_a_view(t, y, p):
    return y[:3]


def _returns_a_list(t, y, p):
    return [y[0], 1, 2]


@pytest.mark.parametrize(
    "function",
    [
        _writes,
        _writes_through_a_view,
        _writes_unseen_by_the_types,
        _writes_by_dot,
        _returns_its_argument,
        _returns_its_argument_at_times,
        _returns_a_view,
        _returns_a_list,
        "in a helper",
    ],
)
def test_a_readers_field_neither_changes_the_state_nor_hands_it_back(function):
    if function == "in a helper":  # a helper must be compiled itself
        helper = _jit.jit(_writes_unseen_by_the_types)

        def function(t, y, p):
            return helper(t, y, p)[:3].copy()

    y = np.arange(1.0, 10.0)
    kernel = _fields.field_kernel(function, (0.0, y, np.ones(1)))
    for t in (0.0, 1.0):
        want = np.array(function(t, y.copy(), np.ones(1)), dtype=float)
        found = kernel(t, y, np.ones(1))
        assert found.tolist() == want.tolist()
        found += 1.0
        assert y.tolist() == list(range(1, 10))


@pytest.mark.skipif(not _jit.ENABLED, reason="nothing is compiled")
def test_a_field_that_only_reads_is_called_without_copies():
    def field(t, y, p):
        out = np.zeros(3)
        for i in range(3):
            out[i] = p[0] * y[i]
        return out

    kernel = _fields.field_kernel(field, (0.0, np.ones(9), np.ones(1)))
    assert kernel.py_func.__name__ == "lean"
    assert kernel(0.0, np.ones(9), np.full(1, 2.0)).tolist() == [2.0] * 3


def test_a_field_that_may_change_unseen_is_compiled_anew():
    class Holder:
        gain = 1.0

    def field(t, y, p):
        return [Holder.gain]

    assert _fields.meaning(field) is None


def test_files_outside_the_hash_hold_no_kernels_and_feed_none():
    package = Path(lielab.__file__).parent
    outside = _jit._NOT_KERNELS
    for file in package.rglob("*.py"):
        first, text = file.relative_to(package).parts[0], file.read_text()
        if first in outside:
            assert not re.search(r"^\s*@(jit|loop)\b|\bimport .*\bjit\b", text, re.M), file
        else:
            for module in re.findall(r"^\s*from \.+([a-z_]+)[\w.]* import", text, re.M):
                if module not in ("groups", "methods", "actions", "systems", "tableaus"):
                    top = not (file.parent / f"{module}.py").exists() or file.parent == package
                    assert not (top and {module, f"{module}.py"} & outside), (file, module)
