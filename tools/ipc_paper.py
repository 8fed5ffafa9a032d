#!/usr/bin/env python3
"""The examples of the IPC paper [Li 2020]: Figure 23, Table 1 and more of its scenes.

    tools/ipc_paper.py run BINARY testdata OUT [NAME ...] [--seconds S] [--steps N]
    tools/ipc_paper.py table OUT
    tools/ipc_paper.py check

`run` computes the examples named (all without one; patterns like 'table-1-*') as far as S seconds of
wall time each allow, with the audit at every step; called again it continues where it stopped. `table` reads
what OUT holds, brings `docs/ipc-paper.json` up to date and writes the tables of `docs/src/validation/ipc-2020.md`
from it, between their marks. Runs that OUT does not hold keep their figures. `check` has exit code 1 if the tables differ from the file.

Seconds are CPU time (user and system) of one thread, parsing and output included.
"""
import argparse, fnmatch, json, pathlib, re, resource, subprocess, sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FIGURES, PAGE = ROOT / "docs" / "ipc-paper.json", ROOT / "docs" / "src" / "validation" / "ipc-2020.md"
PAPER, OTHER = "paperExamples/", "otherExamples/"


def example(scene, steps, every, paper=None, table="figure-23", label=None, sets=()):
    """`paper`: mean and greatest contacts, seconds and iterations per step, as printed there."""
    return dict(scene=scene, steps=steps, every=every, paper=paper, table=table, label=label, sets=sets)


EXAMPLES = {
    # Figure 23
    "ball-on-points": example(PAPER + "2_spherePoints", 200, 10, ("126", "182", 2.8, 6.6), label="Ball on points"),
    "mat-on-knives": example(PAPER + "2_matKnives", 150, 10, ("291", "472", 1.4, 5.5), label="Mat on knives"),
    "pin-cushion": example(PAPER + "17_pinCushionBall", 200, 10, ("317", "496", 3.7, 9.5), label="Pin-cushion compress"),
    "rods-twist": example(PAPER + "4_rodsTwist", 4000, 10, ("243K", "498K", 141.5, 14.1), label="Rods twist (100 s)"),
    "roller-ball": example(PAPER + "8_rollerBall", 1000, 10, ("2.3K", "5.6K", 63.3, 58.6), label="Ball mesh roller"),
    "arch": example(PAPER + "7_masonryArch", 2000, 100, ("101", "118", 0.05, 5.7), label="Cement arch"),
    # further scenes of the paper, without figures in it
    "arch-0.2": example(PAPER + "7_masonryArch", 2000, 25, table="further",
                        label="Cement arch, μ = 0.2, one update of friction", sets=("friction.coefficient=0.2", "friction.lagging=1")),
    "arch-creep": example(PAPER + "7_masonryArch", 2000, 100, table="further", label="Cement arch, ε_v a tenth",
                          sets=("friction.stick_speed=5.960681624857896e-5",)),
    "mat40-twist": example(PAPER + "21_scalability/mat40x40_twist", 250, 5, table="further", label="Mat twist, 40 × 40"),
    "mat100-twist": example(PAPER + "21_scalability/mat100x100_twist", 250, 5, table="further", label="Mat twist, 100 × 100"),
    "armadillo13k-twist": example(PAPER + "21_scalability/armadillo13K_twist", 400, 5, table="further", label="Armadillo twist, 13K nodes"),
    "point-roller": example(PAPER + "18_pointRollerBall", 1000, 10, table="further", label="Ball in rollers of points"),
    "segment-roller": example(PAPER + "18_segRollerBall", 1000, 10, table="further", label="Ball in rollers of segments"),
    "house-0.2": example(OTHER + "friction/matHouse_sharp0.2", 200, 5, table="further", label="House of boards on edge, μ = 0.2"),
    "house-0.1": example(OTHER + "friction/matHouse_sharp", 200, 5, table="further", label="House of boards on edge, μ = 0.1"),
}
# Table 1: h, mean and greatest contacts, seconds, iterations per step
for h, mean, most, seconds, iterations in (
        ("0.002", "137", "430", 0.29, 2.12), ("0.005", "194", "584", 0.36, 2.37), ("0.01", "269", "707", 0.38, 2.65),
        ("0.025", "435", "1.0K", 0.38, 2.69), ("0.05", "551", "1.2K", 0.46, 3.06), ("0.1", "597", "1.3K", 0.73, 4.75),
        ("0.2", "607", "1.2K", 1.79, 14.37), ("0.5", "653", "1.4K", 11.39, 100.58), ("1", "708", "1.3K", 18.41, 188.17),
        ("2", "843", "1.3K", 52.02, 522.00)):
    steps = round(6 / float(h))
    EXAMPLES[f"table-1-{h}"] = example(PAPER + f"tb1_diffDt/rodsTwist_E1e4_dt{h}", steps, max(1, steps // 30),
                                       (mean, most, seconds, iterations), "table-1", h)


def run(name, binary, shared, out, seconds, steps):
    entry, folder, clock = EXAMPLES[name], out / name, out / f"{name}.cpu.json"
    steps = min(steps or entry["steps"], entry["steps"])
    sessions = json.load(open(clock)) if clock.exists() else []
    if (folder / "checkpoints").is_dir():
        command = [binary, "resume", folder, "--steps", str(steps)]
    else:
        data, sessions = shared / "data" / "ipc", []
        command = [binary, "run", data / "scenes" / f"{entry['scene']}.txt", "-o", folder, "--force",
                   "--mesh-root", data, "--audit", "every-step", "--steps", str(steps)]
        for setting in (f"output.every={entry['every']}", "output.checkpoint_every=1", *entry["sets"]):
            command += ["--set", setting]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    process = subprocess.Popen(command + ["--threads", "1", "--quiet"], stderr=subprocess.PIPE, text=True)
    try:
        message = process.communicate(timeout=seconds)[1].strip()
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        message = ""
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    done = len(records(folder))
    sessions.append({"cpu": round(cpu, 2), "steps": done, "code": process.returncode, "message": message[:400]})
    json.dump(sessions, open(clock, "w"), indent=1)
    print(f"{name}: {done}/{steps} steps, {sum(s['cpu'] for s in sessions):.0f} s of CPU time {message}", flush=True)


def records(folder):
    stats = folder / "stats.jsonl"
    lines = stats.read_text().split("\n")[:-1] if stats.exists() else []
    return [json.loads(line) for line in lines]


def summary(name, out):
    """What the tables need of a run."""
    import pyvista

    folder, clock, steps = out / name, out / f"{name}.cpu.json", records(out / name)
    if not steps or not clock.exists():
        return None
    frame = pyvista.read(folder / "frames" / "000000.vtu")
    tets = frame.extract_cells(frame.celltypes == pyvista.CellType.TETRA)
    sessions = json.load(open(clock))
    gaps = [s["min_gap"] for s in steps if s["min_gap"] is not None]
    n = len(steps)
    commit = subprocess.run(["git", "-C", ROOT, "rev-parse", "--short=7", "HEAD"], capture_output=True, text=True).stdout.strip()
    return {
        "nodes": frame.n_points, "volume_nodes": tets.n_points, "tets": tets.n_cells,
        "h": round(steps[0]["time"], 9), "computed": n, "unclean": sum(s["outcome"] != "converged" for s in steps),
        "message": sessions[-1]["message"],
        "contacts_mean": sum(s["contacts"] for s in steps) / n,
        "contacts_max": max(s["max_contacts"] for s in steps), "min_gap": min(gaps, default=None),
        "iterations": sum(s["newton_iterations"] for s in steps) / n,
        "iterations_max": max(s["newton_iterations"] for s in steps),
        "cpu": sum(s["cpu"] for s in sessions) / max(sessions[-1]["steps"], 1), "commit": commit,
    }


def count(x):
    return f"{x:.0f}" if x < 10_000 else f"{x / 1000:.0f}K"


def table(kind, figures):
    paper = kind != "further"
    head = ["h, s" if kind == "table-1" else "example", "nodes, tetrahedra", "h, s", "steps", "contacts, mean (most)",
            "[Li 2020]", "iterations per step", "[Li 2020]", "s per step", "[Li 2020]", "smallest gap, m"]
    keep = [i for i, h in enumerate(head) if (paper or h != "[Li 2020]") and (kind != "table-1" or i not in (1, 2))]
    rows = [head, ["---"] * len(head)]
    for name, entry in EXAMPLES.items():
        f = figures.get(name)
        if entry["table"] != kind or not f:
            continue
        p = entry["paper"] or ("", "", 0, 0)
        mean = count(f["contacts_mean"]) if "contacts_mean" in f else "–"
        steps = f"{f['computed']} of {entry['steps']}" if f["computed"] < entry["steps"] else f"{f['computed']}"
        rows.append([entry["label"], f"{count(f.get('nodes', 0))}, {count(f.get('tets', 0))}", f"{f['h']:g}", steps,
                     f"{mean} ({count(f['contacts_max'])})", f"{p[0]} ({p[1]})",
                     f"{f['iterations']:.2f}", f"{p[3]:g}", f"{f['cpu']:.2g}" if "cpu" in f else "–", f"{p[2]}",
                     f"{f['min_gap']:.1e}" if f.get("min_gap") else "–"])
    return "\n".join("| " + " | ".join(row[i] for i in keep) + " |" for row in rows)


def tables(out):
    figures = json.load(open(FIGURES)) if FIGURES.exists() else {}
    for name in EXAMPLES:
        if (out / name).is_dir() and (found := summary(name, out)):
            before = figures.get(name, {})
            figures[name] = before if found | {"commit": before.get("commit")} == before else found
            if found["unclean"] or found["message"]:
                print(f"{name}: {found['unclean']} steps did not converge; {found['message']}", file=sys.stderr)
    figures = {name: figures[name] for name in EXAMPLES if name in figures}
    FIGURES.write_text(json.dumps(figures, indent=1) + "\n")
    PAGE.write_text(page(figures))


def page(figures):
    """The text of the page with tables of these figures."""
    text = PAGE.read_text()
    for kind in ("figure-23", "further", "table-1"):
        begin, end = f"<!-- tools/ipc_paper.py: {kind} -->", "\n<!-- end -->"
        current = f"{begin}\n{table(kind, figures)}{end}"
        text = re.sub(f"{re.escape(begin)}.*?{end}", lambda _: current, text, flags=re.S)
    return text


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
commands = parser.add_subparsers(dest="command", required=True)
running = commands.add_parser("run")
running.add_argument("binary")
running.add_argument("shared", type=pathlib.Path)
running.add_argument("out", type=pathlib.Path)
running.add_argument("names", nargs="*")
running.add_argument("--seconds", type=float, help="wall time for each")
running.add_argument("--steps", type=int, help="no more than this many")
tabulating = commands.add_parser("table")
tabulating.add_argument("out", type=pathlib.Path)
commands.add_parser("check")
args = parser.parse_args()
if args.command == "table":
    tables(args.out)
elif args.command == "check":
    if page(json.loads(FIGURES.read_text())) != PAGE.read_text():
        sys.exit(f"the tables of {PAGE.relative_to(ROOT)} differ from {FIGURES.relative_to(ROOT)}")
else:
    args.out.mkdir(parents=True, exist_ok=True)
    for name in EXAMPLES:
        if not args.names or any(fnmatch.fnmatch(name, n) for n in args.names):
            run(name, args.binary, args.shared, args.out, args.seconds, args.steps)
