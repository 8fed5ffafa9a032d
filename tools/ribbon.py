#!/usr/bin/env python3
"""Writes the ribbon of scenes/codim/reef-knot.toml: half of a loose reef knot. The other half is the same
mesh, turned by 180° about y.

    tools/ribbon.py RIBBON.obj [--along CELLS] [--across CELLS]

The centre line runs in along y = a, crosses to y = b, returns in a wide arc and runs out the same way,
above the other ribbon where the arcs cross and below it where the legs do. The ribbon lies flat.
"""
import argparse, pathlib

import numpy as np

from standoff_tools.meshes import strip, write_triangles

parser = argparse.ArgumentParser()
parser.add_argument("file", type=pathlib.Path)
parser.add_argument("--along", type=int, default=90, help="cells along the ribbon")
parser.add_argument("--across", type=int, default=2, help="cells across it")
args = parser.parse_args()

WIDTH, LEG = 0.01, 0.08           # of the ribbon, and of its straight ends, m
A, B, C, H = 0.012, 0.04, 0.045, 0.008   # legs near the other's arc, own arc, half the overlap, half the height

x = np.linspace(-C, C, 400)
cross = np.column_stack([x, A + (B - A) * (x + C) / (2 * C), -H * np.cos(np.pi * x / C)])
# the outer half of the overlap changes its side smoothly
s = 0.5 - 0.5 * np.cos(np.pi * (x + C) / (2 * C))
cross[:, 1] = A + (B - A) * s
turn = np.linspace(0.5 * np.pi, -0.5 * np.pi, 400)
arc = np.column_stack([C + B * np.cos(turn), B * np.sin(turn), np.full(400, H)])
leg = np.column_stack([np.linspace(-C - LEG, -C, 100), np.full(100, A), np.full(100, H)])
back = lambda line: (line * [1, -1, 1])[::-1]
line = np.concatenate([leg[:-1], cross[:-1], arc, back(cross)[1:], back(leg)[1:]])
length = np.r_[0, np.cumsum(np.linalg.norm(np.diff(line, axis=0), axis=1))]
at = np.linspace(0, length[-1], args.along + 1)
points = np.column_stack([np.interp(at, length, line[:, k]) for k in range(3)])
tangent = np.gradient(points, axis=0)
side = np.column_stack([-tangent[:, 1], tangent[:, 0], 0 * at])
side /= np.linalg.norm(side, axis=1)[:, None]
rows = [[p + d * WIDTH * (j / args.across - 0.5) for j in range(args.across + 1)] for p, d in zip(points, side)]
write_triangles(args.file, *strip(rows), "ribbon.py")
