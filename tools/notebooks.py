#!/usr/bin/env python3
"""Makes the notebooks of the Python package from its examples: `tools/notebooks.py`, and `--check` to tell whether
they are up to date.

An example in python/examples is a script of cells: `# %%` begins code, `# %% [markdown]` text. The code of
`# %% [notebook]` is for the notebook alone and stands in comments; with `[may fail]` its error does not stop the
notebook. Notebooks have no output."""
import argparse, json, sys

from standoff_tools import ROOT

PYTHON = ROOT / "python"


def cells(text):
    """Heads and lines of the cells."""
    found = []
    for line in text.splitlines():
        if line.startswith("# %%"):
            found.append((line, []))
        elif found:
            found[-1][1].append(line)
        elif line.strip():
            sys.exit(f"{line!r} stands before the first cell")
    return found


def trimmed(lines):
    while lines and not lines[0].strip():
        lines = lines[1:]
    while lines and not lines[-1].strip():
        lines = lines[:-1]
    return lines


def without_comment(line):
    if line not in ("#", "") and not line.startswith("# "):
        sys.exit(f"{line!r} is no comment")
    return line[2:]


def notebook(text):
    """The notebook of a script, as text."""
    out = []
    for number, (head, lines) in enumerate(cells(text)):
        lines = trimmed(lines)
        is_text = "[markdown]" in head
        if is_text or "[notebook]" in head:
            lines = [without_comment(line) for line in lines]
        source = [line + "\n" for line in lines[:-1]] + lines[-1:]
        cell = {"cell_type": "markdown" if is_text else "code", "id": f"cell-{number:02}", "metadata": {}, "source": source}
        if not is_text:
            if "[may fail]" in head:
                cell["metadata"]["tags"] = ["raises-exception"]
            cell |= {"execution_count": None, "outputs": []}
        out.append(dict(sorted(cell.items())))
    python = {"display_name": "Python 3", "language": "python", "name": "python3"}
    whole = {"cells": out, "metadata": {"kernelspec": python, "language_info": {"name": "python"}}}
    return json.dumps(whole | {"nbformat": 4, "nbformat_minor": 5}, indent=1, ensure_ascii=False) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a notebook is out of date")
    arguments = parser.parse_args()
    wanted = {f"{e.stem}.ipynb": notebook(e.read_text("utf-8")) for e in sorted((PYTHON / "examples").glob("*.py"))}
    folder = PYTHON / "notebooks"
    found = {n.name: n.read_text("utf-8") for n in folder.glob("*.ipynb")}
    if arguments.check:
        wrong = sorted(name for name in wanted.keys() | found.keys() if wanted.get(name) != found.get(name))
        if wrong:
            sys.exit(f"out of date: {', '.join(wrong)}; run tools/notebooks.py")
        return
    folder.mkdir(exist_ok=True)
    for name in found.keys() - wanted.keys():
        (folder / name).unlink()
    for name, text in wanted.items():
        (folder / name).write_text(text, "utf-8")


if __name__ == "__main__":
    main()
