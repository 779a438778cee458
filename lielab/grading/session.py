"""A conversation with one submission: start it, ask for values, and survive whatever it does.

The grader reads until the last answer it needs, not until the end of the stream, which a grandchild could hold open.
Each question carries a number that the submission cannot guess in advance.
"""

from __future__ import annotations

import os
import secrets
import select
import time
from pathlib import Path
from typing import Any

from . import wire
from .sandbox import Sandbox, Unavailable
from .watch import Running

_LOOK = 0.02  # seconds between two looks at the submission's processes
_LAST_WORDS = 0.1  # seconds to read what it had said before a limit was seen broken

_BY_ITSELF = "it ended by itself (exit, a signal or a limit of one process)"


class StudentError(Exception):
    """The student's code raised, or returned something that cannot be judged."""


class Ended(StudentError):
    """The submission's process is gone: it ended itself or broke a limit."""


class CannotStart(Unavailable):
    """The grader's own fault, not the submission's."""


def printable(text: Any, most: int = 2000) -> str:
    """A student's text without control characters (which could drive a terminal), and of bounded length."""
    text = "".join(
        c if c in "\n\t" or c.isprintable() else "\N{REPLACEMENT CHARACTER}"
        for c in str(text)[: most + 1]
    )
    return text if len(text) <= most else text[:most] + " [...]"


class Session:
    """One submission, started when first needed and again after its death, up to `limits.restarts` times."""

    def __init__(
        self, sandbox: Sandbox, folder: Path, cells: list[tuple[int, str]], forbid: tuple[str, ...]
    ) -> None:
        self.sandbox, self.limits = sandbox, sandbox.limits
        self.folder, self.forbid = folder, tuple(forbid)
        self.cells = list(cells)
        self.complaints: dict[int, str] = {}  # cell -> what went wrong in it
        self.deaths: list[str] = []
        self._fatal: set[int] = set()  # cells that ended the process: left out from then on
        self.log = b""
        self.end = time.monotonic() + self.limits.total_seconds
        self._running: Running | None = None
        self._log_open, self._next_look = True, 0.0
        self._broken, self._grace = (
            "",
            0.0,
        )  # a limit seen broken, and how long its last words are awaited
        self._drivers: list[str] = []
        self._seconds = 0.0  # processor time of those that died

    # ------------------------------------------------------------ what the grader asks

    def call(self, name: str, args: tuple = (), kwargs: dict | None = None) -> Any:
        """The value of the student's `name(*args, **kwargs)`; raises `StudentError`."""
        request = {"op": "call", "name": name, "args": list(args), "kwargs": kwargs or {}}
        return self._ask(request, f"{name}")

    def get(self, name: str) -> Any:
        """The value of the student's variable `name`."""
        return self._ask({"op": "get", "name": name}, name)

    def drive(self, source: str) -> None:
        """Run the cell of a driver beside the student's code, at each start."""
        self._drivers.append(source)

    def settle(self) -> None:
        """After a part: a submission that left something behind is started anew, so that the next part does not pay."""
        if self._running and not self._running.is_clean():
            self.close()

    def close(self) -> None:
        """End the submission."""
        if self._running:
            running, self._running, self._broken = self._running, None, ""
            self._seconds += running.seconds
            running.kill()

    # ------------------------------------------------------------ keeping it alive

    def ready(self) -> None:
        """Start the submission if it is not running; raises `Ended` if it cannot be brought to answer."""
        while self._running is None:
            if len(self.deaths) > self.limits.restarts:
                raise Ended(
                    f"the submission ended {len(self.deaths)} times and is not started again; {self.deaths[-1]}"
                )
            if self.sandbox.stopped:
                raise Ended("the grading run was stopped")
            if time.monotonic() > self.end:
                raise Ended(f"more than {self.limits.total_seconds:g} s in all")
            try:
                self._start()
            except Ended:
                continue

    def _start(self) -> None:
        self._running, self._log_open = self.sandbox.start(self.folder, self.forbid), True
        number = secrets.randbits(62)
        message = {
            "id": number,
            "cells": [[k, text] for k, text in self.cells if k not in self._fatal],
            "forbid": list(self.forbid),
            "limits": self.sandbox.process_limits(),
            "cell_seconds": self.limits.cell_seconds,
            "call_seconds": self.limits.call_seconds,
        }
        current, known = None, [k for k, _ in self.cells]
        try:
            self._send(message)
            seconds = self.limits.start_seconds
            while True:
                reply = self._receive(number, seconds)
                if "cell" in reply:
                    current = reply["cell"]
                    seconds = self.limits.cell_seconds + self.limits.grace_seconds
                    continue
                if self._broken:
                    self._die(self._broken)
                for k, complaint in reply["ready"]:
                    if complaint is not None and k in known:
                        self.complaints[k] = printable(complaint)
                break
        except (KeyError, TypeError, ValueError):
            self._die("it broke the protocol")
        except Ended as error:
            if current is None:  # none of the student's code has run yet
                log = printable(self.log.decode(errors="replace")[-500:])
                raise CannotStart(f"the sandbox does not start: {error}\n{log}") from None
            if current in known:
                self._fatal.add(current)
                self.complaints[current] = (
                    f"ended the process: {printable(error)}; left out from here on"
                )
            raise
        self._running.note_start()
        for source in self._drivers:
            try:
                self._ask({"op": "driver", "source": source}, "driver")
            except Ended:
                raise
            except StudentError:
                pass  # its functions are then missing, and each test that calls one says so

    def _die(self, reason: str) -> None:
        """End the process and raise `Ended`."""
        self.close()
        self.deaths.append(reason)
        raise Ended(reason)

    # ------------------------------------------------------------ messages

    def _ask(self, request: dict, what: str) -> Any:
        self.ready()
        number = secrets.randbits(62)
        try:
            self._send({"id": number, **request})
            reply = self._receive(number, self.limits.call_seconds + self.limits.grace_seconds)
        except Ended as error:
            raise Ended(f"{what}: {error}") from None
        if "error" in reply:
            raise StudentError(f"{what}: {printable(reply['error'])}")
        return reply.get("value")

    def _send(self, message: dict) -> None:
        data = memoryview(wire.pack(message))
        stream = self._running.process.stdin.fileno()
        os.set_blocking(stream, False)
        deadline = time.monotonic() + self.limits.call_seconds
        while data:
            self._wait(deadline, writing=True)
            try:
                data = data[os.write(stream, data) :]
            except BlockingIOError:
                continue
            except OSError:
                self._die(_BY_ITSELF)

    def _receive(self, number: int, seconds: float) -> dict:
        deadline = time.monotonic() + seconds
        try:
            text, raw = wire.lengths(self._read(wire.HEAD.size, deadline))
            reply = wire.unpack(self._read(text, deadline), self._read(raw, deadline))
        except wire.WireError as error:
            self._die(f"it broke the protocol: {error}")
        if not isinstance(reply, dict) or reply.get("id") != number:
            self._die("it broke the protocol: an answer to no question")
        return reply

    def _read(self, size: int, deadline: float) -> bytes:
        stream, parts = self._running.process.stdout.fileno(), []
        while size:
            if not self._wait(deadline):
                continue
            part = os.read(stream, min(size, 1 << 20))
            if not part:
                self._die(_BY_ITSELF)
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def _wait(self, deadline: float, writing: bool = False) -> bool:
        """Wait for the answer for a moment: read the log, look at the limits; dies at the deadline."""
        running, pipes = self._running, self._running.process
        read = ([] if writing else [pipes.stdout]) + ([pipes.stderr] if self._log_open else [])
        readable, writable, _ = select.select(read, [pipes.stdin] if writing else [], [], _LOOK)
        if pipes.stderr in readable:
            part = os.read(pipes.stderr.fileno(), 1 << 16)
            self._log_open = bool(part)
            self.log += part[: max(0, self.limits.log_bytes - len(self.log))]
        ready = bool(writable) or pipes.stdout in readable
        now = time.monotonic()
        if now > self.end:
            self._die(f"more than {self.limits.total_seconds:g} s in all")
        if now > deadline and not ready:
            self._die("no answer in time")
        if self._broken or now > self._next_look:
            self._next_look = now + _LOOK
            if not self._broken:
                self._broken, self._grace = running.police() or "", time.monotonic() + _LAST_WORDS
            if self._broken:
                # What it said before counts: the cell to blame may have begun since the last look.
                said = not writing and bool(select.select([pipes.stdout], [], [], 0)[0])
                if said and time.monotonic() < self._grace:
                    return True
                self._die(self._broken)
            if self._seconds + running.seconds > self.limits.cpu_seconds:
                self._die(f"more than {self.limits.cpu_seconds:g} s of processor time")
            if not ready and not running.alive():
                # Its last message may have come between the two looks; what it said before its end counts.
                ready = not writing and bool(select.select([pipes.stdout], [], [], 0)[0])
                if not ready:
                    self._die(_BY_ITSELF)
        return ready


class Proxy:
    """Stands in a hidden test for a function of the student."""

    def __init__(self, session: Session, name: str) -> None:
        self._session, self.__name__ = session, name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._session.call(self.__name__, args, kwargs)
