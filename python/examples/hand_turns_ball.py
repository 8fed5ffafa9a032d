# %% [markdown]
# # Three fingers turn a ball
#
# A ball lies in a ring. Each of the three fingers around it swings about a vertical axis and reaches inwards on a slide. They grip, swing, let go,
# swing back and begin again, as a hand does that unscrews a lid.

# %%
from typing import Any

import numpy as np
from numpy.typing import NDArray

import standoff

STEP, RADIUS, HEIGHT, MOUNT, SWING, GRIP = 0.02, 0.03, 0.05, 0.1, 12.0, 3.0
FINGERS = range(3)
Vector = NDArray[np.float64]


def outwards(finger: int) -> Vector:
    angle = np.radians(120 * finger)
    return np.array([np.cos(angle), 0, -np.sin(angle)])


def rigid(name: str, shape: dict[str, Any], finger: int, at: Vector) -> dict[str, Any]:
    place = {"rotate": [0, 120 * finger, 0], "translate": list(at)}
    return {"name": name, "role": "rigid", "shape": shape, "material": "plastic"} | place


up = np.array([0, HEIGHT, 0])
objects: list[dict[str, Any]] = [
    {"name": "ball", "role": "rigid", "shape": {"kind": "sphere", "radius": RADIUS, "layers": 3}, "material": "plastic", "translate": list(up)},
    {"name": "ring", "role": "obstacle", "shape": {"kind": "torus", "radius": 0.015, "tube_radius": 0.004, "rings": 1, "segments": 24, "surface": True},
     "translate": [0, HEIGHT - 0.0308, 0]},
]
joints = []
for k in FINGERS:
    d = outwards(k)
    objects.append(rigid(f"mount {k}", {"kind": "box", "size": [0.02, 0.02, 0.02]}, k, MOUNT * d + up))
    objects.append(rigid(f"finger {k}", {"kind": "box", "size": [0.05, 0.012, 0.012]}, k, (RADIUS + 0.03) * d + up))
    turn = {"position": 0.0, "stiffness": 20.0, "damping": 0.5, "max_effort": 2.0}
    reach = {"position": 0.0, "stiffness": 2000.0, "damping": 40.0, "max_effort": GRIP}
    joints.append({"name": f"swing {k}", "kind": "revolute", "bodies": [f"mount {k}"], "point": list(MOUNT * d + up), "axis": [0, 1, 0],
                   "drive": turn})
    joints.append({"name": f"reach {k}", "kind": "prismatic", "bodies": [f"mount {k}", f"finger {k}"], "point": list(MOUNT * d + up),
                   "axis": list(-d), "limits": [-0.005, 0.02], "drive": reach})
scene = standoff.Scene(
    time={"step": STEP, "end": 10.0},
    contact={"d_hat": 2e-4},
    friction={"coefficient": 0.5},
    materials={"plastic": {"density": 1000}},
    objects=objects,
    joints=joints,
)

# %%
simulation = standoff.Simulation(scene)
ball = simulation["ball"]
start = ball.positions
mark = int(np.argmax(start[:, 0]))
angles, error = [0.0], 0.0


def turn_of_ball() -> float:
    """The angle of a mark on the ball about the vertical axis, degrees."""
    x, _, z = ball.positions[mark] - ball.centre
    return float(np.degrees(np.arctan2(-z, x)))


def move(seconds: float, swing: tuple[float, float], reach: tuple[float, float]) -> None:
    """Moves the targets of all fingers evenly, degrees and m."""
    global error
    steps = round(seconds / STEP)
    for step in range(1, steps + 1):
        share = step / steps
        for k in FINGERS:
            simulation.joints[f"swing {k}"].target(position=np.radians(swing[0] + share * (swing[1] - swing[0])))
            simulation.joints[f"reach {k}"].target(position=reach[0] + share * (reach[1] - reach[0]))
        error = max(error, simulation.step()["joint_error"])
        angles.append(turn_of_ball())


# %% [markdown]
# With their slides 10 mm inwards the fingers would be within the ball: they press with the most that their drives can.

# %%
OPEN, CLOSED, CYCLES = -0.003, 0.01, 2
grips: list[float] = []
move(0.2, (0, -SWING), (0, OPEN))
for cycle in range(CYCLES):
    move(0.2, (-SWING, -SWING), (OPEN, CLOSED))
    grip = [float(np.linalg.norm(simulation[f"finger {k}"].contact_with("ball").normal_force)) for k in FINGERS]
    move(0.4, (-SWING, SWING), (CLOSED, CLOSED))
    print(f"cycle {cycle}: gripped with {min(grip):.2f} to {max(grip):.2f} N, turned to {angles[-1]:.1f}°")
    move(0.2, (SWING, SWING), (CLOSED, OPEN))
    move(0.3, (SWING, -SWING), (OPEN, OPEN))
    grips += grip

turned, shifted = np.degrees(np.ptp(np.unwrap(np.radians(angles)))), np.linalg.norm(ball.centre - up)
print(f"the ball was turned by {turned:.0f}° and shifted by {1000 * shifted:.2f} mm; joints are closed to {error:.1e} of their bodies")
assert turned > 100 and shifted < 0.001
assert min(grips) > 0.9 * GRIP and max(grips) < 1.3 * GRIP
assert error < 1e-6
