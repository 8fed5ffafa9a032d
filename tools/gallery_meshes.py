#!/usr/bin/env python3
"""Writes the meshes of scenes/papers and scenes/codim that no built-in shape makes: a wall of a tube of tetrahedra, a
ball with tentacles, a plate with a round hole, a bowl, and a press that ends in a pipe.

    tools/gallery_meshes.py                       # all five, into scenes/codim and scenes/papers
    tools/gallery_meshes.py --tube 48,32 FILE     # the wall of the tube alone, with 48 cells around and 32 along

The same call writes the same bytes. Only Python's standard library is used.
"""
import argparse, itertools, math, pathlib, random

from standoff_tools import ROOT, meshes

SCENES, SCRIPT = ROOT / "scenes", "gallery_meshes.py"


def prism(lower, upper):
    """Three tetrahedra between two triangles; the diagonals of the sides follow the order of the lower vertices, so that
    prisms side by side have the same ones."""
    (a, d), (b, e), (c, f) = sorted(zip(lower, upper))
    return [(a, b, c, f), (a, b, e, f), (a, d, e, f)]


def tube_wall(path, around=24, along=12, radius=0.08, length=0.3, wall=1.5e-3):
    """A tube along x with a wall of one layer."""
    points = []
    for r in (radius - wall / 2, radius + wall / 2):
        for j, k in itertools.product(range(along + 1), range(around)):
            angle = 2 * math.pi * k / around
            points.append((length * (j / along - 0.5), r * math.cos(angle), r * math.sin(angle)))
    layer, tets = (along + 1) * around, []
    for j, k in itertools.product(range(along), range(around)):
        a, b = j * around + k, j * around + (k + 1) % around
        c, d = a + around, b + around
        # diagonals alternate, so that the mesh prefers no direction of twist
        halves = [(a, b, d), (a, d, c)] if (j + k) % 2 else [(a, b, c), (b, d, c)]
        for t in halves:
            tets += prism(t, [i + layer for i in t])
    meshes.write_tets(path, points, tets, SCRIPT)


def icosahedron(level):
    """An icosahedron whose edges are halved `level` times, on the unit ball: points and triangles, and for each of the
    triangles before the last halving the four that it became, with its corners."""
    g = (1 + math.sqrt(5)) / 2
    points = [p for s in (-1, 1) for t in (-g, g) for p in ((s, t, 0), (0, s, t), (t, 0, s))]
    triangles, points, steps = meshes.faces(points), [meshes.unit(p) for p in points], []
    for _ in range(level):
        with_middles, triangles = meshes.halved(points, triangles)
        steps.append(with_middles)
    return points, triangles, steps


def squishy_tets(radius=0.03, length=0.035, segments=5, seed=1):
    """Points and tetrahedra of a ball with tentacles on triangles of its surface that share no vertex. The ball consists of the tetrahedra around
    its centre inside an icosahedron, and of two layers in which the edges are halved."""
    unit, triangles, steps = icosahedron(2)
    radii = [0.3 * radius, 0.62 * radius, radius]
    counts = [12, 42, 162]
    points, first = [(0.0, 0.0, 0.0)], []
    for r, n in zip(radii, counts):
        first.append(len(points))
        points += [tuple(r * c for c in p) for p in unit[:n]]
    tets = [(0, *(first[0] + i for i in step[:3])) for step in steps[0]]
    for k, halved in enumerate(steps):
        low, high = first[k], first[k + 1]
        for a, b, c, ab, bc, ca in halved:
            A, B, C = low + a, low + b, low + c
            a, b, c, ab, bc, ca = (high + i for i in (a, b, c, ab, bc, ca))
            tets += [(a, ab, ca, A), (b, bc, ab, B), (c, ca, bc, C)]
            # what is left is an octahedron: four tetrahedra around its diagonal from A to the middle opposite
            ring = [ab, B, C, ca]
            tets += [(A, bc, ring[i], ring[(i + 1) % 4]) for i in range(4)]
    used, roots = set(), []
    for t in triangles:
        if used.isdisjoint(t):
            used.update(t)
            roots.append(t)
    chance = random.Random(seed)
    for t in roots:
        base = [points[first[2] + i] for i in t]
        middle = [sum(p[k] for p in base) / 3 for k in range(3)]
        out = [c / math.hypot(*middle) for c in middle]
        # leans to one side by up to a fifth of its length
        lean = [0.2 * chance.uniform(-1, 1) for _ in range(3)]
        lower = [first[2] + i for i in t]
        for s in range(1, segments + 1):
            part = s / segments
            thick = 0.62 - 0.3 * part
            upper = range(len(points), len(points) + 3)
            for p in base:
                points.append(tuple(m + thick * (c - m) + length * part * (o + part * v)
                                    for c, m, o, v in zip(p, middle, out, lean)))
            tets += prism(lower, upper)
            lower = list(upper)
    return points, tets


def holed_plate(path, hole=0.24, half=1.0, around=32, rings=5):
    """A square plate without thickness at y = 0 with a round hole in its middle."""
    points = []
    for j in range(rings + 1):
        for k in range(around):
            angle = 2 * math.pi * (k + 0.5) / around
            x, z = math.cos(angle), math.sin(angle)
            edge = half / max(abs(x), abs(z))
            # rings grow from the hole to the border
            r = hole + (edge - hole) * (j / rings) ** 1.6
            points.append((r * x, 0.0, r * z))
    triangles = []
    for j, k in itertools.product(range(rings), range(around)):
        a, b = j * around + k, j * around + (k + 1) % around
        triangles += [(a, b, b + around), (a, b + around, a + around)]
    meshes.write_triangles(path, points, triangles, SCRIPT)


def bowl(path, radius=0.13, depth=0.075, around=32, rings=8):
    """The part of a sphere below a rim at y = 0, open at the top."""
    sphere = (radius**2 + depth**2) / (2 * depth)
    points = [(0.0, -depth, 0.0)]
    most = math.asin(radius / sphere)
    for j, k in itertools.product(range(1, rings + 1), range(around)):
        polar, angle = most * j / rings, 2 * math.pi * k / around
        r = sphere * math.sin(polar)
        points.append((r * math.cos(angle), sphere - depth - sphere * math.cos(polar), r * math.sin(angle)))
    triangles = [(0, 1 + (k + 1) % around, 1 + k) for k in range(around)]
    for j, k in itertools.product(range(rings - 1), range(around)):
        a, b = 1 + j * around + k, 1 + j * around + (k + 1) % around
        triangles += [(a, b, b + around), (a, b + around, a + around)]
    meshes.write_triangles(path, points, triangles, SCRIPT)


def press(path, wide=0.2, narrow=0.09, height=0.45, shoulder=0.06, pipe=0.25, around=32):
    """A cylinder, open at the top, that narrows to a pipe at y = 0."""
    profile = [(wide, shoulder + height * (1 - k / 4)) for k in range(4)]
    profile += [(wide + (narrow - wide) * k / 3, shoulder * (1 - k / 3)) for k in range(4)]
    profile += [(narrow, -pipe * k / 4) for k in range(1, 5)]
    points = []
    for r, y in profile:
        for k in range(around):
            angle = 2 * math.pi * k / around
            points.append((r * math.cos(angle), y, r * math.sin(angle)))
    triangles = []
    for j, k in itertools.product(range(len(profile) - 1), range(around)):
        a, b = j * around + k, j * around + (k + 1) % around
        triangles += [(a, b, b + around), (a, b + around, a + around)]
    meshes.write_triangles(path, points, triangles, SCRIPT)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tube", nargs=2, metavar=("AROUND,ALONG", "FILE"), help="only the wall of the tube")
    args = parser.parse_args()
    if args.tube:
        tube_wall(pathlib.Path(args.tube[1]), *map(int, args.tube[0].split(",")))
        return
    tube_wall(SCENES / "codim" / "tube-wall.vtk")
    meshes.write_tets(SCENES / "papers" / "squishy-ball.vtk", *squishy_tets(), SCRIPT)
    holed_plate(SCENES / "papers" / "holed-plate.obj")
    bowl(SCENES / "papers" / "bowl.obj")
    press(SCENES / "papers" / "press.obj")


if __name__ == "__main__":
    main()
