#!/usr/bin/env python3
"""Time of a step against the number of rigid bodies: boxes that fall into a pile, and hanging chains of links on ball joints.

    cargo build --release
    tools/rigid_growth.py target/release/standoff                 # 100 and 1,000 of each
    tools/rigid_growth.py target/release/standoff --sizes 30 100  # others
    tools/rigid_growth.py target/release/standoff --keep out      # the scenes and the runs stay there

For each it prints CPU seconds per step on one thread, Newton iterations per step, milliseconds per iteration, and the phases that take more than a
twentieth of the time; then the exponents a of n^a between the sizes. Files are written for the last step only.

Only Python's standard library is used.
"""
import argparse, math, pathlib, tempfile

from standoff_tools import stats
from standoff_tools.run import run_scene
from standoff_tools.tables import head, row

PHASES = ["broad_phase", "ccd", "contact", "elasticity", "assembly", "symbolic", "factorisation", "solve", "audit"]
HEAD = """time = { step = 0.01, end = 1.0 }
output = { every = 1000000 }
[materials.steel]
density = 7800
"""


def pile(n):
    """Boxes in layers of about the square root of n, which are turned so that they do not fall flat onto each other."""
    side = max(1, round(n ** (1 / 3)))
    layers = math.ceil(n / side**2)
    return f"""ground = 0.0
friction = {{ coefficient = 0.4 }}
{HEAD}
[[objects]]
name = "box"
role = "rigid"
shape = {{ kind = "box", size = [0.1, 0.06, 0.08], cells = [1, 1, 1] }}
material = "steel"
rotate = [4.0, 20.0, 5.0]
translate = [0.0, 0.05, 0.0]
array = {{ counts = [{side}, {layers}, {side}], spacing = [0.115, 0.075, 0.1] }}
""", side * side * layers


def chain(n):
    """A chain that hangs from the world, which begins straight and aside by 30°, so that it swings."""
    text = HEAD
    for k in range(n):
        text += f"""
[[objects]]
name = "link {k}"
role = "rigid"
shape = {{ kind = "box", size = [0.02, 0.1, 0.02], cells = [1, 1, 1] }}
material = "steel"
translate = [{0.05 * (k + 0.5):.6f}, {-0.05 * math.sqrt(3) * (2 * k + 1) / 2 :.6f}, 0.0]
rotate = [0.0, 0.0, 30.0]
[[joints]]
kind = "spherical"
bodies = [{f'"link {k - 1}", ' if k else ""}"link {k}"]
point = [{0.05 * k:.6f}, {-0.05 * math.sqrt(3) * k:.6f}, 0.0]
"""
    return text, n


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary", type=pathlib.Path)
    parser.add_argument("--sizes", type=int, nargs="+", default=[100, 1000])
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--keep", type=pathlib.Path)
    args = parser.parse_args()
    head("scene", "bodies", "CPU s per step", "iterations per step", "ms per iteration", "phases, % of the time")
    with tempfile.TemporaryDirectory() as folder:
        out = args.keep or pathlib.Path(folder)
        out.mkdir(parents=True, exist_ok=True)
        exponents = []
        for make in (pile, chain):
            found = []
            for size in args.sizes:
                text, n = make(size)
                scene = out / f"{make.__name__}-{size}.toml"
                scene.write_text(text)
                done = run_scene(args.binary, scene, scene.with_suffix(""), steps=args.steps)
                reports = stats.reports(scene.with_suffix(""))
                if done.code or not reports:
                    row(scene.stem, n, f"exit {done.code}: {done.last_line()}", "", "", "")
                    continue
                per_step = done.cpu / len(reports)
                iterations = stats.iterations(reports) / len(reports)
                total = stats.seconds(reports, "total")
                parts = {p: 100 * stats.seconds(reports, p) / total for p in PHASES}
                shown = ", ".join(f"{p.replace('_', ' ')} {v:.0f}" for p, v in sorted(parts.items(), key=lambda i: -i[1]) if v > 5)
                row(scene.stem, n, f"{per_step:.3f}", f"{iterations:.1f}", f"{1000 * per_step / iterations:.2f}", f"{shown}, other {100 - sum(parts.values()):.0f}")
                found.append((n, per_step, per_step / iterations))
            for (a, step, iteration), (b, more, longer) in zip(found, found[1:]):
                slope = lambda x, y: math.log(y / x) / math.log(b / a)
                exponents.append((make.__name__, a, b, slope(step, more), slope(iteration, longer)))
    print()
    head("scene", "from", "to", "exponent per step", "exponent per iteration")
    for name, a, b, step, iteration in exponents:
        row(name, a, b, f"{step:.2f}", f"{iteration:.2f}")


if __name__ == "__main__":
    main()
