#!/usr/bin/env python3
"""Runs scenes with the orientation-aware potential and one parameter changed at a time.

    tools/orientation_ablation.py target/release/standoff OUT [--jobs 1] [--only NAME...]

The scenes have contact distances of about the length of their edges or more, so that the parameters matter. Prints a table
(Markdown): Newton iterations of each scene, and their geometric mean relative to the default parameters. Writes OUT/ablation.json. A number in brackets counts steps above the tolerance; a
dash is a run that has ended early, whose message is in the file."""
import argparse, concurrent.futures, json, pathlib

from standoff_tools import stats
from standoff_tools.run import run_scene
from standoff_tools.scenes import scenes
from standoff_tools.tables import geometric_mean, head, row

SCENES = {scene.name: scene for scene in scenes("ablation-scenes", "scenes")}
DEFAULT = {"alpha": 0.5, "beta": 0.0, "exterior_alpha": 0.1, "exterior_beta": 0.0}
CHANGES = [("alpha", 0.05), ("alpha", 0.1), ("alpha", 0.2), ("alpha", 0.8), ("alpha", 1.0), ("beta", 0.1), ("beta", 0.3),
           ("exterior_alpha", 0.01), ("exterior_alpha", 0.5), ("exterior_beta", 0.1)]
SYMBOLS = {"alpha": "α", "beta": "β", "exterior_alpha": "α′", "exterior_beta": "β′"}


def run(binary, out, name, change):
    """Iterations and steps above the tolerance of one run."""
    scene = SCENES[name]
    folder = out / f"{name}-{'-'.join(map(str, change)) or 'default'}".replace(" ", "-")
    settings = {**DEFAULT, **dict([change] if change else [])}
    table = ", ".join(f"{k} = {v}" for k, v in settings.items())
    sets = [*scene.sets, "solver.method=barrier", "contact.potential=orientation-aware", f"contact.orientation={{ {table} }}"]
    done = run_scene(binary, scene.path(None), folder, sets=sets, steps=scene.steps)
    reports = stats.reports(folder)
    return {"scene": name, "change": change, "steps": len(reports), "wanted": scene.steps, "iterations": stats.iterations(reports),
            "unconverged": stats.unconverged(reports), "contacts": stats.contacts(reports), "seconds": stats.seconds(reports),
            "message": done.error[-300:]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("binary", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--only", nargs="*", default=list(SCENES))
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    todo = [(name, change) for change in [()] + CHANGES for name in args.only]
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        results = list(pool.map(lambda t: run(args.binary, args.out, *t), todo))
    (args.out / "ablation.json").write_text(json.dumps(results, indent=1) + "\n")
    of = {(r["scene"], tuple(r["change"])): r for r in results}

    def cell(r):
        if r["steps"] < r["wanted"]:
            return "–"
        return f"{r['iterations']}" + (f" ({r['unconverged']})" if r["unconverged"] else "")

    head("parameters", *args.only, "relative")
    for change in [()] + CHANGES:
        rows = [of[name, tuple(change)] for name in args.only]
        pairs = [(r, of[r["scene"], ()]) for r in rows]
        whole = [(a["iterations"], b["iterations"]) for a, b in pairs if a["steps"] == b["steps"] == a["wanted"]]
        mean = geometric_mean(a / b for a, b in whole)
        label = f"{SYMBOLS[change[0]]} = {change[1]}" if change else "default"
        row(label, *map(cell, rows), f"{mean:.2f}")


if __name__ == "__main__":
    main()
