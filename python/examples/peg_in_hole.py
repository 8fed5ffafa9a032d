# %% [markdown]
# # A peg finds its hole
#
# A square peg of 18 mm hangs on three slides, as in a gantry, and is controlled by positions alone. The program does not know where the pit
# of 20 mm is: it feels for it, with the force between the two bodies.

# %%
import numpy as np
from numpy.typing import NDArray

import standoff

STEP, DEPTH, PRESS, STIFFNESS = 0.01, 0.02, 3.0, 5000.0
PIT, PEG, HEIGHT = 0.02, 0.018, 0.04
HOLE = np.array([0.004, -0.003])  # where the pit is, which the control does not look at

carriage = {"role": "rigid", "shape": {"kind": "box", "size": [0.02, 0.02, 0.02]}, "material": "aluminium"}
servo = {"position": 0.0, "stiffness": STIFFNESS, "damping": 100, "max_effort": 30}
scene = standoff.Scene(
    time={"step": STEP, "end": 8.0},
    contact={"d_hat": 1e-4},
    friction={"coefficient": 0.2},
    materials={"aluminium": {"density": 2700}},
    objects=[
        {"name": "block", "role": "obstacle", "shape": {"kind": "hole", "size": [0.1, 0.06, 0.1], "opening": PIT, "depth": 0.04},
         "translate": [HOLE[0], 0, HOLE[1]]},
        {"name": "peg", "role": "rigid", "shape": {"kind": "box", "size": [PEG, HEIGHT, PEG]}, "material": "aluminium",
         "translate": [0, 0.06, 0]},
        carriage | {"name": "first", "translate": [0, 0.2, 0]},
        carriage | {"name": "second", "translate": [0, 0.15, 0]},
    ],
    joints=[
        {"name": "x", "kind": "prismatic", "bodies": ["first"], "point": [0, 0.2, 0], "axis": [1, 0, 0], "drive": servo},
        {"name": "z", "kind": "prismatic", "bodies": ["first", "second"], "point": [0, 0.15, 0], "axis": [0, 0, 1], "drive": servo},
        {"name": "y", "kind": "prismatic", "bodies": ["second", "peg"], "point": [0, 0.1, 0], "axis": [0, 1, 0], "drive": servo},
    ],
)

# %% [markdown]
# First it goes down until it feels the block. Then it leans on it with 3 N and moves in a spiral, whose turns are nearer to each other than the
# peg has play, until it has sunk by 1 mm. Then it goes down, and gives way to what pushes it sideways.

# %%
simulation = standoff.Simulation(scene)
peg, joints = simulation["peg"], simulation.joints
target = np.zeros(3)  # of x, y and z, m
phase, angle, surface, centre, strongest, error, touched = "down", 0.0, 0.0, np.zeros(3), 0.0, 0.0, {}


def place(name: str) -> float:
    """Where a slide is, m from its start."""
    found = joints[name].displacement
    assert found is not None
    return found


def advance() -> NDArray[np.float64]:
    """One step towards the target; the force of the block on the peg, N."""
    global strongest, error
    for name, value in zip("xyz", target):
        joints[name].target(position=value)
    report = simulation.step()
    force: NDArray[np.float64] = peg.contact_with("block").force
    strongest, error = max(strongest, float(np.linalg.norm(force))), max(error, report["joint_error"])
    return force


while phase != "done" and not simulation.is_finished:
    height = place("y")
    if phase == "down":
        target[1] -= 0.02 * STEP
        if advance()[1] > PRESS:
            phase, surface, centre = "search", place("y"), target.copy()
            touched[phase] = simulation.time
    elif phase == "search":
        radius = 0.0015 * angle / (2 * np.pi)
        target = centre + [radius * np.cos(angle), 0, radius * np.sin(angle)]
        angle += 0.03 * STEP / max(radius, 0.0005)
        # as far below where it stands as the servo needs to press
        target[1] = max(height, surface - 0.002) - PRESS / STIFFNESS
        advance()
        if height < surface - 0.001:
            phase = "insert"
            touched[phase] = simulation.time
            target[[0, 2]] = place("x"), place("z")
    else:
        target[1] -= 0.02 * STEP
        force = advance()
        target[[0, 2]] += 1e-5 * force[[0, 2]]
        if place("y") < surface - DEPTH:
            phase = "done"

assert phase == "done"
found = np.array([place("x"), place("z")])
print(f"touched after {touched['search']:.2f} s, sank after {touched['insert']:.2f} s, inside after {simulation.time:.2f} s")
print(f"found the pit {1000 * np.abs(found - HOLE).max():.2f} mm beside its middle; strongest force {strongest:.1f} N")
assert np.abs(found - HOLE).max() < (PIT - PEG) / 2
assert strongest < 15 and error < 1e-6
