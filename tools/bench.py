#!/usr/bin/env python3
"""Times a fixed list of scenes: CPU seconds, seconds per step by phase, iterations, peak memory.

    cargo build --release
    tools/bench.py target/release/standoff                                  # one build
    tools/bench.py target/release/standoff --against other/standoff         # two builds in one run, as ratios
    tools/bench.py target/release/standoff --with contact.potential=orientation-aware   # the same with a value replaced
    tools/bench.py target/release/standoff --thin                           # cloths, shells and rods instead
    tools/bench.py target/release/standoff --growth                         # time and memory against size
    tools/bench.py target/release/standoff --scaling                        # one and two threads, phase by phase
    tools/bench.py target/release/standoff --against other/standoff --reference   # the reference codes over this build

Runs of two builds (A and B; with `--with`, B has the values replaced) alternate, so that a change of the machine's load hits both; figures are
medians of `--repeat` runs. The last lines are geometric means over the scenes of B / A and A / B, from medians and from the least. CPU seconds (user + system time of the process) are the figure to compare: wall time
also counts what else the machine does. Scenes of the IPC 2020 paper are read
from `testdata` (`--shared`). `--reference` gives the CPU time of the reference codes over that of this build: their measured ratio to commit
0442017, times the ratio of a build of that commit (`--against`) to this one. `-o FILE` writes everything as JSON.

Scenes are in tools/data/bench-scenes.json, what was measured on other machines in tools/data/bench-reference.json.

Only Python's standard library is used.
"""
import argparse, json, math, pathlib, statistics, sys, tempfile

from standoff_tools import ROOT, data, stats
from standoff_tools.run import run_scene
from standoff_tools.scenes import Scene, present, scenes
from standoff_tools.tables import geometric_mean, head, row

PHASES = ["broad_phase", "ccd", "contact", "elasticity", "assembly", "symbolic", "factorisation",
          "solve", "audit"]
TITLES = [p.replace("_", " ") for p in PHASES]


def growth():
    """Twisted mats from 20×20 to 100×100 cells before they touch, blocks of 10³ to 10⁶ tetrahedra
    hung by their top and dropped on an edge, a cloth on a ball, and more and more bodies: soft toys in a well, cloths in a
    stack, particles on a cloth and rods in a bowl."""
    for n in (20, 40, 60, 80, 100):
        yield Scene(f"mat-{n}", "scenes/twisted-mat.toml", 10,
                    sets=[f"objects.mat.shape.cells=[{n}, {n}]", "time.step=0.04"])
    # 6 tetrahedra per cell
    for n in (6, 12, 18, 26, 38, 55):
        block = [f"objects.block.shape.cells=[{n}, {n}, {n}]"]
        yield Scene(f"hang-{n}", "scenes/bench/hang.toml", 3, sets=block)
        yield Scene(f"drop-{n}", "scenes/bench/drop-100k.toml", 4, sets=block)
    for n in (32, 64, 128, 256):
        yield Scene(f"drape-{n}", "scenes/codim/cloth-on-ball.toml", 4, sets=[f"objects.cloth.shape.cells=[{n}, {n}]"])
    for n in (1, 5, 20, 100):
        rows = {"ball": (4, 3), "cube": (3, 4), "ring": (4, 3), "tet": (3, 4)}
        yield Scene(f"well-{n}", "scenes/stress/animal-well.toml", 12,
                    sets=["expect=unset", *(f"objects.{k}.array.counts=[{a}, {n}, {b}]" for k, (a, b) in rows.items())])
    for n in (10, 40, 160, 800):
        yield Scene(f"stack-{n}", "scenes/codim/cloth-stack.toml", 3, sets=["expect=unset", f"objects.cloth.array.counts=[1, {n}, 1]",
                                                  f"objects.ball.translate=[0.002, {0.006 * n + 0.08}, 0.0]"])
    for n in (10, 20, 46):
        yield Scene(f"grains-{n}", "scenes/codim/granules-on-cloth.toml", 6,
                    sets=[f"objects.granules.shape.count=[{n}, {n}, {n}]",
                          f"objects.granules.shape.size=[{0.012 * n}, {0.012 * n}, {0.012 * n}]",
                          f"objects.granules.translate=[0.001, {0.0075 * n}, 0.0]"])
    for n in (25, 125, 625, 2500):
        yield Scene(f"rods-{n}", "scenes/codim/noodles.toml", 5, sets=[f"objects.noodle.array.counts=[1, {n}, 4]"])


def slope(sizes, values, least=0):
    """a of values ~ size^a by least squares of the logarithms, of sizes from `least` on."""
    points = [(math.log(a), math.log(v)) for a, v in zip(sizes, values) if a >= least]
    if len(points) < 2:
        return math.nan
    x, y = (statistics.fmean(c) for c in zip(*points))
    return sum((a - x) * (b - y) for a, b in points) / sum((a - x) ** 2 for a, _ in points)


def exponents(results, plot):
    """Prints a for time and memory ~ (number of vertices)^a of each family of growing scenes, and draws them to the file `plot` if it is given."""
    families = {}
    for r in results:
        families.setdefault(r["scene"].rsplit("-", 1)[0], []).append(r)
    fits = {}
    print()
    head("family", "vertices", "CPU s per step ~ n^", "CPU s per Newton iteration ~ n^", "peak memory ~ n^ (from 20k vertices on)")
    for name, family in families.items():
        runs = [r["median"] for r in family]
        n = [sum(b["vertices"] for b in r["runs"][0]["run"]["bodies"]) for r in family]
        # CPU time, set-up included: wall time also counts what else the machine does
        step = [m["cpu"] / m["steps"] for m in runs]
        iteration = [m["cpu"] / max(m["iterations"], 1) for m in runs]
        memory = [m["peak_mib"] for m in runs]
        large = slope(n, memory, 20_000)
        fits[name] = (n, (step, slope(n, step)), (iteration, slope(n, iteration)), (memory, large))
        row(name, f"{n[0]} to {n[-1]}", f"{slope(n, step):.2f}", f"{slope(n, iteration):.2f}", "–" if math.isnan(large) else f"{large:.2f}")
    if plot:
        draw(fits, plot)


def draw(fits, plot):
    """Draws the growth of every family, where matplotlib is installed."""
    try:
        import matplotlib
    except ImportError:
        print("no plot: matplotlib is not installed", file=sys.stderr)
        return
    matplotlib.use("svg")
    import matplotlib.pyplot as plt
    figure, axes = plt.subplots(1, 3, figsize=(13, 3.8))
    for name, (n, *values) in fits.items():
        for axis, (value, a) in zip(axes, values):
            axis.loglog(n, value, "o-", label=name if math.isnan(a) else f"{name}: n^{a:.2f}")
    for axis, what in zip(axes, ("CPU seconds per step", "CPU seconds per Newton iteration", "peak memory, MiB")):
        axis.set(xlabel="vertices", ylabel=what)
        axis.grid(alpha=0.3)
        axis.legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(plot)


def stripped(path, sets, without, folder):
    """A copy of a scene file in `folder` without some lines, and its replaced values; their paths lead to the same files as before."""
    root = path.parent.parent.parent.resolve()
    absolute = lambda text: text.replace("../../", f"{root}/")
    lines = [line for line in path.read_text().splitlines() if line.strip() not in without]
    copy = folder / path.name
    copy.write_text(absolute("\n".join(lines) + "\n"))
    return copy, [absolute(value) for value in sets]


def run(binary, scene, threads, shared, values=(), without=()):
    """One run: its resources and statistics, or None with a message where it fails. `without` are lines that the scene file is run without."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "run"
        path, sets = scene.path(shared), [*scene.sets, *values]
        if without and path.suffix == ".toml":
            path, sets = stripped(path, sets, without, pathlib.Path(folder))
        done = run_scene(binary, path, out, sets=sets, steps=scene.steps, threads=threads, meshes=scene.meshes(shared))
        if done.code != 0:
            print(f"{scene.name}: exit {done.code}: {done.error[-300:]}", file=sys.stderr)
            return None
        reports, info = stats.reports(out), stats.info(out)
    seconds = {p: stats.seconds(reports, p) for p in PHASES + ["total"]}
    return {
        "cpu": done.cpu,
        "wall": seconds["total"],
        "phases": seconds,
        "iterations": stats.iterations(reports),
        "linear_iterations": stats.total(reports, "linear_iterations"),
        "contacts": stats.contacts(reports),
        "steps": len(reports),
        "unconverged": stats.unconverged(reports),
        "peak_mib": done.peak_mib,
        "run": info,
    }


def median(runs):
    """The runs' medians, figure by figure."""
    of = lambda key: statistics.median(r[key] for r in runs)
    result = {k: of(k) for k in ("cpu", "wall", "iterations", "linear_iterations", "contacts",
                                 "steps", "peak_mib")}
    result["phases"] = {p: statistics.median(r["phases"][p] for r in runs) for p in runs[0]["phases"]}
    return result


def by_turns(repeat, ways):
    """The medians of each of the ways to run something, and the runs; None where one failed. The ways take turns, so that a change of the machine's
    load hits all."""
    runs = [[] for _ in ways]
    for _ in range(repeat):
        for found, way in zip(runs, ways):
            found.append(way())
    return [median(r) if all(r) else None for r in runs], runs


def scaling(args):
    """Wall seconds with one and two threads by turns, in total and by phase. A phase that two threads make s times faster
    has the serial share 2/s − 1 by Amdahl's law, from which follows what 16 cores would give."""
    head("scene", "one thread, s", "two threads, s", "ratio", "serial, %", "on 16 cores")
    ratios, by_phase = [], []
    for scene in present(scenes("bench-scenes", "large"), args.only, args.shared):
        (one, two), _ = by_turns(args.repeat, [lambda: run(args.binary, scene, 1, args.shared), lambda: run(args.binary, scene, 2, args.shared)])
        if not (one and two):
            continue
        phases = [(one["phases"][p], two["phases"][p]) for p in PHASES]
        phases.append(tuple(m["phases"]["total"] - sum(m["phases"][p] for p in PHASES) for m in (one, two)))
        total = one["phases"]["total"]
        # two threads are never more than twice as fast, and a phase that they slow down is serial
        serial = [min(max(2 * b - a, 0.0), a) for a, b in phases]
        sixteen = sum(s + (a - s) / 16 for s, (a, _) in zip(serial, phases))
        ratios.append(total / two["phases"]["total"])
        # phases that take a hundredth of the time have no ratio to show
        by_phase.append([scene.name, *(f"{a / b:.2f}" if a > 0.01 * total and b > 0 else "" for a, b in phases)])
        row(scene.name, f"{total:.2f}", f"{two['phases']['total']:.2f}", f"{ratios[-1]:.2f}", f"{100 * sum(serial) / total:.0f}",
            f"{total / sixteen:.1f}")
    print()
    head("ratios of", *TITLES, "other")
    for cells in by_phase:
        row(*cells)
    if ratios:
        print(f"\none thread over two, {len(ratios)} scenes: geometric mean {geometric_mean(ratios):.2f}, least {min(ratios):.2f}")


def reference(args):
    """CPU time of the reference codes over that of this build, by way of a build of commit 0442017."""
    if not args.against:
        sys.exit("--reference needs a build of commit 0442017: --against FILE")
    known = data("bench-reference")
    results = []
    for code, entries in known["codes"].items():
        head(code, "iterations before", "now", "CPU s before", "now", "before / now", "reference / before", "reference / now")
        ratios = []
        for scene in present([Scene(**entry) for entry in entries], args.only, args.shared):
            (before, now), _ = by_turns(args.repeat, [
                lambda: run(args.against, scene, 1, args.shared, without=known["unknown_before"]),
                lambda: run(args.binary, scene, 1, args.shared)])
            if not (before and now):
                continue
            wanted, ratio = scene.more["iterations"], scene.more["ratio"]
            if before["iterations"] != wanted:
                print(f"{args.against}: {before['iterations']:.0f} Newton iterations on {scene.name}, where commit 0442017 takes {wanted}: "
                      "is this a build of that commit? The last two columns are true of no other", file=sys.stderr)
            gain = before["cpu"] / now["cpu"]
            ratios.append(ratio * gain)
            row(scene.name, f"{before['iterations']:.0f}", f"{now['iterations']:.0f}", f"{before['cpu']:.2f}", f"{now['cpu']:.2f}",
                f"{gain:.2f}", f"{ratio:.1f}", f"{ratio * gain:.1f}")
            results.append({"code": code, "scene": scene.name, "before": before, "now": now, "ratio": ratio * gain})
        if ratios:
            print(f"\n{code} over this build, {len(ratios)} scenes: geometric mean {geometric_mean(ratios):.1f}, least {min(ratios):.1f}\n")
    if args.output:
        args.output.write_text(json.dumps(results, indent=1) + "\n")


def means(results):
    """Prints geometric means of B / A and its inverse over the scenes that both finished."""
    pairs = [(a, b) for a in results for b in results
             if a["build"] == "A" and b["build"] == "B" and (a["scene"], a["threads"]) == (b["scene"], b["threads"])]
    figures = {
        "CPU seconds, medians": lambda r: r["median"]["cpu"],
        "CPU seconds, least": lambda r: r["least_cpu"],
        "Newton iterations": lambda r: max(r["median"]["iterations"], 1),
        "CPU seconds per iteration": lambda r: r["median"]["cpu"] / max(r["median"]["iterations"], 1),
        "peak memory": lambda r: r["median"]["peak_mib"],
    }
    print()
    head("scene", "contacts", "iterations of B", "of A", "CPU s of B", "of A", "B / A")
    for a, b in pairs:
        m, n = a["median"], b["median"]
        row(a["scene"], f"{m['contacts']:.0f}", f"{n['iterations']:.0f}", f"{m['iterations']:.0f}", f"{n['cpu']:.2f}", f"{m['cpu']:.2f}",
            f"{n['cpu'] / m['cpu']:.2f}")
    print()
    head(f"geometric means of {len(pairs)}", "B / A", "A / B")
    for name, of in figures.items():
        mean = geometric_mean(of(b) / of(a) for a, b in pairs)
        row(name, f"{mean:.3f}", f"{1 / mean:.3f}")
    for r in results:
        unconverged = max(run["unconverged"] for run in r["runs"])
        if unconverged:
            print(f"{r['scene']}, {r['build']}: {unconverged} of {r['median']['steps']:.0f} steps above the tolerance")


def show(scene, threads, build, m, ratio):
    """Prints the row of a scene and a build, from its medians."""
    total = m["phases"]["total"] or 1.0
    share = [100 * m["phases"][p] / total for p in PHASES]
    row(scene.name, threads, build, f"{m['steps']:.0f}", f"{m['iterations']:.0f}", f"{m['contacts']:.0f}", f"{m['cpu']:.2f}", f"{m['wall']:.2f}",
        f"{1e3 * m['wall'] / max(m['iterations'], 1):.2f}", f"{m['peak_mib']:.0f}", *(f"{s:.0f} %" for s in share), f"{100 - sum(share):.0f} %", ratio)


def table(args, listed):
    """Runs the scenes by both builds, prints a row for each, and returns all figures."""
    builds = [(args.binary, [])]
    if args.against or args.values:
        builds.append((args.against or args.binary, args.values))
    of_reference, results = data("bench-reference")["seconds"], []
    head("scene", "threads", "build", "steps", "Newton its", "contacts", "CPU s", "wall s", "ms/it", "peak MiB", *TITLES, "other", "ratio")
    for scene in present(listed, args.only, args.shared):
        seconds = of_reference.get(scene.name)
        for threads in args.threads:
            ways = [lambda binary=binary, values=values: run(binary, scene, threads, args.shared, values) for binary, values in builds]
            medians, runs = by_turns(args.repeat, ways)
            for k, m in enumerate(medians):
                if m is None:
                    continue
                # how many times faster: than the other build, else than the reference
                ratio = ""
                if k == 0 and len(builds) == 2 and medians[1]:
                    ratio = f"{medians[1]['cpu'] / m['cpu']:.2f}× other"
                elif seconds and threads == 1:
                    ratio = f"{seconds / m['cpu']:.1f}× reference"
                show(scene, threads, "AB"[k], m, ratio)
                results.append({"scene": scene.name, "threads": threads, "build": "AB"[k],
                                "binary": str(builds[k][0]), "values": builds[k][1],
                                "least_cpu": min(r["cpu"] for r in runs[k]), "reference_cpu": seconds, "median": m,
                                "runs": runs[k]})
    return results


def arguments():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("binary", type=pathlib.Path)
    parser.add_argument("--against", type=pathlib.Path, help="another build, to be compared with")
    parser.add_argument("--with", dest="values", nargs="*", default=[], metavar="KEY=VALUE",
                        help="compare with the same build where these values of the scenes are replaced")
    parser.add_argument("--only", nargs="*", default=[], metavar="PART", help="scenes whose name holds this")
    parser.add_argument("--threads", nargs="*", type=int, default=[1])
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--thin", action="store_true", help="thin bodies instead")
    parser.add_argument("--scaling", action="store_true", help="one and two threads, phase by phase, on large scenes")
    parser.add_argument("--growth", action="store_true", help="time and memory against size instead")
    parser.add_argument("--reference", action="store_true", help="the reference codes over this build, by way of a build of commit 0442017")
    parser.add_argument("--plot", type=pathlib.Path, help="with --growth: draw to this file (SVG)")
    parser.add_argument("--shared", type=pathlib.Path, default=ROOT / "testdata")
    parser.add_argument("-o", "--output", type=pathlib.Path, help="write all figures as JSON")
    return parser.parse_args()


def main():
    args = arguments()
    if args.scaling:
        return scaling(args)
    if args.reference:
        return reference(args)
    results = table(args, growth() if args.growth else scenes("bench-scenes", "thin" if args.thin else "solids"))
    if args.growth:
        exponents([r for r in results if r["build"] == "A"], args.plot)
    of_reference = [r["reference_cpu"] / r["median"]["cpu"] for r in results
                    if r["reference_cpu"] and r["threads"] == 1 and r["build"] == "A"]
    if of_reference:
        print(f"\nCPU seconds of the reference over ours, {len(of_reference)} scenes: "
              f"geometric mean {geometric_mean(of_reference):.2f}, least {min(of_reference):.2f}")
    if args.against or args.values:
        means(results)
    if args.output:
        args.output.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
