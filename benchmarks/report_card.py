"""The report card of the rigid-body methods, measured anew: python -m benchmarks.report_card [--write].

`--write` stores it in lielab/study/report_card.json, which the book shows and a test recomputes in part.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import lielab
from lielab.study import report_card

STORED = Path(lielab.__file__).parent / "report_card.json"


def main() -> None:
    """Print the card; store it if asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help=f"store the rows in {STORED.name}")
    card = report_card.report_card()
    tried = report_card.candidates()
    print(card)
    print()
    for row in tried:
        verdict = "fits" if row["fits"] else "does not fit"
        print(f"{row['form of']}: {row['description']}: {verdict} what Table 2.1 says")
    if parser.parse_args().write:
        rows = {"methods": card.rows, "candidates": tried}
        text = (
            json.dumps(rows, indent=0, separators=(",", ":"))
            .replace("\n", "")
            .replace("},", "},\n")
        )
        STORED.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
