#!/usr/bin/env python3
"""Counts the states of all figures and tables of the papers and writes the table of docs/src/gallery/index.md.

    tools/gallery.py            # writes the table between its marks
    tools/gallery.py --check    # exit code 1 if it is out of date

Each page of docs/src/gallery has a table `| figure | content | state | where, or why not |` whose states are those
of STATES. Only Python's standard library is used.
"""
import sys

from standoff_tools import ROOT
from standoff_tools.tables import replaced

FOLDER = ROOT / "docs" / "src" / "gallery"
PAPERS = {
    "ipc-2020": "[Li 2020]", "thesis-2020": "[Li 2020 thesis], without what other pages list", "codimensional-2021": "[Li 2021]",
    "orientation-aware-2024": "[Huang 2024]", "barrier-free-2025": "[Zheng 2025]",
}
STATES = ["full", "reduced", "part", "no", "no experiment"]
BEGIN, END = "<!-- tools/gallery.py -->", "<!-- end -->"


def rows(page):
    """Figure, content, state and place of every row of a page."""
    found = []
    for number, line in enumerate(page.read_text().splitlines(), 1):
        if not line.startswith("|") or line.startswith(("|---", "| figure ")):
            continue
        cells = [c.strip() for c in line.strip("|").split("|")]
        if len(cells) != 4:
            sys.exit(f"{page.name}:{number}: {len(cells)} cells instead of 4")
        if cells[2] not in STATES and not cells[2].startswith("see "):
            sys.exit(f"{page.name}:{number}: the state is '{cells[2]}', not one of {', '.join(STATES)}")
        if cells[2] in STATES[:4] and not cells[3]:
            sys.exit(f"{page.name}:{number}: says neither where nor why not")
        found.append(cells)
    return found


def table():
    lines = ["| document | rows | in full | reduced | in part | not shown | no experiment |", "|---|---|---|---|---|---|---|"]
    for name, tag in PAPERS.items():
        states = [cells[2] for cells in rows(FOLDER / f"{name}.md") if cells[2] in STATES]
        counts = " | ".join(str(states.count(s)) for s in STATES)
        lines.append(f"| {tag}: [page]({name}.md) | {len(states)} | {counts} |")
    return "\n".join(lines)


def main():
    index = FOLDER / "index.md"
    text = index.read_text()
    current = replaced(text, BEGIN, table(), END)
    if "--check" not in sys.argv[1:]:
        index.write_text(current)
    elif current != text:
        sys.exit(f"{index.relative_to(ROOT)} is out of date: run tools/gallery.py")


if __name__ == "__main__":
    main()
