"""One style sheet and one script in place of twenty files, each of which costs a slow phone a round trip.

- `sheet`: style sheets in their order, what they import included, without the rules whose classes and ids stand in no
  page and no script (of the theme's 400 kB most are icons and parts of Bootstrap that the book does not use).
- `script`: scripts in their order.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from posixpath import normpath, relpath

TOKEN = re.compile(
    r"""(?P<string>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|url\((?!\s*["'])[^)]*\))|(?P<comment>/\*.*?\*/)"""
    r"""|(?P<mark>[{};,()\[\]])|(?P<space>\s+)|(?P<text>[^"'/{};,()\[\]\s]+?(?=url\(|[^\w.#:-]|$)|.)""",
    re.DOTALL,
)
IMPORT = re.compile(r'@import (?:url\()?"?([^")]+)"?\)?')
ADDRESS = re.compile(r"""url\(\s*(["']?)(?!data:|https?:|/|#)([^"')]+)\1\s*\)""")
GROUPS = ("@media", "@supports", "@layer", "@container")
NAME = re.compile(r"[.#]((?:[\w-]|\\.)+)")
OF_SCRIPTS = ("bs-", "kind-")  # beginnings of the names that scripts put together from parts
FACE = re.compile(r"Font ?Awesome")  # whose letters became pictures: light.py


def _tokens(text: str) -> Iterator[str]:
    """The parts of a sheet; comments are left out but for those that hold a licence, white space becomes one space."""
    for found in TOKEN.finditer(text):
        if found["comment"] and not found[0].startswith("/*!"):
            continue
        yield " " if found["space"] else found[0]


def rules(text: str) -> list[tuple[str, str]]:
    """(what stands before the brace, what stands inside); the inside is empty for a statement such as `@import`."""
    found, before, inside, depth = [], "", "", 0
    for token in _tokens(text):
        if token.startswith("/*!") and not depth:
            found.append((token, ""))
        elif token == "{":
            inside += token if depth else ""
            depth += 1
        elif token == "}":
            depth -= 1
            inside += token if depth else ""
            if not depth:
                found.append((before.strip(), inside.strip()))
                before = inside = ""
        elif depth:
            inside += token
        elif token == ";":
            found.append((before.strip(), ""))
            before = ""
        else:
            before += token
    return found


def selectors(text: str) -> list[str]:
    """A list of selectors taken apart at its outer commas."""
    found, depth = [""], 0
    for token in _tokens(text):
        depth += (token in "([") - (token in ")]")
        if token == "," and not depth:
            found.append("")
        else:
            found[-1] += token
    return [one.strip() for one in found]


def used(selector: str, words: set[str]) -> bool:
    """Whether all classes and ids are words of the pages or the scripts; what stands in parentheses is not asked."""
    while (bare := re.sub(r"\([^()]*\)|\[[^\]]*\]", "", selector)) != selector:
        selector = bare
    names = NAME.findall(selector)
    return all(n in words or "\\" in n or n.startswith(OF_SCRIPTS) for n in names)


def thin(text: str, words: set[str]) -> str:
    """A sheet without what no page and no script can need."""
    out = []
    for before, inside in rules(text):
        if before.startswith("/*!"):
            out.append(before + "\n")
        elif not inside:
            continue  # an empty rule; imports are in place already, and the whole is in UTF-8
        elif before.startswith(GROUPS):
            if kept := thin(inside, words):
                out.append(f"{before}{{{kept}}}\n")
        elif before.startswith("@font-face") and FACE.search(inside):
            continue
        elif before.startswith("@"):
            out.append(f"{before}{{{inside}}}\n")
        elif kept := [one for one in selectors(before) if used(one, words)]:
            out.append(f"{','.join(kept)}{{{inside}}}\n")
    return "".join(out)


def read_sheet(file: Path, root: Path) -> str:
    """A sheet with what it imports; its addresses are relative to `_static`."""
    text = file.read_text(encoding="utf-8")
    folder = file.parent.relative_to(root).as_posix()

    def address(found: re.Match[str]) -> str:
        return f"url({found[1]}{relpath(normpath(f'{folder}/{found[2]}'), '_static')}{found[1]})"

    text = ADDRESS.sub(address, text)
    imported = [file.parent / name for name in IMPORT.findall(text)]
    return "".join(read_sheet(one, root) for one in imported) + text


def sheet(files: Iterable[Path], root: Path, words: set[str]) -> str:
    return "".join(thin(read_sheet(file, root), words) for file in files)


def script(files: Iterable[Path]) -> str:
    """Scripts one after the other; each ends its last statement."""
    texts = (file.read_text(encoding="utf-8").rstrip() for file in files)
    return "".join(re.sub(r"\n?//# sourceMappingURL=\S+$", "", text) + "\n;\n" for text in texts)


def words(texts: Iterable[str]) -> set[str]:
    return {word for text in texts for word in re.findall(r"[\w-]+", text)}
