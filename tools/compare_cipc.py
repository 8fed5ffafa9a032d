#!/usr/bin/env python3
"""Runs the cloth on a rotating sphere of the C-IPC 2021 reference and compares iterations, contacts and time.

    tools/compare_cipc.py target/release/standoff OUT [--only PART ...] [--frames N]

Scene and the reference's figures are in testdata/reference/cipc, the meshes in testdata/data/cipc. One thread;
CPU seconds are user + system time of the process. Prints a table (Markdown). Only Python's standard library
is used.
"""
import argparse, json, os, pathlib, subprocess, sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDER = ROOT / "testdata" / "reference" / "cipc"


def run(args, entry):
    out = args.out / "".join(c if c.isalnum() else "_" for c in entry["name"])
    frames = min(entry["frames"], args.frames or entry["frames"])
    command = [str(args.binary), "run", str(FOLDER / "cloth-on-rotating-sphere.toml"), "-o", str(out), "--force",
               "--quiet", "--threads", "1", "--steps", str(frames)]
    for value in (f"objects.cloth.mesh='../../data/cipc/{entry['mesh']}'", *args.set,
                  *(() if entry["limit"] else ("materials.cotton.shell.stretch_limit=inf",))):
        command += ["--set", value]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    errors = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        print(f"{entry['name']}: exit code {process.returncode}: {errors.strip()[-300:]}", file=sys.stderr)
        return False
    reports = [json.loads(line) for line in open(out / "stats.jsonl")]
    iterations = sum(r["newton_iterations"] for r in reports) / len(reports)
    contacts = max(r["max_contacts"] for r in reports)
    cpu = usage.ru_utime + usage.ru_stime
    print(f"| {entry['name']} | {len(reports)} of {entry['frames']} | {iterations:.1f} | {entry['iterations_per_frame']} | "
          f"{contacts} | {entry['contacts']} | {cpu:.1f} | {entry['seconds']} |", flush=True)
    return True


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("binary", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--only", nargs="*", default=[], metavar="PART")
    parser.add_argument("--frames", type=int, help="frames at most")
    parser.add_argument("--set", nargs="*", default=[], metavar="KEY=VALUE")
    args = parser.parse_args()
    stats = json.loads((FOLDER / "stats.json").read_text())
    print(f"Reference on {stats['machine']}.\n")
    print("| run | frames | iterations per frame | reference | most contacts | reference | CPU s | reference |")
    print("|---|---|---|---|---|---|---|---|")
    fine = True
    for entry in stats["runs"]:
        if not args.only or any(part in entry["name"] for part in args.only):
            fine = run(args, entry) and fine
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
