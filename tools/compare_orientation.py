#!/usr/bin/env python3
"""Times the orientation-aware potential beside that of IPC Toolkit: same meshes, one thread, one run.

    cargo build --release -p standoff-bench --example orientation_blocks
    tools/compare_orientation.py target/release/examples/orientation_blocks OUT

Needs `pip install ipctk numpy scipy`. The meshes are pairs of spheres: side by side, and one around the other
with contact everywhere. Values, gradients and traces of both are compared, too. Prints a table (Markdown) of
wall seconds, IPC Toolkit / Standoff (ratio). The Hessians of IPC Toolkit are assembled, ours are those of the pairs."""
import argparse, json, math, pathlib, time

import ipctk
import numpy as np

from standoff_tools import meshes
from standoff_tools.run import printed_by
from standoff_tools.tables import head, row

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("binary", type=pathlib.Path)
parser.add_argument("out", type=pathlib.Path)
args = parser.parse_args()
ALPHA, EXTERIOR, D_HAT = 0.5, 0.1, 0.05


def sphere(splits, radius, turn, shift):
    """An octahedron, its faces split into four again and again, on the sphere."""
    x = [(1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1)]
    faces = [(0, 2, 4), (2, 1, 4), (1, 3, 4), (3, 0, 4), (2, 0, 5), (1, 2, 5), (3, 1, 5), (0, 3, 5)]
    for _ in range(splits):
        _, faces = meshes.halved(x, faces)
    c, s = math.cos(turn), math.sin(turn)
    rotation = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]) @ np.array([[1, 0, 0], [0, c, -s], [0, s, c]])
    return np.array(x) @ rotation.T * radius + np.array(shift), np.array(faces)


def pairs():
    a, fa = sphere(5, 1.0, 0.0, [0, 0, 0])
    b, fb = sphere(5, 1.0, 0.4, [0, 0, 2.01])
    yield "spheres side by side", np.vstack([a, b]), np.vstack([fa, fb + len(a)])
    b, fb = sphere(5, 1.03, 0.4, [0, 0, 0])
    # the outer one is a cavity: its outside is within
    yield "spheres in each other", np.vstack([a, b]), np.vstack([fa, fb[:, ::-1] + len(a)])


def timed(work):
    best, clock, result = math.inf, time.perf_counter(), None
    while result is None or time.perf_counter() - clock < 0.5:
        start = time.perf_counter()
        result = work()
        best = min(best, time.perf_counter() - start)
    return best, result


ipctk.set_num_threads(1)
args.out.mkdir(parents=True, exist_ok=True)
rows, names, results = {}, [], {}
for name, x, faces in pairs():
    names.append(name)
    path = args.out / (name.replace(" ", "_") + ".obj")
    lines = ["v %r %r %r" % tuple(map(float, p)) for p in x] + ["f %d %d %d" % tuple(f + 1) for f in faces]
    path.write_text("\n".join(lines) + "\n")
    ours = json.loads(printed_by([args.binary, path, D_HAT, ALPHA, EXTERIOR])[0])
    x, faces = np.asfortranarray(x), np.asfortranarray(faces.astype(np.int32))
    edges = np.asfortranarray(ipctk.edges(faces).astype(np.int32))
    n = len(x)
    mesh = ipctk.CollisionMesh([True] * n, [True] * n, x, edges, faces)
    parameters = ipctk.SmoothContactParameters(D_HAT, ALPHA, 0.0, EXTERIOR, 0.0, 2)
    potential, collisions = ipctk.SmoothPotential(parameters), ipctk.SmoothCollisions()
    build, _ = timed(lambda: collisions.build(mesh, x, parameters, False) or True)
    energy, value = timed(lambda: potential(collisions, mesh, x))
    gradient, g = timed(lambda: potential.gradient(collisions, mesh, x))
    hessian, h = timed(lambda: potential.hessian(collisions, mesh, x))
    psd, _ = timed(lambda: potential.hessian(collisions, mesh, x, ipctk.PSDProjectionMethod.CLAMP))
    seconds, first = ours["seconds"], ours["results"][0]
    theirs = {"energy": energy, "gradient": gradient, "Hessians": hessian, "Hessians, projected": psd}
    for what, t in theirs.items():
        for areas in ("current areas", "rest areas"):
            rows.setdefault(f"{what}, {areas}", []).append((t, seconds[f"{what}, {areas}"]))
    agree = {"energy": (value, first["energy"]), "gradient": (float(np.linalg.norm(g)), first["gradient"]),
             "trace": (float(h.diagonal().sum()), first["trace"])}
    for what, (a, b) in agree.items():
        print(f"{name}: {what} {a:.10e} {b:.10e}, off by {abs(a - b) / max(abs(a), 1e-300):.1e}")
    results[name] = {"toolkit": theirs | {"candidates and pairs": build}, "standoff": ours}
(args.out / "compare_orientation.json").write_text(json.dumps(results, indent=1) + "\n")
head("wall s, IPC Toolkit / Standoff (ratio)", *names)
for what, pairs in rows.items():
    row(what, *(f"{a:.3g} / {b:.3g} ({a / b:.1f})" for a, b in pairs))
