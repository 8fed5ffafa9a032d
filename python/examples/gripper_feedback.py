# %% [markdown]
# # A gripper that feels how hard it grips
#
# Two fingers on slides close on a soft cube until each presses with 3 N, hold that force while a third slide lifts the hand by 5 cm, and let go of
# nothing. The fingers are controlled by where they should be; the force between finger and cube tells how much farther.

# %%
import numpy as np

import standoff

STEP, GRIP, RISE = 0.01, 3.0, 0.05


def finger(name: str, x: float) -> dict[str, object]:
    shape = {"kind": "box", "size": [0.01, 0.08, 0.03]}
    return {"name": name, "role": "rigid", "shape": shape, "material": "aluminium", "translate": [x, 0.05, 0]}


def slide(name: str, bodies: list[str], point: list[float], axis: list[int], limits: list[float]) -> dict[str, object]:
    drive = {"position": 0.0, "stiffness": 4000, "damping": 80, "max_effort": 20}
    return {"name": name, "kind": "prismatic", "bodies": bodies, "point": point, "axis": axis, "limits": limits, "drive": drive}


scene = standoff.Scene(
    ground=0.0,
    time={"step": STEP, "end": 3.0},
    friction={"coefficient": 0.6},
    materials={"rubber": {"young_modulus": 5e4, "density": 1000, "poisson_ratio": 0.4}, "aluminium": {"density": 2700}},
    objects=[
        {"name": "hand", "role": "rigid", "shape": {"kind": "box", "size": [0.13, 0.02, 0.04]}, "material": "aluminium", "translate": [0, 0.11, 0]},
        finger("left", -0.045),
        finger("right", 0.045),
        {"name": "cube", "shape": {"kind": "box", "size": [0.04] * 3, "cells": [4, 4, 4]}, "material": "rubber", "translate": [0, 0.0202, 0]},
    ],
    joints=[
        slide("lift", ["hand"], [0, 0.12, 0], [0, 1, 0], [-0.001, 0.1]),
        slide("left finger", ["hand", "left"], [-0.045, 0.09, 0], [1, 0, 0], [0, 0.03]),
        slide("right finger", ["hand", "right"], [0.045, 0.09, 0], [-1, 0, 0], [0, 0.03]),
    ],
)

# %% [markdown]
# Each finger moves on by what its force lacks, at most by 0.1 m/s: a servo around the servo. When both have pressed with 3 N for a tenth of a
# second, the hand rises.

# %%
simulation = standoff.Simulation(scene)
cube, joints = simulation["cube"], simulation.joints
joints["lift"].target(position=0.0)
start, held, height, error = cube.centre[1], 0.0, 0.0, 0.0
target = {"left": 0.0, "right": 0.0}
grips = []
while not simulation.is_finished and height < RISE + 0.3 * STEP:
    force = {}
    for name in target:
        force[name] = float(np.linalg.norm(simulation[name].contact_with("cube").normal_force))
        lacking = GRIP - force[name]
        target[name] = min(target[name] + float(np.clip(2e-4 * lacking, -0.1 * STEP, 0.1 * STEP)), 0.03)
        joints[f"{name} finger"].target(position=target[name])
    steady = all(abs(f - GRIP) < 0.1 * GRIP for f in force.values())
    held = held + STEP if steady or height > 0 else 0.0
    if held >= 0.1:
        height += 0.1 * STEP
        joints["lift"].target(position=min(height, RISE))
        grips.append(force)
    error = max(error, simulation.step()["joint_error"])

lifted = cube.centre[1] - start
between = [min(f.values()) for f in grips], [max(f.values()) for f in grips]
print(f"lifted by {1000 * lifted:.1f} mm, with {min(between[0]):.2f} to {max(between[1]):.2f} N at each finger")
print(f"joints are closed to {error:.1e} of their bodies")
assert lifted > 0.98 * RISE and simulation["ground"].force[1] == 0
assert min(between[0]) > 0.9 * GRIP and max(between[1]) < 1.1 * GRIP
assert error < 1e-6
