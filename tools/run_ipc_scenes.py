#!/usr/bin/env python3
"""Runs every scene of a folder's data/ipc/scenes through the importer, a bounded number of steps with
the audit at every step, and prints a table (Markdown).

    tools/run_ipc_scenes.py target/release/standoff testdata OUT [--steps N] [--timeout S] [--only PART ...]
"""
import argparse, math, pathlib

from standoff_tools import stats
from standoff_tools.run import run_scene
from standoff_tools.scenes import chosen
from standoff_tools.tables import head, row


def compute(args, scene, name, root):
    """Runs a scene and returns the cells of its row."""
    out = args.out / name.replace("/", "_")
    done = run_scene(args.binary, scene, out, steps=args.steps or None, threads=args.threads, meshes=root,
                     options=("--audit", "every-step"), seconds=args.timeout)
    outcome = "clean" if done.code == 0 else (done.last_line() or f"exit code {done.code}")[:200]
    if done.stopped:
        outcome = f"stopped after {args.timeout:.0f} s"
    elif done.code == 2:
        return [name, "–", outcome, "", "", "", ""]
    reports = stats.reports(out)
    gap = stats.gap(reports)
    shown = (0, "–") if math.isnan(gap) else (stats.contacts(reports), f"{gap:.1e}")
    return [name, len(reports), outcome, f"{stats.mean(reports, 'newton_iterations'):.2f}", *shown,
            f"{stats.seconds(reports) / max(len(reports), 1):.3f}"]


def main():
    args = arguments()
    root = args.shared / "data" / "ipc"
    head("scene", "steps", "outcome", "iterations/step", "most contacts", "smallest gap, m", "s/step")
    for scene in sorted(root.glob("scenes/**/*.txt")):
        name = str(scene.relative_to(root / "scenes"))[:-4]
        if chosen(name, args.only):
            row(*compute(args, scene, name, root))


def arguments():
    """The command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("shared", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--only", nargs="*", default=[], metavar="PART", help="scenes whose name holds this")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--timeout", type=float, default=300)
    parser.add_argument("--threads", type=int, default=1)
    return parser.parse_args()


if __name__ == "__main__":
    main()
