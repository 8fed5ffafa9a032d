#!/usr/bin/env python3
"""Runs scenes with the orientation-aware potential and one parameter changed at a time.

    tools/orientation_ablation.py target/release/standoff OUT [--jobs 1] [--only NAME...]

The scenes have contact distances of about the length of their edges or more, so that the parameters matter. Prints a table
(Markdown): Newton iterations of each scene, and their geometric mean relative to the default parameters. Writes OUT/ablation.json. A number in brackets counts steps above the tolerance; a
dash is a run that has ended early, whose message is in the file."""
import argparse, concurrent.futures, json, math, pathlib, statistics, subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
# scene, steps, values
SCENES = {
    "fine ball": ("orientation/fine-ball", 100, ["objects.ball.shape.layers=6"]),
    "cliff edge": ("orientation/cliff-edge", 200, []),
    "rollers": ("rollers", 60, ["contact.d_hat=0.02"]),
    "mat": ("twisted-mat", 60, ["contact.d_hat=0.02"]),
    "rings": ("orientation/two-rings", 60, ["objects.left.shape.rings=1", "objects.right.shape.rings=1"]),
    "funnel": ("orientation/funnel", 60, ["objects.body.shape.layers=3"]),
    "rods": ("stress/twisted-rods", 40, ["contact.d_hat=0.01"]),
    "χ": ("planar/chi", 110, []),
}
DEFAULT = {"alpha": 0.5, "beta": 0.0, "exterior_alpha": 0.1, "exterior_beta": 0.0}
CHANGES = [("alpha", 0.05), ("alpha", 0.1), ("alpha", 0.2), ("alpha", 0.8), ("alpha", 1.0), ("beta", 0.1), ("beta", 0.3),
           ("exterior_alpha", 0.01), ("exterior_alpha", 0.5), ("exterior_beta", 0.1)]
SYMBOLS = {"alpha": "α", "beta": "β", "exterior_alpha": "α′", "exterior_beta": "β′"}


def run(binary, out, name, change):
    """Iterations and steps above the tolerance of one run."""
    scene, steps, values = SCENES[name]
    folder = out / f"{name}-{'-'.join(map(str, change)) or 'default'}".replace(" ", "-")
    settings = {**DEFAULT, **dict([change] if change else [])}
    table = ", ".join(f"{k} = {v}" for k, v in settings.items())
    sets = [*values, "solver.method=barrier", "contact.potential=orientation-aware", f"contact.orientation={{ {table} }}"]
    command = [str(binary), "run", str(ROOT / f"scenes/{scene}.toml"), "-o", str(folder), "--force", "--quiet", "--threads", "1",
               "--steps", str(steps)]
    for value in sets:
        command += ["--set", value]
    process = subprocess.run(command, capture_output=True, text=True)
    records = [json.loads(line) for line in open(folder / "stats.jsonl")] if (folder / "stats.jsonl").exists() else []
    result = {"scene": name, "change": change, "steps": len(records), "wanted": steps,
              "iterations": sum(r["newton_iterations"] for r in records),
              "unconverged": sum(r["outcome"] != "converged" for r in records),
              "contacts": max((r["max_contacts"] for r in records), default=0),
              "seconds": sum(r["seconds"]["total"] for r in records), "message": process.stderr.strip()[-300:]}
    return result


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

    print("| parameters | " + " | ".join(args.only) + " | relative |\n|---" + "|---" * (len(args.only) + 1) + "|")
    for change in [()] + CHANGES:
        rows = [of[name, tuple(change)] for name in args.only]
        pairs = [(r, of[r["scene"], ()]) for r in rows]
        whole = [(a["iterations"], b["iterations"]) for a, b in pairs if a["steps"] == b["steps"] == a["wanted"]]
        mean = math.exp(statistics.fmean(math.log(a / b) for a, b in whole)) if whole else math.nan
        label = f"{SYMBOLS[change[0]]} = {change[1]}" if change else "default"
        print(f"| {label} | " + " | ".join(map(cell, rows)) + f" | {mean:.2f} |")


if __name__ == "__main__":
    main()
