#!/usr/bin/env python3
"""Speed of the end of the dragged rod of [Li 2020, Fig. 20] that touches the ground, as a table (Markdown).

    standoff run testdata/data/ipc/scenes/paperExamples/20_pencilStickSlip.txt -o OUT --mesh-root testdata/data/ipc
    tools/stick_slip.py OUT [--every SECONDS]

The end is the mean of the six lowest vertices at the start. It sticks where its speed along the ground is below a
tenth of the speed at which the other end is dragged. Only Python's standard library is used.
"""
import argparse, pathlib, re, struct


def arrays(path, names):
    """Arrays of Float64 of a frame by name."""
    data = path.read_bytes()
    head = data.index(b"<AppendedData")
    start = data.index(b"_", head) + 1
    text = data[:head].decode()
    for name in names:
        offset = int(re.search(rf'Name="{name}"[^>]*offset="(\d+)"', text)[1])
        size = struct.unpack_from("<Q", data, start + offset)[0]
        yield struct.unpack_from(f"<{size // 8}d", data, start + offset + 8)


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("run", type=pathlib.Path)
parser.add_argument("--every", type=float, default=0.05, help="time between two rows, s")
parser.add_argument("--dragged", type=float, default=0.15, help="speed of the other end, m/s")
args = parser.parse_args()

frames = sorted((args.run / "frames").glob("*.vtu"))
points = next(arrays(frames[0], ["points"]))
end = sorted(range(len(points) // 3), key=lambda v: points[3 * v + 1])[:6]
history = []
for frame in frames:
    time, velocity, x = arrays(frame, ["TimeValue", "velocity", "points"])
    history.append((time[0], sum(velocity[3 * v] for v in end) / 6, sum(x[3 * v] for v in end) / 6))

stick = [abs(speed) < 0.1 * args.dragged for _, speed, _ in history]
phases = 1 + sum(a != b for a, b in zip(stick, stick[1:]))
print(f"{history[-1][0]:.3f} s, {phases} phases of sticking and sliding, fastest {max(abs(s) for _, s, _ in history):.2f} m/s\n")
print("| t, s | speed of the end, m/s | its way, mm |\n|---|---|---|")
due = 0.0
for time, speed, x in history:
    if time >= due - 1e-9:
        print(f"| {time:.2f} | {speed:+.3f} | {1e3 * (x - history[0][2]):+.1f} |")
        due += args.every
