#!/usr/bin/env python3
"""Checks the language, the links and the citations of documentation and comments.

    tools/prose.py [FILE ...]      # by default every file of the repository that it applies to

It reports, with file and line,

- words of WORDS in documentation and comments: metaphors and archaisms for which the field has a term;
- links in Markdown to files or headings that do not exist;
- files in backticks, such as `sim/src/step/mod.rs`, that do not exist;
- citations such as [Li 2020] without an entry in docs/src/references.md and docs/references.bib.

A line that contains `prose: allow` is not checked for words. Exit code 1 if there is any finding. Only Python's
standard library is used; lint.sh calls it.
"""
import pathlib, re, subprocess, sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

# what is rejected, and what to write instead
WORDS = [
    (r"\b(fly|flies|flying)\b|\bin flight\b", "move freely, without contacts"),
    (r"\bwalk(s|ed|ing)?\b", "traverse, visit, iterate"),
    (r"\bhats?\b(?! of\b)", "tentative state x̂"),
    (r"\brub(s|bed|bing)?\b", "slide with friction; friction contact"),
    (r"\bdaring\b", "full, unchecked step"),
    (r"\bupright\b", "uninverted; vertical"),
    (r"\b(as|is|was|were|are|not) asked\b|\basked (for|to|seeds)\b", "requested, required, set"),
    (r"\blest\b", "so that ... not"),
    (r"\bshall\b", "must, should"),
    (r"\bfor ever\b", "without end"),
    (r"\bnobody\b|\bwhoever\b", "name the component"),
    (r"\bwho (rub|began|started)\w*\b", "pairs that"),
    (r"\bsay nothing\b|\bno way (led )?out\b|\bon their way\b", "say what is meant"),
    (r"\b(bears?|bore|borne|bearing) (the|its|most|next|many|others?|load|weight|a moment|by)\b", "carry, support"),
    (r"\bthreads? what\b|\ba knife the\b", "whole sentences"),
    (r"\bcome down by\b", "drop by"),
    (r"\bturns? round\b", "reverse"),
    (r"\bvolumes? of (cloth|shell|rod)\w*\b", "deformable body"),
]
WORDS = [(re.compile(pattern, re.I), instead) for pattern, instead in WORDS]

# generated, or text of others
SKIP = ("docs/src/scene-keys.md", "tools/prose.py")
TAG = re.compile(r"\[([A-ZÅÄÖÉŽŠ][\w\-’]+(?:(?:,| &) [A-Z][\w\-’]+)*(?: & [A-Z][\w\-’]+)? (?:1[89]|20)\d\d(?: thesis)?)(?:[,;]|\](?!\())")
LINK = re.compile(r"(?<!\\)\]\(([^)\s]+)\)")
PATH = re.compile(r"`((?:[\w\-]+/)+[\w\-.]+\.(?:rs|py|toml|md|json|txt|obj|bib|sh))`")
# folders from which paths in backticks may count, besides the root and the file's own
BASES = ["", "crates", "testdata", "docs", "scenes", "crates/sim/src", "crates/geometry/src", "crates/sparse/src", "crates/mesh/src",
         "crates/scene/src", "crates/sim", "crates/cli", "crates/scene", "crates/run", "testdata/data/ipc/scenes/paperExamples",
         "testdata/data/ipc/scenes/otherExamples", "testdata/data/ipc/scenes"]


def tracked():
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "-co", "--exclude-standard"], capture_output=True, text=True)
    files = [ROOT / f for f in listed.stdout.splitlines()] if listed.returncode == 0 else list(ROOT.rglob("*"))
    return sorted(f for f in files if f.is_file() and "target" not in f.relative_to(ROOT).parts)


def comment(line):
    """The comment of a line of Rust, or None."""
    found = re.match(r"\s*//[/!]?(.*)", line)
    if found:
        return found[1]
    # behind code: two blanks or one before the slashes, and no quotation mark after them
    found = re.search(r"\s//\s([^\"]*)$", line)
    return found[1] if found else None


def prose(path):
    """The lines to be checked: number and text."""
    text = path.read_text()
    if path.suffix == ".md":
        fenced = False
        for number, line in enumerate(text.splitlines(), 1):
            if line.lstrip().startswith("```"):
                fenced = not fenced
            elif not fenced:
                yield number, line
    elif path.suffix == ".rs":
        for number, line in enumerate(text.splitlines(), 1):
            if (found := comment(line)) is not None:
                yield number, found
    elif path.suffix == ".py":
        quoted = False
        for number, line in enumerate(text.splitlines(), 1):
            marks = line.count('"""')
            if quoted or marks or line.lstrip().startswith("#"):
                yield number, line
            if marks % 2:
                quoted = not quoted
    else:
        for number, line in enumerate(text.splitlines(), 1):
            if line.startswith("#"):
                yield number, line


def anchors(path, known={}):
    """The anchors of the headings of a Markdown file."""
    if path not in known:
        found = set()
        for _, line in prose(path):
            if match := re.match(r"#+\s+(.*)", line):
                heading = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", match[1]).strip().lower()
                found.add("".join(c for c in heading if c.isalnum() or c in " -_").replace(" ", "-"))
        known[path] = found
    return known[path]


def link_fault(path, target):
    if re.match(r"[a-z]+:", target):
        return None
    file, _, anchor = target.partition("#")
    to = (path.parent / file).resolve() if file else path
    if file and to.suffix == "" and not to.exists() and to.with_suffix(".md").exists():
        to = to.with_suffix(".md")
    if not to.exists():
        return f"the link {target} has no target"
    if anchor and to.suffix == ".md" and anchor not in anchors(to):
        return f"{file or 'this page'} has no heading for #{anchor}"
    return None


def path_fault(path, name):
    if "NAME" in name or any((ROOT / base / name).exists() for base in BASES) or (path.parent / name).exists():
        return None
    # out/ and the like are written by the reader, not kept
    if name.split("/")[0] in ("out", "frames", "surface", "checkpoints", "target", "old", "scene.meshes", "YYYY-MM-DD-subject.md"):
        return None
    parts = name.split("/")
    if any((crate / "src" / name).exists() or (crate / "tests" / name).exists() for crate in (ROOT / "crates").iterdir()):
        return None
    if len(parts) > 1 and (ROOT / "crates" / parts[0] / "src" / "/".join(parts[1:])).exists():
        return None
    return f"there is no file {name}"


def references():
    page = set(re.findall(r"^\| \[([^\]]+)\]", (ROOT / "docs/src/references.md").read_text(), re.M))
    bib = set(re.findall(r"shorthand = \{([^}]*)\}", (ROOT / "docs/references.bib").read_text()))
    return page, bib


def main():
    given = [pathlib.Path(a).resolve() for a in sys.argv[1:]]
    page, bib = references()
    faults = []
    for tag in sorted(page ^ (bib - {"Standoff"})):
        faults.append(f"docs: [{tag}] is only in one of src/references.md and references.bib")
    suffixes = {".md", ".rs", ".py", ".toml"}
    for path in given or tracked():
        name = str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else path.name
        if path.suffix not in suffixes or name in SKIP or "/tests/data/" in name or name.startswith("testdata/data"):
            continue
        if path.suffix == ".toml" and not name.startswith(("scenes/", "testdata/cases")):
            continue
        decision = name.startswith("docs/decisions/")
        for number, line in prose(path):
            at = f"{name}:{number}"
            if "prose: allow" not in line:
                for pattern, instead in WORDS:
                    if match := pattern.search(line):
                        faults.append(f"{at}: '{match[0]}': write instead: {instead}")
            for tag in TAG.findall(line):
                if tag not in page:
                    faults.append(f"{at}: [{tag}] has no entry in docs/src/references.md")
            if path.suffix == ".md":
                faults += [f"{at}: {f}" for t in LINK.findall(re.sub(r"`[^`]*`", "", line)) if (f := link_fault(path, t))]
                # a dated entry may name what has gone since
                if not decision:
                    faults += [f"{at}: {f}" for p in PATH.findall(line) if (f := path_fault(path, p))]
    print("\n".join(faults) if faults else "prose: no findings")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
