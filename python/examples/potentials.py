"""Contact potentials compared: the force between two cubes over their distance, by potential and mesh."""

import numpy as np

from standoff import toolkit


def cube(n, low):
    """A cube of side 1 whose faces are grids of n×n cells: points and triangles, seen from outside."""
    points, faces, numbers = [], [], {}

    def vertex(p):
        key = tuple(np.round(p, 9))
        if key not in numbers:
            numbers[key] = len(points)
            points.append(key)
        return numbers[key]

    for axis in range(3):
        for side in (0, 1):
            a, b = np.eye(3)[(axis + 1) % 3], np.eye(3)[(axis + 2) % 3]
            for i in range(n):
                for j in range(n):
                    at = lambda k, l: vertex(side * np.eye(3)[axis] + (a * (i + k) + b * (j + l)) / n)
                    q = [at(0, 0), at(1, 0), at(1, 1), at(0, 1)]
                    q = q if side else q[::-1]
                    faces += [[q[0], q[1], q[2]], [q[0], q[2], q[3]]]
    return np.array(points) + low, np.array(faces)


D_HAT = 0.1
table = {}
for n in (2, 4, 8):
    (a, fa), (b, fb) = cube(n, [0, 0, 0]), cube(n, [0.03, 1.5, 0.02])
    rest, faces, upper = np.vstack([a, b]), np.vstack([fa, fb + len(a)]), slice(len(a), None)
    surface = toolkit.Surface(rest, faces)
    for potential in ("ipc", "area", "convergent", "orientation-aware"):
        x = rest.copy()
        x[upper, 1] -= 0.45
        contacts = surface.contacts(x, D_HAT, stiffness=1e3, potential=potential)
        # the force on the upper cube at a distance of half of d̂
        table[potential, n] = -contacts.gradient(x)[upper, 1].sum()
    print(n, {p: f"{f:.4g} N" for (p, m), f in table.items() if m == n})

# of "ipc" the force grows with the number of primitives; weighted by area it settles. Pairs of the
# orientation-aware potential are weighted by both areas, those of the nearest primitives alone: a
# simulation scales its stiffness by the mesh
ratio = lambda p: table[p, 8] / table[p, 4]
assert ratio("ipc") > 3 and all(0.8 < ratio(p) < 1.2 for p in ("area", "convergent"))
assert all(force > 0 for force in table.values())
