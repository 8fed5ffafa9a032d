# %% [markdown]
# # Contact potentials compared
#
# The force between two cubes that are half of d̂ apart, by potential and mesh. The potential of [Li 2020] sums over
# pairs of primitives, so that finer meshes repel more; with weights by area the force settles.

# %%
import numpy as np

import standoff
from standoff import toolkit

D_HAT, SIZE = 0.1, 1.0


def cubes(cells: int) -> tuple[np.ndarray, np.ndarray, slice]:
    """Two cubes above each other: positions, triangles, and which vertices are the upper one's."""
    shape = {"kind": "box", "size": [SIZE] * 3, "cells": [cells] * 3}
    lower = {"name": "lower", "shape": shape}
    upper = {"name": "upper", "shape": shape, "translate": [0.03, SIZE + D_HAT / 2, 0.02]}
    a, b = standoff.Scene(objects=[lower, upper]).bodies.values()
    n = len(a["rest"])
    triangles = [toolkit.boundary(a["tetrahedra"]), toolkit.boundary(b["tetrahedra"]) + n]
    return np.vstack([a["rest"], b["rest"]]), np.vstack(triangles), slice(n, None)


# %%
POTENTIALS = ("ipc", "area", "convergent", "orientation-aware")
table: dict[tuple[str, int], float] = {}
for cells in (2, 4, 8):
    x, triangles, upper = cubes(cells)
    # they were farther apart at rest
    rest = x.copy()
    rest[upper, 1] += 0.45
    surface = toolkit.Surface(rest, triangles)
    for potential in POTENTIALS:
        contacts = surface.contacts(x, D_HAT, stiffness=1e3, potential=potential)
        table[potential, cells] = -contacts.gradient(x)[upper, 1].sum()
    print(cells, "cells:", {p: f"{table[p, cells]:.4g} N" for p in POTENTIALS})


# %% [markdown]
# Pairs of the orientation-aware potential are weighted by the areas of both elements; a simulation scales its
# stiffness by the mesh.

# %%
def ratio(potential: str) -> float:
    return abs(table[potential, 8] / table[potential, 4])


assert ratio("ipc") > 3 and all(0.8 < ratio(p) < 1.2 for p in ("area", "convergent"))
assert all(abs(force) > 0 for force in table.values())
