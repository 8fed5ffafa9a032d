#!/usr/bin/env python3
"""Runs the cloth on a rotating sphere of the C-IPC 2021 reference and compares iterations, contacts and time.

    tools/compare_cipc.py target/release/standoff OUT [--only PART ...] [--frames N]

Scene and the reference's figures are in testdata/reference/cipc, the meshes in testdata/data/cipc. One thread;
CPU seconds are user + system time of the process. Prints a table (Markdown). Only Python's standard library
is used.
"""
import argparse, json, pathlib, sys

from standoff_tools import ROOT, stats
from standoff_tools.run import file_name, run_scene
from standoff_tools.scenes import chosen
from standoff_tools.tables import head, row

FOLDER = ROOT / "testdata" / "reference" / "cipc"


def run(args, entry):
    """Runs the cloth as an entry of the reference's figures has it and prints a row; whether it came to its end."""
    out = args.out / file_name(entry["name"])
    sets = [f"objects.cloth.mesh='../../data/cipc/{entry['mesh']}'", *args.set]
    if not entry["limit"]:
        sets.append("materials.cotton.shell.stretch_limit=inf")
    frames = min(entry["frames"], args.frames or entry["frames"])
    done = run_scene(args.binary, FOLDER / "cloth-on-rotating-sphere.toml", out, sets=sets, steps=frames)
    if done.code != 0:
        print(f"{entry['name']}: exit code {done.code}: {done.error[-300:]}", file=sys.stderr)
        return False
    reports = stats.reports(out)
    row(entry["name"], f"{len(reports)} of {entry['frames']}", f"{stats.mean(reports, 'newton_iterations'):.1f}", entry["iterations_per_frame"],
        stats.contacts(reports), entry["contacts"], f"{done.cpu:.1f}", entry["seconds"])
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("binary", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--only", nargs="*", default=[], metavar="PART")
    parser.add_argument("--frames", type=int, help="frames at most")
    parser.add_argument("--set", nargs="*", default=[], metavar="KEY=VALUE")
    args = parser.parse_args()
    reference = json.loads((FOLDER / "stats.json").read_text())
    print(f"Reference on {reference['machine']}.\n")
    head("run", "frames", "iterations per frame", "reference", "most contacts", "reference", "CPU s", "reference")
    fine = True
    for entry in reference["runs"]:
        if chosen(entry["name"], args.only):
            fine = run(args, entry) and fine
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
