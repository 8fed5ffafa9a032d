"""Tables in Markdown, and the numbers in their cells."""
import math, re, statistics, sys


def head(*columns):
    """Prints the head of a table."""
    print("| " + " | ".join(columns) + " |\n|" + "---|" * len(columns), flush=True)


def row(*cells):
    """Prints a row of a table at once, so that a long measurement shows where it is."""
    print("| " + " | ".join(map(str, cells)) + " |", flush=True)


def markdown(rows):
    """A table as text; the first of the rows is its head."""
    first, *others = [list(map(str, cells)) for cells in rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (first, ["---"] * len(first), *others))


def cells_of(printed):
    """The cells of every row of a printed table, the head included and the line below it left out."""
    lines = [line for line in printed.splitlines() if line.startswith("| ")]
    return [[c.strip() for c in line.strip().strip("|").split("|")] for line in lines]


def geometric_mean(ratios):
    """The geometric mean, NaN of nothing."""
    ratios = list(ratios)
    return math.exp(statistics.fmean(map(math.log, ratios))) if ratios else math.nan


def number(x, digits=3):
    """A number with so many digits, in the fewest characters."""
    return "–" if x is None else f"{float(f'{x:.{digits}g}'):g}"


def scientific(x):
    """A number as a power of ten with two digits; a dash stands for none."""
    return "–" if x is None or math.isnan(x) else f"{x:.1e}"


def replaced(text, begin, content, end="<!-- end -->"):
    """A page with other content between the marks `begin` and `end`."""
    pattern = re.compile(re.escape(begin) + ".*?" + re.escape(end), re.S)
    if not pattern.search(text):
        sys.exit(f"the page lacks the marks {begin} and {end}")
    return pattern.sub(lambda _: f"{begin}\n{content}\n{end}", text)
