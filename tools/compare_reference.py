#!/usr/bin/env python3
"""Runs the scenes of testdata/reference/ipc through `standoff run scene.txt` and compares positions
and Newton iterations with the IPC 2020 reference's.

    tools/compare_reference.py target/release/standoff testdata OUT [NAME ...]

Prints a table (Markdown). Needs the Python package of Standoff (`pip install ./python`). The column `tolerance` is what the reference's README states: the solver
tolerance times the number of steps, 1e-2 l h n (or tol l h n).
"""
import json, math, pathlib, re, sys

from standoff_tools import stats
from standoff_tools.frames import Frames
from standoff_tools.run import run_scene
from standoff_tools.tables import head, row


def distances(run, wanted):
    """The largest distance from the reference's positions after each of the steps that it has."""
    frames = Frames(run)
    for step in sorted(wanted, key=int):
        if int(step) not in frames.steps:
            yield f"{step}: –"
            continue
        yield f"{step}: {max(math.dist(a, b) for a, b in zip(frames.array(int(step), 'points'), wanted[step])):.1e}"


def compare(binary, folder, meshes, out):
    """Runs a scene of the reference and returns the cells of its row."""
    reference = json.loads((folder / "stats.json").read_text())
    steps = reference["steps"]
    done = run_scene(binary, folder / "scene.txt", out, sets=("output.every=1",), steps=steps, meshes=meshes, seconds=3000)
    if done.stopped:
        return [folder.name, "failed: not done after 3000 s"]
    if done.code == 2:
        return [folder.name, f"not run: {done.error[:150]}"]
    reports = stats.reports(out)
    wanted = json.loads((folder / "positions.json").read_text())
    errors = "; ".join(distances(out, wanted))
    text = (out / "scene.resolved.toml").read_text()
    tolerance = float(re.search(r"velocity = ([0-9.e+-]+)", text).group(1))
    h = float(re.search(r"step = ([0-9.e+-]+)", text).group(1))
    ips = stats.mean(reports, "newton_iterations")
    cells = [folder.name, f"{len(reports)}/{steps}", f"{ips:.2f}", f"{reference['ips']:.2f}", f"{ips / reference['ips']:.2f}", errors,
             f"{tolerance * h * int(max(wanted, key=int)):.1e}", f"{done.wall:.1f}", f"{reference['user']:.1f}"]
    return cells + ([f"**{done.error[:120]}**"] if done.code else [])


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    binary, shared, out = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    head("scene", "steps", "iterations/step", "reference", "ratio", "largest distance at step", "tolerance", "s", "reference CPU s")
    for folder in sorted((shared / "reference" / "ipc").iterdir()):
        if sys.argv[4:] and folder.name not in sys.argv[4:]:
            continue
        try:
            row(*compare(binary, folder, shared / "data" / "ipc", out / folder.name))
        except Exception as error:  # a comparison tool reports and goes on
            row(folder.name, f"failed: {error}")


if __name__ == "__main__":
    main()
