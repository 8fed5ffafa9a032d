#!/usr/bin/env python3
"""Runs the scenes of the papers at the papers' size, in pieces.

    tools/papers.py list                        # the scenes, with the figure, what the paper prints of it, and what has been run
    tools/papers.py run NAME ... [--hours H | --seconds S] [--threads N]
    tools/papers.py check NAME ...              # whether the scenes can start, and what memory they need
    tools/papers.py report                      # writes the pages of the gallery from docs/at-size.json and what --out has

`run` starts each of the scenes, or continues it from its last checkpoint, and stops it after H hours or S seconds, with a checkpoint, once the step that
is being computed has ended; a step that takes another --grace seconds is given up, and the next call repeats it. The same happens on Ctrl-C.
The frames of the whole run are then audited, and docs/at-size.json has the steps so far, the most contacts, seconds, memory, the result of
the audit and, after the last step, whether the run shows what the scene expects. A scene whose meshes are neither in testdata nor in the shared data is skipped with the reason. The exit code is 1 if a run ended otherwise than
at its end or at the limit, or the audit found something.

NAME may be a pattern such as 'stack-*'. Runs are in --out/NAME; remove a folder to start over. The scenes are in tools/data/at-size.toml.
"""
import argparse, fnmatch, json, pathlib, re, signal, sys, time

import gallery
from standoff_tools import ROOT, at_size, stats
from standoff_tools.run import Refused, checked, commit, measure
from standoff_tools.tables import head, row

# why a run has ended, for the signals that ask it to
ASKED = (130, 143, -signal.SIGTERM, -signal.SIGINT, -signal.SIGKILL)


class Asked:
    """Passes Ctrl-C and SIGTERM on to the run, which ends after its step; no other run is started then."""

    def __init__(self):
        self.process, self.ended = None, False
        for name in (signal.SIGINT, signal.SIGTERM):
            signal.signal(name, self.end)

    def end(self, *_):
        self.ended = True
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)

    def started(self, process):
        self.process = process


def piece(args, scene, asked):
    """Runs a scene from where it is; the sessions so far, or `None` if it has ended before."""
    out, clock = args.out / scene.name, args.out / f"{scene.name}.json"
    arguments = scene.arguments(args.out)
    options = ["--quiet", *(["--threads", args.threads] if args.threads else [])]
    kept = json.loads(clock.read_text()) if clock.exists() else {}
    if (out / "checkpoints").is_dir() and kept.get("arguments") != arguments:
        sys.exit(f"{scene.name}: the scene has changed since the run in {out} was started; remove that folder")
    if (out / "checkpoints").is_dir():
        if len(stats.reports(out)) >= kept["of"]:
            return None
        command = [args.binary, "resume", out, *options]
    else:
        kept = {"arguments": arguments, "sessions": [], **checked(args.binary, arguments)}
        every = ["--set", f"output.every={scene.entry.get('every', 1)}", "--set", "output.checkpoint_every=1"]
        command = [args.binary, "run", *arguments, *every, "-o", out, "--force", *options]
    limit = args.hours * 3600 if args.hours else args.seconds
    done = measure(command, seconds=limit, end_by=signal.SIGTERM, grace=args.grace, on_start=asked.started, apart=True)
    kept["sessions"].append({"seconds": round(done.wall, 1), "cpu": round(done.cpu, 1), "mib": round(done.peak_mib), "code": done.code,
                             "steps": len(stats.reports(out)), "threads": args.threads, "message": done.last_line() if done.code not in (0, *ASKED) else ""})
    clock.write_text(json.dumps(kept, indent=1))
    return kept


def audit(args, scene):
    """The last line that the audit prints, and the number of frames that it has read."""
    done = measure([args.binary, "audit", args.out / scene.name])
    line = (done.printed.strip().splitlines() or [done.last_line()])[-1]
    frames = re.search(r"(\d+) frames?", line)
    return {"audit": "clean" if done.code == 0 else line.split(": ", 1)[-1][:200], "frames": int(frames[1]) if frames else 0}


def shown(args, scene):
    """Whether a run to the end shows what the scene says of itself; `None` for a scene that says nothing."""
    if "expect" not in (args.out / scene.name / "scene.resolved.toml").read_text():
        return None
    done = measure([args.binary, "resume", args.out / scene.name, "--expect", "--quiet"])
    return done.code == 0 or done.error[:300]


def slowest(reports):
    """The step that took the longest: its number, what it had to do, and its three longest phases."""
    worst = max(reports, key=lambda r: r["seconds"]["total"])
    phases = sorted((s, phase) for phase, s in worst["seconds"].items() if phase != "total")[:-4:-1]
    return {"step": worst["step"], "seconds": round(worst["seconds"]["total"], 1), "iterations": worst["newton_iterations"], "contacts": worst["max_contacts"],
            "phases": {phase: round(s, 1) for s, phase in phases}, "cuts": {what: n for what, n in worst["step_cuts"].items() if n}}


def figures(out, scene, kept):
    """The figures of a run so far."""
    sessions, reports = kept["sessions"], stats.reports(out)
    last = sessions[-1]
    found = {
        "command": scene.command(), "steps": len(reports), "of": kept["of"], "finished": len(reports) >= kept["of"],
        "vertices": sum(b["vertices"] for b in stats.info(out)["bodies"]), "tets": kept["tets"], "elements": kept["elements"], "memory_estimate": kept["memory"],
        "sessions": len(sessions), "seconds": round(sum(s["seconds"] for s in sessions), 1), "cpu": round(sum(s["cpu"] for s in sessions), 1),
        "memory_mib": max(s["mib"] for s in sessions), "threads": last["threads"], "contacts": stats.contacts(reports),
        "iterations": stats.iterations(reports), "most_iterations": stats.most(reports, "newton_iterations"),
        "unclean": stats.unconverged(reports), "message": last["message"][:300],
    }
    return found | ({"slowest": slowest(reports)} if reports else {})


def recorded(args, scene, kept):
    """What docs/at-size.json says of a run."""
    record = figures(args.out / scene.name, scene, kept) | {"commit": commit()}
    if record["finished"]:
        record["shown"] = shown(args, scene)
    return record | (audit(args, scene) if record["steps"] else {"audit": "no step", "frames": 0})


def chosen(args):
    """The scenes whose names are given; ends this script where a name fits none."""
    known = at_size.scenes(args.shared)
    for name in args.names:
        if not fnmatch.filter(known, name):
            sys.exit(f"there is no scene {name}: tools/papers.py list names them")
    return [s for name, s in known.items() if any(fnmatch.fnmatchcase(name, n) for n in args.names)]


def run(args):
    asked, fine = Asked(), True
    args.out.mkdir(parents=True, exist_ok=True)
    for scene in chosen(args):
        if asked.ended:
            break
        try:
            kept = piece(args, scene, asked)
        except at_size.Absent as absent:
            print(f"{scene.name}: skipped, {absent}", flush=True)
            continue
        except Refused as refused:
            print(f"{scene.name}: {refused}", flush=True)
            fine = False
            continue
        if kept is None:
            print(f"{scene.name}: all steps have been computed", flush=True)
            continue
        record = recorded(args, scene, kept)
        # read and written after every run, so that an interrupted command keeps what it has done
        at_size.save(at_size.records() | {scene.name: record})
        fine &= not record["message"] and record["audit"] in ("clean", "no step")
        print(f"{scene.name}: {record['steps']} of {record['of']} steps in {record['seconds']:.0f} s, audit {record['audit']} {record['message']}", flush=True)
    return 0 if fine else 1


def report(args):
    """Reads the runs of the folder again, where there are any, and writes the pages."""
    records = at_size.records()
    for name, scene in at_size.scenes(args.shared).items():
        clock = args.out / f"{name}.json"
        if name in records and clock.exists() and (args.out / name).is_dir():
            records[name] |= figures(args.out / name, scene, json.loads(clock.read_text()))
    at_size.save(records)
    gallery.write(False)
    return 0


def check(args):
    args.out.mkdir(parents=True, exist_ok=True)
    for scene in chosen(args):
        try:
            start = time.perf_counter()
            found = checked(args.binary, scene.arguments(args.out))
            print(f"{scene.name}: {found} ({time.perf_counter() - start:.1f} s)", flush=True)
        except at_size.Absent as absent:
            print(f"{scene.name}: skipped, {absent}", flush=True)
        except Refused as refused:
            print(f"{scene.name}: {refused}", flush=True)
    return 0


def listed(args):
    places, records = gallery.places_at_size(gallery.load()), at_size.records()
    head("scene", "figure", "in the paper", "run")
    for name, scene in at_size.scenes(args.shared).items():
        figures = "; ".join(place for place, _ in places.get(name, ()))
        printed = gallery.amounts(next((paper for _, paper in places.get(name, ()) if paper), {}), True)
        record = records.get(name)
        row(name, figures, printed, f"{record['steps']} of {record['of']} steps" if record else "–")
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    kinds = parser.add_subparsers(dest="kind", required=True)
    folder = lambda p: pathlib.Path(p).resolve()
    for kind in ("list", "run", "check", "report"):
        own = kinds.add_parser(kind)
        own.add_argument("--shared", type=folder, default=ROOT.parent / "shared", help="folder with the shared data, ../shared by default")
        own.add_argument("--out", type=folder, default=ROOT / "out" / "papers", help="folder of the runs, out/papers by default")
        if kind in ("run", "check"):
            own.add_argument("names", nargs="+", metavar="NAME")
            own.add_argument("--binary", type=folder, default=ROOT / "target" / "release" / "standoff")
        if kind == "run":
            limit = own.add_mutually_exclusive_group()
            limit.add_argument("--hours", type=float, help="wall time for each scene")
            limit.add_argument("--seconds", type=float, help="the same in seconds; without a limit a scene runs to its end")
            own.add_argument("--grace", type=float, default=600, help="seconds that a step may take beyond the limit")
            own.add_argument("--threads", type=int, help="all cores by default")
    args = parser.parse_args()
    if args.kind in ("run", "check") and not args.binary.is_file():
        sys.exit(f"{args.binary} is absent: build it with `cargo build --release -p standoff-cli`, or name another one with --binary")
    sys.exit({"list": listed, "run": run, "check": check, "report": report}[args.kind](args))


if __name__ == "__main__":
    main()
