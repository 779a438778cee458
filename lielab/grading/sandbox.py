"""Where a submission runs: the limits, the walls, and the watch from outside.

With bubblewrap a submission has its own processes, its own network (none) and its own view of the files: Python's own
library, the packages that the assignment allows, system libraries, all of them read-only; folders of limited size to
write in; no masters, hidden tests or other submissions, no other program. Everything in it dies with the grader.
Without bubblewrap there are limits, a clean environment and a watch, but no walls; `Sandbox.lapses` lists what is then
not guaranteed. In both, a filter in the kernel refuses the calls that make memory nobody counts (`child.py`).

Why bubblewrap, and why a watch of our own: what else was looked at, and what it lacks here.

- `nsjail` has walls, a filter and control groups in one, but distributions do not package it (Debian 12 has none), so a
  teacher would have to compile it; its memory limit needs control groups that the user may write to.
- `firejail` is a setuid program for desktop programs that takes its rules from files in /etc; unpacked without being
  installed it refuses to start. Its limits are rlimits, of one process each.
- `systemd-run --scope -p MemoryMax=...` counts memory in the kernel, but only where systemd is the first process: in
  containers, also those of Colab and of many CI runs, it ends with "not been booted with systemd".
- Docker and podman need a daemon or a user set up for them, and an image for each choice of packages.
- nbgrader runs the hidden tests in the student's own kernel and says that it does not protect against unsafe code; its
  format of masters is what is used here. Otter-Grader runs them in the student's kernel too, in a container, and takes
  the results from a file that this kernel writes: what a submission patches changes its points. So neither can carry
  the comparison, which is the part that must not be reached.

Memory of all processes together could come from a control group where one may be made; it is counted from /proc
instead (`watch.py`), since that works wherever bubblewrap does.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path

from .watch import Running, folder_size, mark_of_this_run, own_tasks

_HERE = Path(__file__).resolve().parent
_MERGED = ("/lib", "/lib64")  # links into /usr on most systems
_ETC = ("ld.so.cache", "ld.so.conf", "ld.so.conf.d", "alternatives", "localtime")
_PACKAGES = "/packages"  # where the allowed ones are in the sandbox
_OWN = ("numpy", "scipy", "numba", "llvmlite", "matplotlib", "tqdm")  # what lielab imports


_PREFIX = "lielab-grade-"  # of temporary folders
_IN_USE = "in-use"  # a file in each, locked for as long as it is needed
_MOST = 1e9  # of any limit: 30 years, or a petabyte


@dataclass(frozen=True)
class Limits:
    """All limits of one submission, and the only place where they are set."""

    total_seconds: float = 60.0  # for all questions; a right one takes 1 s
    scratch_seconds: float = 60.0  # for all cells that the student added, restarts included
    cpu_seconds: float = 120.0  # of all its processes together
    cell_seconds: float = 20.0  # one cell of the notebook
    call_seconds: float = 5.0  # one call of a function
    start_seconds: float = (
        60.0  # of Python and NumPy, on a busy machine; nothing of the student runs yet
    )
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
    "packages that an assignment does not allow are refused only by an import hook, which code can remove",
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


def packages(allow: Sequence[str]) -> dict[str, Path]:
    """Import name -> file or folder, of the packages in `allow` and all that those need."""
    return dict(_packages(tuple(allow)))


@cache  # to read all records again for each process of a student was three quarters of the grader's time
def _packages(allow: tuple[str, ...]) -> dict[str, Path]:
    found: dict[str, Path] = {}
    providers = importlib.metadata.packages_distributions()
    waiting, seen = [], set()
    for name in [*allow, *(_OWN if "lielab" in allow else ())]:
        if name == "lielab":
            found[name] = _HERE.parent
        elif name in providers:
            waiting += providers[name]
        elif spec := importlib.util.find_spec(name):  # installed without a record
            found[name] = Path(spec.origin).parent
    while waiting:
        name = re.split(r"[^\w.-]", waiting.pop().strip())[0].lower()
        if name in seen:
            continue
        seen.add(name)
        try:
            package = importlib.metadata.distribution(name)
        except importlib.metadata.PackageNotFoundError:  # needed on another system only
            continue
        waiting += [need for need in package.requires or () if "extra ==" not in need]
        parts = {file.parts[0] for file in package.files or ()} - {"..", "__pycache__"}
        found |= {part: Path(str(package.locate_file(part))) for part in parts}
    return {name: path.resolve() for name, path in found.items() if path.exists()}


def _libraries() -> set[Path]:
    """Folders of Python's own library and of the shared libraries that this process has loaded."""
    found = {Path(sysconfig.get_path("stdlib")).resolve()}
    with suppress(OSError), open("/proc/self/maps") as file:
        for line in file:
            path = line.split(maxsplit=5)[5:]
            if path and ".so" in path[0] and not _PACKAGED.search(path[0]):
                found.add(Path(path[0].strip()).resolve().parent)
    return {path for path in found if path.is_dir() and path != Path("/")}


_PACKAGED = re.compile(r"/(site|dist)-packages(/|$)")


def _mounts(protect: Sequence[Path], allow: Sequence[str]) -> list[str]:
    """Arguments of bwrap that build the read-only view; shallow paths first, so that deeper ones win."""
    shown = _libraries() | {Path("/etc") / name for name in _ETC} | {Path("/usr/lib64")}
    shown |= {Path(os.path.realpath(sys.executable))}
    shown = {path for path in shown if path.exists()}
    hidden = {  # packages that came with the interpreter, and what nobody may see
        Path(base, name)
        for top in shown
        for base, folders, _ in os.walk(top)
        for name in folders
        if name in ("site-packages", "dist-packages")
    }
    for path in (Path(place).resolve() for place in protect):
        hidden |= {path} if path.is_dir() and any(top in path.parents for top in shown) else set()
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
    mounts += [
        (2, ["--ro-bind", str(path), f"{_PACKAGES}/{name}"])
        for name, path in packages(allow).items()
    ]
    return [word for _, words in sorted(mounts, key=lambda mount: mount[0]) for word in words]


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
        # Of the files, for each list of packages.
        self._views: dict[tuple[str, ...], list[str]] = {}
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
        with workplace() as base:
            folder = _make_folder(base)
            program = f"import sys; sys.path.append({_PACKAGES!r}); import numpy"
            command = [*self._wrap(folder, ("numpy",)), *_python("-c", program)]
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
            reason = done.stderr.decode(errors="replace").strip()[-500:] or "it failed"
            old = "; version 0.8 or newer is needed" if "nknown option" in reason else ""
            return reason + old

    def _wrap(self, folder: Path, allow: Sequence[str]) -> list[str]:
        given = folder_size(folder / "cache", 10**6)[0]  # copied in at the start
        size = ("--size", str((self.limits.folder_mb << 20) + given))
        if (view := tuple(allow)) not in self._views:
            self._views[view] = _mounts(self.protect, allow)
        options = [
            ("--unshare-all", "--unshare-user", "--disable-userns", "--cap-drop", "ALL"),
            ("--die-with-parent", "--new-session"),
            ("--proc", "/proc", "--dev", "/dev"),
            (*size, "--tmpfs", "/dev/shm", "--remount-ro", "/dev"),
            self._views[view],
            (*size, "--tmpfs", "/student", "--dir", "/student/tmp", "--dir", "/student/cache"),
            ("--symlink", "/student/tmp", "/tmp"),
            ("--ro-bind", str(folder / "code"), "/grader"),
            ("--ro-bind", str(folder / "cache"), "/cache"),
            ("--remount-ro", "/", "--chdir", "/student", "--"),
        ]
        return ["bwrap", *(word for option in options for word in option)]

    def start(self, folder: Path, allow: Sequence[str]) -> Running:
        """Start `child.py` for one submission, with `folder` (made by `workplace`) as the only place to write."""
        _make_folder(folder)
        if "lielab" in allow:
            _share_caches(folder / "cache")
        token = f"{mark_of_this_run()}{os.urandom(12).hex()}"
        home, code = str(folder / "home"), str(folder / "code")
        found = packages(allow) if not self.walls else {}
        paths = list(dict.fromkeys(str(path.parent) for path in found.values()))
        cache = str(folder / "cache")
        if self.walls:
            home, code, cache, paths = "/student", "/grader", "/cache", [_PACKAGES]
        command = self._wrap(folder, allow) if self.walls else []
        command += _python("-B", f"{code}/child.py", cache)
        command += ["--supervise"] if self.counts and not self.walls else []
        pipe = subprocess.PIPE
        process = subprocess.Popen(
            command + paths,
            env=_environment(home, token),
            cwd=folder / "home",
            stdin=pipe,
            stdout=pipe,
            stderr=pipe,
            bufsize=0,
            start_new_session=True,
        )
        return Running(self, process, folder / "home", token)

    def allowed(self, allow: Sequence[str]) -> list[str]:
        """The names that may be imported beside Python's own library."""
        return [name.removesuffix(".py") for name in packages(allow)]

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
    import fcntl  # not on Windows

    folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
    with open(folder / "lock", "w") as lock:  # open again whatever ends this process
        with suppress(OSError):  # a file system without locks
            fcntl.flock(lock, fcntl.LOCK_EX)
        os.replace(folder / "lock", folder / _IN_USE)
        try:
            yield folder
        finally:
            remove(folder)


def clear_away() -> None:
    """Remove the folders that killed runs left behind."""
    import fcntl

    for mark in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*/{_IN_USE}"):
        with suppress(OSError), open(mark) as lock:
            if os.fstat(lock.fileno()).st_uid == os.getuid():
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)  # OSError: in use
                remove(mark.parent)


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
    for name in ("code", "cache", "home/tmp", "home/cache"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    for name in ("child.py", "wire.py"):
        shutil.copyfile(_HERE / name, folder / "code" / name)
    return folder


def _python(*words: str) -> list[str]:
    """The interpreter itself, without the packages of its installation."""
    return [os.path.realpath(sys.executable), "-I", "-S", *words]


def _share_caches(target: Path) -> None:
    """Copies of matplotlib's and the compiled kernels' caches: a start takes half the time."""
    try:
        folders = importlib.import_module("lielab.core.jit").cache_folders()
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
