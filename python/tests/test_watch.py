"""Callbacks within a step: what they see, how they end it, interrupts."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from scenes import blocks

import standoff


def test_a_watcher_sees_every_iteration_and_changes_nothing():
    watched, alone = standoff.Simulation(blocks()), standoff.Simulation(blocks())
    seen = []
    watched.run(steps=5, watch=lambda i: seen.append(i))
    alone.run(steps=5)
    assert watched.save() == alone.save()
    for step in range(1, 6):
        own = [i for i in seen if i.step == step]
        assert own[0].number == 1 and own[0].residual_speed is None
        assert all(i.residual_speed is not None for i in own if i.number > 1)
        assert all(i.tolerance > 0 and i.positions.shape == watched.positions.shape for i in own)
    last = max(i.number for i in seen if i.step == 5)
    assert last == watched.report["newton_iterations"]
    # the first iterate of a step starts from the end of the one before, up to what is known of the motion
    assert np.abs(seen[-1].positions - watched.positions).max() < 0.05


def test_false_cancels_a_step_that_can_be_taken_again(tmp_path):
    simulation, alone = standoff.Simulation(blocks()), standoff.Simulation(blocks())
    simulation.record(tmp_path / "run")
    simulation.step()
    before, report = simulation.save(), simulation.report
    with pytest.raises(standoff.CancelledError, match="step 2 was cancelled") as caught:
        simulation.step(watch=lambda i: i.number < 2)
    assert (caught.value.step, caught.value.iterations) == (2, 2)
    assert isinstance(caught.value, standoff.StepError)
    assert simulation.save() == before and simulation.report is report
    assert simulation.step_index == 1
    # NumPy's False is one, too
    with pytest.raises(standoff.CancelledError):
        simulation.run(watch=lambda i: np.bool_(False))
    simulation.run(steps=3)
    simulation.finish()
    alone.run(steps=4)
    assert simulation.save() == alone.save()
    assert (tmp_path / "run" / "frames" / "000004.vtu").exists()


def test_exceptions_cancel_a_step_and_are_raised_unchanged():
    simulation = standoff.Simulation(blocks())
    before = simulation.save()
    error = ZeroDivisionError("from the callback")

    def watch(iteration):
        raise error

    for raising in (simulation.step, simulation.run):
        with pytest.raises(ZeroDivisionError) as caught:
            raising(watch=watch)
        assert caught.value is error
        assert simulation.save() == before
    with pytest.raises(TypeError, match="not callable"):
        simulation.step(watch=3)
    simulation.step()


def test_watchers_run_in_the_thread_that_steps():
    simulation, threads = standoff.Simulation(blocks()), set()

    def step():
        simulation.step(watch=lambda i: threads.add(threading.current_thread()))

    step()
    other = threading.Thread(target=step)
    other.start()
    other.join()
    assert threads == {threading.current_thread(), other}


def test_a_watcher_cannot_use_its_own_simulation():
    simulation = standoff.Simulation(blocks())
    uses = {
        "step": simulation.step,
        "positions": lambda: simulation.positions,
        "audit": simulation.audit,
        "save": simulation.save,
        "time": lambda: simulation.time,
        "gravity": lambda: simulation.set_gravity([0, 0, 0]),
    }
    refused = []

    def watch(iteration):
        for name, use in uses.items():
            with pytest.raises(RuntimeError, match="within its own step"):
                use()
            refused.append(name)

    simulation.step(watch=watch)
    assert set(refused) == set(uses)
    assert len(simulation.positions) == len(simulation.masses)


OTHER = """
import faulthandler, sys
# a process that hangs says where, and ends
faulthandler.dump_traceback_later(50, exit=True)
sys.path.insert(0, sys.argv[1])
import standoff
from scenes import blocks
standoff.set_threads(1)
simulation, other = standoff.Simulation(blocks()), standoff.Simulation(blocks())
inner = []
simulation.step(watch=lambda i: other.step(watch=lambda j: inner.append(j.number)) and other.audit() == [])
print(len(inner) > 0, other.step_index > 0)
"""


def test_a_watcher_may_use_other_simulations_on_one_thread():
    arguments = [sys.executable, "-c", OTHER, Path(__file__).parent]
    told = subprocess.run(arguments, capture_output=True, text=True, timeout=60)
    assert told.stdout == "True True\n", told


INTERRUPTED = """
import os, signal, sys, threading, time
sys.path.insert(0, sys.argv[1])
import standoff
from scenes import blocks
simulation = standoff.Simulation(blocks())
simulation.step()
before = simulation.save()
send = lambda: os.kill(os.getpid(), signal.SIGINT)
if sys.argv[2] == "callback":
    # the interrupt comes while the callback runs
    threading.Timer(0.3, send).start()
    watch = lambda i: time.sleep(60)
else:
    # a step of more than a second, which no callback watches
    watch = None
try:
    if watch is None:
        box = {"shape": {"kind": "box", "cells": [36, 36, 36]}}
        scene = standoff.Scene(
            ground=-0.5005,
            solver={"end": {"velocity_relative": 1e-12}},
            objects=[{**box, "velocity": [0, -5, 0]}],
        )
        simulation = standoff.Simulation(scene)
        before = simulation.save()
        threading.Timer(0.3, send).start()
    start = time.monotonic()
    simulation.step(watch=watch)
    print("done", time.monotonic() - start)
except KeyboardInterrupt:
    print("interrupted", simulation.save() == before)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="a process cannot send itself Ctrl-C there")
@pytest.mark.parametrize("where", ["callback", "step"])
def test_an_interrupt_ends_a_step(where):
    arguments = [sys.executable, "-c", INTERRUPTED, Path(__file__).parent, where]
    told = subprocess.run(arguments, capture_output=True, text=True, timeout=100)
    assert told.stdout == "interrupted True\n", told
