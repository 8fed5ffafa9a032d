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
import argparse, math, pathlib, statistics, subprocess, sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import bench

TOLERANCES = [0.1, 0.03, 0.01, 0.003, 0.001, 3e-4, 1e-4]
ERRORS = [1e-2, 1e-3, 1e-4]
# steps that are compared: every so many of those of bench.py
EVERY = {"drape": 3, "turned-cloth": 3, "funnel": 3, "tube": 3, "knot": 3, "cards": 3, "noodles": 2, "hair": 2, "braid": 2}
SOLIDS = {"twisted-mat": 5, "rollers": 2, "ball-on-needles": 2}


def measure(program, scene, every, extra):
    """(tolerance, iterations, CPU seconds, mean error) per tolerance."""
    command = [program, bench.ROOT / scene.path, f"steps={scene.steps}", f"every={every}"]
    command += [f"set={s}" for s in [*scene.sets, *extra]] + [f"tolerance={t}" for t in TOLERANCES]
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if done.returncode:
        print(f"{program}: {scene.name}: {done.stderr.strip()}", file=sys.stderr)
        return []
    return parse(done.stdout)


def parse(printed):
    """The rows of the table of `step_error`."""
    cells = [[c.strip() for c in line.split("|")[1:-1]] for line in printed.splitlines() if line.startswith("| ")]
    return [(float(t), float(n), float(s), float(mean)) for t, n, s, _, mean in cells[1:]]


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
    print("| scene | mean error | iterations of A | of B | CPU s per step of A | of B | ratio |\n|---|---|---|---|---|---|---|")
    for scenes, every in ((bench.THIN, EVERY), (bench.SCENES, SOLIDS)):
        for scene in (s for s in scenes if s.name in every):
            a = measure(args.program, scene, every[scene.name], [])
            b = measure(args.against or args.program, scene, every[scene.name], args.extra)
            for error in ERRORS:
                both = at_error(a, error), at_error(b, error)
                if not all(both):
                    sign = lambda x: "…" if x == 0 else "–" if x is None else f"{x[0]:.1f}"
                    print(f"| {scene.name} | {error:g} | {sign(both[0])} | {sign(both[1])} | | | |", flush=True)
                    continue
                (n, s), (m, t) = both
                print(f"| {scene.name} | {error:g} | {n:.1f} | {m:.1f} | {s:.4f} | {t:.4f} | {t / s:.2f} |", flush=True)
                if every is EVERY:
                    ratios[error].append(t / s)
    print()
    for error, found in ratios.items():
        if found:
            mean = math.exp(statistics.fmean(map(math.log, found)))
            print(f"thin bodies, error {error:g}: B / A {mean:.2f} in the geometric mean of {len(found)} scenes, least {min(found):.2f}")


if __name__ == "__main__":
    main()
