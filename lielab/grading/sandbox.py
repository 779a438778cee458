"""Where a submission runs: the limits, the walls, and the watch from outside.

With bubblewrap a submission has its own processes, its own network (none) and its own view of the files: the Python
installation and system libraries read-only, one folder to write in, and no masters, hidden tests or other submissions.
Everything in it dies with the grader. Without bubblewrap there are limits, a clean environment and a watch, but no
walls; `Sandbox.lapses` lists what is then not guaranteed.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np

from .watch import Running, mark_of_this_run, own_tasks

_HERE = Path(__file__).resolve().parent
_SYSTEM = ("/usr", "/nix/store", "/gnu/store")
_MERGED = ("/bin", "/sbin", "/lib", "/lib32", "/lib64")  # links into /usr on most systems
_ETC = ("ld.so.cache", "ld.so.conf", "ld.so.conf.d", "alternatives", "localtime", "fonts")


_MOST = 1e9  # of any limit: 30 years, or a petabyte


@dataclass(frozen=True)
class Limits:
    """All limits of one submission, and the only place where they are set."""

    total_seconds: float = 120.0  # from start to end, restarts included; a right one takes 2 s
    cpu_seconds: float = 120.0  # of all its processes together
    cell_seconds: float = 20.0  # one cell of the notebook
    call_seconds: float = 10.0  # one call of a function
    start_seconds: float = 20.0  # of Python and NumPy, on a busy machine
    grace_seconds: float = 1.0  # between asking to stop and stopping
    memory_mb: int = (
        2048  # resident, of all processes, and the address space of each; Numba needs 500
    )
    tasks: int = 32  # processes and threads together; honest work needs one or two
    folder_mb: int = (
        64  # all files it writes, in /tmp and /dev/shm too, deleted ones and memory files
    )
    files: int = 2000
    restarts: int = 4  # after a submission that died, so that its other questions are still graded
    log_bytes: int = 10_000  # of what it prints; the rest is read and thrown away

    def __post_init__(self) -> None:
        """ValueError for a limit that is no limit."""
        for limit in fields(self):
            value = getattr(self, limit.name)
            number = isinstance(value, (int, float)) and not isinstance(value, bool)
            if not number or not 0 < value <= _MOST:
                raise ValueError(
                    f"{limit.name} must be a positive number of at most {_MOST:g}, got {value!r}"
                )


WITHOUT_WALLS = (
    "it can read any file that you can read, also the masters and other submissions",
    "it can write and delete wherever you can",
    "it can send signals to your processes, and so end this grading run",
    "it can use the network",
    "packages that an assignment forbids are refused only by an import hook, which code can remove",
    "a process that leaves its parents is found by a mark in its environment, which code can remove",
    "if the grader is killed, processes that a submission started may live on",
)
WITHOUT_PROC = "memory, processor time and number of processes are limited for one process only, not counted together"


class Unavailable(RuntimeError):
    """This system cannot run submissions."""


def refuse_unknown_system() -> None:
    """Raise `Unavailable` where there is neither fork nor rlimit."""
    if os.name != "posix":
        raise Unavailable(
            "`grade` needs Linux (or macOS, with fewer guarantees): on Windows run it in the Windows Subsystem for "
            "Linux. `check` and `release` work everywhere."
        )


# ---------------------------------------------------------------- the view of the files


def _inside(path: Path, folder: Path) -> bool:
    return path == folder or folder in path.parents


def _mounts(protect: Sequence[Path], forbid: Sequence[str], with_lielab: bool) -> list[str]:
    """Arguments of bwrap that build the read-only view; shallow paths first, so that deeper ones win."""
    shown = {Path(path) for path in _SYSTEM} | {Path("/etc") / name for name in _ETC}
    shown |= {Path(sys.prefix), Path(sys.base_prefix), *_packages(with_lielab)}
    shown |= {Path(os.path.realpath(sys.executable)).parent.parent}
    shown = {path for path in shown if path.exists()}
    private = [*protect]
    for name in forbid:
        spec = importlib.util.find_spec(name)
        private += (spec and spec.submodule_search_locations) or ()
    hidden = set()  # where a private folder appears in what is shown
    for path in (Path(place).resolve() for place in private):
        for top in shown:
            real = top.resolve()
            if path.is_dir() and _inside(path, real):
                hidden.add(top / path.relative_to(real))
    mounts: list[tuple[int, list[str]]] = []
    for name in _MERGED:
        if os.path.islink(name):
            mounts.append((1, ["--symlink", os.readlink(name), name]))
        elif os.path.isdir(name):
            mounts.append((1, ["--ro-bind", name, name]))
    mounts += [(len(path.parts), ["--ro-bind", str(path), str(path)]) for path in shown]
    mounts += [
        (len(path.parts), ["--tmpfs", str(path), "--remount-ro", str(path)]) for path in hidden
    ]
    return [word for _, words in sorted(mounts, key=lambda mount: mount[0]) for word in words]


def _packages(with_lielab: bool) -> list[Path]:
    """Folders outside the Python installation that hold packages the child needs."""
    found = [Path(np.__file__).resolve().parents[1]]
    if with_lielab:
        found.append(_HERE.parent)
    return found


def import_path(with_lielab: bool) -> list[str]:
    """What the child appends to its `sys.path`."""
    return [str(path.parent if path == _HERE.parent else path) for path in _packages(with_lielab)]


# ---------------------------------------------------------------- the sandbox


class Sandbox:
    """How submissions are run here. `kind` is `auto`, `bubblewrap` or `none`.

    `protect` lists folders that a submission must not see: masters, submissions, results.
    """

    def __init__(
        self, kind: str = "auto", limits: Limits | None = None, protect: Sequence[Path] = ()
    ) -> None:
        refuse_unknown_system()
        if kind not in ("auto", "bubblewrap", "none"):
            raise ValueError(f"sandbox={kind!r}; choose auto, bubblewrap or none")
        self.limits, self.protect = limits or Limits(), tuple(protect)
        self.walls, self.why_not = False, "it was switched off"
        self.counts = os.path.exists("/proc/self/task")
        self.stopped = False  # set by an interrupt: every submission then ends at its next look
        if kind != "none":
            self.why_not = self._try_bubblewrap()
            self.walls = not self.why_not
            if kind == "bubblewrap" and not self.walls:
                raise Unavailable(f"bubblewrap does not work here: {self.why_not}")

    @property
    def lapses(self) -> list[str]:
        """What is not guaranteed, one sentence each; empty with bubblewrap."""
        return [] if self.walls else [*WITHOUT_WALLS, *([] if self.counts else [WITHOUT_PROC])]

    def _try_bubblewrap(self) -> str:
        """Empty if a Python with NumPy starts behind the walls, else the reason why not."""
        if not shutil.which("bwrap"):
            return "the program bwrap is not installed (package `bubblewrap`)"
        with tempfile.TemporaryDirectory(prefix="lielab-grade-") as base:
            folder = _make_folder(Path(base))
            program = "import sys; sys.path += sys.argv[1:]; import numpy"
            command = [*self._wrap(folder, (), False), sys.executable, "-I", "-c", program]
            command += import_path(False)
            try:
                done = subprocess.run(
                    command,
                    env=_environment("/student", ""),
                    stdin=subprocess.DEVNULL,
                    capture_output=True,
                    timeout=30,
                )
            except (OSError, subprocess.TimeoutExpired) as error:
                return str(error)
            if done.returncode == 0:
                return ""
            return done.stderr.decode(errors="replace").strip()[-500:] or "it failed"

    def _wrap(self, folder: Path, forbid: Sequence[str], with_lielab: bool) -> list[str]:
        home = folder / "home"
        options = [
            ("--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL"),
            ("--proc", "/proc", "--dev", "/dev"),
            ("--bind", str(home / "tmp"), "/tmp"),
            ("--bind", str(home / "shm"), "/dev/shm", "--remount-ro", "/dev"),
            _mounts(self.protect, forbid, with_lielab),
            ("--bind", str(home), "/student", "--ro-bind", str(folder / "code"), "/grader"),
            ("--remount-ro", "/", "--chdir", "/student", "--"),
        ]
        return ["bwrap", *(word for option in options for word in option)]

    def start(self, folder: Path, forbid: Sequence[str]) -> Running:
        """Start `child.py` for one submission, with `folder` (made by `workplace`) as the only place to write."""
        with_lielab = "lielab" not in forbid
        _make_folder(folder)
        if with_lielab:
            _share_caches(folder / "home" / "cache")
        token = f"{mark_of_this_run()}{os.urandom(12).hex()}"
        home, code = str(folder / "home"), str(folder / "code")
        if self.walls:
            home, code = "/student", "/grader"
        command = self._wrap(folder, forbid, with_lielab) if self.walls else []
        command += [sys.executable, "-I", "-B", f"{code}/child.py"]
        command += ["--supervise"] if self.counts and not self.walls else []
        pipe = subprocess.PIPE
        process = subprocess.Popen(
            command + import_path(with_lielab),
            env=_environment(home, token),
            cwd=folder / "home",
            stdin=pipe,
            stdout=pipe,
            stderr=pipe,
            bufsize=0,
            start_new_session=True,
        )
        return Running(self, process, folder / "home", token)

    def process_limits(self) -> dict[str, int]:
        """What the child sets for itself; the number of tasks counts all of this user's, since the kernel does."""
        memory = self.limits.memory_mb << 20
        return {
            "memory": memory,
            "cpu": max(1, round(self.limits.cpu_seconds)),
            "file": self.limits.folder_mb << 20,
            "tasks": self.limits.tasks + own_tasks(),
        }


@contextmanager
def workplace() -> Iterator[Path]:
    """A folder for one submission, removed at the end whatever the submission did to it."""
    folder = Path(tempfile.mkdtemp(prefix="lielab-grade-"))
    try:
        yield folder
    finally:
        remove(folder)


def remove(folder: Path) -> None:
    """Remove a folder, also one that is nested deeper than Python can recurse, locked, or still being written to."""
    if folder.is_symlink():
        folder.unlink()
    for command in (["rm", "-rf"], ["chmod", "-R", "u+rwx"], ["rm", "-rf"], ["rm", "-rf"]):
        if not folder.exists():
            return
        subprocess.run([*command, "--", str(folder)], stderr=subprocess.DEVNULL, check=False)


def _make_folder(folder: Path) -> Path:
    """The folder's parts, made anew after a submission that removed or locked them."""
    remove(folder / "home")
    for name in ("code", "home/tmp", "home/shm", "home/cache"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    for name in ("child.py", "wire.py"):
        shutil.copyfile(_HERE / name, folder / "code" / name)
    return folder


def _share_caches(target: Path) -> None:
    """Copies of matplotlib's and the compiled kernels' caches: a start takes half the time."""
    try:
        folders = importlib.import_module("lielab._jit").cache_folders()
    except ImportError:
        folders = []
    for kernels in folders:
        shutil.copytree(kernels, target / kernels.name, dirs_exist_ok=True)
    if "matplotlib" in sys.modules:
        for file in Path(sys.modules["matplotlib"].get_cachedir()).glob("fontlist*.json"):
            shutil.copy(file, target)


def _environment(home: str, token: str) -> dict[str, str]:
    """Nothing of the grader's own environment goes in."""
    names = (
        "OPENBLAS_NUM_THREADS",
        "OMP_NUM_THREADS",
        "MKL_NUM_THREADS",
        "NUMBA_NUM_THREADS",
        "PYTHONDONTWRITEBYTECODE",
    )
    return {
        "PATH": "/usr/bin:/bin",
        "HOME": home,
        "TMPDIR": f"{home}/tmp",
        "LANG": "C.UTF-8",
        "MPLBACKEND": "Agg",
        "MPLCONFIGDIR": f"{home}/cache",
        "LIELAB_CACHE_DIR": f"{home}/cache",
        **dict.fromkeys(names, "1"),
        **({token: "1"} if token else {}),
    }
