#!/usr/bin/env python3
"""Contact potentials of two dimensions by IPC Toolkit, as testdata/oracle/planar.json.

    pip install ipctk numpy
    tools/planar_oracle.py testdata/oracle/planar.json

Scenes of closed outlines, open wires and bare points in the plane; for each of them the barrier potential
(plain, weighted by area, and in the convergent form) and the orientation-aware one (`smooth`), each with
value, gradient and products of the Hessian H with p, p_i = sin(1.3 i + 7), two entries per vertex: as it is
(`hp`) and, for the barrier, with each pair's negative eigenvalues set to zero (`hp_clamp`). Lengths without
unit.
"""

import json
import math
import sys

import ipctk
import numpy as np


def ring(centre, radius, n, turn=0.0, squash=1.0):
    """A closed outline with the inside on the left."""
    angles = turn + 2 * math.pi * np.arange(n) / n
    points = np.stack([radius * np.cos(angles), squash * radius * np.sin(angles)], axis=1)
    return points + np.array(centre), [[k, (k + 1) % n] for k in range(n)]


def outline(points):
    return np.array(points, float), [[k, (k + 1) % len(points)] for k in range(len(points))]


def join(*parts):
    points, edges = [], []
    for x, e in parts:
        first = sum(len(p) for p in points)
        points.append(x)
        edges += [[a + first, b + first] for a, b in e]
    return np.concatenate(points), edges


def scenes():
    square = outline([(0, 0), (0.5, 0), (1, 0), (1, 0.5), (1, 1), (0.5, 1), (0, 1), (0, 0.5)])
    upper = outline([(0.13, 1.04), (0.77, 1.06), (0.9, 1.8), (0.2, 1.7)])
    wedge = outline([(0.45, 1.03), (0.75, 1.9), (0.1, 1.9)])
    notch = outline([(-1, -1), (1, -1), (1, 1), (0.07, 1), (0, 0.4), (-0.05, 1), (-1, 1)])
    wire = (np.array([(1.05, -0.2), (1.06, 0.4), (1.2, 1.2)]), [[0, 1], [1, 2]])
    points = (np.array([(-0.04, 0.3), (0.52, 1.03), (1.03, 1.02)]), [])
    yield "two blocks", join(square, upper), True
    yield "wedge on block", join(square, wedge), True
    yield "discs", join(ring((0, 0), 1, 17), ring((1.93, 0.2), 0.9, 13, 0.1)), True
    yield "notch", join(notch), True
    yield "three rings", join(
        ring((0, 0), 1, 40), ring((0.1, 2.02), 1, 33, 0.3, 0.98), ring((1.75, 1.05), 0.98, 21)
    ), True
    yield "wires and points", join(square, wire, points), False


def mesh_of(x, edges, orientable):
    n = len(x)
    edges = np.array(edges, np.int32)
    faces = np.zeros((0, 3), np.int32)
    if orientable:
        return ipctk.CollisionMesh([True] * n, [True] * n, x, edges, faces)
    return ipctk.CollisionMesh(x, edges, faces)


def derivatives(potential, collisions, mesh, x, clamp):
    probe = np.sin(1.3 * np.arange(x.size) + 7)
    psd = ipctk.PSDProjectionMethod
    product = lambda method: potential.hessian(collisions, mesh, x, method) @ probe
    out = {
        "value": float(potential(collisions, mesh, x)),
        "gradient": potential.gradient(collisions, mesh, x).tolist(),
        "hp": product(psd.NONE).tolist(),
    }
    if clamp:
        out["hp_clamp"] = product(psd.CLAMP).tolist()
    return out


def barrier_cases(x, edges):
    mesh = mesh_of(x, edges, False)
    for d_hat in (0.05, 0.1, 0.3):
        for setting in ("count", "area", "convergent"):
            collisions = ipctk.NormalCollisions()
            collisions.use_area_weighting = setting != "count"
            if setting == "convergent":
                collisions.collision_set_type = (
                    ipctk.NormalCollisions.CollisionSetType.IMPROVED_MAX_APPROX
                )
            collisions.build(mesh, x, d_hat)
            physical = setting == "convergent"
            potential = ipctk.BarrierPotential(d_hat, 1.0, physical)
            yield {
                "d_hat": d_hat,
                "setting": setting,
                "physical": physical,
                "pairs": len(collisions),
                **derivatives(potential, collisions, mesh, x, True),
            }


def smooth_cases(x, edges):
    mesh = mesh_of(x, edges, True)
    for d_hat in (0.1, 0.3):
        for alpha_t, beta_t in ((0.5, 0.0), (0.9, 0.05), (0.1, 0.1)):
            for alpha_n, beta_n, r in ((0.1, 0.0, 1), (0.5, 0.1, 2)):
                parameters = ipctk.SmoothContactParameters(
                    d_hat, alpha_t, beta_t, alpha_n, beta_n, r
                )
                collisions = ipctk.SmoothCollisions()
                collisions.build(mesh, x, parameters, False)
                potential = ipctk.SmoothPotential(parameters)
                yield {
                    "d_hat": d_hat,
                    "alpha_t": alpha_t,
                    "beta_t": beta_t,
                    "alpha_n": alpha_n,
                    "beta_n": beta_n,
                    "r": r,
                    "pairs": len(collisions),
                    **derivatives(potential, collisions, mesh, x, False),
                }


def main():
    out = {
        "meta": {
            "source": "IPC Toolkit (Python binding ipctk, MIT licence)",
            "version": ipctk.__version__,
            "generator": "tools/planar_oracle.py",
        },
        "scenes": [],
    }
    for name, (x, edges), closed in scenes():
        x = np.asfortranarray(x)
        scene = {"name": name, "x": x.tolist(), "edges": edges}
        scene["barrier"] = list(barrier_cases(x, edges))
        scene["smooth"] = list(smooth_cases(x, edges)) if closed else []
        out["scenes"].append(scene)
        pairs = [c["pairs"] for c in scene["barrier"] + scene["smooth"]]
        print(f"{name}: {len(x)} vertices, pairs {pairs}")
    with open(sys.argv[1], "w") as file:
        json.dump(out, file)
        file.write("\n")


if __name__ == "__main__":
    main()
