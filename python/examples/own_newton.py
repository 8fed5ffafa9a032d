# %% [markdown]
# # Your own solver from the toolkit
#
# Implicit Euler by projected Newton with continuous collision detection, for a block that falls on a table: the
# steps of IPC [Li 2020] in fifty lines, with energies and collision detection from `standoff.toolkit` and linear
# solves by SciPy.

# %%
import numpy as np
from scipy.sparse import identity, kron
from scipy.sparse.linalg import spsolve

from standoff import Scene, toolkit

H, D_HAT, KAPPA, GRAVITY = 0.01, 5e-3, 2e5, np.array([0, -9.81, 0])

# meshes of built-in shapes, by way of a scene
block = {"name": "block", "shape": {"kind": "box", "size": [0.2] * 3, "cells": [2, 2, 2]}, "translate": [0, 0.12, 0]}
table = {"name": "table", "shape": {"kind": "plane", "size": [1, 1], "cells": [2, 2]}}
bodies = Scene(objects=[block, table]).bodies
tets, n = bodies["block"]["tetrahedra"], len(bodies["block"]["rest"])
rest = np.vstack([bodies["block"]["rest"], bodies["table"]["rest"]])
triangles = np.vstack([toolkit.boundary(tets), bodies["table"]["triangles"] + n])
free = np.arange(len(rest)) < n

# %% [markdown]
# The potential of a step is ½‖x − x̃‖²_M + h² (elastic energy + contact potential). Its gradient and Hessian are
# sums of those of the toolkit.

# %%
surface = toolkit.Surface(rest, triangles, mobile=free)
elastic = toolkit.Elasticity(rest, tets, 5e4, 0.4)
mass = np.where(free, elastic.masses(1000.0), 1.0)
inertia, dofs = kron(np.diag(mass), identity(3)).tocsr(), np.repeat(free, 3)


def energy(x: np.ndarray, predicted: np.ndarray) -> float:
    contacts = surface.contacts(x, D_HAT, stiffness=KAPPA)
    kinetic = 0.5 * (mass[:, None] * (x - predicted) ** 2)[free].sum()
    return float(kinetic + H * H * (elastic.value(x) + contacts.value(x)))


def direction(x: np.ndarray, predicted: np.ndarray) -> np.ndarray:
    contacts = surface.contacts(x, D_HAT, stiffness=KAPPA)
    gradient = mass[:, None] * (x - predicted) + H * H * (elastic.gradient(x) + contacts.gradient(x))
    matrix = inertia + H * H * (elastic.hessian(x) + contacts.hessian(x))
    p = np.zeros(3 * len(x))
    p[dofs] = spsolve(matrix[dofs][:, dofs].tocsc(), -gradient.ravel()[dofs])
    return p.reshape(-1, 3)


# %%
x, v, lowest = rest.copy(), np.zeros_like(rest), np.inf
for step in range(25):
    start, predicted = x, x + np.where(free[:, None], H * v + H * H * GRAVITY, 0)
    for iteration in range(50):
        p = direction(x, predicted)
        if np.abs(p).max() / H < 1e-4:
            break
        # no pair may lose more than nine tenths of its distance, and no tetrahedron invert
        t = min(surface.max_step(x, x + p), elastic.max_step(x, x + p))
        before = energy(x, predicted)
        while energy(x + t * p, predicted) > before:
            t /= 2
        x = x + t * p
    v = (x - start) / H
    lowest = min(lowest, x[free, 1].min())
    assert surface.intersections(x) == []

print(f"at {x[free, 1].min():.2e} m above the table, {iteration} iterations in the last step")
assert 0 < lowest < D_HAT
