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
from `testdata` (`--shared`), the lists of scenes from tools/data/solver-scenes.json. Tables are Markdown, on
standard output; every run stays in OUT with its `stats.jsonl`.

Needs numpy and the Python package of Standoff (`pip install ./python`).
"""
import argparse, math, pathlib, shutil, signal

from standoff_tools import ROOT, data, stats
from standoff_tools.frames import Frames
from standoff_tools.run import file_name, run_scene
from standoff_tools.scenes import Scene, chosen, present, scenes
from standoff_tools.tables import head, row

FREE, BARRIER = "barrier-free", "barrier"
LIST = "solver-scenes"


class Result:
    """Reports of a run and where its frames are."""

    def __init__(self, folder, cpu, error):
        self.folder, self.cpu, self.error = folder, cpu, error
        self.reports = stats.reports(folder)

    def iterations(self, steps=None):
        return stats.iterations(self.reports[:steps])

    def systems(self, steps=None):
        """Linear systems solved: one per Newton iteration unless the report counts them."""
        return sum(r["linear_solves"] or r["newton_iterations"] for r in self.reports[:steps])

    def gap(self):
        return stats.gap(self.reports)

    def contacts(self):
        return stats.contacts(self.reports)

    def bad(self):
        return stats.unconverged(self.reports)


def run(args, scene, method, sets=(), tag="", fallback="none"):
    """One run on one thread, which ends after `--limit` seconds with the step that it is at."""
    folder = args.out / file_name(f"{scene.name}-{method}{tag}")
    shutil.rmtree(folder, ignore_errors=True)
    own = (f'solver.barrier_free.fallback="{fallback}"',) if method == FREE else ()
    done = run_scene(args.binary, scene.path(args.shared), folder,
                     sets=("output.every=1", "output.checkpoint_every=0", *own, *scene.sets, *sets), steps=scene.steps,
                     meshes=scene.meshes(args.shared), options=("--solver", method), seconds=args.limit, end_by=signal.SIGTERM)
    return Result(folder, done.cpu, done.last_line() or ("stopped" if done.code else ""))


def both(args, scene, sets=(), tag="", fallback="none"):
    """The same scene by the barrier-free solver and by the barrier."""
    return [run(args, scene, method, (*sets, *args.set), tag, fallback) for method in (FREE, BARRIER)]


def distance(a, b, step):
    """Root mean square distance of the deformable vertices at the end of a step over the bodies' diagonal at the start; NaN where a frame is missing."""
    if not (a.folder / "run.json").exists() or not (b.folder / "run.json").exists():
        return math.nan
    import numpy
    a, b = Frames(a.folder), Frames(b.folder)
    start, x, y = a.deformable(0), a.deformable(step), b.deformable(step)
    if start is None or x is None or y is None:
        return math.nan
    return math.sqrt(((x - y) ** 2).sum(axis=1).mean()) / numpy.linalg.norm(start.max(axis=0) - start.min(axis=0))


def pair(of, barrier, free):
    """A figure of both solvers and its ratio."""
    b, f = of(barrier), of(free)
    return f"{b} / {f}", f"{b / max(f, 1):.2f}"


def compare(args):
    head("scene", "steps", "Newton its", "ratio", "linear systems", "ratio", "CPU s", "ratio", "smallest gap, m", "contacts", "distance", "unconverged")
    for scene in present(scenes(LIST, "table"), args.only, args.shared):
        free, barrier = both(args, scene)
        common = min(len(free.reports), len(barrier.reports))
        note = "".join(f" ({m} after {len(r.reports)}: {r.error})" for m, r in ((BARRIER, barrier), (FREE, free))
                       if len(r.reports) < scene.steps)
        ratio = f"{barrier.cpu / free.cpu:.2f}" if len(free.reports) == len(barrier.reports) else "–"
        row(scene.name, f"{common}{note}", *pair(lambda r: r.iterations(common), barrier, free), *pair(lambda r: r.systems(common), barrier, free),
            f"{barrier.cpu:.1f} / {free.cpu:.1f}", ratio, f"{barrier.gap():.1e} / {free.gap():.1e}", f"{barrier.contacts()} / {free.contacts()}",
            f"{distance(barrier, free, common):.1e}", f"{barrier.bad()} / {free.bad()}")


def fallback(args):
    """The default settings: how many steps the barrier finished for the barrier-free solver."""
    head("scene", "steps", "finished by the barrier", "Newton its", "linear systems", "CPU s", "unconverged")
    for scene in present(scenes(LIST, "fallback"), args.only, args.shared):
        free, barrier = both(args, scene, tag="-fallback", fallback="barrier")
        finished = sum(r["fallback"] is not None for r in free.reports)
        row(scene.name, f"{len(barrier.reports)} / {len(free.reports)}", finished, pair(Result.iterations, barrier, free)[0],
            pair(Result.systems, barrier, free)[0], f"{barrier.cpu:.1f} / {free.cpu:.1f}", f"{barrier.bad()} / {free.bad()}")


def bound(args):
    """CPU time of the barrier-free solver if its linear systems cost nothing: a bound for whatever makes them cheaper."""
    head("scene", "steps", "Newton its", "linear systems", "CPU s", "ratio", "linear systems of barrier-free, s", "the rest, s", "barrier / the rest")
    for scene in present(scenes(LIST, "bound"), args.only, args.shared):
        free, barrier = both(args, scene, tag="-bound")
        done = min(len(barrier.reports), len(free.reports))
        note = f" (barrier-free after {done}: {free.error})" if done < scene.steps else ""
        systems = sum(stats.seconds(free.reports, k) for k in ("symbolic", "factorisation", "solve"))
        rest = free.cpu - systems
        ratios = [f"{barrier.cpu / t:.2f}" if done == scene.steps else "–" for t in (free.cpu, rest)]
        row(scene.name, f"{done}{note}", pair(lambda r: r.iterations(done), barrier, free)[0], pair(lambda r: r.systems(done), barrier, free)[0],
            f"{barrier.cpu:.1f} / {free.cpu:.1f}", ratios[0], f"{systems:.1f}", f"{rest:.1f}", ratios[1])


def convergence(args):
    """How far apart the solvers' trajectories are as the velocity tolerance, δ and h shrink, one at a time and together."""
    head("scene", "h, s", "δ = d̂, m", "velocity tolerance, m/s", "Newton its", "distance")
    for entry in data(LIST)["convergence"]:
        if not chosen(entry["name"], args.only):
            continue
        h, delta = entry["step"], entry["d_hat"]
        rows = [(h, delta, 1e-2), (h, delta, 1e-4), (h / 2, delta, 1e-4), (h, delta / 4, 1e-4), (h / 2, delta / 4, 1e-4),
                (h / 4, delta / 16, 1e-4)]
        for k, (step, d, speed) in enumerate(rows):
            sets = (f"time.step={step}", f"contact.d_hat={d}", f"solver.end.velocity={speed}")
            scene = Scene(entry["name"], entry["file"], round(entry["end"] / step), sets)
            free, barrier = (run(args, scene, method, tag=f"-conv{k}") for method in (FREE, BARRIER))
            row(scene.name, f"{step:g}", f"{d:.1e}", f"{speed:g}", pair(Result.iterations, barrier, free)[0],
                f"{distance(barrier, free, scene.steps):.1e}")


def ablation(args):
    """The method without its parts, and its settings; distances are from the defaults at the last frame."""
    head("scene", "variant", "steps", "Newton its", "CPU s", "constraints", "smallest gap, m", "unconverged", "distance from the defaults")
    for scene in present(scenes(LIST, "ablation"), args.only, args.shared):
        default = None
        for k, (variant, sets) in enumerate(data(LIST)["variants"]):
            # what does not converge must end
            sets = (*(f"solver.barrier_free.{s}" for s in sets), "solver.end.max_iterations=500")
            result = run(args, scene, FREE, sets, f"-ablation{k}")
            default = default or result
            done = len(result.reports)
            note = f" ({result.error})" if done < scene.steps else ""
            row(scene.name, variant, f"{done}{note}", result.iterations(), f"{result.cpu:.1f}", result.contacts(), f"{result.gap():.1e}",
                result.bad(), f"{distance(default, result, min(done, scene.steps)):.1e}")


def growth(args):
    """Constraints and contacts of a ball that falls, as δ (d̂) grows past the size of its triangles."""
    head("δ, m", "δ / shortest edge", "barrier-free: constraints, its, CPU s", "barrier: contacts, its, CPU s")
    scene = Scene("growth", "scenes/stress/fine-ball.toml", args.growth_steps)
    for delta in (2e-3, 4e-3, 1e-2, 2e-2):
        cells = []
        for result in both(args, scene, (f"contact.d_hat={delta}",), f"-{delta}"):
            done = len(result.reports)
            note = f", stopped in step {done + 1}: {result.error}" if done < args.growth_steps else ""
            cells.append(f"{result.contacts()}, {result.iterations()}, {result.cpu:.0f}{note}")
        row(f"{delta:g}", f"{delta / args.edge:.1f}", *cells)


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
