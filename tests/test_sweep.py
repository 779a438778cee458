"""Sweeps: every executor gives the same numbers, a failing case costs only itself, a killed run resumes."""

import functools
import inspect
import itertools
import json
import os
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import nullcontext
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest

import lielab
from lielab import so3
from lielab.systems import FreeRigidBody
from tests.pace import pace

sweep = functools.partial(lielab.sweep, progress=False)
ROOT = str(Path(lielab.__file__).parent.parent)
# Importable in another process, whichever way the tests were collected.
WORK = """
import numpy as np, os, time
def turn(case):
    return np.array([np.sin(case), case**0.5])
def slow(case):
    time.sleep(0.02)
    return turn(case)
def turn_but_one(case):
    if case == 7:
        raise RuntimeError("seven")
    return np.append(turn(case), os.getpid())
def dies_once(case):
    if case == 60 and not os.path.exists("died"):
        open("died", "w").close()
        os._exit(1)
    return turn(case)
def dies(case):
    time.sleep(2.0 if case == 0 else 30.0)  # while the interrupted sweep still waits for what is under way
    os._exit(1)
"""


@pytest.fixture
def work(tmp_path, monkeypatch):
    (tmp_path / "sweep_work.py").write_text(WORK)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), ROOT]))
    sys.modules.pop("sweep_work", None)
    import sweep_work

    return sweep_work


CASES = list(range(1000))


def test_threads_and_processes_agree_with_one_after_the_other(work):
    expected = sweep(work.turn, CASES)
    assert expected.success
    np.testing.assert_array_equal(expected.values, [[np.sin(c), c**0.5] for c in CASES])
    with ThreadPoolExecutor(3) as threads:
        np.testing.assert_array_equal(
            sweep(work.turn, CASES, executor=threads).values, expected.values
        )
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as processes:
        found = sweep(work.turn, CASES, executor=processes, chunk=37)
        np.testing.assert_array_equal(found.values, expected.values)


def test_a_dask_cluster_agrees(work):
    distributed = pytest.importorskip("distributed")
    options = {
        "n_workers": 1,
        "threads_per_worker": 2,
        "processes": False,
        "dashboard_address": None,
    }
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        found = sweep(work.turn, CASES, executor=client.get_executor(), chunk=50)
    np.testing.assert_array_equal(found.values, sweep(work.turn, CASES).values)


MPIEXEC = shutil.which(
    "mpiexec", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
)


with_mpi = pytest.mark.skipif(
    find_spec("mpi4py") is None or MPIEXEC is None, reason="needs mpi4py and an MPI"
)


def in_mpi(folder, code):
    """That program with two workers beside the process that hands out the cases."""
    file = folder / "run.py"
    file.write_text(textwrap.dedent(code))
    # Several ranks as root, and more than there are cores: Open MPI asks whether that is meant.
    free = [
        "OMPI_ALLOW_RUN_AS_ROOT",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM",
        "PRTE_MCA_rmaps_default_mapping_policy",
    ]
    env = {**os.environ, **dict.fromkeys(free[:2], "1"), free[2]: ":oversubscribe"}
    return subprocess.run(
        [MPIEXEC, "-n", "3", sys.executable, "-m", "mpi4py.futures", str(file)],
        cwd=folder, env=env, text=True, capture_output=True, timeout=600, check=False,
    )  # fmt: skip


@with_mpi
def test_the_ranks_of_an_mpi_job_agree(work, tmp_path):
    """One case fails, and all are in the checkpoint."""
    code = """
    from mpi4py.futures import MPIPoolExecutor
    import lielab, numpy, sweep_work

    if __name__ == "__main__":
        with MPIPoolExecutor() as executor:
            options = dict(executor=executor, chunk=5, checkpoint="kept")
            found = lielab.sweep(sweep_work.turn_but_one, range(100), **options)
        again = lielab.sweep(sweep_work.turn_but_one, range(100), checkpoint="kept", progress=False)
        assert numpy.array_equal(again.values, found.values, equal_nan=True)
        numpy.save("values", found.values)
        print(found.errors, found.done.all())
    """
    process = in_mpi(tmp_path, code)
    assert process.returncode == 0, process.stderr
    assert "{7: 'RuntimeError: seven'} True" in process.stdout
    assert "100/100" in process.stderr
    values = np.load(tmp_path / "values.npy")
    expected = sweep(work.turn, CASES[:100]).values
    expected[7] = np.nan
    np.testing.assert_array_equal(values[:, :2], expected)
    assert len(np.unique(values[np.isfinite(values[:, 2]), 2])) == 2


@with_mpi
def test_an_mpi_job_that_a_dying_worker_ended_goes_on_where_it_was(work, tmp_path):
    """MPI ends the whole job with a worker; what was finished is in the checkpoint."""
    code = """
    from mpi4py.futures import MPIPoolExecutor
    import lielab, numpy, sweep_work

    if __name__ == "__main__":
        with MPIPoolExecutor() as executor:
            options = dict(executor=executor, chunk=5, checkpoint="kept")
            found = lielab.sweep(sweep_work.dies_once, range(100), **options)
        numpy.save("values", found.values)
    """
    assert in_mpi(tmp_path, code).returncode != 0
    assert not (tmp_path / "values.npy").exists()
    again = in_mpi(tmp_path, code)
    assert again.returncode == 0, again.stderr
    assert " 0%|" not in again.stderr  # the bar begins where the first job was ended
    np.testing.assert_array_equal(
        np.load(tmp_path / "values.npy"), sweep(work.turn, CASES[:100]).values
    )


def test_compiled_runs_agree_between_threads():
    body = FreeRigidBody()

    def end(h):
        return lielab.solve(body, (0, 1), method="RKMK4", h=h).y[-1]

    cases = [1 / n for n in range(10, 60)]
    with ThreadPoolExecutor(2) as threads:
        np.testing.assert_array_equal(
            sweep(end, cases, executor=threads).values, sweep(end, cases).values
        )


def test_a_failing_case_is_recorded_and_the_others_run():
    def inverse(case):
        if case == 3:
            raise ZeroDivisionError("three")
        return "text" if case == 4 else 1.0 if case != 5 else [1.0, 2.0]

    found = sweep(inverse, range(7))
    assert not found.success
    assert found.done.all()
    assert sorted(found.errors) == [3, 4, 5]
    assert found.errors[3] == "ZeroDivisionError: three"
    assert "must return real numbers" in found.errors[4]
    assert "shape" in found.errors[5]
    assert np.isnan(found.values[3:6]).all()
    assert np.isfinite(found.values[[0, 1, 2, 6]]).all()


def test_checkpoint_resumes_only_what_is_missing(tmp_path):
    file, calls = tmp_path / "c.jsonl", []

    def value(case):
        calls.append(case)
        if case == 5 and len(calls) < 8:
            raise KeyboardInterrupt
        if case == 2 and len(calls) < 5:
            raise RuntimeError("not yet")
        return [case / 3, np.pi]

    with pytest.raises(KeyboardInterrupt) as caught:
        sweep(value, range(8), checkpoint=file)
    assert caught.value.result.done.sum() == 5
    assert 2 in caught.value.result.errors
    calls.clear()
    calls.extend([None] * 10)
    found = sweep(value, range(8), checkpoint=file)
    assert calls[10:] == [2, 5, 6, 7]  # the failed one again, the finished ones not
    np.testing.assert_array_equal(found.values, [[c / 3, np.pi] for c in range(8)])


def test_a_torn_line_is_dropped_and_a_foreign_file_refused(tmp_path):
    file = tmp_path / "c.jsonl"
    sweep(np.sqrt, range(6), checkpoint=file)
    whole = file.read_bytes()
    file.write_bytes(whole[:-4])
    assert sweep(np.sqrt, range(6), checkpoint=file).success
    assert file.read_bytes() == whole
    with pytest.raises(ValueError, match="other cases or another function"):
        sweep(np.sqrt, range(7), checkpoint=file)
    with pytest.raises(ValueError, match="other cases or another function"):
        sweep(np.cbrt, range(6), checkpoint=file)
    file.write_text("my notes")
    with pytest.raises(ValueError, match="no checkpoint"):
        sweep(np.sqrt, range(6), checkpoint=file)
    assert file.read_text() == "my notes"


def test_a_killed_sweep_loses_no_finished_case(work, tmp_path):
    file = tmp_path / "c.jsonl"
    code = f"""
        import lielab, sweep_work
        lielab.sweep(sweep_work.slow, range(400), checkpoint={str(file)!r}, progress=False)
    """
    child = subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)])
    try:
        end = time.monotonic() + 60
        while time.monotonic() < end and (not file.exists() or file.read_bytes().count(b"\n") < 12):
            time.sleep(0.01)
    finally:
        child.send_signal(signal.SIGKILL)
        child.wait()
    kept = [json.loads(line) for line in file.read_bytes().split(b"\n")[1:-1]]
    assert 11 <= len(kept) < 400

    calls = []
    original = work.slow
    work.slow.__globals__["time"].sleep, sleep = calls.append, time.sleep
    try:
        found = sweep(original, range(400), checkpoint=file)
    finally:
        time.sleep = sleep
    assert len(calls) == 400 - len(kept)
    np.testing.assert_array_equal(found.values, sweep(work.turn, range(400)).values)


def test_a_function_that_cannot_travel_is_named():
    with (
        ProcessPoolExecutor(1, mp_context=get_context("spawn")) as processes,
        pytest.raises(ValueError, match="top level of a module, or use threads"),
    ):
        sweep(lambda case: case, [1, 2], executor=processes)


def test_bad_arguments():
    with pytest.raises(ValueError, match="chunk must be a whole number"):
        sweep(np.sqrt, [1], chunk=0)
    with pytest.raises(ValueError, match="get_executor"):
        sweep(np.sqrt, [1], executor=4)
    assert sweep(so3.log, []).values.shape == (0,)
    with pytest.raises(ValueError, match="function must be a function of one case, got 3"):
        sweep(3, [1])
    with pytest.raises(ValueError, match="cases must be a sequence of cases, got None"):
        sweep(np.sqrt, None)
    with pytest.raises(ValueError, match="checkpoint must be the name of a file, got 3"):
        sweep(np.sqrt, [1], checkpoint=3)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (None, "returned None; does it end with"),
        (1.0 + 2.0j, "must return real numbers"),
        (np.array([1.0 + 2.0j]), "must return real numbers"),
        (np.ma.array([1.0, 2.0], mask=[1, 0]), "must return real numbers"),
        ("3", "must return real numbers"),
    ],
)
def test_values_that_are_no_numbers_are_errors(value, message):
    found = sweep(lambda case: value, [1, 2], progress=False)
    assert not found.success
    assert message in found.errors[1]
    assert np.isnan(found.values).all()


def test_a_checkpoint_belongs_to_the_numbers_that_the_function_refers_to(tmp_path):
    """The same source, closed over another gain, array, helper or system, is another function."""

    def made(gain, table=(1.0,), system=None):
        def helper(x):
            return gain * x

        def work(case):
            return helper(case) + table[0] + (system.n if system else 0)

        return work

    first = {"gain": 1.0, "table": np.ones(1), "system": lielab.systems.PendulumChain(2)}
    file = tmp_path / "journal"
    assert sweep(made(**first), [1.0], progress=False, checkpoint=file).values == [4.0]
    assert sweep(made(**first), [1.0], progress=False, checkpoint=file).values == [4.0]
    for change in (
        {"gain": 2.0},
        {"table": np.zeros(1)},
        {"system": lielab.systems.PendulumChain(3)},
    ):
        with pytest.raises(ValueError, match="other cases or another function"):
            sweep(made(**{**first, **change}), [1.0], progress=False, checkpoint=file)


@pytest.mark.parametrize(
    "line", ["{bad", '{"7": 1.0}', '{"0": [1.0, 2.0]}', '{"0": "x"}', "[1]", '{"a": 1.0}', "3"]
)
def test_a_damaged_checkpoint_is_named_and_gives_no_number(tmp_path, line):
    file = tmp_path / "journal"
    sweep(np.sqrt, [1, 2, 3], progress=False, checkpoint=file)
    lines = file.read_text().split("\n")
    lines[1] = line
    file.write_text("\n".join(lines))
    with pytest.raises(ValueError, match=r"journal' is damaged in line [23]"):
        sweep(np.sqrt, [1, 2, 3], progress=False, checkpoint=file)
    lines.pop(1)
    file.write_text("\n".join(lines))
    found = sweep(np.sqrt, [1, 2, 3], progress=False, checkpoint=file)
    assert found.values.tolist() == np.sqrt([1, 2, 3]).tolist()
    with pytest.raises(ValueError, match="is a folder"):
        sweep(np.sqrt, [1], progress=False, checkpoint=tmp_path)


def test_two_sweeps_do_not_share_a_checkpoint(tmp_path):
    """Neither two threads of a process nor two processes: every case would run twice, and lines would tear."""
    file = tmp_path / "run.jsonl"
    calls = itertools.count()  # no data: a checkpoint does not depend on it

    def nested(case):
        if next(calls) == 0:
            with pytest.raises(ValueError, match="in use by another sweep .*another file name"):
                sweep(nested, [1.0, 2.0], progress=False, checkpoint=file)
        return case

    assert sweep(nested, [1.0, 2.0], progress=False, checkpoint=file).success
    again = sweep(nested, [1.0, 2.0], progress=False, checkpoint=file)
    assert (again.success, next(calls)) == (True, 2)


HOLD = """
import sys, numpy as np, lielab
def slow(case):
    print("started", flush=True)
    sys.stdin.readline()
    return case
lielab.sweep(slow, [1.0], progress=False, checkpoint={file!r})
"""


def test_another_process_holds_its_checkpoint_until_it_ends(tmp_path):
    file = tmp_path / "run.jsonl"
    command = [sys.executable, "-c", HOLD.format(file=str(file))]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout.readline() == b"started\n"
        before = file.read_bytes()
        with pytest.raises(ValueError, match="in use by another sweep"):
            sweep(np.sqrt, [1.0], progress=False, checkpoint=file)
        assert file.read_bytes() == before
        child.kill()
    with pytest.raises(
        ValueError, match="written for other cases"
    ):  # free again, and still the other's
        sweep(np.sqrt, [1.0], progress=False, checkpoint=file)


def test_workers_that_live_on_do_not_hold_a_checkpoint(tmp_path):
    file = tmp_path / "run.jsonl"
    with ProcessPoolExecutor(1) as pool:
        for cases in ([1.0, 4.0], [1.0, 4.0]):
            found = sweep(np.sqrt, cases, executor=pool, progress=False, checkpoint=file)
            assert found.values.tolist() == [1.0, 2.0]


@pytest.mark.parametrize("workers", [None, 2])
def test_an_interrupted_sweep_ends_at_once_and_keeps_what_is_done(tmp_path, interrupt, workers):
    """Also the finished cases of a chunk that is under way."""

    def slow(case):
        time.sleep(0.02)
        return case

    file, cases = tmp_path / "run.jsonl", [float(n) for n in range(10_000)]
    began = time.monotonic()
    with (
        ThreadPoolExecutor(workers) if workers else nullcontext() as pool,
        pytest.raises(KeyboardInterrupt) as caught,
        interrupt(0.5) as sent,
    ):
        sweep(slow, cases, executor=pool, chunk=1000, checkpoint=file)
    assert sent.late < 20.0
    took = time.monotonic() - began
    assert took < 60.0 * pace()  # the threads leave the rest of their chunks, which takes 20 s
    found = caught.value.result
    assert 10 <= found.done.sum() < 200
    np.testing.assert_array_equal(found.values[found.done], np.array(cases)[found.done])
    kept = [json.loads(line) for line in file.read_text().splitlines()[1:]]
    assert sum(map(len, kept)) == found.done.sum()


def interrupted(folder, function, pause, send):
    """What a program says of its sweep over processes that is interrupted after `pause` seconds; it must end, too."""
    code = f"""
    import signal, time
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context
    import lielab, sweep_work

    if __name__ == "__main__":
        signal.signal(signal.SIGINT, signal.default_int_handler)
        with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
            list(pool.map(time.sleep, (2.0, 2.0)))  # both workers are there
            print("started", flush=True)
            options = dict(executor=pool, chunk=10, progress=False, checkpoint="kept")
            try:
                lielab.sweep(sweep_work.{function}, range(100000), **options)
            except KeyboardInterrupt as interrupt:
                print(interrupt.result.done.sum(), interrupt.result.values[:1].tolist(), flush=True)
    """
    file = folder / "run.py"
    file.write_text(textwrap.dedent(code))
    child = subprocess.Popen(
        [sys.executable, str(file)],
        cwd=folder, start_new_session=True, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    try:
        assert child.stdout.readline() == "started\n"
        time.sleep(pause)
        sent = time.monotonic()
        send(child.pid, signal.SIGINT)
        done, first = child.stdout.readline().split(maxsplit=1)
        assert time.monotonic() - sent < 60.0 * pace()
        child.wait(timeout=20)
    finally:
        if child.poll() is None:
            os.killpg(child.pid, signal.SIGKILL)
        child.communicate()
    return int(done), first


@pytest.mark.skipif(os.name != "posix", reason="signals are sent")
def test_ctrl_c_in_a_terminal_ends_a_sweep_over_processes_and_keeps_what_is_done(work, tmp_path):
    """A terminal sends it to the workers as well."""
    done, first = interrupted(tmp_path, "slow", 1.5, os.killpg)
    assert json.loads(first) == [work.turn(0).tolist()]
    kept = [json.loads(line) for line in (tmp_path / "kept").read_text().splitlines()[1:]]
    assert 20 <= done == sum(map(len, kept)) < 1000


@pytest.mark.skipif(os.name != "posix", reason="signals are sent")
def test_a_worker_that_dies_of_an_interrupt_does_not_keep_the_program_from_ending(work, tmp_path):
    """The pool of Python 3.11 stumbled over futures that the sweep had cancelled, and left the other worker alive."""
    assert interrupted(tmp_path, "dies", 1.7, os.kill)[0] == 0


def test_the_page_shows_what_was_measured(root):
    """The table of the page is that of the kept constants, and says what the text under it says."""
    from benchmarks import sweep_cost

    found = json.loads(sweep_cost.RESULTS.read_text(encoding="utf-8"))
    page = sweep_cost.PAGE.read_text(encoding="utf-8")
    assert sweep_cost.with_table(page, found) == page, "run: python -m benchmarks.sweep_cost --page"
    plans = [sweep_cost.on_paper(found, *plan) for plan in sweep_cost.PLANS]
    single, together, large = plans
    assert 0.5 < single["hours of the workers"] < 1.5
    assert 2.5 < 0.1 * single["hours of the scheduler"] / single["hours of the workers"] < 3.5
    assert 20 < single["hours of the scheduler"] < 30
    assert together["hours of the scheduler"] < 0.1 * together["hours of the workers"]
    assert together["memory, GB"] == single["memory, GB"] > 4.0
    assert large["memory, GB"] < 0.02
    assert 250 < large["seconds of a task"] < 350
    assert 400 < found["bytes of a case in memory"] < 600
    assert large["hours of the scheduler"] < 0.1 * large["hours of the workers"]


def test_the_lines_of_the_recipes_are_python(root):
    """They need a cluster to run; what of them is ours is called as it is."""
    import ast
    import re

    page = (root / "book/sweeps.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)
    assert len(blocks) == 5
    for block in blocks:
        calls = {
            node.func.id: {word.arg for word in node.keywords}
            for node in ast.walk(ast.parse(block))
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        }
        assert calls["sweep"] <= set(inspect.signature(lielab.sweep).parameters)


def test_a_case_of_many_runs_is_as_the_page_says(root):
    """The lines of the section run, and find the share of starts that it names."""
    import re

    page = (root / "book/sweeps.md").read_text(encoding="utf-8")
    section = page.split("## Many runs in a case")[1].split("\n## ")[0]
    named = {}
    exec(re.search(r"```python\n(.*?)```", section, flags=re.DOTALL)[1], named)
    found = named["result"].values
    assert len(found) == 8
    assert f"{found.sum() / 8000:.1%}" in section.replace(" %", "%")
