#!/usr/bin/env python3
"""The examples of the IPC paper [Li 2020]: Figure 23, Table 1 and more of its scenes.

    tools/ipc_paper.py run BINARY testdata OUT [NAME ...] [--seconds S] [--steps N]
    tools/ipc_paper.py table OUT
    tools/ipc_paper.py check

`run` computes the examples named (all without one; patterns like 'table-1-*') as far as S seconds of
wall time each allow, with the audit at every step; called again it continues where it stopped. `table` reads
what OUT holds, brings `docs/ipc-paper.json` up to date and writes the tables of `docs/src/validation/ipc-2020.md`
from it, between their marks. Runs that OUT does not hold keep their figures. `check` has exit code 1 if the tables differ from the file.

The examples and the figures of the paper are in tools/data/ipc-paper.json. Seconds are CPU time (user and system) of one thread, parsing and output
included. Needs `pip install pyvista` for `table`.
"""
import argparse, fnmatch, json, pathlib, sys

from standoff_tools import ROOT, data, stats
from standoff_tools.run import commit, measure, scene_command
from standoff_tools.tables import markdown, replaced

FIGURES, PAGE = ROOT / "docs" / "ipc-paper.json", ROOT / "docs" / "src" / "validation" / "ipc-2020.md"
EXAMPLES = data("ipc-paper")["examples"]


def run(name, binary, shared, out, seconds, steps):
    """Computes an example, from where it stopped the last time."""
    entry, folder, clock = EXAMPLES[name], out / name, out / f"{name}.cpu.json"
    steps = min(steps or entry["steps"], entry["steps"])
    sessions = json.loads(clock.read_text()) if clock.exists() else []
    if (folder / "checkpoints").is_dir():
        command = [binary, "resume", folder, "--steps", steps, "--threads", "1", "--quiet"]
    else:
        meshes, sessions = shared / "data" / "ipc", []
        sets = (f"output.every={entry['every']}", "output.checkpoint_every=1", *entry.get("sets", ()))
        command = scene_command(binary, meshes / "scenes" / f"{entry['scene']}.txt", folder, sets=sets, steps=steps, meshes=meshes,
                                options=("--audit", "every-step"))
    done = measure(command, seconds=seconds)
    message, computed = "" if done.stopped else done.error, len(stats.reports(folder))
    sessions.append({"cpu": round(done.cpu, 2), "steps": computed, "code": done.code, "message": message[:400]})
    clock.write_text(json.dumps(sessions, indent=1))
    print(f"{name}: {computed}/{steps} steps, {sum(s['cpu'] for s in sessions):.0f} s of CPU time {message}", flush=True)


def summary(name, out):
    """What the tables need of a run."""
    folder, clock, steps = out / name, out / f"{name}.cpu.json", stats.reports(out / name)
    if not steps or not clock.exists():
        return None
    import pyvista

    frame = pyvista.read(folder / "frames" / "000000.vtu")
    tets = frame.extract_cells(frame.celltypes == pyvista.CellType.TETRA)
    sessions = json.loads(clock.read_text())
    gaps = [s["min_gap"] for s in steps if s["min_gap"] is not None]
    return {
        "nodes": frame.n_points, "volume_nodes": tets.n_points, "tets": tets.n_cells,
        "h": round(steps[0]["time"], 9), "computed": len(steps), "unclean": stats.unconverged(steps),
        "message": sessions[-1]["message"],
        "contacts_mean": stats.mean(steps, "contacts"),
        "contacts_max": stats.contacts(steps), "min_gap": min(gaps, default=None),
        "iterations": stats.mean(steps, "newton_iterations"),
        "iterations_max": stats.most(steps, "newton_iterations"),
        "cpu": sum(s["cpu"] for s in sessions) / max(sessions[-1]["steps"], 1), "commit": commit(),
    }


def count(x):
    return f"{x:.0f}" if x < 10_000 else f"{x / 1000:.0f}K"


def table(kind, figures):
    paper = kind != "further"
    head = ["h, s" if kind == "table-1" else "example", "nodes, tetrahedra", "h, s", "steps", "contacts, mean (most)",
            "[Li 2020]", "iterations per step", "[Li 2020]", "s per step", "[Li 2020]", "smallest gap, m"]
    keep = [i for i, h in enumerate(head) if (paper or h != "[Li 2020]") and (kind != "table-1" or i not in (1, 2))]
    rows = [head]
    for name, entry in EXAMPLES.items():
        f = figures.get(name)
        if entry["table"] != kind or not f:
            continue
        p = entry.get("paper") or ("", "", 0, 0)
        mean = count(f["contacts_mean"]) if "contacts_mean" in f else "–"
        steps = f"{f['computed']} of {entry['steps']}" if f["computed"] < entry["steps"] else f"{f['computed']}"
        rows.append([entry["label"], f"{count(f.get('nodes', 0))}, {count(f.get('tets', 0))}", f"{f['h']:g}", steps,
                     f"{mean} ({count(f['contacts_max'])})", f"{p[0]} ({p[1]})",
                     f"{f['iterations']:.2f}", f"{p[3]:g}", f"{f['cpu']:.2g}" if "cpu" in f else "–", f"{p[2]}",
                     f"{f['min_gap']:.1e}" if f.get("min_gap") else "–"])
    return markdown([row[i] for i in keep] for row in rows)


def tables(out):
    figures = json.loads(FIGURES.read_text()) if FIGURES.exists() else {}
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
        text = replaced(text, f"<!-- tools/ipc_paper.py: {kind} -->", table(kind, figures))
    return text


def main():
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


if __name__ == "__main__":
    main()
