#!/usr/bin/env python3
"""CPU time of two builds, or of a build with and without a setting, at equal errors of single steps.

    cargo build --release -p standoff-bench --example step_error
    tools/equal_error.py target/release/examples/step_error --with 'solver.projection="always"'
    tools/equal_error.py target/release/examples/step_error --against other/step_error

`step_error` (benches/examples) does single steps with several tolerances and says how far each ends from the minimum. Here it runs the scenes of thin bodies of
`bench.py`, but for the stacks, and solids, once for A and once for B. What an error costs is read off between two tolerances, on the straight line through the logarithms. The table gives
Newton iterations and CPU seconds per step for three mean errors, in units of the scene's length per second, and the ratio B / A of the CPU
seconds; the last lines are geometric means of the ratios. A dash stands for an error that the tolerances do not reach, and three dots for one that the
loosest tolerance does not exceed.

To build `step_error` for an older commit, put the file among the examples of a crate of that commit. Only Python's standard library is used.
"""
import argparse, math, sys

from standoff_tools import ROOT
from standoff_tools.run import measure
from standoff_tools.scenes import scenes
from standoff_tools.tables import cells_of, geometric_mean, head, row

TOLERANCES = [0.1, 0.03, 0.01, 0.003, 0.001, 3e-4, 1e-4]
ERRORS = [1e-2, 1e-3, 1e-4]
# steps that are compared: every so many of those of bench.py
EVERY = {"drape": 3, "turned-cloth": 3, "funnel": 3, "tube": 3, "knot": 3, "cards": 3, "noodles": 2, "hair": 2, "braid": 2}
SOLIDS = {"twisted-mat": 5, "rollers": 2, "ball-on-needles": 2}


def costs(program, scene, every, extra):
    """(tolerance, iterations, CPU seconds, mean error) per tolerance."""
    command = [program, ROOT / scene.file, f"steps={scene.steps}", f"every={every}"]
    command += [f"set={s}" for s in [*scene.sets, *extra]] + [f"tolerance={t}" for t in TOLERANCES]
    done = measure(command)
    if done.code:
        print(f"{program}: {scene.name}: {done.error}", file=sys.stderr)
        return []
    return parse(done.printed)


def parse(printed):
    """The rows of the table of `step_error`."""
    return [(float(t), float(n), float(s), float(mean)) for t, n, s, _, mean in cells_of(printed)[1:]]


def at_error(rows, error):
    """Iterations and CPU seconds at a mean error, between the first two tolerances that have it between them; None where none reaches it, and
    0 where the loosest one does not exceed it."""
    rows = sorted(rows, reverse=True)
    if rows and rows[0][3] < error:
        return 0
    for (_, n, s, e), (_, m, t, f) in zip(rows, rows[1:]):
        if e >= error >= f:
            part = math.log(e / error) / math.log(e / f) if e > f else 0.0
            # steps that are too short to be timed are printed as 0
            between = lambda a, b: math.exp((1 - part) * math.log(max(a, 5e-5)) + part * math.log(max(b, 5e-5)))
            return between(n, m), between(s, t)
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", help="step_error of build A")
    parser.add_argument("--against", help="step_error of build B")
    parser.add_argument("--with", dest="extra", action="append", default=[], metavar="KEY=VALUE", help="a value that B has")
    args = parser.parse_args()
    if not (args.against or args.extra):
        parser.error("name a second program with --against, or a value with --with")
    ratios = {error: [] for error in ERRORS}
    head("scene", "mean error", "iterations of A", "of B", "CPU s per step of A", "of B", "ratio")
    for scenes_of, every in (("thin", EVERY), ("solids", SOLIDS)):
        for scene in (s for s in scenes("bench-scenes", scenes_of) if s.name in every):
            a = costs(args.program, scene, every[scene.name], [])
            b = costs(args.against or args.program, scene, every[scene.name], args.extra)
            for error in ERRORS:
                both = at_error(a, error), at_error(b, error)
                if not all(both):
                    sign = lambda x: "…" if x == 0 else "–" if x is None else f"{x[0]:.1f}"
                    row(scene.name, f"{error:g}", sign(both[0]), sign(both[1]), "", "", "")
                    continue
                (n, s), (m, t) = both
                row(scene.name, f"{error:g}", f"{n:.1f}", f"{m:.1f}", f"{s:.4f}", f"{t:.4f}", f"{t / s:.2f}")
                if every is EVERY:
                    ratios[error].append(t / s)
    print()
    for error, found in ratios.items():
        if found:
            print(f"thin bodies, error {error:g}: B / A {geometric_mean(found):.2f} in the geometric mean of {len(found)} scenes, "
                  f"least {min(found):.2f}")


if __name__ == "__main__":
    main()
