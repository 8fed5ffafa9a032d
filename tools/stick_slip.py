#!/usr/bin/env python3
"""Speed of the end of the dragged rod of [Li 2020, Fig. 20] that touches the ground, as a table (Markdown).

    standoff run testdata/data/ipc/scenes/paperExamples/20_pencilStickSlip.txt -o OUT --mesh-root testdata/data/ipc
    tools/stick_slip.py OUT [--every SECONDS]

The end is the mean of the six lowest vertices at the start. It sticks where its speed along the ground is below a
tenth of the speed at which the other end is dragged. Needs the Python package of Standoff (`pip install ./python`).
"""
import argparse, pathlib

from standoff_tools.frames import Frames
from standoff_tools.tables import head, row


def motion(run):
    """Time, speed and place along the ground of the end that touches it, in every frame."""
    frames = Frames(run)
    points = frames.array(frames.steps[0], "points")
    end = sorted(range(len(points)), key=lambda v: points[v][1])[:6]
    for step, time in zip(frames.steps, frames.times()):
        velocity, x = frames.array(step, "velocity"), frames.array(step, "points")
        yield time, sum(velocity[v][0] for v in end) / 6, sum(x[v][0] for v in end) / 6


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=pathlib.Path)
    parser.add_argument("--every", type=float, default=0.05, help="time between two rows, s")
    parser.add_argument("--dragged", type=float, default=0.15, help="speed of the other end, m/s")
    args = parser.parse_args()
    history = list(motion(args.run))
    stick = [abs(speed) < 0.1 * args.dragged for _, speed, _ in history]
    phases = 1 + sum(a != b for a, b in zip(stick, stick[1:]))
    print(f"{history[-1][0]:.3f} s, {phases} phases of sticking and sliding, fastest {max(abs(s) for _, s, _ in history):.2f} m/s\n")
    head("t, s", "speed of the end, m/s", "its way, mm")
    due = 0.0
    for time, speed, x in history:
        if time >= due - 1e-9:
            row(f"{time:.2f}", f"{speed:+.3f}", f"{1e3 * (x - history[0][2]):+.1f}")
            due += args.every


if __name__ == "__main__":
    main()
