# %% [markdown]
# # A cloth on a moving obstacle
#
# A cloth, held at two corners, is struck by a ball whose targets are set in every step. The cloth is given as
# arrays: a grid of triangles in the plane x = 0.

# %%
import numpy as np

import standoff

STEP, SPEED = 0.01, 2.0

n = 11
u, v = np.meshgrid(np.linspace(-0.3, 0.3, n), np.linspace(0, 0.6, n), indexing="ij")
points = np.stack([0 * u, v, u], axis=-1).reshape(-1, 3)
k = np.arange(n * n).reshape(n, n)
a, b, c, d = (q.ravel() for q in (k[:-1, :-1], k[1:, :-1], k[:-1, 1:], k[1:, 1:]))
triangles = np.vstack([np.stack([a, b, c], axis=1), np.stack([b, d, c], axis=1)])

# %%
scene = standoff.Scene(
    time={"step": STEP, "end": 0.3},
    friction={"coefficient": 0.2},
    materials={"cotton": {"young_modulus": 5e5, "density": 400, "shell": {"thickness": 4e-4}}},
    objects=[
        {"name": "cloth", "points": points, "triangles": triangles, "role": "shell", "material": "cotton",
         "regions": {"pegs": {"vertices": [int(k[0, -1]), int(k[-1, -1])]}},
         "fixed": [{"vertices": "pegs"}]},
        {"name": "ball", "shape": {"kind": "sphere", "radius": 0.08, "layers": 3, "surface": True},
         "translate": [-0.1, 0.3, 0.02]},
    ],
)

# %% [markdown]
# `move_by` sets where the ball has to be at the end of the next step. It goes out and back again, as a
# controller would command it.

# %%
simulation = standoff.Simulation(scene)
ball, cloth = simulation["ball"], simulation["cloth"]
forces = []
while not simulation.is_finished:
    ball.move_by([SPEED * STEP * np.sign(0.15 - simulation.time), 0, 0])
    simulation.step()
    forces.append(ball.force)

largest = np.linalg.norm(forces, axis=1).max()
print(f"largest force on the ball {largest:.2f} N; the cloth reaches {cloth.positions[:, 0].max():.3f} m")
assert largest > 0.1 and cloth.positions[:, 0].max() > 0.05
assert simulation.audit() == []
