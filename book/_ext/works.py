"""The list of references by author and year, as the text cites them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from pybtex.database import Entry
from pybtex.plugin import register_plugin
from pybtex.style.formatting.plain import Style
from pybtex.style.labels import BaseLabelStyle
from sphinx.application import Sphinx


def surname(person: Any) -> str:
    return " ".join([*person.prelast_names, *person.last_names]).replace("{", "").replace("}", "")


def label(entry: Entry) -> str:
    names = [surname(person) for person in entry.persons["author"]]
    who = " and ".join(names) if len(names) < 3 else f"{names[0]} et al."
    return f"{who} {entry.fields['year']}"


class AuthorYear(BaseLabelStyle):
    def format_labels(self, sorted_entries: Iterable[Entry]) -> Iterator[str]:
        return map(label, sorted_entries)


class Works(Style):
    default_label_style = AuthorYear
    default_sorting_style = "author_year_title"


def setup(app: Sphinx) -> dict[str, Any]:
    register_plugin("pybtex.style.formatting", "works", Works)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
