"""Meshes as files, always with the same bytes, and the icosahedron that balls are made from."""
import itertools, math


def coordinates(p):
    """A point in nine digits; rounding errors of zero are zero."""
    return " ".join(f"{0.0 if abs(c) < 1e-12 else c:.9g}" for c in p)


def volume(points, t):
    """The signed volume of a tetrahedron."""
    a, b, c, d = (points[i] for i in t)
    u, v, w = ([q[k] - a[k] for k in range(3)] for q in (b, c, d))
    return sum(u[k] * (v[k - 2] * w[k - 1] - v[k - 1] * w[k - 2]) for k in range(3)) / 6


def write_tets(path, points, tets, script):
    """A legacy VTK file of tetrahedra, each turned to positive volume, without the points that none of them has. `script` is named as the writer."""
    used = sorted({i for t in tets for i in t})
    index = {old: new for new, old in enumerate(used)}
    lines = ["# vtk DataFile Version 3.0", f"written by tools/{script}", "ASCII", "DATASET UNSTRUCTURED_GRID", f"POINTS {len(used)} double"]
    lines += [coordinates(points[i]) for i in used]
    lines.append(f"CELLS {len(tets)} {5 * len(tets)}")
    for t in tets:
        t = t if volume(points, t) > 0 else (t[0], t[2], t[1], t[3])
        lines.append(" ".join(map(str, (4, *(index[i] for i in t)))))
    lines += [f"CELL_TYPES {len(tets)}"] + ["10"] * len(tets)
    path.write_text("\n".join(lines) + "\n")


def write_triangles(path, points, triangles, script):
    """An OBJ file of triangles. `script` is named as the writer."""
    lines = [f"# written by tools/{script}"]
    lines += ["v " + coordinates(p) for p in points]
    lines += ["f " + " ".join(str(i + 1) for i in t) for t in triangles]
    path.write_text("\n".join(lines) + "\n")


def strip(rows):
    """The points of rows of equal length, to the micrometre, and the triangles between them, with diagonals that alternate."""
    n = len(rows[0])
    triangles = []
    for i, j in itertools.product(range(len(rows) - 1), range(n - 1)):
        a = i * n + j
        b, c, d = a + 1, a + n + 1, a + n
        triangles += [(a, b, c), (a, c, d)] if (i + j) % 2 == 0 else [(a, b, d), (b, c, d)]
    return [tuple(round(float(c), 6) for c in p) for row in rows for p in row], triangles


def unit(p):
    """A vector of length one."""
    return tuple(c / math.hypot(*p) for c in p)


def faces(corners):
    """The triangles of an icosahedron with edges of length two, in the order of its corners."""
    near = lambda e: abs(math.dist(corners[e[0]], corners[e[1]]) - 2) < 1e-9
    return [t for t in itertools.combinations(range(12), 3) if all(map(near, itertools.combinations(t, 2)))]


def halved(points, triangles):
    """Halves the edges of triangles on the unit ball; new points are appended to `points`. Each triangle with the middles of its edges, and the four
    triangles that each becomes."""
    middles = {}

    def middle(a, b):
        key = (min(a, b), max(a, b))
        if key not in middles:
            middles[key] = len(points)
            points.append(unit(tuple(p + q for p, q in zip(points[a], points[b]))))
        return middles[key]

    with_middles = [(a, b, c, middle(a, b), middle(b, c), middle(c, a)) for a, b, c in triangles]
    return with_middles, [t for a, b, c, ab, bc, ca in with_middles for t in ((a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca))]


def eighths(points, tets):
    """Divides each tetrahedron into eight: one at each corner, and four around the shortest diagonal of the octahedron between them."""
    points, middles = list(points), {}

    def middle(a, b):
        key = (min(a, b), max(a, b))
        if key not in middles:
            middles[key] = len(points)
            points.append(tuple(0.5 * (p + q) for p, q in zip(points[a], points[b])))
        return middles[key]

    found = []
    for a, b, c, d in tets:
        ab, ac, ad, bc, bd, cd = middle(a, b), middle(a, c), middle(a, d), middle(b, c), middle(b, d), middle(c, d)
        found += [(a, ab, ac, ad), (b, ab, bc, bd), (c, ac, bc, cd), (d, ad, bd, cd)]
        # a diagonal and the four corners around it
        diagonals = ((ab, cd, (ac, ad, bd, bc)), (ac, bd, (ab, ad, cd, bc)), (ad, bc, (ab, ac, cd, bd)))
        p, q, ring = min(diagonals, key=lambda e: math.dist(points[e[0]], points[e[1]]))
        found += [(p, q, ring[i], ring[(i + 1) % 4]) for i in range(4)]
    return points, found
