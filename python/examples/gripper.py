# %% [markdown]
# # Gripping a soft body
#
# Two fingers grip a soft block by force control and lift it, then a load that changes shakes it. Fingers are
# obstacles; what they feel is read after every step.

# %%
from typing import Any

import numpy as np

import standoff

STEP, GRIP, SPEED = 0.01, 20.0, 0.1


def finger(name: str, x: float) -> dict[str, Any]:
    shape = {"kind": "box", "size": [0.02, 0.1, 0.1], "cells": [1, 1, 1], "surface": True}
    return {"name": name, "shape": shape, "translate": [x, 0.06, 0]}


scene = standoff.Scene(
    ground=0.0,
    time={"step": STEP, "end": 0.6},
    friction={"coefficient": 0.6},
    materials={"foam": {"young_modulus": 5e4, "density": 300}},
    objects=[
        {"name": "block", "shape": {"kind": "box", "size": [0.1] * 3, "cells": [3, 3, 3]},
         "material": "foam", "translate": [0, 0.0505, 0], "forces": [{"force": [0, 0, 0]}]},
        finger("left", -0.0615),
        finger("right", 0.0615),
    ],
)

# %% [markdown]
# Each finger closes while it feels less than 20 N, else it moves upwards.

# %%
simulation = standoff.Simulation(scene)
block = simulation["block"]
start = block.centre[1]
forces = []
while not simulation.is_finished:
    for name, inwards in (("left", 1), ("right", -1)):
        felt = -inwards * simulation[name].force[0]
        closing = felt < GRIP
        simulation[name].move_by([inwards * closing * SPEED * STEP, (not closing) * SPEED * STEP, 0])
    if simulation.time > 0.5:
        simulation.set_load("block.force[0]", [0, 0, 0.5 * np.sin(100 * simulation.time)])
    simulation.step()
    forces.append(simulation["left"].force)

largest = np.abs(forces).max()
print(f"lifted by {block.centre[1] - start:.4f} m; largest grip {largest:.1f} N")
print("torque on the left finger about its middle:", simulation["left"].torque(simulation["left"].centre), "N m")
assert block.centre[1] - start > 0.01
assert simulation["ground"].force[1] == 0 and largest > GRIP / 2
