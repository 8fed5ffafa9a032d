#!/usr/bin/env python3
"""Keeps docs/results.json, the file of measured figures, and checks the pages against it.

    tools/results.py record ID [--machine NAME] [--commit HASH] [--printed FILE] -- COMMAND ...
    tools/results.py value ID NAME=NUMBER ...   # figures that follow from those of an entry, such as a ratio
    tools/results.py log                        # writes docs/src/measurements.md
    tools/results.py --check                    # exit code 1 if a page and the file differ

`record` runs a command in the root of the repository, shows its output and keeps its tables and its lines that have a number as the entry ID, with the
command, the date and the commit. It refuses to do so if tracked files besides documentation differ from that commit. `--commit` names
the commit of a build that is not the present one. `--printed` takes what the command printed before from a file. Values that were added
to the entry by `value` are dropped, because they followed from the old figures.

On a page, a comment names the entries whose figures the text shows:

    <!-- results: ID ... -->                    at the line before a paragraph, a list or a table: for this block;
                                                with a blank line behind it: for all blocks until the next heading;
                                                within a row of a table: for this row
    <!-- not measured: REASON -->               the same for text that has settings, sizes or figures of papers only

In a marked text every number must be one of its entries. A row of a table is compared, cell by cell, with the rows of the entries that have
the same first cell and as many cells, or more, of which it may leave out some. Where there is none, and a cell besides the first is a mere number, all numbers of the row must be in
one row of an entry, the one with the same first cell if possible; rows of an entry that follow each other with the same first cell count as
one, and so do those of several entries. Entries without tables are compared with all of their numbers. Numbers of rows may be rounded. A number of another text must be one of the values of the entries,
or one that their programs printed outside of tables; if it has three digits or more, it may also be one of their tables, and rounded. Left
out are numbers in code, in targets of links and in citations; dates, commits, and numbers of figures, tables, sections and chapters; and,
outside of rows with a mere number, settings of the form `h = 10 ms` and the first column.

An unmarked text is rejected if it shows a measured figure: a row with a mere number as above, a number with a unit of memory, per cent,
times, ×, iterations or contacts, a power `n^1.2`, a number like `1.2e-9`, a number after `factor of` or `ratio of`, or one with a unit of
time in a sentence about CPU, wall or processor time, or about what takes, took or lasts that time. The theory and the user's guide are checked for
tables and times only. Tables between `<!-- tools/NAME.py... -->` and `<!-- end -->` are written from a file by a script; the scripts of GENERATED compare
the table with the file. Every commit that a page names must be the commit of an entry that is used there. Also rejected: an entry
without a command, a commit or a date, and one that no page uses. Only Python's standard library is used; lint.sh calls it.
"""
import argparse, datetime, json, pathlib, re, shlex, subprocess, sys

from standoff_tools import ROOT

FILE, LOG = ROOT / "docs" / "results.json", ROOT / "docs" / "src" / "measurements.md"
# all figures of these pages are recorded, and those of tables and of times on the other pages
PAGES = ["README.md", "docs/src/performance.md", "docs/src/benchmarks*.md", "docs/src/validation.md", "docs/src/validation/*.md",
         "docs/src/gallery/*.md"]
OTHERS = ["docs/src/theory/*.md", "docs/src/*.md"]
# pages that scripts write
WITHOUT = ["docs/src/measurements.md", "docs/src/scene-keys.md", "docs/src/SUMMARY.md"]
# scripts that write tables of pages, and the command that compares them with their file
GENERATED = {"tools/gallery.py": ["--check"], "tools/ipc_paper.py": ["check"], "tools/orientation_paper.py": ["check"]}

SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
NUMBER = re.compile(r"(?<![\w.])(?<![^\W\d]/)(?<!/\()(?:(?<![^\s(|*/])([−+-]))?(\d{1,3}(?:,\d{3})+|\d+)(\.\d+)?(?:e([−+-]?\d+))?([KM])?(?!\w|\.\d)")
N = r"[−+-]?\d[\d,]*(?:\.\d+)?(?:e[−+-]?\d+)?K?"
SYMBOL = r"(?<![\w`])(?:[A-Za-zα-ωΔΓ]̂?[₀-₉]?′?(?:_[\w{}]+)?)"
NOT_FIGURES = re.compile("|".join((
    r"<!--.*?-->", r"`[^`]*`", r"(?<=\])\([^)\s]*\)", r"\[[A-Z][^\]\[]*?\b(?:1[89]|20)\d\d[^\]\[]*\](?!\()",
    r"\b\d{1,2} (?:January|February|March|April|May|June|July|August|September|October|November|December)(?: \d{4})?\b",
    r"\bcommits? [0-9a-f]{7}\b", r"\b(?=[0-9]*[a-f])(?=[a-f]*[0-9])[0-9a-f]{7}\b", r"\b(?:IPC|C-IPC|GIPC|Barrier-free|Thesis) 20\d\d\b",
    r"\b(?:Figs?\.?|Figures?|Tables?|[Cc]hapters?|ch\.|suppl\.|Eqs?\.?|[Ss]eeds?|Toolkit) \d+[\d.]*(?:(?:,| and| to|–) \d+(?![\d.]* ?%))*", r"§§? ?[\d.]+",
    r"\bRust \d\.\d+\b")))
SETTING = re.compile(rf"{SYMBOL}\s*=\s*{N}(?:(?:, | and | or | to ){N})*")
MARK = re.compile(r"<!-- (results|not measured): (.*?) -->")
BEGIN, END = re.compile(r"<!-- (tools/\w+\.py)(?:: [\w-]+)? -->"), "<!-- end -->"
COMMIT = re.compile(r"\bcommits?\b((?:[\s,(]|\band\b|\bto\b|\([^)]*\))*(?:\b[0-9a-f]{7}\b(?:[\s,]|\band\b|\bto\b|\([^)]*\))*)+)")
HASH = re.compile(r"\b[0-9a-f]{7,12}\b")

TIME = r"(?:CPU (?:s|seconds)|ns|µs|ms|s|seconds?|minutes?|hours?|min|h)\b"
MEASURED = re.compile(rf"{N} ?(?:[kMGT]i?B\b|bytes\b|%|per cent\b|times\b|×(?! ?\d)|(?:Newton |CG )?iterations?\b|contacts\b)|n\^\d"
                      rf"|(?<![\w.])\d+(?:\.\d+)?e[−+-]?\d+|(?:factors? of|ratios? of) {N}")
TIMED = re.compile(r"\b(?:CPU|wall|processor time|clock|takes?|took|lasts?|seconds? per)\b")


class Number:
    """A number as it is printed: its value, and half of its last digit."""

    def __init__(self, match):
        sign, whole, part, exponent, unit = match.groups()
        text = whole.replace(",", "") + (part or "")
        scale = 10.0 ** int((exponent or "0").replace("−", "-")) * {None: 1, "K": 1e3, "M": 1e6}[unit]
        self.text = match[0]
        self.value = float(text) * scale * (-1 if sign in ("−", "-") else 1)
        self.slack = 0.5 * scale * 10.0 ** -(len(part) - 1 if part else 0)
        self.digits = len((whole + (part or "")).replace(",", "").replace(".", "").lstrip("0"))

    def equals(self, value):
        return abs(self.value - value) <= 1e-9 * abs(value)

    def shows(self, value):
        """Whether this is the value, rounded."""
        return abs(self.value - value) <= self.slack * (1 + 1e-9) or self.equals(value)


def plain(text, settings=False):
    """A text without what is no figure; `settings`: also without settings."""
    text = re.sub("(?:([\\d.]+) ?· ?)?10([⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+)", lambda m: f"{m[1] or 1}e{m[2].translate(SUPERSCRIPTS)}", text)
    text = NOT_FIGURES.sub(" ¤ ", text.replace("\u00a0", " "))
    return SETTING.sub(" ¤ ", text) if settings else text


def numbers(text, settings=False):
    return [Number(m) for m in NUMBER.finditer(plain(text, settings))]


def cells(row):
    return [c.strip() for c in re.sub(r"<!--.*?-->", "", row).strip().strip("|").replace("\\|", "¦").split("|")]


def mere(cell):
    """Whether a cell is nothing but numbers with their signs and units."""
    rest = NUMBER.sub("", plain(cell))
    return bool(NUMBER.search(plain(cell))) and not re.sub(
        r"[\s*/×()<>≥≤~+−–:;,.%°]|\b(to|and|of|above|times|less|CPU|wall|s|ms|µs|ns|m|mm|cm|µm|km|MiB|GiB|N|kN|Pa|kPa|iterations|per|step)\b|m/s", "", rest)


def numeric(row):
    return any(mere(c) for c in cells(row)[1:])


class Entry:
    """The numbers of an entry: those of the rows of its tables, and the others."""

    def __init__(self, entry, tables=()):
        self.lines, self.rows, self.single = [], [], list(entry.get("values", {}).values())
        for line in [*entry.get("printed", []), *tables]:
            if not line.lstrip().startswith("|"):
                self.single += [n.value for n in numbers(line)]
                continue
            row = [cells(line)[0], [n.value for n in numbers(line)]]
            if self.lines and self.lines[-1][0] == row[0]:
                self.rows[-1][1] += row[1]
            else:
                self.rows.append(row)
            self.lines.append(cells(line))

    def has(self, number):
        """Whether a text may show this number: it is one of the single figures, or has three digits and rounds a figure."""
        if number.digits < 3:
            return any(number.equals(v) for v in self.single)
        return any(number.shows(v) for values in (self.single, *(values for _, values in self.rows)) for v in values)


def missing(wanted, values):
    """Which of some numbers are not among these values, each of which counts once."""
    left, lacking = list(values), []
    for n in sorted(wanted, key=lambda n: n.slack):
        close = [v for v in left if n.shows(v)]
        if close:
            left.remove(min(close, key=lambda v: abs(v - n.value)))
        else:
            lacking.append(n.text)
    return lacking


def missing_in_order(own, line):
    """Which numbers of some cells are not those of cells of a longer line in the same order: the shortest list. Cells that are mere numbers
    are compared as a whole."""
    given = [([n.value for n in numbers(cell)], mere(cell)) for cell in line]
    best = [[] for _ in range(len(line) + 1)]
    for at, cell in enumerate(own):
        shown, found, best = numbers(cell), best, [None] * (len(line) + 1)
        for end in range(at + 1, len(line) + 1):
            values, whole = given[end - 1]
            lacking = [n.text for n in shown] or [cell] if whole and len(shown) != len(values) else missing(shown, values)
            ways = [found[end - 1] + lacking] if found[end - 1] is not None else []
            ways += [best[end - 1]] if best[end - 1] is not None else []
            best[end] = min(ways, key=len, default=None)
    return best[-1]


def check_row(row, entries):
    """What is wrong with the numbers of a row, by the row of the entries that is closest: a list of them."""
    own, alike = cells(row), [line for e in entries for line in e.lines if line[0] == cells(row)[0] and len(line) == len(cells(row))]
    if alike:
        return min(([t for a, b in zip(own, line) for t in missing(numbers(a), [n.value for n in numbers(b)])] for line in alike), key=len)
    if not numeric(row):
        return [n.text for n in numbers(" | ".join(own[1:]), True) if not any(e.has(n) for e in entries)]
    longer = [line for e in entries for line in e.lines if line[0] == own[0] and len(line) > len(own)]
    if longer:
        return min((missing_in_order(own[1:], line[1:]) for line in longer), key=len)
    named = [[values for label, values in e.rows if label == own[0]] for e in entries]
    rows = [values for found in named for values in found]
    if len(entries) > 1 and rows:
        rows.append([v for found in named if found for v in found[0]])
    rows = rows or [values for e in entries for _, values in e.rows] or [[v for e in entries for v in e.single]]
    return min((missing(numbers(row), values) for values in rows), key=len)


class Block:
    """A paragraph, a list or a table of a page: its lines with their numbers, its marks and the heading above it; for a table between
    the marks of a script, that script."""

    def __init__(self, heading, marks, script=None):
        self.heading, self.marks, self.lines, self.script = heading, marks, [], script
        self.table = bool(script)

    def text(self):
        return "\n".join(line for _, line in self.lines)


def blocks(path):
    """The blocks of a page outside code."""
    found, block, heading, section, once, fenced = [], None, "", None, None, False
    lines = path.read_text().splitlines()
    for number, line in enumerate(lines, 1):
        text = line.strip()
        if block and block.script and text != END:
            block.lines.append((number, line))
        elif text.startswith("```"):
            fenced, block = not fenced, None
        elif fenced or text == END:
            block = None
        elif match := BEGIN.fullmatch(text):
            block = Block(heading, None, match[1])
            found.append(block)
        elif match := re.match(r"#+ +(.*)", text):
            heading, section, once, block = match[1], None, None, None
        elif match := MARK.fullmatch(text):
            block, once = None, match.groups()
            if number == len(lines) or not lines[number].strip():
                section, once = once, None
        elif not text or text.startswith("!["):
            block = None
        else:
            table = text.startswith("|")
            if block is None or block.table != table:
                block, once = Block(heading, once or section), None
                block.table = table
                found.append(block)
            block.lines.append((number, line))
    return found


def sentences(text):
    return re.split(r"(?<=[.:;!?])\s+", re.sub(r"\n(?=- |\d+\. |\|)", ". \n", text))


def loose(block, times):
    """The first measured figure of an unmarked block: line and text. `times`: only of tables and of times."""
    if block.table:
        rows = [(n, r) for n, r in block.lines if not MARK.search(r)]
        for n, row in rows[2:] if rows == block.lines else rows:
            if numeric(row):
                return n, "a table of figures"
        text = "\n".join(words(block, r).replace("|", ". ") for _, r in rows)
    else:
        text = block.text()
    for sentence in sentences(plain(text, True)):
        match = None if times else MEASURED.search(sentence)
        if not match and TIMED.search(sentence):
            match = re.search(rf"(?<![\w.]){N} {TIME}", sentence)
        if match:
            at = next((n for n, line in block.lines if match[0][:6] in plain(line)), block.lines[0][0])
            return at, f"'{match[0]}'"
    return None


def words(block, line):
    """A line without the first cell, the label, if it is a row of a table."""
    return " | ".join(cells(line)[1:]) if block.table else line


def check_marked(name, block, entries):
    """Numbers of a marked block that its entries lack."""
    faults = []
    for at, line in block.lines:
        mark = MARK.search(line) if block.table else None
        kind, ids = mark.groups() if mark else block.marks or (None, "")
        if kind != "results":
            continue
        own = [entries[i] for i in ids.split() if i in entries]
        faults += [f"{name}:{at}: docs/results.json has no entry {i}" for i in ids.split() if i not in entries]
        if block.table:
            lacking = check_row(line, own)
        else:
            lacking = [n.text for n in numbers(line, True) if not any(e.has(n) for e in own)]
        if lacking and own:
            faults.append(f"{name}:{at}: {', '.join(lacking)}: not among the figures of {ids}")
    return faults


def pages():
    """The pages that are checked, those of PAGES first."""
    found = dict.fromkeys(p for pattern in PAGES + OTHERS for p in sorted(ROOT.glob(pattern)))
    return [p for p in found if p.relative_to(ROOT).as_posix() not in WITHOUT]


def used(file):
    """For each page its sections with the entries that are used there, in their order."""
    found, scripts = {}, {e["script"]: i for i, e in file["entries"].items() if "script" in e}
    for path in pages():
        for block in blocks(path):
            marks = [block.marks] if block.marks else []
            if block.table:
                marks += [m.groups() for _, line in block.lines if (m := MARK.search(line))]
            ids = [i for kind, names in marks if kind == "results" for i in names.split()]
            ids += [scripts[block.script]] if block.script in scripts else []
            listed = found.setdefault(path, {}).setdefault(block.heading, [])
            listed += [i for i in dict.fromkeys(ids) if i not in listed]
    return found


def read(file):
    """The numbers of all entries, and the tables that scripts write."""
    written = {}
    for block in (b for path in pages() for b in blocks(path) if b.script):
        written.setdefault(block.script, []).extend(line for _, line in block.lines)
    return {i: Entry(e, written.get(e.get("script"), ())) for i, e in file["entries"].items()}, written


def check(file):
    (entries, written), faults = read(file), []
    for i, e in file["entries"].items():
        for key in ("command", "commit", "date"):
            if not str(e.get(key, "")).strip():
                faults.append(f"docs/results.json: {i} has no {key}")
        if not HASH.search(e.get("commit", "")):
            faults.append(f"docs/results.json: the commit of {i} is '{e.get('commit')}'")
        if "machine" in e and e["machine"] not in file["machines"]:
            faults.append(f"docs/results.json: {i} names an unknown machine")
        if "script" in e and not (ROOT / e.get("file", "")).is_file():
            faults.append(f"docs/results.json: {i} names no file")
    where = used(file)
    for i in file["entries"]:
        if not any(i in ids for sections in where.values() for ids in sections.values()):
            faults.append(f"docs/results.json: no page uses {i}")
    whole = {p for pattern in PAGES for p in ROOT.glob(pattern)}
    for path in pages():
        name = str(path.relative_to(ROOT))
        commits = " ".join(file["entries"][i]["commit"] for ids in where.get(path, {}).values() for i in ids if i in file["entries"])
        for block in blocks(path):
            if block.script:
                if block.script not in GENERATED:
                    faults.append(f"{name}:{block.lines[0][0]}: {block.script} is not among the scripts whose tables are checked")
                continue
            faults += check_marked(name, block, entries)
            if not block.marks and (found := loose(block, path not in whole)):
                faults.append(f"{name}:{found[0]}: {found[1]} without a mark of its entry in docs/results.json")
            for match in COMMIT.finditer(block.text()):
                for named in HASH.findall(match[1]):
                    if named not in commits:
                        faults.append(f"{name}:{block.lines[0][0]}: no entry used here has the commit {named}")
    for script in sorted(set(written) & set(GENERATED)):
        done = subprocess.run([sys.executable, ROOT / script, *GENERATED[script]], capture_output=True, text=True)
        if done.returncode:
            faults.append(f"{script}: {(done.stdout + done.stderr).strip()}")
    if not LOG.exists() or LOG.read_text() != log(file):
        faults.append("docs/src/measurements.md is out of date: run tools/results.py log")
    return faults


def anchor(heading):
    heading = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
    return "".join(c for c in heading if c.isalnum() or c in " -_").replace(" ", "-")


INTRODUCTION = """# Measurements

This page lists the command that printed each measured figure of the book, the commit of the program, the date, and the machine where times were measured.
It is written by `tools/results.py log` from `docs/results.json`, which holds the figures ([Recorded figures](developing.md#recorded-figures)).
"""


def log(file):
    text = [INTRODUCTION]
    text.append("Machines:\n")
    text += [f"- *{name}*: {what}" for name, what in file["machines"].items()]
    text.append("\nAn asterisk marks the commit that put the figures on a page, where no earlier record names the commit of the program. Tests assert "
                "most of these figures.")
    for path, sections in used(file).items():
        rows = [(h, i) for h, ids in sections.items() for i in ids if i in file["entries"]]
        if not rows:
            continue
        title = next(line[2:] for line in path.read_text().splitlines() if line.startswith("# "))
        target = path.relative_to(ROOT / "docs" / "src").as_posix() if path.is_relative_to(ROOT / "docs" / "src") else None
        text.append(f"\n## {'README' if target is None else title}\n\n| section | command | commit, date, machine |\n|---|---|---|")
        for i in dict.fromkeys(i for _, i in rows):
            e, named = file["entries"][i], []
            for heading in dict.fromkeys(h for h, of in rows if of == i):
                link = f"{target}{'' if heading == title else '#' + anchor(heading)}"
                named.append(f"[{re.sub('[][]', '', heading)}]({link})" if target else heading)
            command = "; ".join(f"`{c}`" for c in e["command"].split("\n")).replace("|", "\\|")
            commit = e["commit"] + ("*" if e.get("first_on_page") else "")
            text.append(f"| {', '.join(named)} | {command} | {', '.join(filter(None, (commit, e['date'], e.get('machine'))))} |")
    return "\n".join(text) + "\n"


def save(file):
    file["entries"] = dict(sorted(file["entries"].items()))
    FILE.write_text(json.dumps(file, indent=1, ensure_ascii=False) + "\n")


def values(given):
    found = {}
    for text in given:
        name, _, value = text.rpartition("=")
        if not name:
            sys.exit(f"'{text}' is not of the form NAME=NUMBER")
        found[name] = json.loads(value)
    return found


def record(file, args):
    def git(*words):
        return subprocess.run(["git", "-C", ROOT, *words], capture_output=True, text=True, check=True).stdout.strip()

    commit = args.commit
    if not commit:
        changed = [f for f in git("diff", "--name-only", "HEAD").splitlines() if not f.startswith("docs/") and not f.endswith(".md")]
        if changed:
            sys.exit(f"{', '.join(changed)}: commit first, or name the commit of the build by --commit")
        commit = git("rev-parse", "--short=7", "HEAD")
    if args.machine and args.machine not in file["machines"]:
        sys.exit(f"the machine {args.machine} is not among {', '.join(file['machines'])} of docs/results.json")
    if not args.run:
        sys.exit("the command is missing: tools/results.py record ID -- COMMAND ...")
    if args.printed:
        lines = args.printed.read_text().splitlines()
    else:
        lines = []
        with subprocess.Popen(args.run, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
            for line in process.stdout:
                print(line, end="", flush=True)
                lines.append(line.rstrip())
        if process.returncode:
            sys.exit(f"exit code {process.returncode}: nothing is recorded")
    before = file["entries"].get(args.id, {}).get("values", {})
    if before:
        print("dropped:", *(f"  {name} = {value}" for name, value in before.items()), sep="\n", file=sys.stderr)
    entry = {"command": shlex.join(args.run), "commit": commit, "date": datetime.date.today().isoformat()}
    entry |= {"machine": args.machine} if args.machine else {}
    file["entries"][args.id] = entry | {"printed": [line for line in lines if NUMBER.search(line) or re.match(r"\s*\|.*\w", line)]}
    save(file)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    commands = parser.add_subparsers(dest="what")
    recording = commands.add_parser("record")
    recording.add_argument("id")
    recording.add_argument("--machine")
    recording.add_argument("--commit")
    recording.add_argument("--printed", type=pathlib.Path, metavar="FILE")
    adding = commands.add_parser("value")
    adding.add_argument("id")
    adding.add_argument("values", nargs="+", metavar="NAME=NUMBER")
    commands.add_parser("log")
    given, run = sys.argv[1:], []
    if "--" in given:
        given, run = given[:given.index("--")], given[given.index("--") + 1:]
    args = parser.parse_args(given)
    args.run = run
    file = json.loads(FILE.read_text())
    if args.what == "record":
        record(file, args)
    elif args.what == "value":
        file["entries"][args.id].setdefault("values", {}).update(values(args.values))
        save(file)
    elif args.what == "log":
        LOG.write_text(log(file))
    elif args.check:
        faults = check(file)
        print("\n".join(faults) if faults else f"results: {len(file['entries'])} entries, no findings")
        return 1 if faults else 0
    else:
        parser.print_help()
    return 0


if __name__ == "__main__":
    sys.exit(main())
