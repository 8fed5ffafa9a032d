"""A cloth, held at two corners, is struck by an obstacle whose targets are set in every step."""

import numpy as np

import standoff

STEP, SPEED = 0.01, 2.0

# the cloth from arrays: a grid of triangles in the plane x = 0
n = 11
u, v = np.meshgrid(np.linspace(-0.3, 0.3, n), np.linspace(0, 0.6, n), indexing="ij")
points = np.stack([0 * u, v, u], axis=-1).reshape(-1, 3)
corner = lambda i, j: i * n + j
triangles = np.array(
    [t for i in range(n - 1) for j in range(n - 1)
     for t in ([corner(i, j), corner(i + 1, j), corner(i, j + 1)],
               [corner(i + 1, j), corner(i + 1, j + 1), corner(i, j + 1)])])

scene = standoff.Scene(
    time={"step": STEP, "end": 0.3},
    friction={"coefficient": 0.2},
    materials={"cotton": {"young_modulus": 5e5, "density": 400, "shell": {"thickness": 4e-4}}},
    objects=[
        {"name": "cloth", "points": points, "triangles": triangles, "role": "shell",
         "material": "cotton",
         "regions": {"pegs": {"vertices": [corner(0, n - 1), corner(n - 1, n - 1)]}},
         "fixed": [{"vertices": "pegs"}]},
        {"name": "ball", "shape": {"kind": "sphere", "radius": 0.08, "layers": 3, "surface": True},
         "translate": [-0.1, 0.3, 0.02]}])
simulation = standoff.Simulation(scene)
ball, cloth = simulation["ball"], simulation["cloth"]
largest = 0.0
while not simulation.is_finished:
    # out and back again, as a controller would command it
    ball.move_by([SPEED * STEP * np.sign(0.15 - simulation.time), 0, 0])
    simulation.step()
    largest = max(largest, float(np.linalg.norm(ball.force)))
print(f"largest force on the ball {largest:.2f} N; the cloth reaches {cloth.positions[:, 0].max():.3f} m")
assert largest > 0.1 and cloth.positions[:, 0].max() > 0.05
assert simulation.audit() == []
