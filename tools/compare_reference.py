#!/usr/bin/env python3
"""Runs the scenes of testdata/reference/ipc through `standoff run scene.txt` and compares positions
and Newton iterations with the IPC 2020 reference's.

    tools/compare_reference.py target/release/standoff testdata OUT [NAME ...]

Prints a table (Markdown). The column `tolerance` is what the reference's README states: the solver
tolerance times the number of steps, 1e-2 l h n (or tol l h n).
"""
import base64, json, math, pathlib, re, struct, subprocess, sys, time

binary, shared, out = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
names = sys.argv[4:]
reference = shared / "reference" / "ipc"


def positions(frame):
    """Positions of a frame written by Standoff (VTU)."""
    import pyvista

    return pyvista.read(frame).points


def row(name):
    folder, stats = reference / name, json.load(open(reference / name / "stats.json"))
    target = out / name
    start = time.time()
    steps = stats["steps"]
    run = subprocess.run(
        [binary, "run", str(folder / "scene.txt"), "-o", str(target), "--force", "--quiet",
         "--threads", "1", "--mesh-root", str(shared / "data" / "ipc"), "--steps", str(steps),
         "--set", "output.every=1"],
        capture_output=True, text=True, timeout=3000)
    seconds = time.time() - start
    if run.returncode == 2:
        return f"| {name} | not run: {run.stderr.strip()[:150]} |"
    records = [json.loads(line) for line in open(target / "stats.jsonl")]
    iterations = sum(r["newton_iterations"] for r in records)
    wanted = json.load(open(folder / "positions.json"))
    errors = []
    for step in sorted(wanted, key=int):
        frame = target / "frames" / f"{int(step):06}.vtu"
        if not frame.exists():
            errors.append(f"{step}: –")
            continue
        p, q = positions(frame), wanted[step]
        error = max(math.dist(a, b) for a, b in zip(p, q))
        errors.append(f"{step}: {error:.1e}")
    text = open(target / "scene.resolved.toml").read()
    tolerance = float(re.search(r"velocity_tolerance = ([0-9.e+-]+)", text).group(1))
    h = float(re.search(r"step = ([0-9.e+-]+)", text).group(1))
    ips = iterations / max(len(records), 1)
    outcome = "" if run.returncode == 0 else " **" + run.stderr.strip()[:120] + "**"
    return (f"| {name} | {len(records)}/{steps} | {ips:.2f} | {stats['ips']:.2f} | {ips / stats['ips']:.2f} | "
            f"{'; '.join(errors)} | {tolerance * h * int(max(wanted, key=int)):.1e} | {seconds:.1f} | {stats['user']:.1f} |{outcome}")


print("| scene | steps | iterations/step | reference | ratio | largest distance at step | tolerance | s | reference CPU s |")
print("|---|---|---|---|---|---|---|---|---|")
for folder in sorted(reference.iterdir()):
    if not names or folder.name in names:
        try:
            print(row(folder.name), flush=True)
        except Exception as error:  # a comparison tool reports and goes on
            print(f"| {folder.name} | failed: {error} |", flush=True)
