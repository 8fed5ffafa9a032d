#!/usr/bin/env python3
"""Tables and a plot of what benches/examples/true_error.rs writes: the errors of steps that are called converged.

    tools/true_error.py table LINES...            # errors by method and integrator, for each pair of tolerances
    tools/true_error.py press LINES...            # errors of the contact force of the press series
    tools/true_error.py plot SVG LINES...         # the same as a plot
    tools/true_error.py worst COLUMN LINES...     # the steps with the greatest errors; COLUMN is ratio, force or speed

Only steps whose outcome is "converged" count. Only Python's standard library is used.
"""
import collections, math, pathlib, sys

from standoff_tools.stats import json_lines
from standoff_tools.tables import head, row

FLOOR = 1e-6  # 1/s, a ten-thousandth of the default velocity tolerance: errors below it say nothing about what is reported
INTEGRATORS = ("implicit-euler", "bdf2", "newmark", "quasi-static")
METHODS = ("barrier", "barrier-free", "dot")
COLOURS = {"barrier": ("#0b3c66", "#1f6fb4", "#7db3de"), "barrier-free": ("#7a2f0b", "#d1642a", "#eda98a")}


def lines(paths):
    return [line for path in paths for line in json_lines(path)]


def errors(line, which):
    """The errors against a reference that is accurate."""
    reference = line.get(which)
    return reference["errors"] if reference and reference["accurate"] else None


def best(line):
    """The errors against the minimum that belongs to the end, and against the step solved again where that is unknown."""
    return errors(line, "belonging") or errors(line, "again")


def ratio(line):
    """True error of the positions over the reported one; 0 for what is below the floor."""
    true = best(line)["speed"]
    return 0.0 if true <= FLOOR else true / max(line["reported"]["residual"], 1e-300)


def quantile(values, part):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, math.ceil(part * len(ordered)) - 1)] if ordered else math.nan


def share(values, bound):
    return 100 * sum(v <= bound for v in values) / max(len(values), 1)


def number(value):
    return "–" if math.isnan(value) else f"{value:.1e}" if value else "0"


def name(tolerances):
    speed, forces = tolerances
    return f"{speed:g}, {'default' if forces is None else f'{forces:g}'}"


def table(paths):
    groups = collections.defaultdict(list)
    for line in lines(paths):
        for integrator in ("all", line["integrator"]):
            groups[name(line["tolerances"]), line["method"], integrator].append(line)
    head("tolerances", "method", "integrator", "steps", "Newton iterations", "converged", "at a saddle", "without reference", "reported",
         "within tolerance", "force error", "force agrees", "other minimum")
    for key in sorted(groups, key=lambda k: (k[0], METHODS.index(k[1]), (("all",) + INTEGRATORS).index(k[2]))):
        group = groups[key]
        done = [l for l in group if "reported" in l]
        converged = [l for l in done if l["reported"]["outcome"] == "converged"]
        # such steps say that their error is unknown
        saddles = sum(is_saddle(l) for l in converged)
        known = [l for l in converged if best(l) and not is_saddle(l)]
        ratios = [ratio(l) for l in known]
        forces = [best(l)["force"] for l in known]
        other = sum(is_elsewhere(l) for l in converged)
        iterations = sum(l["reported"]["iterations"] for l in done) / max(len(done), 1)
        within = share([best(l)["speed"] / l["tolerances"][0] for l in known], 1)
        cells = [*key, len(group), f"{iterations:.2f}", len(converged), saddles, len(converged) - saddles - len(known)]
        cells += [f"{share(ratios, 2):.1f} %", f"{within:.1f} %", number(quantile(forces, 0.99)), f"{share(forces, 0.01):.1f} %", other]
        row(*cells)


def is_saddle(line):
    return line["reported"].get("saddle", False)


def is_elsewhere(line):
    """Whether the step solved again ended far from a minimum that the step itself has reached."""
    own, again = errors(line, "belonging"), errors(line, "again")
    tolerance = line["tolerances"][0]
    return bool(own and again and own["speed"] <= tolerance and again["speed"] > 10 * tolerance)


def worst(column, paths):
    of = {"ratio": ratio, "force": lambda l: best(l)["force"], "speed": lambda l: best(l)["speed"] / l["tolerances"][0]}[column]
    known = [l for l in lines(paths) if l.get("reported", {}).get("outcome") == "converged" and best(l) and not is_saddle(l)]
    for line in sorted(known, key=of, reverse=True)[:25]:
        which = "belonging" if errors(line, "belonging") else "again"
        print(f"{of(line):.3e} {line['scene']} step {line['step']} {line['method']} {line['integrator']} {name(line['tolerances'])} against {which}: "
              f"{ {k: float(f'{v:.2e}') for k, v in best(line).items()} } reported {line['reported']}")


def by_case(paths):
    """The greatest errors over the steps of the press series: {(method, integrator, d̂, E, speed): (error, steps, without a figure)}."""
    cases = collections.defaultdict(lambda: [0.0, 0, 0])
    for line in lines(paths):
        if "young" not in line:
            continue
        case = cases[line["method"], line["integrator"], line["d_hat"], line["young"], line["speed"]]
        found = errors(line, "again") if line.get("reported", {}).get("outcome") == "converged" else None
        case[0] = max(case[0], found["force"] if found else 0)
        case[1] += 1
        case[2] += found is None
    return cases


def press(paths):
    cases = by_case(paths)
    head("method", "integrator", "cases with a figure", "steps", "not converged or without reference", "median of the greatest errors", "greatest",
         "cases within 1 %")
    for method in METHODS:
        for integrator in INTEGRATORS:
            of = [c for (m, i, *_), c in cases.items() if (m, i) == (method, integrator)]
            if of:
                found = [c[0] for c in of if c[1] > c[2]]
                row(method, integrator, f"{len(found)} of {len(of)}", sum(c[1] for c in of), sum(c[2] for c in of), number(quantile(found, 0.5)),
                    number(max(found)), f"{share(found, 0.01):.1f} %")


def plot(path, paths):
    cases = by_case(paths)
    d_hats = sorted({k[2] for k in cases})
    stiffness = sorted({k[3] for k in cases})
    low, high, width, height, left, top, bottom = -14, 0, 300, 220, 46, 44, 40
    px = lambda at, e: at + left + (width - left - 10) * (math.log10(e) - 4) / (math.log10(2e11) - 4)
    py = lambda v: top + (height - top - bottom) * (high - max(low, math.log10(max(v, 1e-300)))) / (high - low)
    out = []
    for k, integrator in enumerate(INTEGRATORS):
        at = k * width
        out.append(f'<text x="{at + width / 2}" y="36" class="t m">{integrator}</text>')
        for p in range(low, high + 1, 2):
            out.append(f'<path d="M{at + left} {py(10**p):.0f}H{at + width - 10}" class="{"b" if p == -2 else "g"}"/>')
            if k == 0 or p == -2:
                out.append(f'<text x="{at + left - 4}" y="{py(10**p) + 4:.0f}" class="e">{"1 %" if p == -2 else f"1e{p}"}</text>')
        for p in (4, 6, 8, 10):
            out.append(f'<text x="{px(at, 10**p):.0f}" y="{height - bottom + 16}" class="m">1e{p}</text>')
        out.append(f'<text x="{at + (width + left) / 2}" y="{height - 6}" class="m">E, Pa</text>')
        for method, colours in COLOURS.items():
            for d_hat, colour in zip(d_hats, colours):
                curve = {e: max((c[0] for q, c in cases.items() if q[:4] == (method, integrator, d_hat, e) and c[1] > c[2]), default=None) for e in stiffness}
                points = " ".join(f"{px(at, e):.0f},{py(v):.0f}" for e, v in curve.items() if v is not None)
                out.append(f'<polyline points="{points}" stroke="{colour}" class="c"/>')
    at = 10
    for method, colours in COLOURS.items():
        for d_hat, colour in zip(d_hats, colours):
            out.append(f'<text x="{at}" y="14" style="fill:{colour}">{method}, d̂ = {d_hat:g} l</text>')
            at += 190
    style = ("text{font:12px sans-serif;fill:#222}.t{font-weight:bold}.m{text-anchor:middle}.e{text-anchor:end}.g{stroke:#ddd}"
             ".b{stroke:#b00;stroke-dasharray:4 3}.c{fill:none;stroke-width:1.5}")
    total = width * len(INTEGRATORS)
    pathlib.Path(path).write_text(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {total} {height}" width="{total}" height="{height}">\n<style>{style}</style>\n'
                                  f'<rect width="{total}" height="{height}" fill="white"/>\n' + "\n".join(out) + "\n</svg>\n")


def main(arguments):
    match arguments:
        case ["table", *paths] if paths:
            table(paths)
        case ["press", *paths] if paths:
            press(paths)
        case ["plot", svg, *paths] if paths:
            plot(svg, paths)
        case ["worst", "ratio" | "force" | "speed" as column, *paths] if paths:
            worst(column, paths)
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
