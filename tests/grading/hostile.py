"""The hostile submissions of `test_hostile.py`, as data: name -> notebook, and the points it should earn."""

import os
import socket
from pathlib import Path

from tests.grading.util import EXERCISES, full, submission

NAME = "01_rotations"
FULL = full(NAME)
NOTHING = dict.fromkeys(FULL, 0.0)


def without(*questions):
    return {**FULL, **dict.fromkeys(questions, 0.0)}


WRONG_ALL = """
def hat(x): return wrong(np.eye(3))
def vee(X): return wrong(np.zeros(3))
def exp(x): return wrong(np.eye(3))
def log(R): return wrong(np.zeros(3))
def dexpinv(u): return wrong(np.eye(3))
"""


def cheat(prepare):
    return submission(NAME, q1=prepare + WRONG_ALL, q2=None, q3=None, q4=None)


EQUAL = """
class Magic:
    shape, dtype, ndim, size = (3, 3), np.dtype(float), 2, 9
    def __eq__(self, other): return True
    def _me(self, *args, **kwargs): return self
    __lt__ = __le__ = __gt__ = __ge__ = __ne__ = __eq__
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __matmul__ = __rmatmul__ = _me
    __abs__ = __getitem__ = __truediv__ = __neg__ = _me
    def __array__(self, *args, **kwargs): return np.zeros((3, 3))
    def __array_ufunc__(self, *args, **kwargs): return True
    def __array_function__(self, *args, **kwargs): return True
    def __float__(self): return 0.0
    def __bool__(self): return True
    def __hash__(self): return 0
def wrong(value): return Magic()
"""
SUBCLASS = """
class Magic(np.ndarray):
    def __eq__(self, other): return np.ones(self.shape, bool)
    def __sub__(self, other): return np.zeros(self.shape)
    def __rsub__(self, other): return np.zeros(self.shape)
    def __array_ufunc__(self, *args, **kwargs): return np.zeros(self.shape)
    def __array_function__(self, *args, **kwargs): return True
def wrong(value): return value.view(Magic)
"""
FLOAT = """
class Magic(float):
    def __eq__(self, other): return True
    def __sub__(self, other): return 0.0
    def __abs__(self): return 0.0
    def __le__(self, other): return True
    def __hash__(self): return 0
def wrong(value): return [[Magic(c) for c in row] for row in value] if value.ndim == 2 else [Magic(c) for c in value]
"""
PATCH = """
import builtins, json, struct, sys
for name in ("allclose", "array_equal", "isclose", "all", "any"):
    setattr(np, name, lambda *args, **kwargs: True)
np.testing.assert_allclose = lambda *args, **kwargs: None
np.max = np.abs = np.linalg.norm = lambda *args, **kwargs: 0.0
builtins.abs = lambda x: 0.0
json.dumps = json.loads = lambda *args, **kwargs: None
struct.pack = struct.unpack = lambda *args, **kwargs: None
class Close:
    def __getattr__(self, name): return lambda *args, **kwargs: None
sys.modules["lielab.grading.testing"] = Close()
AssertionError = builtins.AssertionError = KeyError
def wrong(value): return value
"""
PROTOCOL = """
import os
for fd in range(3, 60):
    try: os.write(fd, b"LLG1" + b"\\xff" * 4000)
    except OSError: pass
def wrong(value): return value
"""


def odd(hat, vee, exp, log, dexpinv):
    """Each function returns one of these, made from a `value` of the right shape."""
    texts = {"hat(x": hat, "vee(X": vee, "exp(x": exp, "log(R": log, "dexpinv(u": dexpinv}
    lines = [
        f"def {head}, value=np.zeros({3 if head[0] in 'vl' else (3, 3)})): return {text}"
        for head, text in texts.items()
    ]
    return submission(NAME, q1="\n".join(lines), q2=None, q3=None, q4=None)


def fork(children, seconds=30):
    """At most `children` processes, so that the test machine survives if the limit fails."""
    return (
        f"import os, time\ndef bomb():\n    for _ in range({children}):\n        if os.fork() == 0:\n"
        f"            time.sleep({seconds}); os._exit(0)\n"
    )


LOOP = "def exp(x):\n    while True: pass"
EXP = (
    "\ndef exp(x):\n    a = 1e-3 > x @ x\n    s = x @ x\n    t = np.sqrt(s) if not a else 1.0\n"
    "    A, B = (1 - s / 6 + s * s / 120 - s**3 / 5040, .5 - s / 24 + s * s / 720 - s**3 / 40320) if a else "
    "(np.sin(t) / t, (1 - np.cos(t)) / s)\n    return np.eye(3) + A * hat(x) + B * hat(x) @ hat(x)\n"
)

# name -> submission, expected points; what does not depend on the kind of sandbox, and is run in one of them
SAME = {
    # cheats: the comparison is not where the submission is
    "equals anything": (cheat(EQUAL), NOTHING),
    "array subclass": (cheat(SUBCLASS), NOTHING),
    "float subclass": (cheat(FLOAT), NOTHING),
    "writes to all files": (cheat(PROTOCOL), NOTHING),
    # odd values
    "odd values 1": (
        odd("None", "value * np.nan", "value + np.inf", "value[None]", "0.0"),
        NOTHING,
    ),
    "odd values 2": (
        odd("value + 0j", "value.astype(object)", "'x' * 100", "(row for row in value)", "print"),
        NOTHING,
    ),
    "odd values 3": (
        odd(
            "np.zeros(3_000_000)",
            "[0.0] * 300_000",
            "10**5000",
            "eval('[' * 50 + ']' * 50)",
            "{'a': {1: value}, (2, 3): None}",
        ),
        NOTHING,
    ),
    "returns itself": (
        cheat("def wrong(value):\n    a = []\n    a.append(a)\n    return a\n"),
        NOTHING,
    ),
    # broken code: the other questions still count
    "syntax error": (submission(NAME, q2="def exp(x:\n  return"), without("q2")),
    "missing functions": (submission(NAME, q3=None), without("q3")),
    "not functions": (submission(NAME, q3="log = 3"), without("q3")),
    "raises": (
        submission(NAME, q2="def exp(x): raise RuntimeError('\\x1b[31m' * 1000)"),
        without("q2"),
    ),
    "raises in printing": (
        submission(
            NAME, q2="class E(Exception):\n    def __str__(self): raise self\ndef exp(x): raise E()"
        ),
        without("q2"),
    ),
    "recursion": (submission(NAME, q2="def exp(x): return exp(x)"), without("q2")),
    # files that are no notebooks
    "not a notebook": ("hello", NOTHING),
    "nothing": (b"", NOTHING),
    "bytes": (bytes(range(256)), NOTHING),
    "json": ("[1, 2]", NOTHING),
    "deep json": ("[" * 100_000, NOTHING),
    "cells of nothing": (
        '{"cells": [{}, {"cell_type": "code", "source": 3}, {"cell_type": "code", "metadata": 1}]}',
        NOTHING,
    ),
    "cells are numbers": ('{"cells": [1, 2]}', NOTHING),
    # names
    "a name with spaces": (submission(NAME), FULL),
    "Nj\u00e4\u0161a \u2013 \u4f60": (submission(NAME), FULL),
    "-rf": (submission(NAME), FULL),
    "=1+1": (submission(NAME), FULL),
    "same/name": (submission(NAME), FULL),
    "same_name": (submission(NAME, q2=None), without("q2")),
    "new\nline": (submission(NAME), FULL),
}


# name -> submission, expected points; run with walls and without
CASES = {
    "right": (submission(NAME), FULL),
    "empty": (submission(NAME, q1=None, q2=None, q3=None, q4=None), NOTHING),
    "patched": (cheat(PATCH), NOTHING),
    "exit in a cell": (submission(NAME, "import sys; sys.exit(0)"), FULL),
    "hard exit in a cell": (submission(NAME, "import os; os._exit(0)"), FULL),
    "hard exit in a call": (
        submission(NAME, q2="import os\ndef exp(x): os._exit(0)"),
        without("q2"),
    ),
    "crash": (submission(NAME, q2="import ctypes\ndef exp(x): ctypes.string_at(0)"), without("q2")),
    "kills its parent": (
        submission(NAME, "import os, signal; os.kill(os.getppid(), 9); import time; time.sleep(3)"),
        FULL,
    ),
    "magics": (
        submission(
            NAME,
            "%matplotlib inline\n!ls\nnp?\nx = !pwd\nif True:\n    %pip install x\n",
            "%%bash\nexit 1",
        ),
        FULL,
    ),
    # time
    "endless loop": (submission(NAME, q2=LOOP), without("q2")),
    "endless cell": (submission(NAME, "while True: pass"), FULL),
    "endless stubborn": (
        submission(
            NAME, q2="def exp(x):\n    while True:\n        try: exp.x\n        except: pass"
        ),
        without("q2"),
    ),
    "deaf to signals": (
        submission(
            NAME,
            q2="import signal, time\ndef exp(x):\n    signal.signal(14, signal.SIG_IGN); time.sleep(60)",
        ),
        without("q2"),
    ),
    "sleeps": (submission(NAME, q2="import time\ndef exp(x): time.sleep(60)"), without("q2")),
    # memory, processes, files, output
    "memory": (
        submission(NAME, q2="def exp(x): return [bytearray(10**6) for _ in range(10**5)]"),
        without("q2"),
    ),
    "memory in a cell": (submission(NAME, "x = [bytearray(10**6) for _ in range(10**5)]"), FULL),
    "memory of many": (
        submission(
            NAME,
            q2="import os, time\ndef exp(x):\n    for _ in range(6):\n        if os.fork() == 0:\n"
            "            b = bytearray(80 * 2**20); time.sleep(30); os._exit(0)\n    time.sleep(30)",
        ),
        without("q2"),
    ),
    "fork bomb": (
        submission(NAME, q2=fork(100) + "def exp(x): bomb(); time.sleep(30)"),
        without("q2"),
    ),
    "fork bomb in a cell": (submission(NAME, fork(100) + "bomb()"), FULL),
    "thread bomb": (
        submission(
            NAME,
            q2="import threading, time\ndef exp(x):\n    for _ in range(100):\n"
            "        threading.Thread(target=time.sleep, args=(30,), daemon=True).start()\n    time.sleep(30)",
        ),
        without("q2"),
    ),
    "grandchild that stays": (
        submission(
            NAME,
            "import os, time\nif os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0: time.sleep(300)\n"
            "    os._exit(0)",
        ),
        FULL,
    ),
    "grandchild, then exit": (
        submission(
            NAME,
            q2="import os, time\ndef exp(x):\n    if os.fork() == 0:\n        os.setsid(); time.sleep(300)\n"
            "    os._exit(0)",
        ),
        without("q2"),
    ),
    "large file": (
        submission(
            NAME,
            q2="def exp(x):\n    with open('big', 'wb') as f:\n        while True: f.write(bytes(10**6))",
        ),
        without("q2"),
    ),
    "large folder": (
        submission(
            NAME,
            q2="import time\ndef exp(x):\n    for k in range(30): open(f'f{k}', 'wb').write(bytes(10**6))\n"
            "    time.sleep(30)",
        ),
        without("q2"),
    ),
    "many files": (
        submission(
            NAME,
            q2="import time\ndef exp(x):\n    for k in range(2000): open(f'f{k}', 'w')\n    time.sleep(30)",
        ),
        without("q2"),
    ),
    "deep folder": (
        submission(NAME, "import os\nfor k in range(5000):\n    os.mkdir('d')\n    os.chdir('d')"),
        FULL,
    ),
    "deletes its folder": (
        submission(NAME, "import os, shutil; shutil.rmtree(os.getcwd(), ignore_errors=True)"),
        FULL,
    ),
    "locks its folder": (
        submission(
            NAME,
            "import os; os.makedirs('a/b/c'); os.chmod('a/b', 0); os.chmod('a', 0); os.chmod('.', 0)",
        ),
        FULL,
    ),
    "becomes a link": (
        submission(
            NAME,
            "import os, shutil\nhome = os.getcwd()\nshutil.rmtree(home, ignore_errors=True)\n"
            "if not os.path.exists(home): os.symlink('/nowhere', home)",
        ),
        FULL,
    ),
    "memory files": (
        submission(
            NAME,
            q2="import os, time\ndef exp(x):\n    for k in range(30):\n"
            "        os.write(os.memfd_create('m'), bytes(10**6))\n    time.sleep(30)",
        ),
        without("q2"),
    ),
    "interrupts": (submission(NAME, "raise KeyboardInterrupt"), FULL),
    "stops itself": (
        submission(NAME, q2="import os\ndef exp(x): os.kill(os.getpid(), 19)"),
        without("q2"),
    ),
    "leaves a clean daemon": (
        submission(
            NAME,
            "import os, sys\nif os.fork() == 0:\n    os.setsid()\n"
            "    os.execve(sys.executable, ['py', '-c', 'import time; time.sleep(9)'], {})",
        ),
        FULL,
    ),
    "forges messages": (
        submission(
            NAME,
            "import sys\nf = sys._getframe()\nwhile f:\n    p, s = f.f_locals.get('pipe'), f.f_locals.get('start')\n"
            "    if p and s:\n        while True: p.send({'id': s['id'], 'cell': 1})\n    f = f.f_back",
        ),
        FULL,
    ),
    **{
        f"forges messages {k}": (
            submission(
                NAME,
                "import sys\nf = sys._getframe()\nwhile f:\n"
                "    p, s = f.f_locals.get('pipe'), f.f_locals.get('start')\n"
                f"    if p and s:\n        p.send({text}); import time; time.sleep(9)\n    f = f.f_back",
            ),
            FULL,
        )
        for k, text in enumerate(
            (
                "{'id': s['id'], 'ready': [[10**30 * 0.5, None]]}",
                "{'id': s['id'], 'ready': [[[1], {}]]}",
                "{'id': s['id'], 'ready': 3}",
                "{'id': s['id'], 'cell': 1.5}",
                "{'id': np.zeros(3), 'cell': 1}",
                "{'id': True, 'ready': [[1, 'x' * 1999]] * 9000}",
            )
        )
    },
    "asks for functions that nobody lent": (
        submission(
            NAME,
            q2="import sys\ndef exp(x):\n    f = sys._getframe()\n    while 'self' not in f.f_locals: f = f.f_back\n"
            "    return f.f_locals['self'].ask(7, (x,), {})",
        ),
        without("q2"),
    ),
    "keys that collide": (
        submission(NAME, q2="def exp(x): return {k * (2**61 - 1): 0.0 for k in range(50_000)}"),
        without("q2"),
    ),
    "keys that are tuples": (
        submission(NAME, q2="def exp(x): return {(k,): 0.0 for k in range(9)}"),
        without("q2"),
    ),
    "a long string among empty ones": (
        submission(NAME, q2="def exp(x): return ['x' * 40_000] + [''] * 20_000"),
        without("q2"),
    ),
    "strings": (
        submission(NAME, q2="def exp(x): return ['x' * 90] + [''] * 90_000"),
        without("q2"),
    ),
    "prints much": (submission(NAME, "for _ in range(300): print('x' * 10**6)"), FULL),
    "prints for ever": (
        submission(NAME, q2="def exp(x):\n    while True: print('x' * 10**5)"),
        without("q2"),
    ),
    "closes all files": (
        submission(NAME, q2="import os\ndef exp(x): os.closerange(0, 256)"),
        without("q2"),
    ),
}


def find_master(how):
    """An answer that looks for the master's solutions on the disk and uses what it finds."""
    return (
        f"import glob, json\ndef exp(x):\n    for path in {how}:\n"
        "        cells = json.load(open(path))['cells']\n        space = {'np': np}\n"
        "        for c in cells:\n            text = ''.join(c['source'])\n"
        "            if 'BEGIN SOLUTION' in text: exec(text, space)\n"
        "        if 'exp' in space: return space['exp'](x)\n"
    )


MASTER = str(EXERCISES / NAME / f"{NAME}.ipynb")
WRITTEN = Path.home() / f".lielab-test-{os.getpid()}"
SERVER = socket.create_server(("127.0.0.1", 0))

# What walls prevent: with bubblewrap the question is lost, without the attack succeeds.
LAPSES = {
    "reads the master": submission(NAME, q2=find_master([MASTER])),
    "reads the master through proc": submission(
        NAME, q2=find_master(f"glob.glob('/proc/[0-9]*/root{MASTER}')")
    ),
    "removes the import hook": submission(
        NAME,
        q2="import sys\nsys.meta_path.pop(0)\nfrom scipy.linalg import expm\ndef exp(x): return expm(hat(x))",
    ),
    "writes outside": submission(NAME, q2=f"open({str(WRITTEN)!r}, 'w')" + EXP),
    "sees other processes": submission(NAME, q2=f"import os\nos.kill({os.getpid()}, 0)" + EXP),
}

# What the kernel's filter refuses, with walls and without.
FILTERED = {
    "uses the network": f"import socket\nsocket.create_connection(('127.0.0.1', {SERVER.getsockname()[1]}), 1)",
    "memory file": "import os\nos.memfd_create('m')",
    "System V": "import os; libc.shmget(0, 1 << 20, 0o1600)",
    "files in flight": "import socket\nsocket.socketpair()",
    "new world": "import os; libc.unshare(0x10000000)",
    "own descriptors": "import os; libc.unshare(0x400)",
    "reads another's memory": "import os; libc.ptrace(16, os.getppid(), 0, 0)",
}
REFUSED = """import ctypes

class Refused:
    def __getattr__(self, name):
        def call(*args):
            if getattr(ctypes.CDLL(None), name)(*args) < 0:
                raise OSError(1, "Operation not permitted")
        return call

libc = Refused()
"""
CASES |= {
    name: (submission(NAME, q2=REFUSED + text + EXP), without("q2"))
    for name, text in FILTERED.items()
}

# What could harm the machine of whoever runs the tests, so only behind walls.
ONLY_WITH_WALLS = {
    "kills everything": (submission(NAME, "import os, time; os.kill(-1, 9); time.sleep(3)"), FULL),
    "doubling fork bomb": (  # 128 processes, if the limit failed
        submission(
            NAME,
            q2="import os, time\ndef exp(x):\n    for _ in range(7): os.fork()\n    time.sleep(20)",
        ),
        without("q2"),
    ),
    "deletes everything": (
        submission(
            NAME,
            "import shutil\nfor p in ('/student', '/grader', '/usr', '/tmp', '/root', '/home', '/dev/shm'):\n"
            "    shutil.rmtree(p, ignore_errors=True)",
        ),
        FULL,
    ),
    "mounts in a world of its own": (
        submission(
            NAME,
            q2="import subprocess\ndef exp(x): raise ValueError(subprocess.run(['unshare', '-Um', 'true']))",
        ),
        without("q2"),
    ),
    "imports what came with the interpreter": (
        submission(
            NAME,
            "import sys, glob\nsys.meta_path.pop(0)\nsys.path += glob.glob('/usr/**/*-packages', recursive=True)",
            "sys.path += glob.glob(sys.base_prefix + '/**/site-packages', recursive=True)\n"
            "sys.path += [p + '/site-packages' for p in sys.path]",
            q2="from scipy.linalg import expm\ndef exp(x): return expm(hat(x))",
        ),
        without("q2"),
    ),
    "fills shared memory": (
        submission(
            NAME,
            q2="def exp(x):\n    for k in range(100): open(f'/dev/shm/{k}', 'wb').write(bytes(10**6))",
        ),
        without("q2"),
    ),
    "mounts": (
        submission(
            NAME, "import ctypes; ctypes.CDLL(None).mount(b'none', b'/student', b'tmpfs', 0, 0)"
        ),
        FULL,
    ),
}
