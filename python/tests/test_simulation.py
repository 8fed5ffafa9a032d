"""Scenes, steps, controls, states, recordings, errors."""

import os
import pickle
import shutil
import signal
import subprocess
import sys
import sysconfig
import threading
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest
from scenes import blocks, tetrahedron

import standoff

REPOSITORY = Path(__file__).resolve().parents[2]


def drive(simulation, end):
    """Steps up to `end`, setting everything that can be set."""
    while simulation.step_index < end:
        match simulation.step_index:
            case 2:
                simulation.set_gravity([1, -5, 0])
            case 3:
                simulation.set_load("block.force[0]", [5, 0, 1])
            case 4:
                simulation.set_load("block.force[1]", 20.0)
            case 5:
                simulation["block"].velocities = [0, 0.1, 0]
            case _:
                simulation["plate"].move_by([1e-4, 0, 0])
        simulation.step()


def bits(simulation):
    return simulation.save()


def test_bodies_and_forces():
    scene = blocks()
    simulation = standoff.Simulation(scene)
    assert list(scene.bodies) == ["block", "plate"] and scene.half_spaces == ["ground"]
    assert scene.loads == ["block.force[0]", "block.force[1]"]
    assert [b.name for b in simulation] == ["block", "plate"]
    block, plate = simulation["block"], simulation["plate"]
    assert block.role == "volume" and block.tetrahedra.shape[1] == 4
    assert block.rest.shape == (27, 3) and plate.positions.shape == (9, 3)
    assert block.masses.sum() == pytest.approx(8.0)
    assert np.allclose(block.centre, [0, 0.103, 0])
    simulation.run(steps=8)
    assert simulation.step_index == 8 and simulation.time == pytest.approx(0.08)
    # what the plate exerts on the block, the block exerts on the plate
    assert block.force[1] > 1.0
    assert np.allclose(block.force, -plate.force, rtol=1e-9, atol=1e-9)
    assert np.allclose(simulation["ground"].force, 0.0)
    assert np.allclose(block.torque() + plate.torque(), 0.0, atol=1e-3 * np.abs(block.force).max())
    pair, back = block.contact_with("plate"), plate.contact_with("block")
    assert np.allclose(pair.force, block.force, rtol=1e-12) and np.allclose(pair.force, -back.force, rtol=1e-12)
    assert np.allclose(pair.torque([1, 2, 3]), block.torque([1, 2, 3]), rtol=1e-9, atol=1e-12)
    assert np.allclose(pair.normal_force + pair.friction_force, pair.force)
    assert 0 < np.linalg.norm(pair.friction_force) < np.linalg.norm(pair.normal_force)
    assert simulation.report["forces"]["pairs"]["block"]["plate"]["force"] == pair.force.tolist()
    assert not block.contact_with("ground").force.any() and not simulation["ground"].contact_with("block").force.any()
    with pytest.raises(standoff.ControlError, match="no body or half-space 'wall'; there are: block, plate, ground"):
        block.contact_with("wall")
    contacts = simulation.contacts()
    assert len(contacts["gap"]) > 0 and contacts["points"].shape[1:] == (2, 3)
    assert (contacts["gap"] > 0).all() and np.allclose(np.linalg.norm(contacts["normal"], axis=1), 1)
    distance = np.linalg.norm(contacts["points"][:, 0] - contacts["points"][:, 1], axis=1)
    assert np.allclose(distance, contacts["gap"])
    assert simulation.energies["kinetic"] == simulation.report["kinetic_energy"]
    assert simulation.von_mises().shape == (len(block.tetrahedra),)
    stress, strain = simulation.stresses(), simulation.strains()
    assert stress.shape == strain.shape == (len(block.tetrahedra), 3, 3)
    assert np.array_equal(stress, stress.swapaxes(1, 2)) and np.isfinite(strain).all()
    deviator = stress - np.trace(stress, axis1=1, axis2=2)[:, None, None] / 3 * np.eye(3)
    assert np.allclose(np.sqrt(1.5 * (deviator**2).sum(axis=(1, 2))), simulation.von_mises())
    recovered, errors = simulation.recovered_stresses(), simulation.stress_errors()
    assert recovered.shape == (len(simulation.positions), 3, 3) and errors.shape == (len(block.tetrahedra),)
    assert np.isfinite(recovered).all() and recovered[block.vertices].any() and (errors > 0).any()
    assert simulation.audit() == []
    with pytest.raises(ValueError, match="read-only"):
        simulation.positions[0] = 0


def test_a_block_yields():
    lead = {"young_modulus": "1 MPa", "plasticity": {"yield_stress": "4 kPa"}}
    block = {"name": "lead", "shape": {"kind": "box", "size": [0.3, 0.3, 0.3]}, "material": "lead",
             "translate": [0, 0.151, 0], "velocity": [0, -4, 0]}
    scene = standoff.Scene(ground=0, time={"step": "5 ms"}, materials={"lead": lead}, objects=[block])
    simulation = standoff.Simulation(scene)
    assert not simulation.plastic_strains().any()
    for _ in range(20):
        simulation.step()
    strain, von_mises = simulation.plastic_strains(), simulation.von_mises()
    assert strain.shape == von_mises.shape and strain.max() > 0.1
    assert simulation.report["inelastic_heat"] >= 0 and simulation.energies["inelastic"] > 0


def test_what_is_held_is_moved_and_released():
    low = {"box": {"min": [-1, -1, -1], "max": [2, 0.01, 2], "relative": True}}
    cube = {"name": "cube", "shape": {"kind": "box", "cells": [1, 1, 1]}, "regions": {"low": low}}
    scene = standoff.Scene(objects=[{**cube, "fixed": [{"vertices": "low"}]}])
    simulation = standoff.Simulation(scene)
    held = simulation.held("cube.low")
    held.targets = held.targets + [0, 1e-3, 0]
    simulation.step()
    assert np.allclose(held.displacement, [0, 1e-3, 0], atol=1e-15) and held.force[1] > 0
    held.release()
    simulation.step()
    assert held.force.tolist() == [0, 0, 0] and held.displacement[1] < 1e-3
    held.hold()
    simulation.step()
    assert held.force[1] > 0
    with pytest.raises(standoff.ControlError, match="4 expected"):
        held.targets = np.zeros((3, 3))


def test_forces_of_supports_and_loads(tmp_path):
    ends = {
        "left": {"box": {"min": [-1, -1, -1], "max": [0.01, 2, 2], "relative": True}},
        "right": {"box": {"min": [0.99, -1, -1], "max": [2, 2, 2], "relative": True}},
    }
    bar = {
        "name": "bar",
        "shape": {"kind": "box", "size": [1, 0.2, 0.2], "cells": [5, 1, 1]},
        "regions": ends,
        "fixed": [{"vertices": "left"}],
        "forces": [{"vertices": "right", "force": [3, -2, 0]}],
    }
    time = {"step": 1, "end": 3, "integrator": "quasi-static"}
    solver = {"end": {"velocity": 1e-9}}
    scene = standoff.Scene(time=time, gravity=[0, 0, 0], solver=solver, objects=[bar])
    simulation = standoff.Simulation(scene)
    simulation.record(tmp_path / "run")
    simulation.run()
    held, applied = simulation.held("bar.left"), simulation.applied("bar.right")
    assert np.allclose(applied.force, [3, -2, 0]) and np.allclose(held.force, [-3, 2, 0], atol=1e-6)
    middle = np.array([0.5, 0, 0])
    assert np.allclose(held.torque(middle) + applied.torque(middle), 0, atol=1e-6)
    assert np.allclose(held.displacement, 0)
    told = simulation.report["forces"]
    assert told["held"]["bar.left"]["force"] == held.force.tolist()
    assert told["loads"]["bar.right"]["torque"] == applied.torque().tolist()
    copy = standoff.Simulation.restore(scene, simulation.save())
    assert copy.held("bar.left").force.tolist() == held.force.tolist()
    with pytest.raises(standoff.ControlError) as caught:
        simulation.held("bar.middle")
    assert caught.value.known == ["bar.left"]
    drawn = standoff.plot(tmp_path / "run", curves="forces.held.bar.left.x", against="time")
    assert "forces.held.bar.left.x, N over time, s" in drawn.svg
    with pytest.raises(standoff.OutputError, match="no step has a number 'forces.held.bar.y'"):
        standoff.plot(tmp_path / "run", curves=["forces.held.bar.y"])


def test_a_view_is_of_one_step():
    simulation = standoff.Simulation(blocks())
    before = simulation.positions
    copy = before.copy()
    simulation.step()
    assert (before == copy).all() and (simulation.positions != copy).any()


def test_targets_and_poses():
    simulation = standoff.Simulation(blocks())
    plate = simulation["plate"]
    targets = plate.targets + [0.01, -0.02, 0]
    plate.targets = targets
    simulation.step()
    assert (plate.positions == targets).all()
    plate.set_pose(rotation=[0, 0.1, 0], translation=[0, -0.05, 0])
    simulation.step()
    c, s = np.cos(0.1), np.sin(0.1)
    turn = np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])
    assert np.allclose(plate.positions, plate.rest @ turn.T + [0, -0.05, 0], atol=1e-14)


def test_states_keep_every_bit(tmp_path):
    scene = blocks()
    whole = standoff.Simulation(scene)
    drive(whole, 10)
    first = standoff.Simulation(scene)
    drive(first, 4)
    saved = first.save()
    pickled = pickle.dumps(first)
    drive(first, 7)
    first.load(saved)
    others = [first, standoff.Simulation.restore(scene, saved), pickle.loads(pickled)]
    recorded = standoff.Simulation(scene)
    recorded.record(tmp_path / "run")
    drive(recorded, 4)
    recorded.finish()
    others.append(standoff.Simulation.resume(tmp_path / "run"))
    for other in others:
        assert other.step_index == 4
        drive(other, 10)
        assert bits(other) == bits(whole)


def _final(scene):
    simulation = standoff.Simulation(scene)
    drive(simulation, 6)
    return simulation.save()


@pytest.mark.parametrize("start", ["spawn", "fork"])
def test_several_processes(start):
    if start not in __import__("multiprocessing").get_all_start_methods():
        pytest.skip("this system cannot fork")
    scene = blocks()
    here = _final(scene)
    with ProcessPoolExecutor(2, mp_context=get_context(start)) as pool:
        assert list(pool.map(_final, [scene] * 3)) == [here] * 3


def test_other_threads_run_during_a_step():
    scene = standoff.Scene.load(REPOSITORY / "scenes/twisted-mat.toml")
    simulation = standoff.Simulation(scene)
    counted, done = [0], threading.Event()

    def count():
        while not done.is_set():
            counted[0] += 1
            time.sleep(1e-4)

    other = threading.Thread(target=count)
    other.start()
    simulation.step()
    before = counted[0]
    start = time.perf_counter()
    simulation.step()
    seconds = time.perf_counter() - start
    done.set()
    other.join()
    # one that holds the interpreter lets no other thread count
    assert counted[0] - before > 10 * seconds


def test_threads_do_not_change_bits():
    final = []
    for threads in (1, 2, 4):
        standoff.set_threads(threads)
        final.append(_final(blocks()))
    standoff.set_threads(0)
    assert final[0] == final[1] == final[2]


def frames(folder):
    return {p.name: p.read_bytes() for p in sorted((Path(folder) / "frames").iterdir())}


def command(*arguments):
    program = shutil.which("standoff", path=sysconfig.get_path("scripts"))
    return subprocess.run([program, *map(str, arguments)], capture_output=True, text=True)


def test_the_same_bits_as_the_command(tmp_path):
    file = REPOSITORY / "scenes/two-cubes-fall.toml"
    told = command("run", file, "-o", tmp_path / "command", "--steps", 25)
    assert told.returncode == 0, told.stderr
    scene = standoff.Scene.load(file).with_steps(25)
    simulation = standoff.Simulation(scene)
    simulation.record(tmp_path / "python")
    simulation.run()
    table = standoff.run(scene, tmp_path / "run")
    assert "25 steps" in table or "steps" in table
    expected = frames(tmp_path / "command")
    assert len(expected) == 26
    assert frames(tmp_path / "python") == expected and frames(tmp_path / "run") == expected
    # the command takes up what Python began, and the other way round
    assert command("resume", tmp_path / "python", "--steps", 28).returncode == 0
    standoff.resume(tmp_path / "command", steps=28)
    assert frames(tmp_path / "python") == frames(tmp_path / "command")
    assert command("audit", tmp_path / "python").returncode == 0


def test_meshes_from_arrays_lie_with_the_run(tmp_path):
    points, tetrahedra = tetrahedron()
    objects = [{"name": "tet", "points": points, "tetrahedra": tetrahedra, "translate": [0, 0.1, 0]}]
    triangles = [[0, 2, 1], [0, 3, 2]]
    corners = np.array([[-1, 0, -1], [1, 0, -1], [1, 0, 1], [-1, 0, 1]], dtype=float)
    objects.append({"name": "floor", "points": corners, "triangles": triangles})
    scene = standoff.Scene(time={"step": 0.01, "end": 0.05}, objects=objects)
    assert (scene.bodies["tet"]["rest"] == points + [0, 0.1, 0]).all()
    assert scene.bodies["floor"]["role"] == "obstacle"
    standoff.run(scene, tmp_path / "a")
    os.rename(tmp_path / "a", tmp_path / "b")
    assert command("resume", tmp_path / "b", "--steps", 8).returncode == 0
    standoff.run(scene.with_steps(8), tmp_path / "c")
    assert frames(tmp_path / "b") == frames(tmp_path / "c")
    again = pickle.loads(pickle.dumps(scene.with_steps(8)))
    assert again.steps == 8 and again.resolved() == scene.with_steps(8).resolved()


def test_closed_surfaces_are_filled():
    """A surface given as arrays becomes a solid of its volume, and falls as one."""
    shape = {"kind": "box", "size": [0.2, 0.2, 0.2], "cells": [3, 3, 3], "surface": True}
    base = {"shape": {"kind": "box"}, "translate": [9, 0, 0]}
    cube = standoff.Scene(objects=[{"name": "cube", "shape": shape}, base]).bodies["cube"]
    arrays = {"points": cube["rest"], "triangles": cube["triangles"]}
    filled = {"name": "filled", **arrays, "fill": {"size": "4 cm"}, "translate": [0, 0.2, 0]}
    materials = {"foam": {"young_modulus": 1e5, "density": 500.0}}
    filled["material"] = "foam"
    scene = standoff.Scene(ground=0.0, time={"step": 0.01, "end": 0.05}, materials=materials, objects=[filled])
    simulation = standoff.Simulation(scene)
    assert len(scene.bodies["filled"]["tetrahedra"]) > 100
    assert simulation["filled"].masses.sum() == pytest.approx(500.0 * 0.2**3, rel=1e-9)
    start = simulation["filled"].centre[1]
    simulation.run()
    # free fall by implicit Euler: h² g k (k + 1) / 2 after k steps
    assert start - simulation["filled"].centre[1] == pytest.approx(1e-4 * 9.81 * 15, rel=1e-6)
    with pytest.raises(standoff.SceneError, match="hole"):
        standoff.Scene(materials=materials, objects=[filled | {"triangles": cube["triangles"][1:]}])


def test_decomposed_optimisation_ends_where_newton_does():
    """`solver = {"method": "dot"}`: the step in which the block touches the plate has the same minimiser."""
    dot = {"method": "dot", "end": {"characteristic": 1e-9}, "decomposition": {"subdomains": 2}}
    ends = []
    for solver in [{"end": {"velocity": 1e-8}}, dot]:
        simulation = standoff.Simulation(blocks(solver=solver))
        for _ in range(2):
            report = simulation.step()
        ends.append(simulation.positions.copy())
    assert report["contacts"] > 0 and report["subdomain_factorisations"] > 0
    newton, dot = ends
    assert 0 < np.abs(newton - dot).max() < 1e-7


def test_two_dimensions(tmp_path):
    points = [[0, 0.1], [1, 0.1], [1, 1.1], [0, 1.1]]
    objects = [{"name": "square", "points": points, "triangles": [[0, 1, 2], [0, 3, 2]], "rotate": 5},
               {"name": "wall", "points": [[2, -1], [2, 2]], "segments": [[0, 1]]}]
    scene = standoff.Scene(dimension=2, ground=0, time={"step": 0.01, "end": 0.1}, objects=objects)
    square = scene.bodies["square"]
    assert square["role"] == "volume" and square["triangles"].shape == (2, 3)
    simulation = standoff.Simulation(scene)
    simulation.run()
    assert (simulation.positions[:, 2] == 0).all() and len(simulation.von_mises()) == 2
    standoff.run(scene, tmp_path / "run")
    assert command("audit", tmp_path / "run").returncode == 0
    with pytest.raises(standoff.SceneError, match="there are no shells in two dimensions"):
        standoff.Scene(dimension=2, objects=[{**objects[0], "role": "shell"}])
    with pytest.raises(standoff.ControlError, match="component along z"):
        simulation.set_gravity([0, 0, 1])


def test_a_key_that_nothing_reads_is_an_error_and_none_takes_it_out():
    with pytest.raises(standoff.SceneError, match="contact.adaptation: nothing reads this key"):
        blocks(contact={"stiffness": 1e8, "adaptation": "load"})
    fixed = blocks(contact={"stiffness": 1e8})
    with pytest.raises(standoff.SceneError, match="contact.adaptation"):
        fixed.with_overrides({"contact.adaptation": "load"})
    fixed.with_overrides({"contact.stiffness": None, "contact.adaptation": "load"})


INTERRUPTED = """
import os, signal, sys, threading
import standoff
sys.path.insert(0, sys.argv[2])
from scenes import blocks
scene = blocks(time={"step": 0.01, "end": 100.0})
send = lambda: os.kill(os.getpid(), signal.SIGINT)
threading.Timer(0.5, send).start()
try:
    if sys.argv[3] == "run":
        standoff.run(scene, sys.argv[1])
    else:
        simulation = standoff.Simulation(scene)
        simulation.record(sys.argv[1])
        simulation.run(progress=True)
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="a process cannot send itself Ctrl-C there")
@pytest.mark.parametrize("how", ["run", "step"])
def test_an_interrupted_run_can_be_resumed(tmp_path, how):
    arguments = [sys.executable, "-c", INTERRUPTED, tmp_path / "run", Path(__file__).parent, how]
    told = subprocess.run(arguments, capture_output=True, text=True, timeout=60)
    assert told.stdout == "interrupted\n", told
    resumed = standoff.Simulation.resume(tmp_path / "run")
    done = resumed.step_index
    # after the step, not after the run
    assert 0 < done < resumed.scene.steps and f"{done:06}.vtu" in frames(tmp_path / "run")
    whole = standoff.Simulation(blocks(time={"step": 0.01, "end": 100.0}))
    whole.run(steps=done + 2)
    resumed.run(steps=2)
    assert bits(resumed) == bits(whole)


def test_callbacks():
    simulation = standoff.Simulation(blocks())
    seen = []

    def callback(s):
        seen.append(s.step_index)
        s.set_gravity([0, 0, 0])
        return s.step_index < 3

    simulation.run(callback=callback)
    assert seen == [1, 2, 3] and not simulation.is_finished
    with pytest.raises(ZeroDivisionError):
        simulation.run(callback=lambda s: 1 / 0)
    simulation.step()


def test_errors_have_text_and_fields(tmp_path):
    ball = {"name": "ball", "shape": {"kind": "sphere"}, "material": "ruber"}
    with pytest.raises(standoff.SceneError) as caught:
        standoff.Scene(objects=[ball], materials={"rubber": {}})
    assert "unknown material 'ruber'; did you mean 'rubber'?" in str(caught.value)
    assert (caught.value.path, caught.value.object) == ("objects[0].material", "ball")
    again = pickle.loads(pickle.dumps(caught.value))
    assert (type(again), str(again), again.path) == (
        standoff.SceneError,
        str(caught.value),
        "objects[0].material",
    )

    file = tmp_path / "scene.toml"
    file.write_text("ground = 0.0\n[time]\nsteep = 1\n[[objects]]\nshape = { kind = 'box' }\n")
    with pytest.raises(standoff.SceneError) as caught:
        standoff.Scene.load(file)
    assert (caught.value.line, caught.value.column) == (3, 1)
    # the same text as that of the command line
    assert f"{file}:3:1" in str(caught.value) and "unknown key 'steep'" in str(caught.value)
    assert "unknown key 'steep'" in command("check", file).stderr

    box = {"shape": {"kind": "box"}}
    both = [{**box, "name": "a"}, {**box, "name": "b", "translate": [0.3, 0.1, 0.2]}]
    with pytest.raises(standoff.BuildError) as caught:
        standoff.Simulation(standoff.Scene(objects=both))
    assert caught.value.count > 1 and "not free of intersections" in str(caught.value)

    simulation = standoff.Simulation(blocks())
    with pytest.raises(standoff.ControlError) as caught:
        simulation.set_load("push", [0, 0, 0])
    assert caught.value.known == ["block.force[0]", "block.force[1]"]
    with pytest.raises(standoff.ControlError) as caught:
        simulation["block"].targets = simulation["block"].positions
    assert caught.value.place == "vertex 0 of 'block'"
    with pytest.raises(standoff.ControlError):
        simulation["blok"]
    with pytest.raises(standoff.OutputError) as caught:
        standoff.Simulation.resume(tmp_path)
    assert Path(caught.value.path) == tmp_path
    with pytest.raises(ValueError, match=r"expected an array of shape \(n, 3\)"):
        simulation["plate"].targets = np.zeros((9, 2))
    with pytest.raises(ValueError, match="row 0 refers to vertex 4"):
        points, _ = tetrahedron()
        standoff.Scene(objects=[{"points": points, "tetrahedra": [[0, 1, 2, 4]]}])


def test_a_step_that_fails_keeps_the_state():
    block = {
        "name": "block",
        "shape": {"kind": "box", "size": [0.2] * 3, "cells": [1, 1, 1]},
        "fixed": [{}],
    }
    plate = {
        "name": "plate",
        "shape": {"kind": "plane", "size": [1, 1]},
        "translate": [0, -0.11, 0],
    }
    scene = standoff.Scene(objects=[block, plate])
    simulation = standoff.Simulation(scene)
    simulation["plate"].move_by([0, 0.1, 0])
    before = simulation.save()
    with pytest.raises(standoff.StepError) as caught:
        simulation.step()
    assert caught.value.step == 1 and simulation.save() == before
    assert 0 < caught.value.progress < 100 and "vertex" in str(caught.value) and caught.value.residual is None
    simulation["plate"].move_by([0, -0.1, 0])
    simulation.step()


def test_the_command_has_its_version():
    assert standoff.__version__ in command("info").stdout
    assert command("run", "nowhere.toml", "-o", "nowhere").returncode == 2
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


THREADS = """
import faulthandler, sys, threading
import numpy as np, standoff
# a process that hangs says where, and ends
faulthandler.dump_traceback_later(200, exit=True)
box = {"name": "b", "shape": {"kind": "box", "size": [.2, .2, .2], "cells": [2, 2, 2]}, "translate": [0, .3, 0]}
scene = standoff.Scene(ground=0, time={"step": .01, "end": 1}, objects=[box])
standoff.set_threads(2)
alone = standoff.Simulation(scene)
reports = [alone.step() for _ in range(20)]
simulation = standoff.Simulation(scene)
uses = {
    "step": simulation.step,
    "contacts": simulation.contacts,
    "positions": lambda: simulation.positions.sum(),
    "stress": simulation.von_mises,
    "audit": simulation.audit,
    "save": simulation.save,
    "gravity": lambda: simulation.set_gravity([0, -9.81, 0]),
    "time": lambda: simulation.time,
    "masses": lambda: simulation.masses,
}
use = uses[sys.argv[1]]
def steps():
    while simulation.step_index < 18:
        simulation.step()
stepper = threading.Thread(target=steps)
stepper.start()
count = 0
while stepper.is_alive() and simulation.step_index < 18:
    use()
    count += 1
stepper.join()
while simulation.step_index < 20:
    simulation.step()
# two steppers may have done one more; what is read is what is
if simulation.step_index == 20:
    assert np.array_equal(simulation.positions, alone.positions)
assert np.array_equal(simulation.positions, standoff.Simulation.restore(scene, simulation.save()).positions)
print("uses", count)
"""


@pytest.mark.parametrize(
    "use", ["step", "contacts", "positions", "stress", "audit", "save", "gravity", "time", "masses"]
)
def test_threads_wait_for_each_other(use):
    arguments = [sys.executable, "-c", THREADS, use]
    told = subprocess.run(arguments, capture_output=True, text=True, timeout=300)
    assert told.stdout.startswith("uses") and int(told.stdout.split()[1]) > 0, told


FEW_THREADS = """
import standoff
box = {"name": "b", "shape": {"kind": "box"}}
standoff.set_threads(5000)
try:
    standoff.Simulation(standoff.Scene(objects=[box]))
except RuntimeError as error:
    print(error)
standoff.set_threads(1)
standoff.Simulation(standoff.Scene(objects=[box])).step()
print("done")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="ulimit -v is that of Linux")
def test_threads_that_cannot_be_had():
    line = 'ulimit -v 4000000; exec "$0" -c "$1"'
    told = subprocess.run(["sh", "-c", line, sys.executable, FEW_THREADS], capture_output=True, text=True)
    assert told.stdout.startswith("cannot start 5000 threads") and told.stdout.endswith("done\n"), told


def test_steps_are_logged(caplog, tmp_path):
    scene = blocks(time={"step": 0.01, "end": 0.02})
    with caplog.at_level("INFO", logger="standoff"):
        simulation = standoff.Simulation(scene)
        simulation.run()
        standoff.run(scene, tmp_path / "run")
    assert [r.report["step"] for r in caplog.records] == [1, 2, 1, 2]
    assert {r.levelname for r in caplog.records} == {"INFO"}
    assert caplog.records[1].getMessage().startswith("step 2, t = 0.02 s: converged, ")
    caplog.clear()
    # the second step needs more than one iteration
    hasty = blocks(time={"step": 0.01, "end": 0.02}, solver={"end": {"max_iterations": 1}})
    standoff.Simulation(hasty).run()
    assert [r.levelname for r in caplog.records] == ["WARNING"], caplog.text
