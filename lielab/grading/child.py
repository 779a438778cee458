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
import shutil
import signal
import sys
import time
import types


def supervise() -> None:
    """Without bubblewrap: stay as a parent that adopts every orphan of the submission, so that it can be found."""
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    # PR_SET_CHILD_SUBREAPER, PR_SET_PDEATHSIG of <linux/prctl.h>
    set_subreaper, set_death_signal = 36, 1
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
        # os.dup's copies are not inherited through exec
        self.source, self.target = os.dup(0), os.dup(1)
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

    def receive(self, borrow=None) -> dict:
        wire = self.wire
        text, raw = wire.lengths(self._read(wire.HEAD.size), wire.MAX_SENT)
        return wire.unpack(self._read(text), self._read(raw), borrow, wire.MAX_SENT)

    def send(self, message: dict, lend=None) -> None:
        data = memoryview(self.wire.pack(message, lend))
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


def stand_in_for_lielab(allow: list[str]) -> None:
    """`grading.load(...)` in the notebook gives a check that does nothing: here the hidden tests judge."""
    grading = types.ModuleType("lielab.grading")
    grading.load = lambda *args, **kwargs: lambda *args, **kwargs: None
    sys.modules["lielab.grading"] = grading
    if "lielab" not in allow:
        package = types.ModuleType("lielab")
        package.__path__ = []
        package.grading = grading
        sys.modules["lielab"] = package


class Only:
    """Import hook: what an assignment does not allow is not found, wherever it is installed."""

    def __init__(self, allow: list[str]) -> None:
        self.allow = {*allow, *sys.stdlib_module_names, *sys.builtin_module_names, "lielab"}

    def find_spec(self, name, path=None, target=None):
        top = name.split(".")[0]
        if top not in self.allow and not top.startswith(
            "_sysconfigdata"
        ):  # Python's own, named by system
            raise ImportError(f"this assignment is to be solved without {top}")
        return None


def limit(memory: int, cpu: int, file: int, tasks: int) -> None:
    """Limits of one process. What a whole submission may use is watched from outside."""
    import resource

    for name, value in (
        ("RLIMIT_AS", memory),
        ("RLIMIT_CPU", cpu),
        ("RLIMIT_FSIZE", file),
        ("RLIMIT_NPROC", tasks),
        ("RLIMIT_NOFILE", 128),
        ("RLIMIT_CORE", 0),
    ):
        # what is not known or not settable on this system is left to the watch from outside
        with contextlib.suppress(AttributeError, ValueError, OSError):
            resource.setrlimit(getattr(resource, name), (value, value))


# Calls that make memory which no limit counts (memory files, System V segments, sockets with files in flight), or new
# worlds to hide in; numbers from the kernel's tables. Nothing that honest work needs: NumPy and Numba run without.
FORBIDDEN = {
    # x86_64: memfd_create, memfd_secret, shmget, msgget, semget, socket, socketpair, unshare, setns, ptrace,
    # process_vm_readv, process_vm_writev, mount, add_key, keyctl, bpf, userfaultfd, io_uring_setup
    "x86_64": (0xC000003E, (319, 447, 29, 68, 64, 41, 53, 272, 308, 101, 310, 311, 165, 248, 250, 321, 323, 425)),
    "aarch64": (0xC00000B7, (279, 447, 194, 186, 190, 198, 199, 97, 268, 117, 270, 271, 40, 217, 219, 280, 282, 425)),
}  # fmt: skip


def forbid_calls() -> bool:
    """A filter in the kernel that answers those calls with EPERM, for this process and all that it starts."""
    import ctypes
    import struct

    if os.uname().machine not in FORBIDDEN or not sys.platform.startswith("linux"):
        return False
    architecture, numbers = FORBIDDEN[os.uname().machine]
    load, equal, at_least, leave = 0x20, 0x15, 0x35, 0x06  # operations of classic BPF
    kill, refuse, allow = 0x80000000, 0x00050001, 0x7FFF0000  # SECCOMP_RET_*; refuse: EPERM
    program = [(load, 0, 0, 4), (equal, 1, 0, architecture), (leave, 0, 0, kill), (load, 0, 0, 0)]
    program += [(at_least, 0, 1, 0x40000000), (leave, 0, 0, kill)]  # the x32 table
    for number in numbers:
        program += [(equal, 0, 1, number), (leave, 0, 0, refuse)]
    program.append((leave, 0, 0, allow))
    code = b"".join(struct.pack("HBBI", *step) for step in program)
    room = ctypes.create_string_buffer(code, len(code))
    head = ctypes.create_string_buffer(struct.pack("HP", len(program), ctypes.addressof(room)), 16)
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    prctl.argtypes = [ctypes.c_int] + [ctypes.c_ulong] * 4
    set_no_new_privileges, set_seccomp, filtered = 38, 22, 2
    prctl(set_no_new_privileges, 1, 0, 0, 0)
    return prctl(set_seccomp, filtered, ctypes.addressof(head), 0, 0) == 0


class Session:
    """The student's namespace and the answers to the grader's questions about it.

    A function that a test passes stays with the grader: the student's code gets a stub that asks for each value.
    A function that the student's code passes to such a stub is lent in the same way, for as long as one request lasts.
    """

    def __init__(self, pipe: Pipe, start: dict) -> None:
        self.pipe, self.call_seconds = pipe, start["call_seconds"]
        self.scratch_seconds = start["scratch_seconds"]
        self.main = types.ModuleType("__main__")
        self.space = self.main.__dict__
        self.space.update(
            __builtins__=builtins, get_ipython=lambda: None, display=lambda *args, **kwargs: None
        )
        self.number, self.lent = 0, []

    def cell(self, number: int, source: str, scratch: bool, seconds: float) -> str | None:
        """Run one cell; the complaint about it, or None. Cells of the student's own share one budget of time."""
        name, began = f"<cell {number}>", time.monotonic()
        if scratch:
            if self.scratch_seconds < 0.01:
                return "left out: the cells before it used up the time for cells of your own"
            seconds = min(seconds, self.scratch_seconds)
        try:
            source = plain_python(source)
            linecache.cache[name] = (len(source), None, source.splitlines(True), name)
            timed(seconds, exec, compile(source, name, "exec"), self.space)
        except BaseException as error:  # also SystemExit: the next cell is still run
            return complaint(error)
        finally:
            if scratch:
                self.scratch_seconds -= time.monotonic() - began
        return None

    # ------------------------------------------------------------ functions that cross

    def lend(self, function) -> int:
        self.lent.append(function)
        return len(self.lent) - 1

    def borrow(self, number: int):
        def given(*args, **kwargs):
            return self.ask(number, args, kwargs)

        return given

    def ask(self, function: int, args: tuple, kwargs: dict) -> object:
        """The value of a function of the grader's; meanwhile the grader may call what was lent to it."""
        blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGALRM})  # no half messages
        try:
            message = {"id": self.number, "ask": function, "args": list(args), "kwargs": kwargs}
            self.pipe.send(message, self.lend)
            while True:
                reply = self.pipe.receive(self.borrow)
                if "op" not in reply:
                    break
                self.reply(reply)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        if "error" in reply:
            raise ValueError(reply["error"])
        return reply["value"]

    # ------------------------------------------------------------ requests

    def reply(self, request: dict) -> None:
        """Answer one request of the grader."""
        answer = {"id": request["id"]}
        try:
            kept = [(k, x, x.copy()) for k, x in enumerate(request.get("args", ())) if is_array(x)]
            value = self.answer(request)
            if isinstance(value, str) and len(value) > self.pipe.wire.MAX_STRING:
                raise ValueError("returned a string that is too long")
            answer["changed"] = [k for k, x, before in kept if not same(x, before)]
            try:
                self.pipe.send({**answer, "value": value})
            except self.pipe.wire.WireError as error:
                self.pipe.send({**answer, "error": f"returned {error}"})
        except BaseException as error:
            raised = isinstance(error, Exception)  # and not the alarm, or an exit
            self.pipe.send({**answer, "error": complaint(error), "raised": raised})

    def answer(self, request: dict) -> object:
        """The value asked for."""
        if request["op"] == "lent":
            return self.lent[request["function"]](*request["args"], **request["kwargs"])
        self.number, self.lent = request["id"], []
        own = {name: self.space[name] for name in request["helpers"] if name in self.space}
        self.space.update(request["helpers"])
        try:
            if request["name"] not in self.space:
                raise NameError(f"{request['name']} is not defined")
            value = self.space[request["name"]]
            if request["op"] == "get":
                return value
            return timed(self.call_seconds, value, *request["args"], **request["kwargs"])
        finally:
            for name in request["helpers"]:
                self.space.pop(name, None)
            self.space.update(own)


def is_array(value: object) -> bool:
    return type(value).__name__ == "ndarray"


def same(array, before) -> bool:
    return array.tobytes() == before.tobytes() and array.shape == before.shape


def main() -> None:
    if "--supervise" in sys.argv:
        supervise()
    here = os.path.dirname(os.path.abspath(__file__))
    shutil.copytree(sys.argv[1], os.environ["MPLCONFIGDIR"], dirs_exist_ok=True)
    sys.path += [word for word in sys.argv[2:] if word != "--supervise"]
    sys.path.insert(0, here)
    pipe = Pipe()
    sys.path.remove(here)

    start = pipe.receive()
    stand_in_for_lielab(start["allow"])
    sys.stdout.reconfigure(line_buffering=True)  # what is printed before a death is in the log
    sys.meta_path.insert(0, Only(start["allow"]))
    session = Session(pipe, start)
    sys.modules["__main__"] = session.main
    limit(**start["limits"])
    forbid_calls()

    complaints = []
    for number, source, scratch in start["cells"]:
        pipe.send({"id": start["id"], "cell": number})
        pipe.receive()  # so that what the cells before it left is not its fault
        complaints.append([number, session.cell(number, source, scratch, start["cell_seconds"])])
    pipe.send({"id": start["id"], "ready": complaints})

    while True:
        session.reply(pipe.receive(session.borrow))


if __name__ == "__main__":
    main()
