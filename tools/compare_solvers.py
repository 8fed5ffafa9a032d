#!/usr/bin/env python3
"""Runs scenes with the barrier and with the barrier-free solver and tabulates both.

    cargo build --release
    tools/compare_solvers.py target/release/standoff out/compare               # the table
    tools/compare_solvers.py target/release/standoff out/compare --convergence # trajectories as ε, δ, h shrink
    tools/compare_solvers.py target/release/standoff out/compare --ablation    # parts of the method off, and settings
    tools/compare_solvers.py target/release/standoff out/compare --growth      # constraints as δ grows past the triangles
    tools/compare_solvers.py target/release/standoff out/compare --fallback    # steps that the barrier finishes
    tools/compare_solvers.py target/release/standoff out/compare --bound       # what cheaper linear systems could save at most

All but the last run the barrier-free method alone (`solver.barrier_free.fallback = "none"`).

Both solvers have the same velocity tolerance, below which the last Newton direction of every step is, with its
step taken in full; steps that end otherwise are counted as unconverged. CPU seconds are user + system time of the process on one thread.
The distance of two trajectories is the root mean square over the vertices of all deformable bodies at the last common
frame, over the diagonal of their bounding box at the start. Scenes of the IPC 2020 reference are read
from `testdata` (`--shared`). Tables are Markdown, on
standard output; every run stays in OUT with its `stats.jsonl`.

Needs numpy and meshio.
"""
import argparse, json, math, os, pathlib, shutil, subprocess, sys, threading

import meshio
import numpy

ROOT = pathlib.Path(__file__).resolve().parent.parent
FREE, BARRIER = "barrier-free", "barrier"

# name, file, steps, replaced values; `shared:` is relative to the shared folder
SCENES = [
    ("chain-rings", "scenes/stress/chain-rings.toml", 60, ()),
    ("chain-rings, h 0.04 s", "scenes/stress/chain-rings.toml", 20, ("time.step=0.04",)),
    ("funnel", "scenes/stress/funnel.toml", 80, ()),
    ("funnel, h 0.04 s", "scenes/stress/funnel.toml", 40, ("time.step=0.04",)),
    ("ball-on-plate", "scenes/stress/ball-on-plate.toml", 40, ()),
    ("animal-well", "scenes/stress/animal-well.toml", 24, ()),
    ("twisted-rods", "scenes/stress/twisted-rods.toml", 100, ()),
    ("stiff-stack", "scenes/stress/stiff-stack.toml", 100, ()),
    ("matKnives", "shared:reference/ipc/matKnives/scene.txt", 10, ()),
    ("mat40Twist", "shared:reference/ipc/mat40Twist/scene.txt", 50, ()),
    ("twisted-mat", "scenes/twisted-mat.toml", 40, ()),
    ("ball-on-needles", "scenes/ball-on-needles.toml", 40, ()),
    ("rollers", "scenes/rollers.toml", 40, ()),
    ("cube-stack", "scenes/unit/cube-stack.toml", 60, ()),
    ("cloth-on-needles", "scenes/codim/cloth-on-needles.toml", 20, ()),
    ("granules-on-cloth", "scenes/codim/granules-on-cloth.toml", 10, ()),
]


class Result:
    """Reports of a run and where its frames are."""

    def __init__(self, folder, cpu, error):
        self.folder, self.cpu, self.error = folder, cpu, error
        stats = folder / "stats.jsonl"
        self.reports = [json.loads(line) for line in open(stats)] if stats.exists() else []

    def sum(self, key, steps=None):
        return sum(r[key] for r in self.reports[:steps])

    def systems(self, steps=None):
        """Linear systems solved: one per Newton iteration unless the report counts them."""
        return sum(r["linear_solves"] or r["newton_iterations"] for r in self.reports[:steps])

    def gap(self):
        return min((r["min_gap"] for r in self.reports if r["min_gap"]), default=math.nan)

    def contacts(self):
        return max((r["max_contacts"] for r in self.reports), default=0)

    def bad(self):
        return sum(r["outcome"] != "converged" for r in self.reports)

    def positions(self, step):
        """Vertices of the deformable bodies at the end of a step (0 for the start), or None."""
        path = self.folder / "frames" / f"{step:06d}.vtu"
        if not path.exists():
            return None
        bodies = json.loads((self.folder / "run.json").read_text())["bodies"]
        points = meshio.read(path).points
        parts = [points[b["first_vertex"]:b["first_vertex"] + b["vertices"]] for b in bodies if not b["obstacle"]]
        return numpy.concatenate(parts)


def run(args, name, path, method, steps, sets=(), tag="", fallback="none"):
    """One run on one thread, stopped after `--limit` CPU seconds."""
    shared = path.startswith("shared:")
    scene = args.shared / path.removeprefix("shared:") if shared else ROOT / path
    if not scene.exists():
        print(f"{name}: skipped, {scene} is absent", file=sys.stderr)
        return None
    folder = args.out / "".join(c if c.isalnum() or c in "-." else "_" for c in f"{name}-{method}{tag}")
    shutil.rmtree(folder, ignore_errors=True)
    command = [str(args.binary), "run", str(scene), "-o", str(folder), "--quiet", "--threads", "1",
               "--steps", str(steps), "--solver", method]
    own = (f'solver.barrier_free.fallback="{fallback}"',) if method == FREE else ()
    for value in ("output.every=1", "output.checkpoint_every=0", *own, *sets):
        command += ["--set", value]
    if shared:
        command += ["--mesh-root", str(args.shared / "data" / "ipc")]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    timer = threading.Timer(args.limit, process.terminate)
    timer.start()
    errors = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    timer.cancel()
    process.returncode = os.waitstatus_to_exitcode(status)
    error = errors.strip().splitlines()[-1] if errors.strip() else ("stopped" if process.returncode else "")
    return Result(folder, usage.ru_utime + usage.ru_stime, error)


def distance(a, b, step):
    """Root mean square distance over the bodies' diagonal at the start; NaN where a frame is missing."""
    start, x, y = a.positions(0), a.positions(step), b.positions(step)
    if start is None or x is None or y is None:
        return math.nan
    return math.sqrt(((x - y) ** 2).sum(axis=1).mean()) / numpy.linalg.norm(start.max(axis=0) - start.min(axis=0))


def compare(args):
    print("| scene | steps | Newton its | ratio | linear systems | ratio | CPU s | ratio | smallest gap, m | "
          "contacts | distance | unconverged |")
    print("|---|---|---|---|---|---|---|---|---|---|---|---|")
    for name, path, steps, sets in SCENES:
        if args.only and not any(part in name for part in args.only):
            continue
        free, barrier = (run(args, name, path, m, steps, (*sets, *args.set)) for m in (FREE, BARRIER))
        if not free or not barrier:
            continue
        common = min(len(free.reports), len(barrier.reports))
        pair = lambda f: (f(barrier), f(free))
        def both(count):
            b, f = count(barrier), count(free)
            return f"{b} / {f} | {b / max(f, 1):.2f}"
        note = "".join(f" ({m} after {len(r.reports)}: {r.error})" for m, r in ((BARRIER, barrier), (FREE, free))
                       if len(r.reports) < steps)
        cpu = pair(lambda r: r.cpu)
        ratio = f"{cpu[0] / cpu[1]:.2f}" if len(free.reports) == len(barrier.reports) else "–"
        print(f"| {name} | {common}{note} | {both(lambda r: r.sum('newton_iterations', common))} | "
              f"{both(lambda r: r.systems(common))} | "
              f"{cpu[0]:.1f} / {cpu[1]:.1f} | {ratio} | {barrier.gap():.1e} / {free.gap():.1e} | "
              f"{barrier.contacts()} / {free.contacts()} | {distance(barrier, free, common):.1e} | "
              f"{barrier.bad()} / {free.bad()} |", flush=True)


# scenes in which the method alone does not converge, and some in which it does
FALLBACK_SCENES = [
    ("cloth-stack", "scenes/codim/cloth-stack.toml", 25, ()),
    *((f"random scene {n}", f"testdata/cases/soak-{n}.toml", 30, ()) for n in ("02", "09", "11", "12", "18")),
    *(s for s in SCENES if s[0] in ("chain-rings", "funnel", "ball-on-plate", "twisted-rods", "stiff-stack", "rollers",
                                    "cloth-on-needles", "granules-on-cloth")),
]


def fallback(args):
    """The default settings: how many steps the barrier finished for the barrier-free solver."""
    print("| scene | steps | finished by the barrier | Newton its | linear systems | CPU s | unconverged |")
    print("|---|---|---|---|---|---|---|")
    for name, path, steps, sets in FALLBACK_SCENES:
        if args.only and not any(part in name for part in args.only):
            continue
        free, barrier = (run(args, name, path, m, steps, (*sets, *args.set), "-fallback", "barrier")
                         for m in (FREE, BARRIER))
        finished = sum(r["fallback"] is not None for r in free.reports)
        both = lambda f: f"{f(barrier)} / {f(free)}"
        print(f"| {name} | {both(lambda r: len(r.reports))} | {finished} | {both(lambda r: r.sum('newton_iterations'))} | "
              f"{both(lambda r: r.systems())} | {barrier.cpu:.1f} / {free.cpu:.1f} | {both(lambda r: r.bad())} |",
              flush=True)


STACK = ("objects.cloth.array.counts=[1, 6, 1]", "objects.cloth.shape.cells=[20, 20]")
BOUND_SCENES = [
    *(s for s in SCENES if s[0] in ("chain-rings", "funnel", "granules-on-cloth")),
    ("animal-well", "scenes/stress/animal-well.toml", 10, ()),
    ("six cloths", "scenes/codim/cloth-stack.toml", 4, STACK),
]


def bound(args):
    """CPU time of the barrier-free solver if its linear systems cost nothing: a bound for whatever makes them cheaper."""
    print("| scene | steps | Newton its | linear systems | CPU s | ratio | linear systems of barrier-free, s | the rest, s | "
          "barrier / the rest |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name, path, steps, sets in BOUND_SCENES:
        if args.only and not any(part in name for part in args.only):
            continue
        barrier, free = (run(args, name, path, m, steps, (*sets, *args.set), "-bound") for m in (BARRIER, FREE))
        done = min(len(barrier.reports), len(free.reports))
        note = f" (barrier-free after {done}: {free.error})" if done < steps else ""
        systems = sum(r["seconds"][k] for r in free.reports for k in ("symbolic", "factorisation", "solve"))
        rest = free.cpu - systems
        both = lambda f: f"{f(barrier)} / {f(free)}"
        ratios = [f"{barrier.cpu / t:.2f}" if done == steps else "–" for t in (free.cpu, rest)]
        print(f"| {name} | {done}{note} | {both(lambda r: r.sum('newton_iterations', done))} | {both(lambda r: r.systems(done))} | "
              f"{barrier.cpu:.1f} / {free.cpu:.1f} | {ratios[0]} | {systems:.1f} | {rest:.1f} | {ratios[1]} |", flush=True)


# scene, steps and the values from which h and δ are halved
CONVERGENCE = [
    ("ball-on-needles", "scenes/ball-on-needles.toml", 0.2, 0.01, 4e-4),
    ("cube-stack", "scenes/unit/cube-stack.toml", 0.4, 0.02, 1e-3),
    ("twisted-mat", "scenes/twisted-mat.toml", 0.8, 0.04, 1e-3),
]


def convergence(args):
    """How far apart the solvers' trajectories are as the velocity tolerance, δ and h shrink, one at a time and together."""
    print("| scene | h, s | δ = d̂, m | velocity tolerance, m/s | Newton its | distance |")
    print("|---|---|---|---|---|---|")
    for name, path, end, h, delta in CONVERGENCE:
        if args.only and not any(part in name for part in args.only):
            continue
        rows = [(h, delta, 1e-2), (h, delta, 1e-4), (h / 2, delta, 1e-4), (h, delta / 4, 1e-4), (h / 2, delta / 4, 1e-4),
                (h / 4, delta / 16, 1e-4)]
        for k, (step, d, speed) in enumerate(rows):
            sets = (f"time.step={step}", f"contact.d_hat={d}", f"solver.velocity_tolerance={speed}")
            steps = round(end / step)
            free, barrier = (run(args, name, path, m, steps, sets, f"-conv{k}") for m in (FREE, BARRIER))
            print(f"| {name} | {step:g} | {d:.1e} | {speed:g} | {barrier.sum('newton_iterations')} / "
                  f"{free.sum('newton_iterations')} | {distance(barrier, free, steps):.1e} |", flush=True)


ABLATION_SCENES = [("chain-rings", "scenes/stress/chain-rings.toml", 45), ("funnel", "scenes/stress/funnel.toml", 60),
                   ("animal-well", "scenes/stress/animal-well.toml", 10)]
ABLATIONS = [
    ("defaults", ()),
    ("without filter", ("filter=false",)),
    ("Γ = 0", ("decay=0",)), ("Γ = 0.5", ("decay=0.5",)), ("Γ = 1", ("decay=1",)),
    ("plain penalty, C = 1", ("multipliers=false",)),
    ("plain penalty, C = 1000", ("multipliers=false", "penalty=1000")),
    ("C = 0.1", ("penalty=0.1",)), ("C = 10", ("penalty=10",)),
    ("K_min = 2, ε = 1e-1", ("min_iterations=2", "tolerance=1e-1")), ("K_min = 2, ε = 1e-2", ("min_iterations=2", "tolerance=1e-2")), ("K_min = 2, ε = 1e-6", ("min_iterations=2", "tolerance=1e-6")),
    ("K_min = 1", ("min_iterations=1",)), ("K_min = 2", ("min_iterations=2",)), ("K_min = 6", ("min_iterations=6",)),
]


def ablation(args):
    """The method without its parts, and its settings; distances are from the defaults at the last frame."""
    print("| scene | variant | steps | Newton its | CPU s | constraints | smallest gap, m | unconverged | "
          "distance from the defaults |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name, path, steps in ABLATION_SCENES:
        if args.only and not any(part in name for part in args.only):
            continue
        default = None
        for k, (variant, sets) in enumerate(ABLATIONS):
            # what does not converge must end
            sets = tuple(f"solver.barrier_free.{s}" for s in sets) + ("solver.max_iterations=500",)
            result = run(args, name, path, FREE, steps, sets, f"-ablation{k}")
            default = default or result
            done = len(result.reports)
            note = f" ({result.error})" if done < steps else ""
            print(f"| {name} | {variant} | {done}{note} | {result.sum('newton_iterations')} | {result.cpu:.1f} | "
                  f"{result.contacts()} | {result.gap():.1e} | {result.bad()} | "
                  f"{distance(default, result, min(done, steps)):.1e} |", flush=True)


def growth(args):
    """Constraints and contacts of a ball that falls, as δ (d̂) grows past the size of its triangles."""
    print("| δ, m | δ / shortest edge | barrier-free: constraints, its, CPU s | barrier: contacts, its, CPU s |")
    print("|---|---|---|---|")
    for delta in (2e-3, 4e-3, 1e-2, 2e-2):
        cells = []
        for method in (FREE, BARRIER):
            result = run(args, "growth", "scenes/stress/fine-ball.toml", method, args.growth_steps,
                         (f"contact.d_hat={delta}", *args.set), f"-{delta}")
            done = len(result.reports)
            note = f", stopped in step {done + 1}: {result.error}" if done < args.growth_steps else ""
            cells.append(f"{result.contacts()}, {result.sum('newton_iterations')}, {result.cpu:.0f}{note}")
        print(f"| {delta:g} | {delta / args.edge:.1f} | {cells[0]} | {cells[1]} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("binary", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--only", nargs="*", default=[], metavar="PART", help="scenes whose name holds this")
    parser.add_argument("--limit", type=float, default=600.0, help="seconds after which a run is stopped")
    parser.add_argument("--convergence", action="store_true")
    parser.add_argument("--ablation", action="store_true")
    parser.add_argument("--growth", action="store_true")
    parser.add_argument("--fallback", action="store_true")
    parser.add_argument("--bound", action="store_true")
    parser.add_argument("--growth-steps", type=int, default=12)
    parser.add_argument("--edge", type=float, default=16.3e-3, help="shortest edge of the ball of --growth, m")
    parser.add_argument("--set", nargs="*", default=[], help="replaced values of the scenes of the table, and of --growth")
    parser.add_argument("--shared", type=pathlib.Path, default=ROOT / "testdata")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    chosen = [f for f in (convergence, ablation, growth, fallback, bound) if getattr(args, f.__name__)]
    task = chosen[0] if chosen else compare
    task(args)


if __name__ == "__main__":
    main()
