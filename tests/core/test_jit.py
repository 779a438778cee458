"""The compile cache, the ways to run without Numba, and what importing costs."""

import errno
import hashlib
import os
import pickle
import pydoc
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
import warnings
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

import lielab
from lielab.core import jit as _jit
from lielab.core import readers as _fields

if _jit.ENABLED:
    from lielab.core import _cache

ROOT = Path(lielab.__file__).parent.parent
TESTS = Path(__file__).parents[1]
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
    """From a warm cache at most 1.5 times what Numba takes on top of it, and nothing heavy that is used elsewhere."""
    code = """
        import time; t = time.process_time()  # wall clock would measure the machine's other work
        import numba; numbas = time.process_time() - t
        import lielab, sys
        print((time.process_time() - t) / numbas)
        print([m for m in ("scipy.integrate", "scipy.spatial", "scipy.linalg",
            "scipy.optimize", "matplotlib", "ipywidgets", "mpmath", "tqdm") if m in sys.modules])
    """
    python(code)  # fills the file system's cache
    lines = [python(code).splitlines() for _ in range(3)]
    assert lines[0][1] == "[]"
    assert min(float(line[0]) for line in lines) < 2.5  # 1 s where Numba takes 0.4 s


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
    scalars = copy / "groups" / "scalars.py"
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
def test_later_processes_load_the_cache_and_compile_what_is_damaged(tmp_path):
    """The second process compiles nothing: Numba reports hits and no misses for the loop and the kernels."""
    code = (
        SOLVE
        + """
    from lielab.methods import rkmk
    from lielab.systems import free_rigid_body
    for f in (rkmk.march._function, free_rigid_body._field, lielab.actions.SO3_ON_DUAL.exp_act.into):
        print(sum(f.stats.cache_hits.values()), sum(f.stats.cache_misses.values()))
    """
    )
    cache = {"LIELAB_CACHE_DIR": str(tmp_path)}
    first, *missed = python(code, **cache).splitlines()
    assert missed == ["0 1"] * 3
    assert python(code, **cache).splitlines() == [first, *["1 0"] * 3]
    for file in tmp_path.glob("*/*.bin"):
        os.truncate(file, file.stat().st_size // 2)
    assert python(code, **cache).splitlines() == [first, *missed]
    assert python(code, **cache).splitlines() == [first, *["1 0"] * 3]


@pytest.fixture
def cached(tmp_path, monkeypatch):
    """A way to call a kernel as a new process would: (its value, whether it came from the disk)."""
    if not _jit.ENABLED:
        pytest.skip("nothing is compiled here")
    monkeypatch.setenv("LIELAB_CACHE_DIR", str(tmp_path / "kept"))
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.delenv("LIELAB_QUIET", raising=False)
    (tmp_path / "temporary").mkdir()

    def plain(x):
        return 2.0 * x

    def call():
        _cache._wanted.cache_clear()
        _cache._said.clear()
        kernel = _jit.jit(plain)
        return kernel(1.5), sum(kernel.stats.cache_hits.values()) == 1

    yield call
    _cache._wanted.cache_clear()


def test_a_damaged_file_costs_a_compilation(cached, tmp_path):
    """Cut short, empty, one bit turned, or something else altogether."""
    assert cached() == (3.0, False)
    (file,) = (tmp_path / "kept").glob("*/*.bin")
    whole = file.read_bytes()
    turned = bytearray(whole)
    turned[len(whole) // 2] ^= 4
    for damaged in (whole[:-1], whole[: len(whole) // 2], b"", bytes(turned), b"my notes"):
        file.write_bytes(damaged)
        assert cached() == (3.0, False)
        assert cached() == (3.0, True)
    foreign = pickle.dumps((1, 2, 3))  # whole, but nothing that was compiled
    file.write_bytes(hashlib.sha256(foreign).digest() + foreign)
    assert cached() == (3.0, False)
    assert cached() == (3.0, True)


def test_a_full_disk_stops_nothing(cached, tmp_path, monkeypatch, capsys):
    def full(self, data):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", full)
        assert cached() == (3.0, False)
        said = capsys.readouterr().err
        assert "No space left" in said
        assert "every process compiles anew" in said
    assert cached() == (3.0, False)
    with monkeypatch.context() as patch:
        patch.setattr(Path, "write_bytes", full)
        assert cached() == (3.0, True)  # needs no file that is not there
    assert capsys.readouterr().err == ""
    # The code and the mark, nothing half-written.
    assert len(list((tmp_path / "kept").glob("*/*"))) == 2


@pytest.mark.parametrize("wanted", ["{blocked}/cache", "{blocked}", "~nobody-has-this-name/cache"])
def test_an_unwritable_cache_folder_is_replaced_by_a_temporary_one(
    cached, tmp_path, monkeypatch, capsys, wanted
):
    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setenv("LIELAB_CACHE_DIR", wanted.format(blocked=blocked))
    assert cached() == (3.0, False)
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "LIELAB_CACHE_DIR" in said
    (kept,) = (tmp_path / "temporary").glob("*/*/*.bin")
    if os.name == "posix":
        assert kept.parents[1].stat().st_mode & 0o077 == 0
    assert cached() == (3.0, True)
    assert capsys.readouterr().err == ""


@pytest.mark.skipif(os.name != "posix", reason="about rights of POSIX")
def test_code_is_not_loaded_from_a_folder_that_others_may_write_to(
    cached, tmp_path, monkeypatch, capsys
):
    monkeypatch.setenv("LIELAB_CACHE_DIR", "~nobody-has-this-name")
    cached()
    (folder,) = (tmp_path / "temporary").iterdir()
    folder.chmod(0o777)
    capsys.readouterr()
    assert cached() == (3.0, False)
    assert "every process compiles anew" in capsys.readouterr().err


def test_the_cache_folder_may_be_named_from_home(cached, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("USERPROFILE", str(tmp_path / "home"))
    monkeypatch.setenv("LIELAB_CACHE_DIR", "~/kernels")
    assert cached() == (3.0, False)
    assert len(list((tmp_path / "home" / "kernels").glob("*/*.bin"))) == 1
    monkeypatch.delenv("LIELAB_CACHE_DIR")
    monkeypatch.delenv("LOCALAPPDATA", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert cached() == (3.0, False)
    assert len(list((tmp_path / "home" / ".cache" / "lielab").glob("*/*.bin"))) == 1


def test_only_old_folders_of_our_own_are_pruned(cached, tmp_path):
    """LIELAB_CACHE_DIR may name a folder in which a reader keeps other things."""
    base = tmp_path / "kept"
    theirs = [base / name for name in ("thesis", *"abcdefgh", "kernels-mine")]
    ours = [base / f"kernels-{age}" for age in range(20)]
    for age, folder in enumerate((*theirs, *ours)):
        folder.mkdir(parents=True)
        (folder / "file.txt").write_text("precious")
        if folder in ours:
            (folder / _cache.MARK).touch()
        os.utime(folder, (1e9 + age, 1e9 + age))
    os.utime(ours[7])  # in use
    python("import lielab", LIELAB_CACHE_DIR=str(base))
    cached()
    left = {folder for folder in base.iterdir() if (folder / "file.txt").exists()}
    assert left == {*theirs, ours[7]}


@pytest.mark.skipif(not _jit.ENABLED, reason="nothing is compiled here")
def test_importing_writes_nothing(tmp_path):
    python("import lielab", LIELAB_CACHE_DIR=str(tmp_path / "cache"), TMPDIR=str(tmp_path))
    assert list(tmp_path.iterdir()) == []


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


OVERFLOWS = """
    import warnings, lielab
    from lielab import actions
    from lielab.systems import ActionSystem
    def field(t, y, p):
        return [1e200, 0.0, 1.0 / t if t > 0.04 else 0.0]
    warnings.simplefilter("error")
    system = ActionSystem(actions.SO3_ON_S2, field, (0.6, 0.0, 0.8))
    for method in ("RKMK4", "LieEuler", "RK4"):
        sol = lielab.solve(system, (0, 2), method=method, h=0.05)
        print(sol.success, sol.message)
"""


@pytest.mark.skipif(not _jit.ENABLED, reason="compares with compiled code")
def test_a_step_that_overflows_ends_a_run_in_python_as_it_does_compiled():
    plain = python(OVERFLOWS, NUMBA_DISABLE_JIT="1")
    assert plain == python(OVERFLOWS)
    assert plain.startswith("False stopped at t = 0 ")


@pytest.mark.skipif(not _jit.ENABLED, reason="nothing is compiled here")
def test_notices_promise_a_cache_only_for_what_is_kept(capsys, monkeypatch):
    import time

    monkeypatch.delenv("LIELAB_QUIET", raising=False)
    monkeypatch.setattr(_jit, "_NOTICE_AFTER", 0.01)
    for kept, said in ((True, "load it from disk"), (False, "in every process that uses it")):
        monkeypatch.setattr(_jit.notice, "said", False)
        with _jit.notice("field", kept):
            time.sleep(0.1)
        assert said in capsys.readouterr().err


@pytest.mark.skipif(not _jit.ENABLED, reason="nothing is compiled here")
def test_a_readers_own_field_is_announced_as_compiled_in_every_process(monkeypatch):
    told = []

    @contextmanager
    def notice(what, kept=True):
        told.append((what, kept))
        yield

    monkeypatch.setattr(_jit, "notice", notice)
    _fields.field_kernel(lambda t, y, p: [1.25 * y[0]], (0.0, np.ones(1), np.empty(0)))
    assert {kept for _, kept in told} == {False}


@pytest.mark.skipif(not _jit.ENABLED, reason="nothing is compiled here")
def test_a_field_with_branches_of_two_types_is_told_so():
    def field(t, y, p):
        return [0, 0, 1] if t < 1 else [1.0, 0, 0]

    with pytest.warns(RuntimeWarning, match="do all branches return the same"):
        kernel = _fields.field_kernel(field, (0.0, np.ones(3), np.empty(0)))
    assert kernel(2.0, np.ones(3), np.empty(0)).tolist() == [1.0, 0.0, 0.0]


def test_extreme_data_leak_no_warnings_of_numpy_or_scipy():
    from lielab import actions, systems

    body, pendulum = systems.FreeRigidBody(attitude=True), systems.DoubleSphericalPendulum()
    long = systems.DoubleSphericalPendulum(lengths=(1e160, 1))
    own = systems.ActionSystem(actions.SO3_ON_S2, lambda t, y, p: [y[1], 0.2, 1.0], (1.0, 0.0, 0.0))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError, match="y0"):
            lielab.solve(body, (0, 1), np.r_[1e308, body.y0[1:]], method="RKMK4", h=0.1)
        pendulum.energy(np.full(12, np.inf))
        long.energy(pendulum.y0)
        assert lielab.solve(systems.FreeRigidBody(), (0, 0.1), method="RK45", rtol=1e-300).success
        assert lielab.solve(own, (0, 1), rtol=1e-8, atol=0).success


def test_the_package_runs_without_docstrings_and_assertions():
    code = f"import sys; sys.argv = ['x']\n{textwrap.dedent(SOLVE)}"
    done = subprocess.run(
        [sys.executable, "-OO", "-c", code],
        env={**os.environ, "PYTHONPATH": str(ROOT), "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_help_shows_the_system_and_an_action_no_addresses():
    text = pydoc.plain(pydoc.render_doc(lielab.systems.FreeRigidBody))
    assert "ndarray(shape" not in text
    assert len(text) < 20_000
    assert " at 0x" not in repr(lielab.actions.SO3_ON_S2)
    assert (ROOT / "lielab" / "py.typed").is_file()
