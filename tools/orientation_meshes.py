#!/usr/bin/env python3
"""Writes the meshes of scenes/orientation that no built-in shape makes: a block with rounded corners, a block with
a slit, a hollow ball and a funnel with thick walls.

    tools/orientation_meshes.py [FOLDER]        # by default scenes/orientation

The same call writes the same bytes. Only Python's standard library is used.
"""
import argparse, itertools, math, pathlib

from standoff_tools import ROOT, meshes

SCRIPT = "orientation_meshes.py"


def grid(xs, ys, zs, keep=lambda x, y, z: True):
    """A grid of cells around the origin, six tetrahedra each, around the diagonals that point away from the planes x = 0,
    y = 0 and z = 0, so that the mesh has the symmetry of the grid. `keep` has the middle of a cell."""
    axes = (xs, ys, zs)
    number = lambda i, j, k: (k * len(ys) + j) * len(xs) + i
    points = [(x, y, z) for z in zs for y in ys for x in xs]
    tets = []
    for cell in itertools.product(*(range(len(a) - 1) for a in reversed(axes))):
        cell = cell[::-1]
        middle = [0.5 * (a[c] + a[c + 1]) for a, c in zip(axes, cell)]
        if not keep(*middle):
            continue
        # from the corner nearest to the planes to the opposite one
        inner = [c if m > 0 else c + 1 for c, m in zip(cell, middle)]
        step = [1 if m > 0 else -1 for m in middle]
        for order in itertools.permutations(range(3)):
            corner, tet = list(inner), [number(*inner)]
            for axis in order:
                corner[axis] += step[axis]
                tet.append(number(*corner))
            tets.append(tuple(tet))
    return points, tets


def rounded_block(path, half=0.5, radius=0.125, fine=3, coarse=3):
    """A cube with round edges and corners: `fine` cells across the roundings, `coarse` ones along the flat sides."""
    flat = half - radius
    xs = [-half + radius * k / fine for k in range(fine)] + [-flat + 2 * flat * k / coarse for k in range(coarse)]
    xs += [flat + radius * k / fine for k in range(fine + 1)]
    points, tets = grid(xs, xs, xs)

    def place(p):
        core = [max(-flat, min(flat, c)) for c in p]
        off = [c - d for c, d in zip(p, core)]
        length = math.hypot(*off)
        # squares around the core become circles, cubes become balls
        factor = max(map(abs, off)) / length if length else 0
        return tuple(c + factor * o for c, o in zip(core, off))

    meshes.write_tets(path, [place(p) for p in points], tets, SCRIPT)


def slit_block(path, half=0.25, width=0.01, cells=8):
    """A block with a slit from its top to its middle; an even number of `cells` along its height and its depth."""
    right = [width / 2, 0.04, 0.09, 0.17, half]
    xs = [-x for x in reversed(right)] + right
    ys = [half * (2 * k / cells - 1) for k in range(cells + 1)]
    meshes.write_tets(path, *grid(xs, ys, ys, lambda x, y, z: abs(x) > width / 2 or y < 0), SCRIPT)


def ball(level):
    """An icosahedron whose edges are halved `level` times, on the unit ball: points and outward triangles."""
    g = (1 + math.sqrt(5)) / 2
    points = [(s, t * g, 0) for s in (-1, 1) for t in (-1, 1)]
    points += [(0, s, t * g) for s in (-1, 1) for t in (-1, 1)] + [(t * g, 0, s) for s in (-1, 1) for t in (-1, 1)]
    triangles, points = meshes.faces(points), [meshes.unit(p) for p in points]

    def outward(t):
        a, b, c = (points[i] for i in t)
        det = sum(a[k] * (b[k - 2] * c[k - 1] - b[k - 1] * c[k - 2]) for k in range(3))
        return t if det > 0 else (t[0], t[2], t[1])

    triangles = [outward(t) for t in triangles]
    for _ in range(level):
        _, triangles = meshes.halved(points, triangles)
    return points, triangles


def balloon(path, inner=0.4, outer=0.5, level=2, layers=1):
    """A hollow ball: in each layer of its wall three tetrahedra under each triangle."""
    points, triangles = ball(level)
    n = len(points)
    radii = [inner + (outer - inner) * k / layers for k in range(layers)] + [outer]
    tets = []
    for t, first in itertools.product(triangles, range(0, n * layers, n)):
        a, b, c = (first + i for i in sorted(t))
        tets += [(a, b, c, c + n), (a, b, b + n, c + n), (a, a + n, b + n, c + n)]
    meshes.write_tets(path, [tuple(r * c for c in p) for r in radii for p in points], tets, SCRIPT)


def funnel(path, mouth=0.3, neck=0.1, height=0.3, pipe=0.2, wall=0.03, around=24):
    """A cone that goes over into a pipe, with walls: a closed surface of triangles."""
    inside = [(mouth + (neck - mouth) * k / 6, height * (1 - k / 6)) for k in range(7)]
    inside += [(neck, -pipe * k / 4) for k in range(1, 5)]
    outside = [(neck + wall, -pipe), (neck + wall, 0.0), (mouth + wall, height)]
    profile = inside + outside
    points, triangles = [], []
    for r, y in profile:
        for k in range(around):
            angle = 2 * math.pi * k / around
            points.append((r * math.cos(angle), y, r * math.sin(angle)))
    for j in range(len(profile)):
        for k in range(around):
            i, n = j * around, (j + 1) % len(profile) * around
            a, b, c, d = i + k, i + (k + 1) % around, n + (k + 1) % around, n + k
            triangles += [(a, c, b), (a, d, c)]
    meshes.write_triangles(path, points, triangles, SCRIPT)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path, nargs="?", default=ROOT / "scenes" / "orientation")
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    rounded_block(folder / "rounded-block.vtk")
    slit_block(folder / "slit-block.vtk")
    balloon(folder / "balloon.vtk")
    funnel(folder / "funnel.obj")


if __name__ == "__main__":
    main()
