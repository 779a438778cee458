"""Watching a submission from outside, and ending it: its processes and threads, memory, processor time and files."""

from __future__ import annotations

import glob
import os
import signal
import stat
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .sandbox import Sandbox

_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
_TICK = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
_FOLDER_PERIOD = 0.2  # seconds between two walks through the folder, which cost more than a look at the processes


@dataclass
class Process:
    pid: int
    parent: int
    seconds: float
    memory: int  # bytes, resident or swapped out
    threads: int


def _process(pid: int) -> Process | None:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            words = file.read().rpartition(b")")[2].split()
    except OSError:
        return None
    if words[0] == b"Z":
        return None
    seconds = sum(int(word) for word in words[11:15]) / _TICK
    memory = int(words[21]) * _PAGE + (swapped(pid) if _SWAP else 0)
    return Process(pid, int(words[1]), seconds, memory, int(words[17]))


def has_swap(table: str = "/proc/swaps") -> bool:
    """Whether memory can leave for a disk, where it is not resident any more: a process can ask for that."""
    try:
        with open(table) as file:
            return len(file.readlines()) > 1
    except OSError:
        return False


def swapped(pid: int) -> int:
    """Bytes of a process that are on the disk."""
    try:
        with open(f"/proc/{pid}/status") as file:
            return sum(int(row.split()[1]) << 10 for row in file if row.startswith("VmSwap:"))
    except OSError:
        return 0


_SWAP = has_swap()


def _children(pid: int) -> list[int]:
    found = []
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/children", "rb") as file:
                found += [int(word) for word in file.read().split()]
    except OSError:
        pass  # it ended meanwhile
    return found


def tree(root: int, most: int) -> list[Process]:
    """The process `root` and its descendants; no more than `most`, so that a fork bomb is seen before it is counted."""
    found, waiting, seen = [], [root], {root}
    while waiting and len(found) < most:
        pid = waiting.pop()
        process = _process(pid)
        if process:
            found.append(process)
        for child in _children(pid):
            if child not in seen:
                seen.add(child)
                waiting.append(child)
    return found


def mark_of_this_run() -> str:
    """How the marks begin that this process gives to its submissions."""
    return f"LIELAB_GRADE_{os.getpid()}_"


def marked(token: str) -> list[int]:
    """Processes whose environment carries `token`: those that left the tree. Only called when something ends."""
    found, needle = [], token.encode()
    for name in os.listdir("/proc"):
        if name.isdigit() and int(name) != os.getpid():
            try:
                with open(f"/proc/{name}/environ", "rb") as file:
                    if needle in file.read():
                        found.append(int(name))
            except OSError:
                pass
    return found


def unnamed_bytes(processes: Sequence[Process]) -> int:
    """Bytes of files that are open or mapped but in no folder: deleted ones, and memory files."""
    seen: dict[tuple[int, int], int] = {}
    for process in processes:
        # each thread may have descriptors of its own; a mapping needs none
        for place in (*glob.iglob(f"/proc/{process.pid}/task/*/fd/*"), *_deleted_maps(process.pid)):
            with suppress(OSError):
                info = os.stat(place)
                if stat.S_ISREG(info.st_mode) and info.st_nlink == 0:
                    seen[info.st_dev, info.st_ino] = info.st_blocks * 512
    return sum(seen.values())


def _deleted_maps(pid: int) -> list[str]:
    """Mapped files without a name, as paths that can be looked at."""
    with suppress(OSError), open(f"/proc/{pid}/maps", errors="replace") as file:
        lines = [line.split(maxsplit=1)[0] for line in file if line.endswith("(deleted)\n")]
        return [f"/proc/{pid}/map_files/{word}" for word in lines]
    return []


def folder_size(folder: Path, most_files: int) -> tuple[int, int]:
    """Bytes and number of files below `folder`; stops counting a little above `most_files`."""
    size, number, waiting = 0, 0, [str(folder)]
    while waiting and number <= most_files:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    number += 1
                    if number > most_files:
                        break
                    try:
                        info = entry.stat(follow_symlinks=False)
                    except OSError:
                        continue
                    size += info.st_blocks * 512
                    if stat.S_ISDIR(info.st_mode):
                        waiting.append(entry.path)
        except OSError:
            continue
    return size, number


def mounted_size(pid: int) -> tuple[int, int]:
    """Bytes and number of files in the two places where the processes behind the walls can write.

    None before the walls stand: until then there is no /student, and /dev/shm is the machine's own.
    """
    size = number = 0
    with suppress(OSError):
        for place in ("student", "dev/shm"):
            info = os.statvfs(f"/proc/{pid}/root/{place}")
            size += (info.f_blocks - info.f_bfree) * info.f_frsize
            number += info.f_files - info.f_ffree
    return size, number


def own_tasks() -> int:
    if not os.path.exists("/proc/self/task"):
        return 2000
    count = 0
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                if os.stat(f"/proc/{name}").st_uid == os.getuid():
                    process = _process(int(name))
                    count += process.threads if process else 0
            except OSError:
                pass
    return count


class Running:
    """One started submission: watched by `police`, ended by `kill`."""

    def __init__(self, sandbox: Sandbox, process: subprocess.Popen, home: Path, token: str) -> None:
        self.sandbox, self.process, self.home, self.token = sandbox, process, home, token
        self.seconds = 0.0  # processor time seen so far
        self._main = 0  # without walls: the submission itself, the first child of its supervisor
        self._next_folder = 0.0
        self._start = (0, 0, 0)
        size, number = folder_size(home.parent / "cache", 10**6)  # copied in before anything runs
        self._given = (size, number + 8)

    def alive(self) -> bool:
        """Whether the submission's first process still runs."""
        if self.process.poll() is not None:
            return False
        if self.sandbox.walls or not self.sandbox.counts:
            return True
        if not self._main:
            self._main = next(iter(_children(self.process.pid)), 0)
            return True
        return _process(self._main) is not None

    def _look(self) -> tuple[list[Process], int]:
        """The submission's processes, and the number of its own tasks (processes and threads) among theirs."""
        own = 2 if self.sandbox.walls else 1  # bwrap and its first process, or the supervisor
        most = own + self.sandbox.limits.tasks + 1
        found = tree(self.process.pid, most) if self.sandbox.counts else []
        return found, sum(process.threads for process in found) - own

    def _files(self, found: list[Process]) -> tuple[int, int]:
        """Bytes and number of the files it wrote."""
        self._next_folder = time.monotonic() + _FOLDER_PERIOD
        if (
            self.sandbox.walls
        ):  # file systems of its own know how full they are, deleted files included
            size, number = mounted_size(found[-1].pid) if found else (0, 0)
            return size - self._given[0], number - self._given[1]
        size, number = folder_size(self.home, self.sandbox.limits.files + self._given[1])
        return size - self._given[0] + unnamed_bytes(found), number - self._given[1]

    def police(self, files: bool = False) -> str | None:
        """The limit that is broken, in words, or None. Files are counted now and then, or where it is asked for."""
        limits = self.sandbox.limits
        if self.sandbox.stopped:
            return "the grading run was stopped"
        found, tasks = self._look()
        if tasks > limits.tasks:
            return f"more than {limits.tasks} processes and threads"
        if sum(process.memory for process in found) > limits.memory_mb << 20:
            return f"more than {limits.memory_mb} MB of memory"
        self.seconds = max(self.seconds, sum(process.seconds for process in found))
        if self.seconds > limits.cpu_seconds:
            return f"more than {limits.cpu_seconds:g} s of processor time"
        if files or time.monotonic() > self._next_folder:
            size, number = self._files(found)
            if number > limits.files:
                return f"more than {limits.files} files"
            if size > limits.folder_mb << 20:
                return f"more than {limits.folder_mb} MB of files"
        return None

    def note_start(self) -> None:
        """Remember what it has after its cells ran, before the first question."""
        found, tasks = self._look()
        self._start = (tasks, *self._files(found))

    def is_clean(self) -> bool:
        """Whether the last question left nothing that could break a limit later: tasks, files, much memory."""
        found, tasks = self._look()
        now = (tasks, *self._files(found))
        much = sum(process.memory for process in found) > self.sandbox.limits.memory_mb << 19
        return (
            self.alive() and not much and all(n <= s for n, s in zip(now, self._start, strict=True))
        )

    def kill(self) -> None:
        """End the submission and everything it started."""
        if self.sandbox.walls:
            # The second process of the tree is the first of the submission's own world: without it the kernel ends all.
            for process in tree(self.process.pid, 2):
                _signal(process.pid, signal.SIGKILL)
        elif self.sandbox.counts:
            self._hunt()
        else:
            with suppress(OSError):
                os.killpg(self.process.pid, signal.SIGKILL)
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            stream.close()

    def _hunt(self) -> None:
        """Stop everything, so that nothing new is born, then end it; again until nothing is found."""
        deadline = time.monotonic() + 3.0
        while time.monotonic() < deadline:
            pids = [
                process.pid
                for process in tree(self.process.pid, 5000)
                if process.pid != self.process.pid
            ]
            pids += [pid for pid in marked(self.token) if pid != self.process.pid and _process(pid)]
            if not pids:
                return
            for number in (signal.SIGSTOP, signal.SIGKILL):
                for pid in pids:
                    _signal(pid, number)


def _signal(pid: int, number: int) -> None:
    with suppress(OSError):
        os.kill(pid, number)
