#!/usr/bin/env python3
"""Checks the language, the links and the citations of documentation and comments.

    tools/prose.py [FILE ...]      # by default every file of the repository that it applies to

It reports, with file and line,

- words of WORDS in documentation, in comments and in the messages of the program: metaphors for which the field has
  a term, archaisms, word order and idioms translated from German, and dashes in place of punctuation;
- in Markdown, sentences of more than MOST_WORDS words and paragraphs of more than MOST_SENTENCES sentences, outside
  tables, code and the dated entries of docs/decisions;
- links in Markdown to files or headings that do not exist;
- files in backticks, such as `sim/src/step/mod.rs`, that do not exist;
- in Rust, names that are declared with a word of NAMES, and second types of a name in TYPES;
- citations such as [Li 2020] without an entry in docs/src/references.md and docs/references.bib.

A line that contains `prose: allow` is not checked for words, nor is a paragraph with such a line for its length. Exit code 1 if there is any finding. Only Python's
standard library is used; lint.sh calls it.
"""
import pathlib, re, subprocess, sys

from rust_source import blank, without_tests
from standoff_tools import ROOT

MOST_WORDS, MOST_SENTENCES = 45, 8

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
    (r"\bculprits? (is|are) to\b|\bminimises nothing\b", "name the component"),
    # archaisms
    (r"\banew\b|\bonce more\b", "again"),
    (r"\bof late\b", "recently"),
    (r"\b(whereby|thereby|wherein|hereby|thereof|therein|whereof|hitherto)\b", "which, by this, in it, until now"),
    (r"\bas if it had never been\b|\bhow(ever)? so\b", "say what is meant"),
    # translated from German
    (r"\b(go|goes|went|gone|going) on (with|from|until|while|for|recording|after|where|behind|in)\b", "continue"),
    (r"\b(is|are|was|were) to be (seen|found|had|kept|compared|expected|improved|summed|added|doubled|resumed|converted)\b",
     "should be, must be; 'what to see'"),
    (r"\bin the mean\b(?! (of|time))", "on average; mean"),
    (r"\bcom(e|es|ing) to an end\b", "end"),
    (r"\bbrings? .{0,20}to the tolerance\b", "converge"),
    (r"\bthe (\w+er) the (\w+er)\b(?! the)", "whole comparison: 'the smaller x is, the better'"),
    (r"(?:^\s*|[.|] |[-*] )(?-i:Those|That) (of|with|without|from) ", "repeat the noun"),
    (r"\bas (good|well|much) as (no|not|never)\b", "almost"),
    (r"\buntil now\b|\bso far no\b", "so far"),
    (r"\b(half|quarter) so (many|much|large|long)\b|\b(twice|thrice) so (many|much|large|long)\b", "half as, twice as"),
    (r"\bdown to nothing\b|\bcrushed to nothing\b", "give the amount"),
    # punctuation
    (r"—|\w – \w", "a comma, a colon or parentheses instead of a dash"),
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


# words of names in Rust that say too little, or something else than the field's term, and what to write instead
NAMES = [
    (r"ways?", "path, distance, direction, kind, method"),
    (r"(stuff|things?|misc|utils?|helpers?|tmp|temp|foo|managers?|handlers?|impl)", "what it is or does"),
    (r"(primal_dual|duals?_unknowns?)", "forecast forces: there is no dual unknown"),
    (r"(daring|upright|culminate|beholds?)", "the field's term"),
]
NAMES = [(re.compile(rf"(^|_){word}(_|$)"), instead) for word, instead in NAMES]
# types that have one meaning, and the crates that declare them: that of the library, and for its users the view of it
TYPES = {"Scene": {"scene"}, "Body": {"sim", "standoff"}, "HalfSpace": {"sim", "standoff"}}
DECLARED = re.compile(r"\b(fn|struct|enum|trait|type|const|static|mod|let mut|let|pub(?:\([^)]*\))?)\s+([A-Za-z_]\w*)")


def name_faults(path):
    """Faults of the names that a file of Rust declares: number and text."""
    plain = without_tests(blank(path.read_text()))
    crate = path.relative_to(ROOT / "crates").parts[0] if path.is_relative_to(ROOT / "crates") else ""
    for number, line in enumerate(plain.splitlines(), 1):
        for kind, name in DECLARED.findall(line):
            snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
            for pattern, instead in NAMES:
                if pattern.search(snake):
                    yield number, f"the name {name}: write instead: {instead}"
            if kind in ("struct", "enum", "trait") and crate not in TYPES.get(name, {crate}):
                yield number, f"a second type with the name {name}"


def messages(path):
    """The lines with what a file of Rust prints, in strings of at least three words: number and text."""
    source = path.read_text()
    plain = blank(source)
    kept = without_tests(plain)
    # lines of modules for tests, which print for developers only
    tests = {n for n, (a, b) in enumerate(zip(plain.splitlines(), kept.splitlines()), 1) if a != b}
    for match in re.finditer(r'"((?:[^"\\]|\\.)*)"', source, re.S):
        # the opening quotation mark of a string is blanked, and so is that within a comment
        line_start = source.rfind("\n", 0, match.start()) + 1
        before = source[line_start:match.start()]
        if comment(before) is None and plain[match.start()] == " " and len(match[1].split()) >= 3:
            first = source.count("\n", 0, match.start()) + 1
            if first in tests:
                continue
            for extra, part in enumerate(match[1].split("\n")):
                yield first + extra, part.strip()


def paragraphs(path):
    """The paragraphs of a page outside tables, code and headings, each item of a list by itself: number of the first
    line and text."""
    first, parts = 0, []
    last = 0
    for number, line in [*prose(path), (0, "")]:
        text = line.strip()
        starts = re.match(r"([-*]|\d+\.) ", text)
        apart = not text or text.startswith(("|", "#", "<!--", "![", "[!")) or line.startswith("    ")
        if parts and (apart or starts or number != last + 1):
            yield first, " ".join(parts)
            parts = []
        if not apart:
            first = first if parts else number
            parts.append(text[starts.end():] if starts else text)
        last = number


def sentences(text):
    """The sentences of a paragraph, with a link as its text and code as one word."""
    text = re.sub(r"`[^`]*`", "code", text)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"\[[A-Z][^\]]*\]", "", text)
    return re.split(r"(?<=[.!?])[*)\"]*\s+(?=[*(\"]*(?:[^a-z\s]|[a-z](?!\w)|code))", text)


def length_faults(path):
    for number, text in paragraphs(path):
        if "prose: allow" in text:
            continue
        parts = sentences(text)
        if len(parts) > MOST_SENTENCES:
            yield number, f"a paragraph of {len(parts)} sentences: at most {MOST_SENTENCES}"
        for part in parts:
            if (words := len(part.split())) > MOST_WORDS:
                yield number, f"a sentence of {words} words, '{part[:40]} ...': at most {MOST_WORDS}"


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
        if not path.is_file():
            sys.exit(f"{path}: no such file")
        name = str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else path.name
        if path.suffix not in suffixes or name in SKIP or "/tests/data/" in name or name.startswith("testdata/data"):
            continue
        if path.suffix == ".toml" and not name.startswith(("scenes/", "testdata/cases")):
            continue
        decision = name.startswith("docs/decisions/")
        lines = list(prose(path))
        if path.suffix == ".rs" and "/src/" in path.as_posix():
            lines += messages(path)
            faults += [f"{name}:{number}: {fault}" for number, fault in name_faults(path)]
        if path.suffix == ".md" and not decision:
            faults += [f"{name}:{number}: {fault}" for number, fault in length_faults(path)]
        if path.suffix == ".md":
            # a pattern may run over the end of a line
            for number, text in paragraphs(path):
                if "prose: allow" not in text:
                    faults += [f"{name}:{number}: '{match[0]}': write instead: {instead}" for pattern, instead in WORDS
                               if (match := pattern.search(text)) and all(not pattern.search(line) for _, line in lines)]
        for number, line in lines:
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
