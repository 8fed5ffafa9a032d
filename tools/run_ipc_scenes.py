#!/usr/bin/env python3
"""Runs every scene of a folder's data/ipc/scenes through the importer, a bounded number of steps with
the audit at every step, and prints a table (Markdown).

    tools/run_ipc_scenes.py target/release/standoff testdata OUT [--steps N] [--timeout S] [--only PART ...]
"""
import argparse, json, pathlib, subprocess, time

parser = argparse.ArgumentParser()
parser.add_argument("binary")
parser.add_argument("shared", type=pathlib.Path)
parser.add_argument("out", type=pathlib.Path)
parser.add_argument("--only", nargs="*", default=[], metavar="PART", help="scenes whose name holds this")
parser.add_argument("--steps", type=int, default=20)
parser.add_argument("--timeout", type=float, default=300)
parser.add_argument("--threads", type=int, default=1)
args = parser.parse_args()

root = args.shared / "data" / "ipc"
print("| scene | steps | outcome | iterations/step | most contacts | smallest gap, m | s/step |")
print("|---|---|---|---|---|---|---|")
for scene in sorted(root.glob("scenes/**/*.txt")):
    name = str(scene.relative_to(root / "scenes"))[:-4]
    if args.only and not any(f in name for f in args.only):
        continue
    target = args.out / name.replace("/", "_")
    command = [args.binary, "run", str(scene), "-o", str(target), "--force", "--quiet", "--threads",
               str(args.threads), "--mesh-root", str(root), "--audit", "every-step"]
    if args.steps:
        command += ["--steps", str(args.steps)]
    start = time.time()
    try:
        run = subprocess.run(command, capture_output=True, text=True, timeout=args.timeout)
        outcome = "clean" if run.returncode == 0 else (run.stderr.strip().splitlines() or [f"exit code {run.returncode}"])[-1][:200]
        code = run.returncode
    except subprocess.TimeoutExpired:
        outcome, code = f"stopped after {args.timeout:.0f} s", None
    if code == 2:
        print(f"| {name} | – | {outcome} | | | | |", flush=True)
        continue
    stats = target / "stats.jsonl"
    records = [json.loads(line) for line in open(stats)] if stats.exists() else []
    n = max(len(records), 1)
    gaps = [r["min_gap"] for r in records if r["min_gap"] is not None]
    print(f"| {name} | {len(records)} | {outcome} | {sum(r['newton_iterations'] for r in records) / n:.2f} | "
          f"{max((r['max_contacts'] for r in records), default=0)} | "
          f"{min(gaps):.1e} | " if gaps else
          f"| {name} | {len(records)} | {outcome} | {sum(r['newton_iterations'] for r in records) / n:.2f} | 0 | – | ",
          f"{sum(r['seconds']['total'] for r in records) / n:.3f} |", sep="", flush=True)
