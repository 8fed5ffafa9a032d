"""Joints: coordinates, efforts and targets between steps."""

from pathlib import Path

import numpy as np
import pytest

import standoff

GRIPPER = Path(__file__).parents[2] / "scenes" / "rigid" / "gripper.toml"


def gripper(**overrides):
    return standoff.Simulation(standoff.Scene.load(GRIPPER, overrides=overrides))


def test_a_gripper_follows_targets():
    simulation = gripper()
    assert list(simulation.joints) == ["lift", "left finger", "right finger"]
    left, right, lift = (simulation.joints[name] for name in ("left finger", "right finger", "lift"))
    left.target(position=0.01)
    for _ in range(40):
        simulation.step()
    assert left.displacement == pytest.approx(0.01, abs=1e-5)
    assert right.displacement == pytest.approx(left.displacement, abs=1e-9)
    assert left.angle is None and abs(left.speed) < 1e-3 and abs(left.effort) < 0.1
    # the servo of the lift carries the hand, and the fingers have not reached the cube
    weight = 2700 * (0.13 * 0.02 * 0.04 + 2 * 0.01 * 0.08 * 0.03) * 9.81
    assert lift.effort == pytest.approx(weight, rel=1e-3)
    assert np.allclose(lift.force, [0, 0, 0], atol=1e-2) and lift.limit_effort == 0
    assert np.allclose(lift.point[:2], [0, 0.12 + lift.displacement])
    # a closed hand pushes with its cap
    left.target()
    for _ in range(40):
        simulation.step()
    assert left.effort == pytest.approx(6.0, abs=1e-9)
    saved = simulation.save()
    again = gripper()
    again.load(saved)
    assert again.step()["contacts"] == simulation.step()["contacts"]
    assert np.array_equal(again.positions, simulation.positions)


def test_targets_that_cannot_be_are_refused():
    simulation = gripper()
    with pytest.raises(standoff.ControlError, match="there is no joint 'thumb'"):
        standoff.simulation.Joint(simulation, "thumb")
    right = simulation.joints["right finger"]
    with pytest.raises(standoff.ControlError, match="needs a drive with a stiffness"):
        right.target(position=0.0)
    with pytest.raises(standoff.ControlError, match="not a finite number"):
        simulation.joints["lift"].target(effort=float("nan"))
    right.target(effort=0.0)


def test_a_tendon_is_found_among_the_joints():
    arms = [{"name": f"arm {x}", "role": "rigid", "shape": {"kind": "box", "size": [0.05, 0.2, 0.05]}, "translate": [x, 0, 0]}
            for x in (0.0, 0.3)]
    joints = [{"name": f"pin {x}", "kind": "revolute", "bodies": [f"arm {x}"], "point": [x, 0.1, 0], "axis": [0, 0, 1]} for x in (0.0, 0.3)]
    drive = {"position": 0.0, "stiffness": 20.0, "damping": 3.0}
    tendon = {"name": "belt", "joints": {"pin 0.0": 0.5, "pin 0.3": -0.5}, "drive": drive}
    scene = standoff.Scene(gravity=[0, 0, 0], time={"step": 0.02, "end": 2.0}, objects=arms, joints=joints, tendons=[tendon])
    simulation = standoff.Simulation(scene)
    assert list(simulation.joints) == ["pin 0.0", "pin 0.3", "belt"]
    belt, pin = simulation.joints["belt"], simulation.joints["pin 0.0"]
    belt.target(position=0.2)
    simulation.run()
    assert belt.displacement == pytest.approx(0.2, abs=1e-3)
    assert pin.angle == pytest.approx(0.2, abs=1e-3) and belt.angle is None


ARM = Path(__file__).parents[2] / "testdata" / "data" / "robots" / "panda" / "panda.urdf"


def test_a_robot_is_a_part_of_a_scene():
    servo = {"position": -1.5, "stiffness": 4500, "damping": 450}
    scene = standoff.Scene(
        gravity=[0, 0, -9.81],
        robots=[{"file": str(ARM), "name": "arm", "pose": {"panda_joint4": -1.5}, "drives": {"panda_joint4": servo}}],
    )
    assert "arm/panda_link4" in scene.bodies and any("panda.urdf" in note for note in scene.notes)
    simulation = standoff.Simulation(scene)
    elbow = simulation.joints["arm/panda_joint4"]
    assert elbow.angle == pytest.approx(-1.5, abs=1e-12)
    elbow.target(position=-1.6)
    for _ in range(30):
        report = simulation.step()
        assert report["outcome"] == "converged" and report["joint_error"] < 1e-8
    # the file has no other motors: the rest of the arm falls, and the elbow yields by what its servo bears
    assert elbow.angle == pytest.approx(-1.6, abs=0.05) and 0 < abs(elbow.effort) <= 87
    again = standoff.Simulation(scene)
    again.load(simulation.save())
    assert again.step()["newton_iterations"] == simulation.step()["newton_iterations"]
    assert np.array_equal(again.positions, simulation.positions)
    with pytest.raises(standoff.SceneError, match="there is no joint \"knee\""):
        standoff.Scene(robots=[{"file": str(ARM), "pose": {"knee": 1.0}}])


def test_a_joint_with_a_soft_body_breaks():
    bar = {"name": "bar", "shape": {"kind": "box", "size": [0.05, 0.2, 0.05], "cells": [1, 4, 1]}, "element": "linear",
           "material": {"density": 1000, "young_modulus": 1e6, "poisson_ratio": 0.4}}
    top = {"box": {"min": [0, 1, 0], "max": [1, 1, 1], "relative": True}}
    hook = {"name": "hook", "kind": "fixed", "bodies": ["bar"], "vertices": {"bar": top}, "point": [0, 0.1, 0]}
    weight = 1000 * 0.2 * 0.05**2 * 9.81

    def simulation(**more):
        return standoff.Simulation(standoff.Scene(objects=[bar], joints=[{**hook, **more}], time={"step": 0.01, "end": 1}))

    holds = simulation()
    for _ in range(100):
        holds.step()
    joint = holds.joints["hook"]
    assert not joint.broken and joint.force[1] == pytest.approx(weight, rel=1e-2)
    breaks = simulation(breaking_force=0.5 * weight)
    reports = [breaks.step() for _ in range(10)]
    broken = [report.get("broken_joints", []) for report in reports]
    assert broken.count(["hook"]) == 1 and broken.count([]) == 9
    assert breaks.joints["hook"].broken and np.allclose(breaks.joints["hook"].force, 0)
    saved = breaks.save()
    again = simulation(breaking_force=0.5 * weight)
    again.load(saved)
    assert again.joints["hook"].broken
    with pytest.raises(standoff.SceneError, match="vertices"):
        standoff.Scene(objects=[bar], joints=[{"kind": "fixed", "bodies": ["bar"], "point": [0, 0.1, 0]}])
