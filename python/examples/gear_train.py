# %% [markdown]
# # Gears that turn each other by their teeth
#
# A motor turns a gear of 16 teeth, its teeth turn one of 24, and the teeth of that one move a rack, which pushes a soft block over the ground.
# No joint couples them: all that they know of each other is contact.

# %%
import numpy as np
from numpy.typing import NDArray

import standoff

MODULE, PRESSURE, PLAY = 0.004, np.radians(25), 1.5e-4  # of the teeth; m but for the angle
SMALL, LARGE, STEP = 16, 24, 0.02
TURN = 1.0  # of the motor, rad
Mesh = dict[str, NDArray[np.float64] | NDArray[np.int64]]


def extruded(outline: NDArray[np.float64], teeth: NDArray[np.int64], width: float) -> Mesh:
    """The solid over a counter-clockwise outline with teeth, each a row of indices; what is below them is convex."""
    n, half = len(outline), teeth.shape[1] // 2
    inner = np.setdiff1d(np.arange(n), teeth[:, 1:-1])
    fan = np.column_stack([inner, np.roll(inner, -1), np.full(len(inner), n)])
    back = teeth[:, ::-1]
    low, high = np.s_[:, : half - 1], np.s_[:, 1:half]
    right = np.stack([teeth[low], teeth[high], back[high]], axis=-1).reshape(-1, 3)
    left = np.stack([teeth[low], back[high], back[low]], axis=-1).reshape(-1, 3)
    cap = np.vstack([fan, right, left])
    a = np.arange(n)
    b, up = np.roll(a, -1), n + 1
    sides = np.vstack([np.column_stack([a, b, b + up]), np.column_stack([a, b + up, a + up])])
    flat = np.vstack([outline, outline[inner].mean(axis=0)])
    points = np.vstack([np.column_stack([flat, np.full(n + 1, z)]) for z in (-width / 2, width / 2)])
    return {"points": points, "triangles": np.vstack([cap[:, ::-1], sides, cap + up])}


def gear(teeth: int, start: float, width: float) -> Mesh:
    """A gear with involute flanks, one tooth of which points at an angle."""
    pitch = MODULE * teeth / 2
    base = pitch * np.cos(PRESSURE)
    radii = np.linspace(max(base, pitch - 0.9 * MODULE), pitch + 0.9 * MODULE, 3)
    roll = np.sqrt(np.maximum((radii / base) ** 2 - 1, 0))
    half = np.pi / (2 * teeth) - PLAY / (2 * pitch) + np.tan(PRESSURE) - PRESSURE - (roll - np.arctan(roll))
    root = pitch - 1.2 * MODULE
    radius = np.concatenate([[root], radii, radii[::-1], [root]])
    angle = np.concatenate([[-half[0]], -half, half[::-1], [half[0]]])
    angles = (angle + start + 2 * np.pi / teeth * np.arange(teeth)[:, None]).ravel()
    outline = np.tile(radius, teeth)[:, None] * np.column_stack([np.cos(angles), np.sin(angles)])
    return extruded(outline, np.arange(len(outline)).reshape(teeth, -1), width)


def rack(first: int, last: int, width: float) -> Mesh:
    """A rack with its pitch line on the x axis and a tooth at the origin, solid below."""
    pitch, height, foot = np.pi * MODULE, 0.9 * MODULE, -1.2 * MODULE
    half = pitch / 4 - PLAY / 2
    wide, narrow = half - foot * np.tan(PRESSURE), half - height * np.tan(PRESSURE)
    tooth = np.array([[wide, foot], [narrow, height], [-narrow, height], [-wide, foot]])
    upper = np.vstack([tooth + [k * pitch, 0] for k in range(last, first - 1, -1)])
    ends = np.array([first - 0.5, last + 0.5]) * pitch
    under = foot - 0.012
    body = np.array([[ends[0], under], [ends[1], under], [ends[1], foot]])
    outline = np.vstack([body, upper, [[ends[0], foot]]])
    return extruded(outline, 3 + np.arange(len(upper)).reshape(-1, 4), width)


# %% [markdown]
# The large gear has a gap where the small one has a tooth, and the rack a tooth where the large gear has a gap.

# %%
r_small, r_large = MODULE * SMALL / 2, MODULE * LARGE / 2
middle = r_small + r_large
floor = -r_large - 1.2 * MODULE - 0.012 - 0.001
motor = {"position": 0.0, "stiffness": 200, "damping": 2, "max_effort": 5}
scene = standoff.Scene(
    ground=floor,
    time={"step": STEP, "end": 1.2},
    contact={"d_hat": 1e-4},
    friction={"coefficient": 0.1},
    materials={"steel": {"density": 7800}, "rubber": {"young_modulus": 2e5, "density": 1000}},
    objects=[
        {"name": "small", "role": "rigid", "material": "steel"} | gear(SMALL, 0.0, 0.014),
        {"name": "large", "role": "rigid", "material": "steel", "translate": [middle, 0, 0]} | gear(LARGE, np.pi / LARGE, 0.01),
        {"name": "rack", "role": "rigid", "material": "steel", "translate": [middle, -r_large, 0]} | rack(-4, 1, 0.014),
        {"name": "block", "shape": {"kind": "box", "size": [0.04, 0.02, 0.03], "cells": [4, 2, 3]}, "material": "rubber",
         "translate": [middle + 0.05, floor + 0.0101, 0]},
    ],
    joints=[
        {"name": "motor", "kind": "revolute", "bodies": ["small"], "point": [0, 0, 0], "axis": [0, 0, 1], "drive": motor},
        {"name": "shaft", "kind": "revolute", "bodies": ["large"], "point": [middle, 0, 0], "axis": [0, 0, 1], "damping": 0.1},
        {"name": "guide", "kind": "prismatic", "bodies": ["rack"], "point": [middle, -r_large, 0], "axis": [1, 0, 0], "damping": 10.0},
    ],
)

# %% [markdown]
# The motor speeds up and slows down gently. The rack follows it but for the play between the teeth.

# %%
simulation = standoff.Simulation(scene)
block, joints = simulation["block"], simulation.joints
start, error = block.centre[0], 0.0
lag: list[float] = []


def moved(name: str) -> float:
    """How far a joint is from its start, rad or m."""
    joint = joints[name]
    found = joint.displacement if name == "guide" else joint.angle
    assert found is not None
    return found


while not simulation.is_finished:
    share = min(1.0, simulation.time + STEP)
    joints["motor"].target(position=-TURN * share**2 * (3 - 2 * share))
    error = max(error, simulation.step()["joint_error"])
    # what the rack is behind one without play, m
    lag.append(-r_small * moved("motor") - moved("guide"))

motor_turn, shaft_turn, travel = moved("motor"), moved("shaft"), moved("guide")
pushed = block.centre[0] - start
print(f"the motor turned by {np.degrees(motor_turn):.1f}°, the large gear by {np.degrees(shaft_turn):.1f}°")
print(f"the rack moved by {1000 * travel:.1f} mm, {1000 * min(lag):.2f} to {1000 * max(lag):.2f} mm behind the motor")
print(f"the block was pushed by {1000 * pushed:.1f} mm; joints are closed to {error:.1e} of their bodies")
assert abs(shaft_turn + motor_turn * SMALL / LARGE) * r_large < 5e-4
assert 0 < min(lag) and max(lag) < 5e-4
assert pushed > 0.015 and error < 1e-6
