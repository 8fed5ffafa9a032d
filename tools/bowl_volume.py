#!/usr/bin/env python3
"""Drops noodles or sprinkles into the bowl of [Li 2021, §6.9] and measures the space that they take at rest:
where it equals the sum of their volumes, none overlap.

    tools/bowl_volume.py noodles|sprinkles --standoff target/release/standoff [--shared testdata] -o FOLDER

Fewer and larger than the paper's, of about the same total volume: 16 noodles of 9 mm instead of 625 of
1.5 mm, 200 sprinkles of 30 × 10 mm instead of 25,000 of 6 × 2 mm. Needs `pip install pyvista scipy`.
"""
import argparse, pathlib, sys

import numpy as np
import pyvista as pv
from scipy.spatial import cKDTree

from standoff_tools.run import run_scene

HEAD = """
time = {{ step = 0.02, end = {end} }}
friction = {{ coefficient = {friction} }}
contact = {{ d_hat = "{d_hat} mm", stiffness = 1e7 }}
solver.end = {{ velocity = "1 mm/s", norm = "root-mean-square", consecutive = 3 }}
output = {{ interval = "0.2 s" }}

[[objects]]
name = "bowl"
mesh = "{bowl}"
scale = 0.6925
"""
SCENES = {
    "noodles": (dict(end=1.1, friction=0.4, d_hat=3), 0.0045, """
[[objects]]
name = "noodle"
role = "rod"
radius = "4.5 mm"
contact_thickness = "6 mm"
shape = { kind = "polyline", points = [[0.0, 0.0, 0.0], [0.002, 0.4, 0.001]], segments = 32 }
material = { young_modulus = "20 kPa", poisson_ratio = 0.3, density = 1000 }
translate = [-0.03, -0.005, -0.03]
array = { counts = [4, 1, 4], spacing = [0.02, 0.0, 0.02] }
"""),
    "sprinkles": (dict(end=1.0, friction=0.15, d_hat=2.5), 0.005, """
[[objects]]
name = "sprinkle"
role = "rod"
radius = "5 mm"
contact_thickness = "7.5 mm"
shape = { kind = "polyline", points = [[0.0, 0.0, 0.0], [0.008, 0.029, 0.003]], segments = 1 }
material = { young_modulus = "10 MPa", poisson_ratio = 0.3, density = 1500 }
translate = [-0.04, -0.02, -0.036]
array = { counts = [5, 8, 5], spacing = [0.0183, 0.048, 0.0171] }
"""),
}
BOWL = 0.06925  # radius of the hemisphere below y = 0, m

parser = argparse.ArgumentParser()
parser.add_argument("what", choices=SCENES)
parser.add_argument("--standoff", default="target/release/standoff")
parser.add_argument("--shared", type=pathlib.Path, default=pathlib.Path("testdata"))
parser.add_argument("-o", "--out", type=pathlib.Path, required=True)
args = parser.parse_args()

values, radius, objects = SCENES[args.what]
args.out.mkdir(parents=True, exist_ok=True)
scene = args.out / f"{args.what}.toml"
bowl = (args.shared / "data/cipc/bowl.obj").resolve()
scene.write_text(HEAD.format(bowl=bowl, **values) + objects)
run = args.out / "run"
done = run_scene(args.standoff, scene, run, threads=None)
if done.code:
    sys.exit(done.error)

frame = pv.read(sorted((run / "frames").glob("*.vtu"))[-1])
lines = np.flatnonzero(frame.celltypes == pv.CellType.LINE)
segments = np.array([frame.get_cell(int(c)).point_ids for c in lines])
a, b = frame.points[segments[:, 0]], frame.points[segments[:, 1]]
length = np.linalg.norm(b - a, axis=1)
rods = len(segments) if args.what == "sprinkles" else 16
total = np.pi * radius**2 * length.sum() + rods * 4 / 3 * np.pi * radius**3
# the share of random points within the radius of a centre line
s = np.linspace(0, 1, 41)
centres = (a[:, None] * (1 - s)[None, :, None] + b[:, None] * s[None, :, None]).reshape(-1, 3)
low, high = centres.min(0) - radius, centres.max(0) + radius
points = low + (high - low) * np.random.default_rng(0).random((1_000_000, 3))
inside = cKDTree(centres).query(points)[0] < radius
box = np.prod(high - low)
below = centres[:, 1] < 0
farthest = np.linalg.norm(centres[below], axis=1).max()
print(f"sum of the volumes {total:.3e} m³, taken together {inside.mean() * box:.3e} m³, of these below the rim "
      f"{(inside & (points[:, 1] < 0)).mean() * box:.3e} of {2 / 3 * np.pi * BOWL**3:.3e} m³")
print(f"centre lines below the rim stay within {farthest:.4f} of {BOWL} m; speed at the end "
      f"{np.linalg.norm(frame.point_data['velocity'], axis=1).max():.1e} m/s")
