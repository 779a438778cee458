"""Compiled code on disk: in which folder, in which file, and nothing read from there is believed unseen.

A folder holds the code of one version of the kernel sources. It carries a mark, and without that mark no folder is
ever removed: LIELAB_CACHE_DIR may name a folder in which a reader keeps other things. Where the wanted folder cannot
be written to, a private one among the temporary files serves, with one notice; where that cannot be either, every
process compiles for itself.

Numba's own cache keeps an index beside the code and believes both: a file cut short ends every later run with an
error, a changed one may crash it, and two processes that compile at once may get each other's code. Here each
compiled function has one file, named by all that it depends on, which begins with a checksum.
"""

from __future__ import annotations

import hashlib
import os
import pickle
import re
import shutil
import stat
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

MARK = "compiled-by-lielab-book.txt"
_MARKED = "Machine code that lielab-book compiled. It may be deleted at any time; it is then compiled anew.\n"
_KEEP_FOLDERS, _KEEP_SECONDS = 6, 14 * 24 * 3600.0
_said: list[str] = []
_CHECKSUM = hashlib.sha256().digest_size


@lru_cache(maxsize=1)
def _wanted() -> Path:
    """The folder that holds the folders: LIELAB_CACHE_DIR, or `lielab` in the user's cache folder."""
    own = os.environ.get("LIELAB_CACHE_DIR")
    if own:
        return Path(own).expanduser().absolute()
    user = os.environ.get("LOCALAPPDATA") or os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(user).expanduser().absolute() / "lielab"


def _temporary(make: bool = False) -> Path:
    """A folder among the temporary files; OSError where another user could write into it, and so run code as us."""
    user = os.getuid() if hasattr(os, "getuid") else None  # Windows: temporary files are the user's
    folder = Path(tempfile.gettempdir()) / f"lielab-{'cache' if user is None else user}"
    if make:
        folder.mkdir(mode=0o700, exist_ok=True)
    found = folder.lstat()
    foreign = user is not None and (found.st_uid != user or found.st_mode & 0o022)
    if foreign or not stat.S_ISDIR(found.st_mode):
        raise PermissionError(f"{folder} belongs to another user")
    return folder


def folders(version: str) -> list[Path]:
    """The folders of this version's code that there are: the one that is wanted, then the temporary one."""
    found = []
    for base in (_wanted, _temporary):
        with suppress(OSError, RuntimeError):  # RuntimeError: nobody knows what ~ is
            found.append(base() / f"kernels-{version}")
    return [folder for folder in found if (folder / MARK).is_file()]


def _made(base: Path, version: str) -> Path:
    """The folder of this version's code, made where it is new; those of old versions beside it are removed then."""
    folder = base / f"kernels-{version}"
    if not (folder / MARK).is_file():
        folder.mkdir(parents=True, exist_ok=True)
        (folder / MARK).write_text(_MARKED, encoding="ascii")
        _prune(folder)
    return folder


def _prune(folder: Path) -> None:
    """Remove folders beside this one that carry the mark and are old, or too many."""
    with suppress(OSError):
        others = [mark.parent for mark in folder.parent.glob(f"kernels-*/{MARK}")]
        ages = {entry: time.time() - entry.stat().st_mtime for entry in others if entry != folder}
        for place, entry in enumerate(sorted(ages, key=lambda entry: ages[entry])):
            if place >= _KEEP_FOLDERS or ages[entry] > _KEEP_SECONDS:
                shutil.rmtree(entry, ignore_errors=True)


def _where(plain: Callable) -> str:
    return f"{plain.__module__}.{plain.__qualname__}-{plain.__code__.co_firstlineno}"


def tell_apart(plain: Callable) -> None:
    """Put what a function closes over, constants and kernels of this package, into its name: so it finds its own code.

    Closures over other constants have the same name else, to the linker too: two of them, compiled in two processes and
    loaded in a third, would run one code.
    """
    cells = [cell.cell_contents for cell in plain.__closure__ or ()]
    if cells:
        meant = [_where(x.py_func) if hasattr(x, "py_func") else x for x in cells]
        plain.__qualname__ += f".{hashlib.sha256(dumps(meant)).hexdigest()[:16]}"


class Store:
    """What a dispatcher of Numba takes for its cache: the files of one function. See this module."""

    def __init__(self, function: Callable, version: str) -> None:
        self.function, self.version = function, version

    @property
    def cache_path(self) -> str:
        """For `stats` of the dispatcher."""
        return str(next(iter(folders(self.version)), ""))

    def load_overload(self, signature: Any, target: Any) -> CompileResult | None:
        """The compiled function for these argument types; None where it is to be compiled."""
        target.refresh()
        name = self._name(signature, target.codegen())
        for folder in folders(self.version) if name else ():
            data = _read(folder / name)
            if data is not None:
                with suppress(Exception):  # another version of some library wrote it
                    result = CompileResult._rebuild(target, *pickle.loads(data))
                    with suppress(OSError):
                        os.utime(folder)  # in use: not to be pruned
                    return result
        return None

    def save_overload(self, signature: Any, result: CompileResult) -> None:
        """Keep a compiled function where that can be; a disk that is full or locked is no reason to stop."""
        name = self._name(signature, result.codegen)
        if not name or result.lifted or result.library.has_dynamic_globals:
            return
        data = dumps(result._reduce())
        try:
            _write(_made(_wanted(), self.version) / name, data)
        except (OSError, RuntimeError) as error:
            try:
                _write(_made(_temporary(make=True), self.version) / name, data)
                _say_once(error, f"it goes to {_temporary()}")
            except OSError:
                _say_once(error, "every process compiles anew")

    def flush(self) -> None:
        """Part of Numba's contract: `recompile` means it; nothing in this package calls it."""

    def _name(self, signature: Any, codegen: Any) -> str:
        """The file, named by function, types and processor; empty: not to be kept."""
        types = repr(signature)
        if " at 0x" in types:  # a kernel as an argument: another one in the next process
            return ""
        where = _where(self.function)
        meant = (where, types, codegen.magic_tuple())
        digest = hashlib.sha256(repr(meant).encode()).hexdigest()
        readable = re.sub(r"[^\w.-]+", "_", where)[-80:]
        return f"{readable}.{digest[:32]}.bin"


def _read(file: Path) -> bytes | None:
    """What was written there, None where nothing was or something else stands there now."""
    try:
        data = file.read_bytes()
    except OSError:
        return None
    intact = hashlib.sha256(data[_CHECKSUM:]).digest() == data[:_CHECKSUM]
    return data[_CHECKSUM:] if intact else None


def _say_once(error: Exception, instead: str) -> None:
    if not os.environ.get("LIELAB_QUIET") and not _said:
        _said.append(instead)
        print(
            f"lielab: compiled code cannot be kept on disk ({error}); {instead}. LIELAB_CACHE_DIR names a folder",
            file=sys.stderr,
        )


def _write(file: Path, data: bytes) -> None:
    """All of it or nothing, also when several processes write the same."""
    partial = file.with_name(f"{file.name}.{os.getpid()}.{threading.get_ident()}")
    try:
        partial.write_bytes(hashlib.sha256(data).digest() + data)
        os.replace(partial, file)
    finally:
        with suppress(OSError):
            partial.unlink()
