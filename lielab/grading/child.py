"""What runs beside the student's code, in the sandbox: executes the cells, then answers calls until it is killed.

It is started as a script, from a copy, next to a copy of `wire.py`, and knows nothing of masters or hidden tests. It
shares its process with the student's code, so nothing it says is believed: the grader judges the values.
"""

from __future__ import annotations

import builtins
import contextlib
import linecache
import os
import re
import signal
import sys
import types


def supervise() -> None:
    """Without bubblewrap: stay as a parent that adopts every orphan of the submission, so that it can be found."""
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    set_subreaper, set_death_signal = (
        36,
        1,
    )  # PR_SET_CHILD_SUBREAPER, PR_SET_PDEATHSIG of <linux/prctl.h>
    libc.prctl(set_death_signal, signal.SIGKILL, 0, 0, 0)
    libc.prctl(set_subreaper, 1, 0, 0, 0)
    child = os.fork()
    if child == 0:
        libc.prctl(set_death_signal, signal.SIGKILL, 0, 0, 0)
        os.setsid()
        return
    for fd in (0, 1, 2):
        os.close(fd)
    while True:
        try:
            os.wait()
        except ChildProcessError:
            os._exit(0)


class Pipe:
    """Messages over two file descriptors; both are kept from the student's prints and from `exec`."""

    def __init__(self) -> None:
        import wire

        self.wire = wire
        self.source, self.target = (
            os.dup(0),
            os.dup(1),
        )  # os.dup's copies are not inherited through exec
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)
        os.dup2(2, 1)  # what the student prints goes to the log

    def _read(self, size: int) -> bytes:
        parts = []
        while size:
            part = os.read(self.source, min(size, 1 << 20))
            if not part:
                os._exit(0)
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def receive(self) -> dict:
        text, raw = self.wire.lengths(self._read(self.wire.HEAD.size))
        return self.wire.unpack(self._read(text), self._read(raw))

    def send(self, message: dict) -> None:
        data = memoryview(self.wire.pack(message))
        while data:
            data = data[os.write(self.target, data) :]


class TooSlow(BaseException):
    """Raised in the student's code by the alarm; not an Exception, so that `except Exception` does not eat it."""


def timed(seconds: float, function, *args, **kwargs):
    """`function(...)` with an alarm; it rings again every half second, in case it lands in a bare `except:`."""

    def ring(_signal, _frame):
        raise TooSlow(f"took longer than {seconds:g} s and was stopped")

    signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds, 0.5)
    try:
        return function(*args, **kwargs)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def complaint(error: BaseException) -> str:
    """One paragraph: the kind of error, its text, and the line of the student's cell it came from."""
    try:
        text = f"{type(error).__name__}: {error}"[:1000]
    except BaseException:
        text = "an exception that cannot be printed"
    if isinstance(error, SyntaxError) and error.lineno:
        return f"{text[:800]}\n    line {error.lineno}: {(error.text or '').strip()[:200]}"
    where, trace = "", error.__traceback__
    while trace is not None:
        name = trace.tb_frame.f_code.co_filename
        if name.startswith("<cell "):
            line = linecache.getline(name, trace.tb_lineno).strip()[:200]
            where = f"\n    {name[1:-1]}, line {trace.tb_lineno}: {line}"
        trace = trace.tb_next
    return text + where


MAGIC_LINE = re.compile(r"^(?P<head>\s*(?:[\w.,\s]+=\s*)?)(?:[%!].*|\?.*|[\w.]+\?{1,2}\s*)$")


def plain_python(source: str) -> str:
    """The cell without IPython's magics and shell escapes; a cell that is Python already is left alone."""
    try:
        compile(source, "<cell>", "exec")
        return source
    except (SyntaxError, ValueError):
        pass
    lines = source.split("\n")
    first = next((i for i, line in enumerate(lines) if line.strip()), 0)
    if lines[first].startswith("%%"):
        if lines[first][2:].split(" ")[0] not in ("time", "timeit", "capture"):
            return ""  # a cell in another language
        lines[first] = ""
    for i, line in enumerate(lines):
        match = MAGIC_LINE.match(line)
        if match:
            head = match["head"]
            lines[i] = head + ("None" if head.strip() else "pass")
    return "\n".join(lines)


def stand_in_for_lielab(forbidden: list[str]) -> None:
    """`grading.load(...)` in the notebook gives a check that does nothing: here the hidden tests judge."""
    grading = types.ModuleType("lielab.grading")
    grading.load = lambda *args, **kwargs: lambda *args, **kwargs: None
    sys.modules["lielab.grading"] = grading
    if "lielab" in forbidden:
        package = types.ModuleType("lielab")
        package.__path__ = []
        package.grading = grading
        sys.modules["lielab"] = package


class Refuse:
    """Import hook: an assignment may ask for a solution without certain packages."""

    def __init__(self, names: list[str]) -> None:
        self.names = names

    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in self.names and name != "lielab.grading":
            raise ImportError(f"this assignment is to be solved without {name.split('.')[0]}")
        return None


def limit(memory: int, cpu: int, file: int, tasks: int) -> None:
    """Limits of one process. What a whole submission may use is watched from outside."""
    import resource

    for name, value in (
        ("RLIMIT_AS", memory),
        ("RLIMIT_CPU", cpu),
        ("RLIMIT_FSIZE", file),
        ("RLIMIT_NPROC", tasks),
        ("RLIMIT_NOFILE", 256),
        ("RLIMIT_CORE", 0),
    ):
        # what is not known or not settable on this system is left to the watch from outside
        with contextlib.suppress(AttributeError, ValueError, OSError):
            resource.setrlimit(getattr(resource, name), (value, value))


class Session:
    """The student's namespace and the answers to the grader's questions about it."""

    def __init__(self, pipe: Pipe, start: dict) -> None:
        self.pipe, self.call_seconds = pipe, start["call_seconds"]
        self.main = types.ModuleType("__main__")
        self.space = self.main.__dict__
        self.space.update(
            __builtins__=builtins, get_ipython=lambda: None, display=lambda *args, **kwargs: None
        )

    def cell(self, number: int, source: str, seconds: float) -> str | None:
        """Run one cell; the complaint about it, or None."""
        name = f"<cell {number}>"
        try:
            source = plain_python(source)
            linecache.cache[name] = (len(source), None, source.splitlines(True), name)
            timed(seconds, exec, compile(source, name, "exec"), self.space)
        except BaseException as error:  # also SystemExit: the next cell is still run
            return complaint(error)
        return None

    def answer(self, request: dict) -> object:
        """The value asked for."""
        if request["op"] == "driver":
            timed(
                self.call_seconds, exec, compile(request["source"], "<driver>", "exec"), self.space
            )
            return None
        if request["name"] not in self.space:
            raise NameError(f"{request['name']} is not defined")
        value = self.space[request["name"]]
        if request["op"] == "get":
            return value
        return timed(self.call_seconds, value, *request["args"], **request["kwargs"])


def main() -> None:
    if "--supervise" in sys.argv:
        supervise()
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path += [word for word in sys.argv[1:] if word != "--supervise"]
    sys.path.insert(0, here)
    pipe = Pipe()
    sys.path.remove(here)
    error_of_wire = pipe.wire.WireError

    start = pipe.receive()
    stand_in_for_lielab(start["forbid"])
    sys.stdout.reconfigure(line_buffering=True)  # what is printed before a death is in the log
    sys.meta_path.insert(0, Refuse(start["forbid"]))
    session = Session(pipe, start)
    sys.modules["__main__"] = session.main
    limit(**start["limits"])

    complaints = []
    for number, source in start["cells"]:
        pipe.send({"id": start["id"], "cell": number})
        complaints.append([number, session.cell(number, source, start["cell_seconds"])])
    pipe.send({"id": start["id"], "ready": complaints})

    while True:
        request = pipe.receive()
        reply = {"id": request["id"]}
        try:
            value = session.answer(request)
            try:
                pipe.send({**reply, "value": value})
            except error_of_wire as error:
                pipe.send({**reply, "error": f"returned {error}"})
        except BaseException as error:
            pipe.send({**reply, "error": complaint(error)})


if __name__ == "__main__":
    main()
