#!/usr/bin/env python3
"""Writes the cloth of scenes/robots/panda-lifts-cloth.toml, folded.

    tools/folded_cloth.py CLOTH.obj [--cell METRES]

It lies in the plane z = 0, long along x: on each side of a ridge, which stands up in its middle, two layers that are joined by a fold.
"""
import argparse

import numpy as np

parser = argparse.ArgumentParser()
parser.add_argument("file")
parser.add_argument("--cell", type=float, default=0.01, help="edge of a cell, m")
args = parser.parse_args()

# length along the folds, half the distance of two layers, outer folds, inner borders of the upper layers, height of the ridge, m
LENGTH, HALF, OUTER, INNER, HEIGHT = 0.12, 0.00225, 0.0625, 0.0125, 0.035

# half of the section (y, z), from the border to the top of the ridge
corners = [(INNER, 2 * HALF), (OUTER, 2 * HALF), (OUTER, 0), (HALF, 0), (HALF, HEIGHT), (-HALF, HEIGHT)]
section = [corners[0]]
for a, b in zip(corners[:-2], corners[1:-1]):
    a, b = np.array(a), np.array(b)
    cells = max(1, round(np.linalg.norm(b - a) / args.cell))
    section += [tuple(a + (b - a) * k / cells) for k in range(1, cells + 1)]
section += [(-y, z) for y, z in reversed(section)]
n = round(LENGTH / args.cell)
with open(args.file, "w") as out:
    for y, z in section:
        for j in range(n + 1):
            out.write("v %.6f %.6f %.6f\n" % (LENGTH * (j / n - 0.5), y, z))
    for i in range(len(section) - 1):
        for j in range(n):
            a = 1 + i * (n + 1) + j
            b, c, d = a + 1, a + n + 2, a + n + 1
            cells = [(a, b, c), (a, c, d)] if (i + j) % 2 == 0 else [(a, b, d), (b, c, d)]
            for f in cells:
                out.write("f %d %d %d\n" % f)
