"""Where the book's parts are: `_toc.yml` is the only list of chapters.

python book/_tools/chapters.py        prints the chapters that are notebooks, one a line
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterable, Iterator
from importlib import metadata
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]

# What a chapter's numbers and pictures can depend on besides its code and ours.
LIBRARIES = (
    "ipykernel",
    "ipython",
    "ipywidgets",
    "matplotlib",
    "nbclient",
    "numba",
    "numpy",
    "pillow",
    "scipy",
    "tqdm",
)


def toc_files(root: Path = ROOT) -> list[str]:
    """The entries of `_toc.yml` in reading order, as written there (`book/NAME`)."""

    def walk(node: object) -> Iterator[str]:
        if isinstance(node, list):
            for item in node:
                yield from walk(item)
        elif isinstance(node, dict):
            for key in ("root", "file"):
                if key in node:
                    yield node[key]
            for key in ("parts", "chapters", "sections"):
                yield from walk(node.get(key, []))

    return list(walk(yaml.safe_load((root / "_toc.yml").read_text(encoding="utf-8"))))


def source_of(entry: str, root: Path = ROOT) -> Path:
    """The file behind an entry of the table of contents."""
    for suffix in ("", ".ipynb", ".md"):
        path = root / (entry + suffix)
        if path.is_file():
            return path
    raise FileNotFoundError(f"_toc.yml lists {entry!r}, but there is no {entry}.ipynb or .md")


def chapters(root: Path = ROOT) -> list[Path]:
    """The notebooks of the book in reading order."""
    files = (source_of(entry, root) for entry in toc_files(root))
    return [path for path in files if path.suffix == ".ipynb"]


def digest(parts: Iterable[bytes | str]) -> str:
    """A short hash of a sequence of parts; the parts' limits count."""
    sha = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        sha.update(len(data).to_bytes(8, "little") + data)
    return sha.hexdigest()[:16]


def tree_digest(folder: Path, suffixes: tuple[str, ...] = ()) -> str:
    """A hash of the names and contents of a folder's files (of all, or of some suffixes)."""
    files = sorted(
        path
        for path in folder.rglob("*")
        if path.is_file()
        and "__pycache__" not in path.parts
        and ".ipynb_checkpoints" not in path.parts
    )
    parts: list[bytes | str] = []
    for path in files:
        if not suffixes or path.suffix in suffixes:
            parts += [path.relative_to(folder).as_posix(), path.read_bytes()]
    return digest(parts)


def surroundings(root: Path = ROOT) -> str:
    """A hash of the package's sources and of the versions it runs with."""
    versions = {"python": sys.version}
    for name in LIBRARIES:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            versions[name] = ""
    package = tree_digest(root / "lielab", (".py", ".json", ".toml", ".ipynb"))
    return digest([package, json.dumps(versions, sort_keys=True)])


if __name__ == "__main__":
    for chapter in chapters():
        print(chapter.relative_to(ROOT).as_posix())
