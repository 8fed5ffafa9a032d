#!/usr/bin/env python3
"""Draws the figures of the theory pages from their formulas, and the growth of iterations from the table of its page.

    tools/plot_theory.py            # writes docs/src/images/barrier.svg, friction.svg and schwarz-growth.svg
    tools/plot_theory.py --check    # exit code 1 if they are out of date

Only Python's standard library is used.
"""
import math, pathlib, sys

IMAGES = pathlib.Path(__file__).resolve().parent.parent / "docs" / "src" / "images"
COLOURS = ("#1f6fb4", "#d1642a", "#3a8f4d", "#888888")
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 360, 250, 48, 12, 30, 42


def samples(f, low, high, top, count=400):
    """Points of a curve until it leaves the diagram at the top."""
    points = []
    for k in range(count + 1):
        x = low + (high - low) * k / count
        y = f(x)
        if y <= top:
            points.append((x, y))
    return points


def diagram(at, title, x_label, y_label, x_range, y_range, x_ticks, y_ticks, curves, marks=()):
    """One diagram as SVG: `curves` are (label, function, place of the label), `marks` are (x, y, label)."""
    (x0, x1), (y0, y1) = x_range, y_range
    px = lambda x: at + LEFT + (WIDTH - LEFT - RIGHT) * (x - x0) / (x1 - x0)
    py = lambda y: TOP + (HEIGHT - TOP - BOTTOM) * (y1 - y) / (y1 - y0)
    out = [f'<text x="{at + WIDTH / 2:.1f}" y="16" class="title">{title}</text>']
    for x, label in x_ticks:
        out.append(f'<path d="M{px(x):.1f} {py(y0):.1f}V{py(y1):.1f}" class="grid"/>')
        out.append(f'<text x="{px(x):.1f}" y="{py(y0) + 15:.1f}" class="middle">{label}</text>')
    for y, label in y_ticks:
        out.append(f'<path d="M{px(x0):.1f} {py(y):.1f}H{px(x1):.1f}" class="grid"/>')
        out.append(f'<text x="{px(x0) - 5:.1f}" y="{py(y) + 4:.1f}" class="end">{label}</text>')
    out.append(f'<text x="{(px(x0) + px(x1)) / 2:.1f}" y="{HEIGHT - 8}" class="middle">{x_label}</text>')
    out.append(f'<text transform="translate({at + 13} {(py(y0) + py(y1)) / 2:.1f}) rotate(-90)" class="middle">{y_label}</text>')
    for colour, (label, f, place) in zip(COLOURS, curves):
        points = " ".join(f"{px(x):.1f},{py(y):.1f}" for x, y in samples(f, x0, x1, y1))
        out.append(f'<polyline points="{points}" stroke="{colour}" class="curve"/>')
        out.append(f'<text x="{px(place[0]):.1f}" y="{py(place[1]):.1f}" style="fill:{colour}">{label}</text>')
    for x, y, label in marks:
        out.append(f'<circle cx="{px(x):.1f}" cy="{py(y):.1f}" r="3"/>')
        out.append(f'<text x="{px(x):.1f}" y="{py(y) - 8:.1f}" class="middle">{label}</text>')
    return "\n".join(out)


def picture(*diagrams):
    width = WIDTH * len(diagrams)
    style = ("text{font:12px sans-serif;fill:#222}.title{font-weight:bold;text-anchor:middle}.middle{text-anchor:middle}"
             ".end{text-anchor:end}.grid{stroke:#ddd}.curve{fill:none;stroke-width:2}")
    body = "\n".join(d(at) for at, d in zip(range(0, width, WIDTH), diagrams))
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {HEIGHT}" width="{width}" height="{HEIGHT}">\n'
            f'<style>{style}</style>\n<rect width="{width}" height="{HEIGHT}" fill="white"/>\n{body}\n</svg>\n')


# the barrier b(d²) of a pair with d̂ = 1, its force −∂b/∂d, and the stiffness ∂²b/∂d² over the force
def b(d):
    return -((d * d - 1) ** 2) * math.log(d * d) if 0 < d < 1 else 0.0 if d else math.inf


def force(d):
    s = d * d
    return 2 * d * (2 * (s - 1) * math.log(s) + (s - 1) ** 2 / s) if 0 < d < 1 else 0.0 if d else math.inf


def relative_stiffness(d):
    s = d * d
    if not 0 < d < 1:
        return math.inf
    slope = -2 * (s - 1) * math.log(s) - (s - 1) ** 2 / s
    curvature = -2 * math.log(s) - 4 * (s - 1) / s + (s - 1) ** 2 / s**2
    return (2 * slope + 4 * s * curvature) / force(d)


def barrier():
    tenths = [(k / 4, label) for k, label in enumerate(("0", "¼", "½", "¾", "d̂"))]
    least = min((relative_stiffness(k / 1000), k / 1000) for k in range(1, 1000))
    return picture(
        lambda at: diagram(at, "Energy and force of a pair", "distance d", "relative to the value at ½ d̂", (0, 1), (0, 6), tenths,
                           [(y, y) for y in range(0, 7, 2)],
                           [("energy b", lambda d: b(d) / b(0.5), (0.27, 3.2)), ("force λ", lambda d: force(d) / force(0.5), (0.1, 1.4))]),
        lambda at: diagram(at, "Relative stiffness |∂λ/∂d| / λ", "distance d", "in units of 1/d̂", (0, 1), (0, 20), tenths,
                           [(y, y) for y in range(0, 21, 5)], [("", relative_stiffness, (0, 0))],
                           [(least[1], least[0], f"{least[0]:.1f}"), (0.5, relative_stiffness(0.5), f"{relative_stiffness(0.5):.1f}"),
                            (0.9, relative_stiffness(0.9), f"{relative_stiffness(0.9):.0f}")]))


def friction():
    f1 = lambda y: 2 * y - y * y if y < 1 else 1.0
    ticks = [(0, "0"), (1, "ε"), (2, "2ε")]
    return picture(
        lambda at: diagram(at, "Friction force", "tangential displacement ‖u‖", "force / μλ", (0, 2), (0, 1.2), ticks,
                           [(0, "0"), (0.5, "½"), (1, "1")],
                           [("Standoff, f₁", f1, (0.08, 0.88)), ("linear", lambda y: min(y, 1.0), (0.62, 0.5))]),
        lambda at: diagram(at, "Friction energy", "tangential displacement ‖u‖", "f₀ / ε", (0, 2), (0, 2), ticks,
                           [(y / 2, label) for y, label in enumerate(("0", "½", "1", "1½", "2"))],
                           [("f₀", lambda y: y * y - y**3 / 3 + 1 / 3 if y < 1 else y, (1.3, 1.15))]))


def schwarz():
    """Iterations with a coarse level against unknowns, from the table of theory/linear-algebra.md."""
    families = {}
    for line in (IMAGES.parent / "theory" / "linear-algebra.md").read_text().splitlines():
        cells = [c.strip().replace(",", "") for c in line.strip("| ").split("|")]
        if len(cells) == 4 and cells[1].isdigit() and cells[2].isdigit() and int(cells[1]) > 10_000:
            families.setdefault(cells[0], []).append((math.log10(int(cells[1])), math.log10(int(cells[2]))))

    def line(points):
        def f(x):
            for (xa, ya), (xb, yb) in zip(points, points[1:]):
                if xa <= x <= xb:
                    return ya + (yb - ya) * (x - xa) / (xb - xa)
            return math.inf
        return f

    low, high = 4.0, 6.05
    # where the labels are: on a point, and how far above
    places = {"one material": (2, 0.06), "layers": (2, 0.1), "inclusions": (1, -0.16)}
    at_label = lambda name, points: (points[places[name][0]][0], points[places[name][0]][1] + places[name][1])
    curves = [(name, line(points), at_label(name, points)) for name, points in families.items()]
    curves.append(("n^0.15", lambda x: 1.8 + 0.15 * (x - low), (5.3, 1.9)))
    ticks = [(math.log10(y), y) for y in (50, 100, 200, 300, 600)]
    return picture(lambda at: diagram(at, "Iterations with a coarse level", "unknowns n", "iterations", (low, high), (1.7, 2.9),
                                      [(4, "10⁴"), (5, "10⁵"), (6, "10⁶")], ticks, curves))


def main():
    stale = []
    for name, text in (("barrier.svg", barrier()), ("friction.svg", friction()), ("schwarz-growth.svg", schwarz())):
        path = IMAGES / name
        if "--check" not in sys.argv[1:]:
            path.write_text(text)
        elif not path.exists() or path.read_text() != text:
            stale.append(name)
    if stale:
        sys.exit(f"{', '.join(stale)} in docs/src/images out of date: run tools/plot_theory.py")


if __name__ == "__main__":
    main()
