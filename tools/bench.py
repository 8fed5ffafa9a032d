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

Only Python's standard library is used.
"""
import argparse, json, math, os, pathlib, statistics, subprocess, sys, tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PHASES = ["broad_phase", "ccd", "contact", "elasticity", "assembly", "symbolic", "factorisation",
          "solve", "audit"]


class Scene:
    """A benchmark: scene file, number of steps, replaced values, the reference's CPU seconds, its CPU time over that of commit 0442017, and
    that commit's Newton iterations."""

    def __init__(self, name, path, steps, *, sets=(), shared=False, reference=None, ratio=None, iterations=None):
        self.name, self.path, self.steps, self.sets = name, path, steps, list(sets)
        self.shared, self.reference, self.ratio, self.iterations = shared, reference, ratio, iterations


# name, file, steps; the reference's figures: CPU s of one thread of a 2-core AMD EPYC (Zen 4)
IPC = "data/ipc/scenes/paperExamples/"
SCENES = [
    Scene("mat40Twist", "reference/ipc/mat40Twist/scene.txt", 50, shared=True, reference=89.2),
    Scene("matKnives", "reference/ipc/matKnives/scene.txt", 10, shared=True, reference=159.8),
    Scene("chain10", IPC + "videoExamples/chain10.txt", 40, shared=True, reference=36.5),
    Scene("sphereOnMat", IPC + "12_sphereOnMat.txt", 50, shared=True, reference=196.9),
    Scene("twisted-mat", "scenes/twisted-mat.toml", 50),
    Scene("ball-on-needles", "scenes/ball-on-needles.toml", 20),
    Scene("rollers", "scenes/rollers.toml", 20),
    Scene("friction-slope", "scenes/friction-slope-slide.toml", 40),
    Scene("drop-10k", "scenes/bench/drop-100k.toml", 20, sets=["objects.block.shape.cells=[12, 12, 12]"]),
    Scene("drop-100k", "scenes/bench/drop-100k.toml", 3),
]

# CPU time of the reference over that of commit 0442017, measured by turns with one thread: IPC 2020 with its stiffness, and C-IPC 2021 with the
# stiffness by the load and projection of all Hessians, the only one that the commit has
CIPC = "reference/cipc/cloth-on-rotating-sphere.toml"
FINE = "objects.cloth.mesh='../../data/cipc/square8K.obj'"
REFERENCE = {
    "IPC 2020": [
        Scene("mat40Twist", "reference/ipc/mat40Twist/scene.txt", 50, shared=True, ratio=19.3, iterations=270),
        Scene("chain10", IPC + "videoExamples/chain10.txt", 40, shared=True, ratio=31.0, iterations=126),
        Scene("tightFitCube", "reference/ipc/tightFitCube/scene.txt", 40, shared=True, ratio=19.5, iterations=664),
        Scene("matKnives", "reference/ipc/matKnives/scene.txt", 10, shared=True, ratio=22.5, iterations=396),
        Scene("sphereOnMat", IPC + "12_sphereOnMat.txt", 50, shared=True, ratio=12.3, iterations=402),
    ],
    "C-IPC 2021": [
        Scene("square41, limit", CIPC, 40, shared=True, ratio=11.5, iterations=1010),
        Scene("square8K, limit", CIPC, 7, sets=[FINE], shared=True, ratio=8.1, iterations=232),
        Scene("square8K", CIPC, 20, sets=[FINE, "materials.cotton.shell.stretch_limit=inf"], shared=True, ratio=9.1, iterations=249),
    ],
}
# keys of these scenes that the commit does not have, since it knows no other value
UNKNOWN_BEFORE = ('projection = "always"',)

# crowded and buckling thin bodies, with keys that commit 0442017 has too
STACK = "scenes/codim/cloth-stack.toml"
THIN = [
    Scene("drape", "scenes/codim/cloth-on-ball.toml", 12, sets=["objects.cloth.shape.cells=[50, 50]"]),
    Scene("six-cloths", STACK, 4, sets=["objects.cloth.array.counts=[1, 6, 1]", "objects.cloth.shape.cells=[20, 20]"]),
    Scene("ten-cloths", STACK, 8),
    Scene("turned-cloth", "scenes/codim/cloth-on-rotating-sphere.toml", 10, sets=["objects.cloth.shape.cells=[40, 40]"]),
    Scene("funnel", "scenes/codim/cloths-through-funnel.toml", 15),
    Scene("tube", "scenes/codim/twisted-tube.toml", 30),
    Scene("knot", "scenes/codim/reef-knot.toml", 30),
    Scene("cards", "scenes/codim/cards.toml", 30),
    Scene("noodles", "scenes/codim/noodles.toml", 20),
    Scene("hair", "scenes/codim/hair-clusters.toml", 20),
    Scene("braid", "scenes/codim/braid.toml", 20, sets=["gravity=[0, 1e-6, 0]"]),
]


# bodies of 5,000 vertices and more
LARGE = [
    Scene("drop-100k", "scenes/bench/drop-100k.toml", 8),
    Scene("hang-100k", "scenes/bench/hang.toml", 6, sets=["time.step=0.1"]),
    Scene("mat-100x100", "scenes/twisted-mat.toml", 6, sets=["objects.mat.shape.cells=[100, 100]"]),
    Scene("sphereOnMat", IPC + "12_sphereOnMat.txt", 15, shared=True),
    Scene("drape-80x80", "scenes/codim/cloth-on-ball.toml", 4, sets=["objects.cloth.shape.cells=[80, 80]"]),
    Scene("twelve-cloths", STACK, 3, sets=["objects.cloth.array.counts=[1, 12, 1]", "objects.cloth.shape.cells=[20, 20]"]),
]


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
                    sets=[f"objects.{k}.array.counts=[{a}, {n}, {b}]" for k, (a, b) in rows.items()])
    for n in (10, 40, 160, 800):
        yield Scene(f"stack-{n}", STACK, 3, sets=[f"objects.cloth.array.counts=[1, {n}, 1]",
                                                  f"objects.ball.translate=[0.002, {0.006 * n + 0.08}, 0.0]"])
    for n in (10, 20, 46):
        yield Scene(f"grains-{n}", "scenes/codim/granules-on-cloth.toml", 6,
                    sets=[f"objects.granules.shape.count=[{n}, {n}, {n}]",
                          f"objects.granules.shape.size=[{0.012 * n}, {0.012 * n}, {0.012 * n}]",
                          f"objects.granules.translate=[0.001, {0.0075 * n}, 0.0]"])
    for n in (25, 125, 625, 2500):
        yield Scene(f"rods-{n}", "scenes/codim/noodles.toml", 5, sets=[f"objects.noodle.array.counts=[1, {n}, 4]"])


def exponents(results, plot):
    """Prints a for time and memory ~ (number of vertices)^a by least squares of the logarithms, of each
    family of growing scenes; draws them to the file `plot`, if given and matplotlib is there."""
    families = {}
    for r in results:
        families.setdefault(r["scene"].rsplit("-", 1)[0], []).append(r)
    fits = {}
    print("\n| family | vertices | CPU s per step ~ n^ | CPU s per Newton iteration ~ n^ | peak memory ~ n^ (from 20k vertices on) |")
    print("|---|---|---|---|---|")
    for name, family in families.items():
        runs = [r["median"] for r in family]
        n = [sum(b["vertices"] for b in r["runs"][0]["run"]["bodies"]) for r in family]

        def slope(values, least=0):
            points = [(math.log(a), math.log(v)) for a, v in zip(n, values) if a >= least]
            if len(points) < 2:
                return float("nan")
            x, y = (statistics.fmean(c) for c in zip(*points))
            return sum((a - x) * (b - y) for a, b in points) / sum((a - x) ** 2 for a, _ in points)

        # CPU time, set-up included: wall time also counts what else the machine does
        step = [m["cpu"] / m["steps"] for m in runs]
        iteration = [m["cpu"] / max(m["iterations"], 1) for m in runs]
        memory = [m["peak_mib"] for m in runs]
        fits[name] = (n, (step, slope(step)), (iteration, slope(iteration)), (memory, slope(memory, 20_000)))
        large = slope(memory, 20_000)
        print(f"| {name} | {n[0]} to {n[-1]} | {slope(step):.2f} | {slope(iteration):.2f} | "
              f"{large:.2f} |" if large == large else
              f"| {name} | {n[0]} to {n[-1]} | {slope(step):.2f} | {slope(iteration):.2f} | – |")
    if not plot:
        return
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
            axis.loglog(n, value, "o-", label=f"{name}: n^{a:.2f}" if a == a else name)
    for axis, what in zip(axes, ("CPU seconds per step", "CPU seconds per Newton iteration", "peak memory, MiB")):
        axis.set(xlabel="vertices", ylabel=what)
        axis.grid(alpha=0.3)
        axis.legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(plot)


def run(binary, scene, threads, shared, values=(), without=()):
    """One run: its resources and statistics, or None with a message where it fails. `without` are lines that the scene file is run without."""
    base = shared if scene.shared else ROOT
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "run"
        path, sets = base / scene.path, [*scene.sets, *values]
        if without and path.suffix == ".toml":
            # a copy, whose paths lead to the same files
            root = path.parent.parent.parent.resolve()
            absolute = lambda text: text.replace("../../", f"{root}/")
            lines = [line for line in path.read_text().splitlines() if line.strip() not in without]
            path, sets = pathlib.Path(folder) / path.name, [absolute(value) for value in sets]
            path.write_text(absolute("\n".join(lines) + "\n"))
        command = [str(binary), "run", str(path), "-o", str(out), "--quiet", "--threads",
                   str(threads), "--steps", str(scene.steps)]
        for value in sets:
            command += ["--set", value]
        if path.suffix == ".txt":
            command += ["--mesh-root", str(shared / "data" / "ipc")]
        process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        errors = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            print(f"{scene.name}: exit {process.returncode}: {errors.strip()[-300:]}", file=sys.stderr)
            return None
        records = [json.loads(line) for line in open(out / "stats.jsonl")]
        info = json.loads((out / "run.json").read_text())
    seconds = {p: sum(r["seconds"][p] for r in records) for p in PHASES + ["total"]}
    return {
        "cpu": usage.ru_utime + usage.ru_stime,
        "wall": seconds["total"],
        "phases": seconds,
        "iterations": sum(r["newton_iterations"] for r in records),
        "linear_iterations": sum(r["linear_iterations"] for r in records),
        "contacts": max((r["max_contacts"] for r in records), default=0),
        "steps": len(records),
        "unconverged": sum(r["outcome"] != "converged" for r in records),
        "peak_mib": usage.ru_maxrss / 1024,
        "run": info,
    }


def median(runs):
    """The runs' medians, figure by figure."""
    of = lambda key: statistics.median(r[key] for r in runs)
    result = {k: of(k) for k in ("cpu", "wall", "iterations", "linear_iterations", "contacts",
                                 "steps", "peak_mib")}
    result["phases"] = {p: statistics.median(r["phases"][p] for r in runs) for p in runs[0]["phases"]}
    return result


def scaling(args):
    """Wall seconds with one and two threads by turns, in total and by phase. A phase that two threads make s times faster
    has the serial share 2/s − 1 by Amdahl's law, from which follows what 16 cores would give."""
    print("| scene | one thread, s | two threads, s | ratio | serial, % | on 16 cores |")
    print("|---" * 6 + "|")
    ratios, by_phase = [], []
    for scene in LARGE:
        if args.only and not any(part in scene.name for part in args.only):
            continue
        if scene.shared and not (args.shared / scene.path).exists():
            print(f"{scene.name}: skipped, {args.shared / scene.path} is absent", file=sys.stderr)
            continue
        runs = {1: [], 2: []}
        for _ in range(args.repeat):
            for threads in runs:
                runs[threads].append(run(args.binary, scene, threads, args.shared))
        if not all(runs[1] + runs[2]):
            continue
        one, two = median(runs[1]), median(runs[2])
        phases = [(one["phases"][p], two["phases"][p]) for p in PHASES]
        phases.append(tuple(m["phases"]["total"] - sum(m["phases"][p] for p in PHASES) for m in (one, two)))
        total = one["phases"]["total"]
        # two threads are never more than twice as fast, and a phase that they slow down is serial
        serial = [min(max(2 * b - a, 0.0), a) for a, b in phases]
        sixteen = sum(s + (a - s) / 16 for s, (a, _) in zip(serial, phases))
        ratios.append(total / two["phases"]["total"])
        # phases that take a hundredth of the time have no ratio to show
        shown = [f"{a / b:.2f}" if a > 0.01 * total and b > 0 else "" for a, b in phases]
        by_phase.append(f"| {scene.name} | " + " | ".join(shown) + " |")
        print(f"| {scene.name} | {total:.2f} | {two['phases']['total']:.2f} | {ratios[-1]:.2f} | "
              f"{100 * sum(serial) / total:.0f} | {total / sixteen:.1f} |", flush=True)
    print("\n| ratios of | " + " | ".join(p.replace("_", " ") for p in PHASES) + " | other |")
    print("|---" * (len(PHASES) + 2) + "|", *by_phase, sep="\n")
    if ratios:
        mean = math.exp(statistics.fmean(map(math.log, ratios)))
        print(f"\none thread over two, {len(ratios)} scenes: geometric mean {mean:.2f}, least {min(ratios):.2f}")


def reference(args):
    """CPU time of the reference codes over that of this build, by way of a build of commit 0442017."""
    if not args.against:
        sys.exit("--reference needs a build of commit 0442017: --against FILE")
    results = []
    for code, scenes in REFERENCE.items():
        print(f"| {code} | iterations before | now | CPU s before | now | before / now | reference / before | reference / now |")
        print("|---|---|---|---|---|---|---|---|")
        all_ratios = []
        for scene in scenes:
            if args.only and not any(part in scene.name for part in args.only):
                continue
            if not (args.shared / scene.path).exists():
                print(f"{scene.name}: skipped, {args.shared / scene.path} is absent", file=sys.stderr)
                continue
            runs = [[], []]
            for _ in range(args.repeat):
                for k, (binary, without) in enumerate([(args.against, UNKNOWN_BEFORE), (args.binary, ())]):
                    runs[k].append(run(binary, scene, 1, args.shared, without=without))
            if not all(runs[0] + runs[1]):
                continue
            before, now = map(median, runs)
            if before["iterations"] != scene.iterations:
                print(f"{args.against}: {before['iterations']:.0f} Newton iterations on {scene.name}, where commit 0442017 takes {scene.iterations}: "
                      "is this a build of that commit? The last two columns are true of no other", file=sys.stderr)
            gain = before["cpu"] / now["cpu"]
            all_ratios.append(scene.ratio * gain)
            print(f"| {scene.name} | {before['iterations']:.0f} | {now['iterations']:.0f} | {before['cpu']:.2f} | {now['cpu']:.2f} | "
                  f"{gain:.2f} | {scene.ratio:.1f} | {scene.ratio * gain:.1f} |", flush=True)
            results.append({"code": code, "scene": scene.name, "before": before, "now": now, "ratio": scene.ratio * gain})
        if all_ratios:
            mean = math.exp(statistics.fmean(map(math.log, all_ratios)))
            print(f"\n{code} over this build, {len(all_ratios)} scenes: geometric mean {mean:.1f}, least {min(all_ratios):.1f}\n")
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
    print("\n| scene | contacts | iterations of B | of A | CPU s of B | of A | B / A |\n|---|---|---|---|---|---|---|")
    for a, b in pairs:
        m, n = a["median"], b["median"]
        print(f"| {a['scene']} | {m['contacts']:.0f} | {n['iterations']:.0f} | {m['iterations']:.0f} | {n['cpu']:.2f} | {m['cpu']:.2f} | "
              f"{n['cpu'] / m['cpu']:.2f} |")
    print(f"\n| geometric means of {len(pairs)} | B / A | A / B |\n|---|---|---|")
    for name, of in figures.items():
        mean = math.exp(statistics.fmean(math.log(of(b) / of(a)) for a, b in pairs)) if pairs else math.nan
        print(f"| {name} | {mean:.3f} | {1 / mean:.3f} |")
    for r in results:
        unconverged = max(run["unconverged"] for run in r["runs"])
        if unconverged:
            print(f"{r['scene']}, {r['build']}: {unconverged} of {r['median']['steps']:.0f} steps above the tolerance")


def main():
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
    args = parser.parse_args()
    if args.scaling:
        return scaling(args)
    if args.reference:
        return reference(args)

    builds = [(args.binary, [])]
    if args.against or args.values:
        builds.append((args.against or args.binary, args.values))
    results = []
    print("| scene | threads | build | steps | Newton its | contacts | CPU s | wall s | ms/it | "
          "peak MiB | " + " | ".join(p.replace("_", " ") for p in PHASES) + " | other | ratio |")
    print("|---" * (len(PHASES) + 12) + "|")
    for scene in growth() if args.growth else THIN if args.thin else SCENES:
        if args.only and not any(part in scene.name for part in args.only):
            continue
        if scene.shared and not (args.shared / scene.path).exists():
            print(f"{scene.name}: skipped, {args.shared / scene.path} is absent", file=sys.stderr)
            continue
        for threads in args.threads:
            runs = [[] for _ in builds]
            for _ in range(args.repeat):
                for k, (binary, values) in enumerate(builds):
                    runs[k].append(run(binary, scene, threads, args.shared, values))
            medians = [median(r) if all(r) else None for r in runs]
            for k, m in enumerate(medians):
                if m is None:
                    continue
                # how many times faster: than the other build, else than the reference
                ratio = ""
                if k == 0 and len(builds) == 2 and medians[1]:
                    ratio = f"{medians[1]['cpu'] / m['cpu']:.2f}× other"
                elif scene.reference and threads == 1:
                    ratio = f"{scene.reference / m['cpu']:.1f}× reference"
                total = m["phases"]["total"] or 1.0
                share = [100 * m["phases"][p] / total for p in PHASES]
                print(f"| {scene.name} | {threads} | {'AB'[k]} | {m['steps']:.0f} | {m['iterations']:.0f} | "
                      f"{m['contacts']:.0f} | {m['cpu']:.2f} | {m['wall']:.2f} | "
                      f"{1e3 * m['wall'] / max(m['iterations'], 1):.2f} | {m['peak_mib']:.0f} | "
                      + " | ".join(f"{s:.0f} %" for s in share)
                      + f" | {100 - sum(share):.0f} % | {ratio} |", flush=True)
                results.append({"scene": scene.name, "threads": threads, "build": "AB"[k],
                                "binary": str(builds[k][0]), "values": builds[k][1],
                                "least_cpu": min(r["cpu"] for r in runs[k]), "reference_cpu": scene.reference, "median": m,
                                "runs": runs[k]})
    if args.growth:
        exponents([r for r in results if r["build"] == "A"], args.plot)
    of_reference = [r["reference_cpu"] / r["median"]["cpu"] for r in results
                    if r["reference_cpu"] and r["threads"] == 1 and r["build"] == "A"]
    if of_reference:
        mean = math.exp(statistics.fmean(map(math.log, of_reference)))
        print(f"\nCPU seconds of the reference over ours, {len(of_reference)} scenes: "
              f"geometric mean {mean:.2f}, least {min(of_reference):.2f}")
    if len(builds) == 2:
        means(results)
    if args.output:
        args.output.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
