"""Batches: members against simulations of their own, actions, subsets, states, failures; positions that are set."""

import logging
import pickle
import signal
import threading
import time

import numpy as np
import pytest

import standoff
from scenes import blocks

MATERIALS = {"foam": {"young_modulus": 1e5, "density": 300}}
KEY = "materials.foam.young_modulus"
MODULI = [5e4, 1e5, 2e5, 4e5]


def scene(**sections):
    return blocks("foam", materials=MATERIALS, **sections)


def rises(step):
    """By how much the plates of four members rise in a step."""
    return np.outer([1.0, 2.0, 3.0, 4.0], [1e-4 * step, 1e-4, 0.0])


def pushes(step):
    return np.outer([1.0, 2.0, 3.0, 4.0], [0.3, 0.0, 0.1 * step])


def advance(batch, steps):
    for _ in range(steps):
        step = int(batch.step_index[0])
        assert batch.step({"plate": rises(step), "block.force[0]": pushes(step)}).all()


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_members_have_the_bits_of_single_simulations(threads):
    batch = standoff.Batch(scene(), overrides={KEY: MODULI}, threads=threads)
    assert (len(batch), batch.threads) == (4, threads)
    advance(batch, 8)
    for k, modulus in enumerate(MODULI):
        alone = standoff.Simulation(scene().with_overrides({KEY: modulus}))
        for step in range(8):
            alone["plate"].move_by(rises(step)[k])
            alone.set_load("block.force[0]", pushes(step)[k])
            alone.step()
        assert (batch.positions[k] == alone.positions).all()
        assert (batch.velocities[k] == alone.velocities).all()
        assert (batch[k].contact_forces == alone.contact_forces).all()
        assert (batch["plate"].force[k] == alone["plate"].force).all() and alone["plate"].force[1] < 0
        assert batch.report(k)["step"] == batch[k].report["step"] == 8
        assert batch[k].save() == alone.save()
    assert not (batch.positions[0] == batch.positions[1]).all()
    assert batch.positions.shape == (4, 36, 3) and batch["block"].positions.shape == (4, 27, 3)
    assert (batch["block"].positions == batch.positions[:, :27]).all()
    assert batch.time == pytest.approx([0.08] * 4) and not batch.is_finished.any()
    assert batch["ground"].force.shape == (4, 3)


def test_a_batch_says_what_it_is():
    batch = standoff.Batch(scene(), 3, threads=2)
    assert repr(batch) == "<standoff.Batch of 3 members of block, plate, on 2 threads>"
    assert repr(batch["block"]) == "<standoff.BatchBody 'block' of 3 members: volume, 27 vertices>"
    assert repr(batch["ground"]) == "<standoff.BatchHalfSpace 'ground' of 3 members>"
    assert batch[-1] is batch[2] and list(batch) == [batch[0], batch[1], batch[2]]
    # members that are alike share their scene
    assert batch.scenes[0] is batch.scenes[2]
    several = standoff.Batch([scene(), scene()])
    assert len(several) == 2
    again = pickle.loads(pickle.dumps(batch[1]))
    assert (again.positions == batch[1].positions).all()


def test_actions_of_every_kind():
    batch = standoff.Batch(scene(), 2, threads=2)
    one = standoff.Simulation(scene())
    x = batch["plate"].targets
    x[:, :, 1] += [[1e-3], [2e-3]]
    assert batch.step({"plate": x, "block.force[1]": [10.0, 20.0], "gravity": [[0, -1, 0], [0, -2, 0]]}).all()
    one["plate"].targets = x[1]
    one.set_load("block.force[1]", 20.0)
    one.set_gravity([0, -2, 0])
    one.step()
    assert (batch.positions[1] == one.positions).all() and not (batch.positions[0] == one.positions).all()
    # several steps: what moves, moves in each
    assert batch.step({"plate": [[0, 1e-4, 0]] * 2}, steps=3).all()
    assert batch["plate"].targets[:, 0, 1] == pytest.approx([1.3e-3, 2.3e-3])
    for _ in range(3):
        one["plate"].move_by([0, 1e-4, 0])
        one.step()
    assert (batch.positions[1] == one.positions).all() and batch.step_index.tolist() == [4, 4]

    # a held corner with a load of the same name
    both = scene()
    regions = {"objects.0.regions": {"corner": {"box": {"min": [0, 0, 0], "max": [0.1, 0.1, 0.1], "relative": True}}}, "objects.0.fixed": [{"vertices": "corner"}]}
    both = both.with_overrides({**regions, "objects.0.forces": [{"vertices": "corner", "force": [0, 0, 0]}]})
    assert both.prescriptions == both.loads == ["block.corner"]
    batch = standoff.Batch(both, 2)
    with pytest.raises(ValueError, match=r"use the key \('prescription', 'block.corner'\) or \('load'"):
        batch.step({"block.corner": np.zeros((2, 3))})
    before = batch[0].targets("block.corner")
    assert batch.step({("prescription", "block.corner"): [[0, 1e-4, 0]] * 2, ("load", "block.corner"): [[1, 0, 0]] * 2}).all()
    assert batch[0].targets("block.corner") == pytest.approx(before + [0, 1e-4, 0])
    assert batch[1].applied("block.corner").force == pytest.approx([1, 0, 0])


def test_members_go_back_to_the_start_and_to_saved_states():
    batch = standoff.Batch(scene(), overrides=[{KEY: m} for m in MODULI], threads=2)
    start = batch.save()
    advance(batch, 3)
    early, x = batch.save(), batch.positions
    advance(batch, 4)
    late = batch.save()
    batch.reset([0, 2])
    batch.reset([3], [early[3]])
    assert batch.save() == [start[0], late[1], start[2], early[3]]
    assert batch.step_index.tolist() == [0, 7, 0, 3] and (batch.positions[3] == x[3]).all()
    assert batch[0].report is None and batch[1].report["step"] == 7
    for members in ([0, 2], [3], [0, 2, 3]):
        while True:
            step = int(batch.step_index[members[0]])
            if step == (3 if members == [0, 2] else 7):
                break
            actions = {"plate": rises(step)[members], "block.force[0]": pushes(step)[members]}
            assert batch.step(actions, members=members).all()
        if members == [3]:
            assert batch.save(members) == [late[3]]
            batch.reset(np.array([False, False, False, True]), [early[3]])
    assert batch.save() == late
    batch.reset()
    assert batch.save() == start
    # one state for members of one scene
    alike = standoff.Batch(scene(), 3)
    alike.step()
    [saved] = alike.save([1])
    alike.step()
    alike.reset(saved=saved)
    assert alike.save() == [saved] * 3
    assert batch.step({"plate": np.zeros((0, 3))}, members=[]).tolist() == []


def test_a_member_that_fails_does_not_stop_the_others(caplog):
    above = {"name": "board", "shape": {"kind": "plane", "size": [1, 1], "cells": [1, 1]}, "translate": [0, 0.25, 0]}
    objects = [
        {"name": "block", "shape": {"kind": "box", "size": [0.2] * 3, "cells": [2, 2, 2]}, "translate": [0, 0.103, 0]},
        {"name": "plate", "shape": {"kind": "plane", "size": [1, 1], "cells": [2, 2]}},
        above,
    ]
    batch = standoff.Batch(standoff.Scene(time={"step": 0.01, "end": 1}, objects=objects), 3, threads=2)
    with caplog.at_level(logging.WARNING, logger="standoff"):
        done = batch.step({"plate": [[0, 0, 0], [0, 0.4, 0], [0, 1e-4, 0]]})
    assert done.tolist() == [True, False, True] and batch.step_index.tolist() == [1, 0, 1]
    [(k, error)] = batch.errors.items()
    assert k == error.member == 1 and isinstance(error, standoff.StepError) and error.name == "plate"
    assert str(error).startswith("member 1: step 1: prescribed motion 'plate' is blocked")
    assert [r.getMessage() for r in caplog.records] == [str(error)]
    assert batch.step(members=[0, 2]).all() and 1 in batch.errors
    batch.reset([1])
    assert not batch.errors and batch.step().all()
    assert batch.step_index.tolist() == [3, 1, 3]


def test_what_is_wrong_is_said():
    batch = standoff.Batch(scene(), 2)
    with pytest.raises(standoff.ControlError, match="there is no body, prescription or load 'plait'; there are: block, plate") as error:
        batch.step({"plait": np.zeros((2, 3))})
    assert error.value.name == "plait" and "plate" in error.value.known
    with pytest.raises(standoff.ControlError, match="there is no body 'plait'"):
        batch["plait"]
    for wrong in (np.zeros((3, 3)), np.zeros((2, 4)), np.zeros((2, 9, 2)), 1.0):
        with pytest.raises(ValueError, match="'plate': expected an array of shape"):
            batch.step({"plate": wrong})
    # another number of targets concerns the members
    assert not batch.step({"plate": np.zeros((2, 8, 3))}).any()
    assert isinstance(batch.errors[0], standoff.ControlError) and batch.errors[1].member == 1
    with pytest.raises(standoff.BatchError, match="there is no member 2; the batch has 2") as error:
        batch.step(members=[0, 2])
    assert error.value.member == 2
    with pytest.raises(standoff.BatchError, match="member 1 is named twice"):
        batch.reset([1, -1])
    with pytest.raises(ValueError, match="whole numbers"):
        batch.reset([0.5])
    with pytest.raises(ValueError, match="a mask of 3 for 2 members"):
        batch.reset([True, False, True])
    with pytest.raises(ValueError, match="1 states for 2 members"):
        batch.reset(saved=batch.save([0]))
    other = standoff.Batch(scene(), overrides={KEY: [1e3, 2e3]})
    with pytest.raises(standoff.OutputError, match="member 0") as error:
        batch.reset([0], other.save([0]))
    assert error.value.member == 0
    for arguments, message in (
        ({}, "how many members"),
        ({"n": 3, "overrides": {KEY: [1e5]}}, "1 values of"),
        ({"n": 3, "overrides": [{}]}, "1 mappings for 3"),
        ({"n": 2, "threads": 0}, "threads: expected at least 1"),
    ):
        with pytest.raises(ValueError, match=message):
            standoff.Batch(scene(), **arguments)
    with pytest.raises(standoff.BatchError, match="at least one member"):
        standoff.Batch(scene(), 0)
    with pytest.raises(standoff.SceneError, match="member 1: ") as error:
        standoff.Batch(scene(), overrides={KEY: [1e5, "soft"]})
    assert error.value.member == 1
    low = {"objects.0.translate": [0, 0.05, 0]}
    with pytest.raises(standoff.BuildError, match="member 2: the start is not free of intersections") as error:
        standoff.Batch(scene(), overrides=[{}, {}, low])
    assert error.value.member == 2 and error.value.count > 0
    with pytest.raises(IndexError):
        batch[2]


def test_members_of_different_sizes_have_no_common_array():
    cells = {"objects.0.shape.cells": [[2, 2, 2], [3, 2, 2]]}
    batch = standoff.Batch(scene(), overrides=cells)
    with pytest.raises(standoff.BatchError, match="member 1 has 45 vertices, where member 0 has 36") as error:
        batch.positions
    assert error.value.member == 1
    assert [len(s.positions) for s in batch] == [36, 45]
    assert batch["plate"].positions.shape == (2, 9, 3) and batch.step().all()


def test_leaving_the_block_ends_recordings(tmp_path):
    with standoff.Batch(scene(), 2) as batch:
        for k, simulation in enumerate(batch):
            simulation.record(tmp_path / str(k))
        batch.step(steps=2)
        batch.reset([0])
    assert len(standoff.frames(tmp_path / "0")) == len(standoff.frames(tmp_path / "1")) == 3
    assert batch.step().all() and batch.step_index.tolist() == [1, 3]


def test_members_are_kept_up_to_date():
    batch = standoff.Batch(scene(), 2)
    member = batch[1]
    before = member.positions
    assert batch.step().all()
    assert not (member.positions == before).all() and (member.positions == batch.positions[1]).all()
    assert member.report["step"] == 1
    member.step()
    assert batch.step_index.tolist() == [1, 2] and (member.positions == batch.positions[1]).all()
    with pytest.raises(RuntimeError, match="the batch that it belongs to"):
        member.step(watch=lambda _: bool(batch.step().all()))


@pytest.fixture
def interrupts():
    """Python's own reaction to SIGINT, which a process that was started in the background ignores."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interrupts")
def test_other_threads_run_and_an_interrupt_ends_the_steps():
    fine = blocks("foam", materials=MATERIALS, time={"step": 0.01, "end": 100})
    fine = fine.with_overrides({"objects.0.shape.cells": [12, 12, 12]})
    batch = standoff.Batch(fine, 2, threads=2)
    turns = 0

    def interrupt():
        nonlocal turns
        while batch_runs.is_set():
            turns += 1
            time.sleep(0.01)
            if turns == 30:
                signal.raise_signal(signal.SIGINT)

    batch_runs = threading.Event()
    batch_runs.set()
    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        batch.step(steps=1000)
    batch_runs.clear()
    thread.join()
    assert turns >= 30 and (batch.step_index < 1000).all()
    assert batch.step(steps=1).all()


# positions that are set


def test_positions_are_set_and_checked():
    simulation = standoff.Simulation(scene())
    simulation.run(steps=3)
    block = simulation["block"]
    x, v = block.positions + [0.1, 0.05, 0], block.velocities
    block.positions = x
    assert (block.positions == x).all() and (block.velocities == v).all()
    saved = simulation.save()
    other = standoff.Simulation.restore(simulation.scene, saved)
    simulation.run(steps=3)
    other.run(steps=3)
    assert simulation.save() == other.save()
    with pytest.raises(standoff.ControlError, match="the positions of 'block' cannot be set: .*'plate'.* and .* more") as error:
        block.positions = block.positions - [0, 0.1, 0]
    assert error.value.name == "block"
    upside_down = block.positions * [1, -1, 1] + [0, 0.5, 0]
    with pytest.raises(standoff.ControlError, match="of 'block' is inverted or flat"):
        block.positions = upside_down
    with pytest.raises(standoff.ControlError, match="positions of 'block': 26 given, 27 expected"):
        block.positions = block.positions[1:]
    with pytest.raises(standoff.ControlError, match="not finite") as error:
        block.positions = block.positions * np.nan
    assert error.value.place == "vertex 0 of 'block'"
    with pytest.raises(ValueError, match=r"shape \(n, 3\)"):
        block.positions = [1.0, 2.0, 3.0]
    assert (block.positions == other["block"].positions).all()
    simulation["plate"].positions = simulation["plate"].positions - [0, 0.01, 0]
    simulation.run(steps=1)
    assert simulation["plate"].positions[:, 1] == pytest.approx(-0.01)
    simulation.reset()
    assert simulation.save() == standoff.Simulation(scene()).save() and simulation.report is None


def test_positions_are_set_in_members():
    batch = standoff.Batch(scene(), 3, threads=2)
    body = batch["block"]
    x = body.positions + np.array([0.0, 0.1, 0.2])[:, None, None] * [1, 0, 0]
    body.positions = x
    body.velocities = np.zeros_like(x) + [0, 0.5, 0]
    assert (body.positions == x).all() and (body.velocities[1] == [0, 0.5, 0]).all()
    assert batch.step().all()
    one = standoff.Simulation(scene())
    one["block"].positions = x[2]
    one["block"].velocities = [0, 0.5, 0]
    one.step()
    assert (batch.positions[2] == one.positions).all()
    y = body.positions[[2, 0]]
    y[1] -= [0, 0.2, 0]
    with pytest.raises(standoff.ControlError, match="member 0: the positions of 'block' cannot be set") as error:
        body.set_positions(y + [0, 1e-3, 0], members=[2, 0])
    assert error.value.member == 0
    # the other one was set
    assert body.positions[2] == pytest.approx(y[0] + [0, 1e-3, 0])
    with pytest.raises(ValueError, match=r"expected an array of shape \(2, 27, 3\), got \(3, 27, 3\)"):
        body.set_positions(x, members=[0, 1])
    targets = batch["plate"].targets - [0, 0.01, 0]
    batch["plate"].targets = targets
    assert batch.step().all() and batch["plate"].positions == pytest.approx(targets)
