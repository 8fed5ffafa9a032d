#!/usr/bin/env python3
"""Lists files over 400 lines and functions over 50 lines that do not say why.

    tools/long_code.py                      # crates/*/src and gpu/src
    tools/long_code.py crates/sim tests     # other folders or files

A file gives its reason by a line `// long: REASON` before its first item, a function by one above it,
among its documentation and attributes, or as its first line. Lines of tests inside a file count.
Exit code 0: none without a reason; 1: there are some. Only Python's standard library is used.
"""
import argparse, pathlib, re, sys

from rust_source import blank, closing
from standoff_tools import ROOT

FUNCTION = re.compile(r"^[^\n]*?\bfn\s+(\w+)", re.M)
REASON = re.compile(r"//+!?\s*long: \S")


def head(lines, first):
    """Comments and attributes right above a line (counted from 0)."""
    found = []
    while first > 0 and re.match(r"\s*(//|#\[|#!\[|\)\]|$)", lines[first - 1]) and lines[first - 1].strip():
        first -= 1
        found.append(lines[first])
    return "\n".join(found)


def functions(text):
    """Name, first and last line of every function with a body, counted from 0."""
    plain = blank(text)
    for match in FUNCTION.finditer(plain):
        depth, at = 0, match.end()
        while at < len(plain) and not (plain[at] in "{;" and depth == 0):
            depth += (plain[at] in "([") - (plain[at] in ")]")
            at += 1
        if at < len(plain) and plain[at] == "{":
            line = lambda i: plain.count("\n", 0, i)
            yield match[1], line(match.start()), line(closing(plain, at)), line(at)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="*", type=pathlib.Path)
    parser.add_argument("--file", type=int, default=400, help="most lines of a file")
    parser.add_argument("--function", type=int, default=50, help="most lines of a function")
    args = parser.parse_args()
    paths = args.paths or sorted([*ROOT.glob("crates/*/src"), ROOT / "gpu" / "src"])
    files = [f for p in paths for f in (sorted(p.rglob("*.rs")) if p.is_dir() else [p])]
    found = 0
    for path in files:
        text = path.read_text()
        lines = text.splitlines()
        shown = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path
        if len(lines) > args.file:
            first = next((k for k, l in enumerate(lines) if l.strip() and not re.match(r"\s*(//|#!\[)", l)), 0)
            if not REASON.search("\n".join(lines[:first])):
                print(f"{shown}: {len(lines)} lines")
                found += 1
        for name, first, last, brace in functions(text):
            length = last - first + 1
            inner = lines[brace + 1] if brace + 1 < len(lines) else ""
            if length > args.function and not REASON.search(head(lines, first) + "\n" + inner):
                print(f"{shown}:{first + 1}: fn {name}: {length} lines")
                found += 1
    print(f"{found} without a reason", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
