"""A solver of one's own from the toolkit: implicit Euler by projected Newton with CCD, for a block that falls on
a table. Its steps are those of IPC [Li 2020]."""

import numpy as np
from scipy.sparse import identity, kron
from scipy.sparse.linalg import spsolve

from standoff import Scene, toolkit

H, D_HAT, KAPPA, GRAVITY = 0.01, 5e-3, 2e5, np.array([0, -9.81, 0])

# meshes of built-in shapes, by way of a scene
block = {"name": "block", "shape": {"kind": "box", "size": [0.2] * 3, "cells": [2, 2, 2]},
         "translate": [0, 0.12, 0]}
table = {"name": "table", "shape": {"kind": "plane", "size": [1, 1], "cells": [2, 2]}}
bodies = Scene(objects=[block, table]).bodies
tets, n = bodies["block"]["tetrahedra"], len(bodies["block"]["rest"])
rest = np.vstack([bodies["block"]["rest"], bodies["table"]["rest"]])
sides = np.vstack([tets[:, [0, 2, 1]], tets[:, [0, 1, 3]], tets[:, [1, 2, 3]], tets[:, [0, 3, 2]]])
_, first, count = np.unique(np.sort(sides, axis=1), axis=0, return_index=True, return_counts=True)
surface = toolkit.Surface(rest, np.vstack([sides[first[count == 1]], bodies["table"]["triangles"] + n]))
elastic = toolkit.Elasticity(rest, tets, 5e4, 0.4)
free = np.arange(len(rest)) < n
mass = np.where(free, elastic.masses(1000.0), 1.0)
inertia, dofs = kron(np.diag(mass), identity(3)).tocsr(), np.repeat(free, 3)

x, v, lowest = rest.copy(), np.zeros_like(rest), np.inf
for step in range(25):
    start, predicted = x, x + np.where(free[:, None], H * v + H * H * GRAVITY, 0)

    def energy(y):
        contacts = surface.contacts(y, D_HAT, stiffness=KAPPA)
        kinetic = 0.5 * (mass[:, None] * (y - predicted) ** 2)[free].sum()
        return kinetic + H * H * (elastic.value(y) + contacts.value(y))

    for iteration in range(50):
        contacts = surface.contacts(x, D_HAT, stiffness=KAPPA)
        gradient = mass[:, None] * (x - predicted)
        gradient = gradient + H * H * (elastic.gradient(x) + contacts.gradient(x))
        matrix = inertia + H * H * (elastic.hessian(x) + contacts.hessian(x))
        p = np.zeros(3 * len(x))
        p[dofs] = spsolve(matrix[dofs][:, dofs].tocsc(), -gradient.ravel()[dofs])
        p = p.reshape(-1, 3)
        if np.abs(p).max() / H < 1e-4:
            break
        t = min(surface.max_step(x, x + p), elastic.max_step(x, x + p))
        before = energy(x)
        while energy(x + t * p) > before:
            t /= 2
        x = x + t * p
    v = (x - start) / H
    lowest = min(lowest, x[free, 1].min())
    assert surface.intersections(x) == []
print(f"at {x[free, 1].min():.2e} m above the table, {iteration} iterations in the last step")
assert 0 < lowest < D_HAT
