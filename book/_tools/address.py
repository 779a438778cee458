"""The repository's public address, set everywhere by one command.

    python book/_tools/address.py                                 what it is now, and where it stands
    python book/_tools/address.py https://github.com/you/fork     change it everywhere
    ... https://github.com/you/fork --site https://lie.example.org     pages under a domain of one's own
    python book/_tools/address.py --public                        fail while the placeholder OWNER stands in it
    python book/_tools/address.py --colab book/NAME.ipynb ...     put today's Colab cell into chapters

The address in `pyproject.toml` counts; README, badges, CITATION.cff, `_config.yml` and the chapters'
Colab cells follow it. Binder's and Colab's links are derived from it, so it must be GitHub's. The pages are at
OWNER.github.io/NAME unless `--site` names the domain that GitHub Pages serves them under.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

import nbformat

from chapters import ROOT

PLACEHOLDER = "https://github.com/OWNER/lielab-book"
PART = r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9_-])?"
ADDRESS = re.compile(rf"https://github\.com/({PART})/({PART})")
SITE = re.compile(r"https://[a-z0-9-]+(?:\.[a-z0-9-]+)+(?:/[\w.-]+)*", re.IGNORECASE)

# Files that must hold the address, and those that may. A pattern stands for every file it meets.
REQUIRED = (
    "pyproject.toml",
    "README.md",
    "CITATION.cff",
    "_config.yml",
    "book/_tools/colab_cell.txt",
)
OTHERS = (
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "LICENSE-TEXT.md",
    "book/*.md",
    "book/*.ipynb",
    "exercises/*/*.ipynb",
)


def files(root: Path = ROOT) -> list[Path]:
    """Every file in which the address is kept up to date."""
    found = [root / name for name in REQUIRED]
    for pattern in OTHERS:
        found += sorted(root.glob(pattern))
    return [path for path in found if path.is_file()]


def current(root: Path = ROOT) -> str:
    """The address that counts: `Repository` in `pyproject.toml`."""
    text = (root / "pyproject.toml").read_text(encoding="utf-8")
    found = re.search(r'^Repository = "(.*)"$', text, flags=re.MULTILINE)
    if not found or not ADDRESS.fullmatch(found[1]):
        raise ValueError(
            'pyproject.toml must have a line: Repository = "https://github.com/OWNER/NAME"'
        )
    return found[1]


def default_site(address: str) -> str:
    owner, name = ADDRESS.fullmatch(address).groups()
    return f"https://{owner}.github.io/{name}"


def site(root: Path = ROOT) -> str:
    """Where the pages are: `Book` in `pyproject.toml`, without the slash at its end."""
    text = (root / "pyproject.toml").read_text(encoding="utf-8")
    found = re.search(r'^Book = "(https://[^"]+?)/?"$', text, flags=re.MULTILINE)
    if not found:
        raise ValueError('pyproject.toml must have a line: Book = "https://OWNER.github.io/NAME/"')
    return found[1]


def forms(address: str) -> dict[str, re.Pattern[str]]:
    """The ways in which an address occurs, as patterns that stop where the name stops."""
    found = ADDRESS.fullmatch(address)
    if not found:
        raise ValueError(
            f"address is {address!r}; it must look like https://github.com/OWNER/NAME "
            "(no slash or .git at the end), because Binder's and Colab's links are made from it"
        )
    owner, name = found.groups()
    end = r"(?![A-Za-z0-9_-]|\.[A-Za-z0-9])"
    slug = re.escape(f"{owner}/{name}")
    return {
        # owner/name after any of the services that are addressed by it
        "{owner}/{name}": re.compile(
            rf"(?<=github\.com/){slug}{end}|(?<=/v2/gh/){slug}{end}"
            rf"|(?<=colab\.research\.google\.com/github/){slug}{end}|(?<=shields\.io/github/){slug}{end}"
        ),
    }


def change(new: str, root: Path = ROOT, pages: str = "") -> list[Path]:
    """Replace the current address by `new`, and that of the pages by `pages`; returns the files that changed."""
    old, old_site = current(root), site(root)
    patterns = forms(old)
    forms(new)  # refuses what is not an address before anything is written
    pages = (pages or default_site(new)).rstrip("/")
    if not SITE.fullmatch(pages):
        raise ValueError(f"the site is {pages!r}; it must look like https://lie.example.org")
    old_pages = re.compile(re.escape(old_site) + r"(?![A-Za-z0-9_-]|\.[A-Za-z0-9])")
    owner, name = ADDRESS.fullmatch(new).groups()
    changed = []
    for path in files(root):
        before = path.read_bytes().decode("utf-8")
        text = before
        text = old_pages.sub(pages, text)
        for form, pattern in patterns.items():
            text = pattern.sub(form.format(owner=owner, name=name), text)
        if text != before:
            path.write_bytes(text.encode("utf-8"))
            changed.append(path)
    return changed


def strays(root: Path = ROOT) -> list[str]:
    """Where the files disagree with the address that counts; empty when all is well."""
    address = current(root)
    owner, name = ADDRESS.fullmatch(address).groups()
    wrong = []
    for path in files(root):
        text, label = path.read_text(encoding="utf-8"), path.relative_to(root).as_posix()
        if label == "_config.yml" and f"baseurl: {site(root)}/\n" not in text:
            wrong.append(f"{label} does not have baseurl: {site(root)}/")
        if label in REQUIRED and address not in text:
            wrong.append(f"{label} does not hold {address}")
        others = {"/".join(m.groups()) for m in ADDRESS.finditer(text)}
        others |= {"/".join(m) for m in re.findall(rf"/v2/gh/({PART})/({PART})", text)}
        for other in sorted(others):
            foreign_owner, foreign_name = other.split("/")
            ours = foreign_name in (name, "lielab-book") or foreign_owner in (owner, "OWNER")
            if ours and other != f"{owner}/{name}":
                wrong.append(f"{label} names {other} instead of {owner}/{name}")
    return wrong


def put_colab_cell(chapter: Path, root: Path = ROOT) -> bool:
    """Make today's Colab cell the first code cell of a chapter; True when the file changed."""
    cell_source = (root / "book" / "_tools" / "colab_cell.txt").read_text(encoding="utf-8").strip()
    notebook = nbformat.read(chapter, as_version=4)
    code = [n for n, cell in enumerate(notebook.cells) if cell.cell_type == "code"]
    if code and "google.colab" in notebook.cells[code[0]].source:
        cell = notebook.cells[code[0]]
        if cell.source == cell_source and cell.metadata.get("tags") == ["remove-cell"]:
            return False
        cell.source = cell_source
    else:
        cell = nbformat.v4.new_code_cell(cell_source, id="colab")
        notebook.cells.insert(1 if len(notebook.cells) else 0, cell)
    cell.metadata["tags"] = ["remove-cell"]
    chapter.write_text(nbformat.writes(notebook) + "\n", encoding="utf-8", newline="\n")
    return True


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("address", nargs="?", help="the new address")
    parser.add_argument(
        "--site", default="", help="the pages' address, if it is a domain of your own"
    )
    parser.add_argument("--public", action="store_true", help="fail while OWNER is the address")
    parser.add_argument("--colab", nargs="+", type=Path, default=[], metavar="CHAPTER")
    options = parser.parse_args()
    try:
        for chapter in options.colab:
            print(f"{chapter}: " + ("written" if put_colab_cell(chapter) else "is up to date"))
        if options.address:
            for path in change(options.address, pages=options.site):
                print(f"changed {path.relative_to(ROOT).as_posix()}")
        elif options.site:
            raise ValueError(
                "--site goes with the repository's address: address.py https://github.com/you/fork --site ..."
            )
        print(f"the address is {current()}, the pages are at {site()}")
        if options.public and current() == PLACEHOLDER:
            raise ValueError(
                "OWNER is nobody's name: run  make address URL=https://github.com/you/your-fork  and commit"
            )
    except ValueError as error:
        sys.exit(f"error: {error}")
    wrong = strays()
    for line in wrong:
        print(f"  {line}", file=sys.stderr)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
