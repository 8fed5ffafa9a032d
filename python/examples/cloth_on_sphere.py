# %% [markdown]
# # Getting started: a cloth falls on a sphere
#
# A scene is made of the same sections as a scene file. Numbers are SI, strings may have units, y is up.

# %%
import standoff

scene = standoff.Scene(
    time={"step": 0.02, "end": 0.4},
    friction={"coefficient": 0.3},
    materials={"cotton": {"young_modulus": "0.8 MPa", "density": 480, "shell": {"thickness": 3e-4}}},
    objects=[
        {"name": "cloth", "shape": {"kind": "plane", "size": [0.6, 0.6], "cells": [12, 12]},
         "role": "shell", "material": "cotton", "translate": [0.01, 0.16, 0]},
        {"name": "sphere", "shape": {"kind": "sphere", "radius": 0.15, "layers": 4, "surface": True}},
    ],
)
print(scene)

# %% [markdown]
# A simulation is advanced step by step, or to the end of the scene. `record` keeps its frames in a folder, as
# `standoff run` does. After an interrupt, `Simulation.resume` continues with the same bits.

# %%
simulation = standoff.Simulation(scene)
simulation.record("out/cloth", force=True)
simulation.run(progress=True)

# %% [markdown]
# Positions, velocities and contact forces are NumPy arrays. Forces and torques are sums over a body or an obstacle.

# %%
cloth, sphere = simulation["cloth"], simulation["sphere"]
print("force on the sphere", sphere.force, "N, torque", sphere.torque(), "N m")
print("lowest point of the cloth", cloth.positions[:, 1].min(), "m;", len(simulation.contacts()["gap"]), "contacts")

weight = cloth.masses.sum() * 9.81
assert 0.2 * weight < -sphere.force[1] < 3 * weight
assert simulation.audit() == []

# %% [markdown]
# The frames of a run are arrays, too.

# %%
frames = standoff.frames("out/cloth")
lowest = frames.array("positions", body="cloth")[:, :, 1].min(axis=1)
for time, height in zip(frames.times[::5], lowest[::5]):
    print(f"{time:.2f} s: {height:.4f} m")
assert len(frames) == 21 and (frames[-1]["positions"] == simulation.positions).all()

# %% [markdown]
# Curves of the run, and the viewer, which shows stresses, speeds, forces and gaps.

# %% [notebook]
# standoff.plot("out/cloth")

# %% [notebook] [may fail]
# standoff.view("out/cloth")
