"""A conversation with one submission: start it, ask for values, and survive whatever it does.

The grader reads until the last answer it needs, not until the end of the stream, which a grandchild could hold open.
Each question carries a number that the submission cannot guess in advance. A function that a test passes stays here:
the submission gets a stub, and asks for each value while the question lasts. So a test can hand over a field to
integrate, or a right helper, and nothing of either is ever where the submission could read it.
"""

from __future__ import annotations

import os
import re
import secrets
import select
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from . import wire
from .sandbox import Sandbox, Unavailable
from .watch import Running

_LOOK = 0.02  # seconds between two looks at the submission's processes
_LAST_WORDS = 0.1  # seconds to read what it had said before a limit was seen broken

_DEEPEST = 20  # functions that call each other across the wire
_SMALL = 1000  # numbers in the arguments of a test's own function: whatever they do with each other stays small
_NUMBER = re.compile(r"-?\d+\.\d{3,}(e[-+]?\d+)?|-?\d{6,}")
_BY_ITSELF = "it ended by itself (exit, a signal or a limit of one process)"


class StudentError(Exception):
    """The student's code raised, or returned something that cannot be judged."""

    raised = False  # an exception of the student's own


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
    """One submission, started when first needed and again after its death, up to `limits.restarts` times.

    `cells` are (number, text, whether it is the student's own scratch work).
    """

    def __init__(
        self,
        sandbox: Sandbox,
        folder: Path,
        cells: Sequence[tuple[int, str, bool]],
        allow: Sequence[str],
    ) -> None:
        self.sandbox, self.limits = sandbox, sandbox.limits
        self.folder, self.allow = folder, tuple(allow)
        self.cells = list(cells)
        self.complaints: dict[int, str] = {}  # cell -> what went wrong in it
        self.deaths: list[str] = []
        self.changed: set[str] = set()  # functions that changed their arguments
        # In place of the student's functions of these names.
        self.helpers: Mapping[str, Callable] = {}
        # Cells that ended the process, or took too long: left out from then on.
        self._fatal: set[int] = set()
        self.log = b""  # what the cells printed; what the questions print holds the tests' inputs
        self.left = self.limits.total_seconds  # for the questions
        self.scratch_left = self.limits.scratch_seconds  # for the student's own cells
        self._running: Running | None = None
        self._log_open, self._keep_log, self._next_look = True, True, 0.0
        # A limit seen broken, and until when its last words count.
        self._broken, self._grace = "", 0.0
        self._lent: list[Callable] = []  # functions of this question, by their numbers
        self._depth = 0
        self._seconds = 0.0  # processor time of those that died

    # ------------------------------------------------------------ what the grader asks

    def call(self, name: str, args: tuple = (), kwargs: dict | None = None) -> tuple[Any, list]:
        """The value of the student's `name(*args, **kwargs)` and which arguments it changed; raises `StudentError`."""
        request = {"op": "call", "name": name, "args": list(args), "kwargs": kwargs or {}}
        value, changed = self._ask(request, name)
        if changed:
            self.changed.add(name)
        return value, changed

    def get(self, name: str) -> Any:
        """The value of the student's variable `name`."""
        return self._ask({"op": "get", "name": name}, name)[0]

    def leave_out(self, other: Session) -> None:
        """Go on with the time that another session of the same cells left, without the cells that ended it."""
        self.left, self.scratch_left = other.left, other.scratch_left
        self._fatal |= other._fatal

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
            if self.left <= 0:
                raise Ended(f"more than {self.limits.total_seconds:g} s for all questions")
            try:
                self._start()
            except Ended:
                continue

    def _start(self) -> None:
        self._running, self._log_open = self.sandbox.start(self.folder, self.allow), True
        number = secrets.randbits(62)
        cells = [c for c in self.cells if c[0] not in self._fatal]
        scratch = {k for k, _, own in cells if own}
        message = {
            "id": number,
            "cells": [list(cell) for cell in cells],
            "allow": self.sandbox.allowed(self.allow),
            "limits": self.sandbox.process_limits(),
            "cell_seconds": self.limits.cell_seconds,
            "scratch_seconds": max(0.0, self.scratch_left),
            "call_seconds": self.limits.call_seconds,
        }
        current, known = None, {k for k, _, _ in cells}
        began = time.monotonic()
        try:
            self._send(message)
            seconds = self.limits.start_seconds
            for following in [*(k for k, _, _ in cells), None]:
                reply = self._receive(number, time.monotonic() + seconds)
                if current is not None and (broken := self._running.police(files=True)):
                    self._die(broken)  # by the cell that just ended: the next one waits
                if current in scratch:
                    self.scratch_left -= time.monotonic() - began
                began = time.monotonic()
                if type(reply.get("cell")) is not type(following) or reply.get("cell") != following:
                    self._die("it broke the protocol")
                current, seconds = following, self.limits.cell_seconds + self.limits.grace_seconds
                if following is not None:
                    self._send({"id": number})
            if self._broken:
                self._die(self._broken)
            self._note(reply.get("ready"), known)
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
        finally:
            self._keep_log = False
        self._running.note_start()

    def _note(self, complaints: Any, known: set[int]) -> None:
        """Keep what went wrong in the cells; a cell that took too long is not run again."""
        if not isinstance(complaints, list):
            self._die("it broke the protocol")
        for item in complaints:
            if not (isinstance(item, list) and len(item) == 2 and type(item[0]) is int):
                self._die("it broke the protocol")
            k, text = item
            if k in known and isinstance(text, str):
                self.complaints[k] = printable(text)
                if text.startswith("TooSlow"):
                    self._fatal.add(k)

    def _die(self, reason: str) -> None:
        """End the process and raise `Ended`."""
        self.close()
        self.deaths.append(reason)
        raise Ended(reason)

    # ------------------------------------------------------------ messages

    def _lend(self, function: Callable) -> int:
        self._lent.append(function)
        return len(self._lent) - 1

    def _borrow(self, number: int) -> Lent:
        return Lent(self, number)

    def _ask(self, request: dict, what: str) -> tuple[Any, list]:
        self.ready()
        number, self._lent = secrets.randbits(62), []
        self._number = number
        seconds = min(self.limits.call_seconds + self.limits.grace_seconds, self.left)
        began, self._deadline = time.monotonic(), time.monotonic() + seconds
        try:
            return self._converse({"id": number, "helpers": dict(self.helpers), **request}, what)
        except Ended as error:
            raise Ended(f"{what}: {error}") from None
        finally:
            self._lent = []
            self.left -= time.monotonic() - began

    def _converse(self, request: dict, what: str) -> tuple[Any, list]:
        """Send a request; answer what the submission asks meanwhile, until it answers the request."""
        number = request["id"]
        self._depth += 1
        try:
            if self._depth > _DEEPEST:
                self._die("functions that call each other without end")
            self._send(request)
            while "ask" in (reply := self._receive(number, self._deadline)):
                self._send(self._answer(number, reply))
        finally:
            self._depth -= 1
        if isinstance(reply.get("error"), str):
            text, cell, line = reply["error"].partition("\n    cell ")
            text = _NUMBER.sub("...", text)  # a test's input may be among them
            error = StudentError(f"{what}: {printable(text + cell + line)}")
            error.raised = reply.get("raised") is True
            raise error
        changed = reply.get("changed")
        return reply.get("value"), changed if isinstance(changed, list) else []

    def _answer(self, number: int, asked: dict) -> dict:
        """The value of a function that was lent for this question, and of no other."""
        k, args, kwargs = asked["ask"], asked.get("args"), asked.get("kwargs")
        if not (type(k) is int and 0 <= k < len(self._lent)):
            self._die("it broke the protocol: no such function")
        if not (isinstance(args, list) and isinstance(kwargs, dict)):
            self._die("it broke the protocol")
        function = self._lent[k]
        try:
            if not isinstance(function, (Proxy, Lent)):
                _must_be_small([*args, *kwargs.values()])
            value = function(*args, **kwargs)
            wire.pack(value)
            return {"id": number, "value": value}
        except (Ended, CannotStart):
            raise
        except StudentError as error:
            return {"id": number, "error": str(error)}
        except Exception as error:
            text = printable(error, 200)
            return {"id": number, "error": f"the function does not take this: {text}"}

    def _send(self, message: dict) -> None:
        data = memoryview(wire.pack(message, self._lend, wire.MAX_SENT))
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

    def _receive(self, number: int, deadline: float) -> dict:
        try:
            text, raw = wire.lengths(self._read(wire.HEAD.size, deadline))
            parts = self._read(text, deadline), self._read(raw, deadline)
            reply = wire.unpack(*parts, self._borrow)
        except wire.WireError as error:
            self._die(f"it broke the protocol: {error}")
        known = isinstance(reply, dict) and type(reply.get("id")) is int and reply["id"] == number
        if not known:
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
            if self._keep_log:
                self.log += part[: max(0, self.limits.log_bytes - len(self.log))]
        ready = bool(writable) or pipes.stdout in readable
        now = time.monotonic()
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
        self.changed: list = []  # which arguments the last call changed, as far as the submission says

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        value, self.changed = self._session.call(self.__name__, args, kwargs)
        return value


class Lent:
    """A function that the submission passed to one of the grader's, good for the question that is being answered."""

    def __init__(self, session: Session, number: int) -> None:
        self._session, self._number = session, number

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        session = self._session
        request = {"op": "lent", "function": self._number, "args": list(args), "kwargs": kwargs}
        return session._converse({"id": session._number, **request}, "the function passed on")[0]


def _must_be_small(values: Sequence[Any]) -> None:
    """ValueError where arguments of a test's own function could make large arrays of each other."""
    numbers = 0
    for value in values:
        if isinstance(value, np.ndarray):
            numbers += value.size + (_SMALL if value.ndim > 2 else 0)
        elif isinstance(value, (list, tuple)):
            numbers += len(value)
            _must_be_small(value)
        elif not isinstance(value, (int, float, complex)):
            raise ValueError("numbers and arrays only")
    if numbers > _SMALL:
        raise ValueError(f"at most {_SMALL} numbers, in arrays of at most two dimensions")
