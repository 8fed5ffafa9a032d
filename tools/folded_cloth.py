#!/usr/bin/env python3
"""Writes the cloth of scenes/robots/panda-lifts-cloth.toml, folded.

    tools/folded_cloth.py CLOTH.obj [--cell METRES]

It lies in the plane z = 0, long along x: on each side of a ridge, which stands up in its middle, two layers that are joined by a fold.
"""
import argparse, itertools, math, pathlib

from standoff_tools.meshes import strip, write_triangles

parser = argparse.ArgumentParser()
parser.add_argument("file", type=pathlib.Path)
parser.add_argument("--cell", type=float, default=0.01, help="edge of a cell, m")
args = parser.parse_args()

# length along the folds, half the distance of two layers, outer folds, inner borders of the upper layers, height of the ridge, m
LENGTH, HALF, OUTER, INNER, HEIGHT = 0.12, 0.00225, 0.0625, 0.0125, 0.035

# half of the section (y, z), from the border to the top of the ridge
corners = [(INNER, 2 * HALF), (OUTER, 2 * HALF), (OUTER, 0), (HALF, 0), (HALF, HEIGHT), (-HALF, HEIGHT)]
section = [corners[0]]
for a, b in itertools.pairwise(corners[:-1]):
    cells = max(1, round(math.dist(a, b) / args.cell))
    section += [tuple(p + (q - p) * k / cells for p, q in zip(a, b)) for k in range(1, cells + 1)]
section += [(-y, z) for y, z in reversed(section)]
n = round(LENGTH / args.cell)
rows = [[(LENGTH * (j / n - 0.5), y, z) for j in range(n + 1)] for y, z in section]
write_triangles(args.file, *strip(rows), "folded_cloth.py")
