#!/usr/bin/env python3
"""What Python costs: CPU seconds of a run of 3,000 vertices through Python and through the command line, alternating,
one thread; and the building blocks of the toolkit beside ipctk's. Needs the package with its extra `test`.

    python/benchmark.py [REPETITIONS]
"""

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import ipctk
import numpy as np

import standoff
from standoff import toolkit

SCENE = """
time = { step = 0.01, end = 0.1 }
[materials.cotton]
young_modulus = 8e5
density = 480
shell = { thickness = 3e-4 }
[[objects]]
name = "cloth"
shape = { kind = "plane", size = [0.6, 0.6], cells = [54, 54] }
role = "shell"
material = "cotton"
translate = [0.01, 0.152, 0]
[[objects]]
name = "sphere"
shape = { kind = "sphere", radius = 0.15, layers = 6, surface = true }
"""

STEPS = """
import sys, standoff
standoff.set_threads(1)
simulation = standoff.Simulation(standoff.Scene.load(sys.argv[1]))
simulation.record(sys.argv[2])
while not simulation.is_finished:
    simulation.step()
    simulation.positions, simulation["sphere"].force, simulation.contact_forces
simulation.finish()
"""


def cpu(command):
    """CPU seconds of a process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def steps(repetitions):
    """Prints the CPU seconds of runs, and those of starting Python and importing the package."""
    program = Path(sys.executable).with_name("standoff")
    all_told, all_python = [], []
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        (folder / "scene.toml").write_text(SCENE)
        start = min(cpu([sys.executable, "-c", "import standoff"]) for _ in range(3))
        for k in range(repetitions):
            told = cpu([program, "run", folder / "scene.toml", "-o", folder / f"a{k}", "--threads", "1"]) - start
            python = cpu([sys.executable, "-c", STEPS, folder / "scene.toml", folder / f"b{k}"]) - start
            all_told.append(told)
            all_python.append(python)
            print(f"run {k}: command {told:.2f} s, Python {python:.2f} s")
    print(f"starting Python and importing standoff: {start:.2f} s, taken off both")
    print(f"least of Python over least of the command: {min(all_python) / min(all_told):.4f}")


def least(work):
    """Least CPU seconds of five repetitions."""
    times = []
    for _ in range(5):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def blocks():
    """Prints the CPU seconds of building blocks here and of ipctk."""
    standoff.set_threads(1)
    ipctk.set_num_threads(1)
    sphere = {"name": "a", "shape": {"kind": "sphere", "radius": 0.5, "layers": 14, "surface": True}}
    body = standoff.Scene(objects=[sphere, {"shape": {"kind": "box"}, "translate": [9, 0, 0]}]).bodies["a"]
    a, faces = body["rest"], body["triangles"]
    rest = np.vstack([a, a + [0.01, 1.001, 0.02]])
    faces = np.vstack([faces, faces + len(a)])
    x = np.asfortranarray(rest)
    x1 = np.asfortranarray(rest + 0.05 * np.random.default_rng(1).standard_normal(rest.shape))
    d_hat = 0.02
    surface, mesh = toolkit.Surface(rest, faces), ipctk.CollisionMesh(rest, ipctk.edges(faces), faces)
    theirs, potential = ipctk.NormalCollisions(), ipctk.BarrierPotential(d_hat, 1.0)
    theirs.build(mesh, x, d_hat)
    contacts = surface.contacts(x, d_hat)
    print(f"{len(rest)} vertices, {len(faces)} triangles, {len(contacts)} contacts; CPU ms here, of ipctk {ipctk.__version__}")
    clamp = ipctk.PSDProjectionMethod.CLAMP
    for name, ours, other in [
        ("contacts", lambda: surface.contacts(x, d_hat), lambda: theirs.build(mesh, x, d_hat)),
        ("value", lambda: contacts.value(x), lambda: potential(theirs, mesh, x)),
        ("gradient", lambda: contacts.gradient(x), lambda: potential.gradient(theirs, mesh, x)),
        ("projected Hessian", lambda: contacts.hessian(x), lambda: potential.hessian(theirs, mesh, x, clamp)),
        ("step size", lambda: surface.max_step(x, x1), lambda: ipctk.compute_collision_free_stepsize(mesh, x, x1)),
        ("intersections", lambda: surface.intersections(x), lambda: ipctk.has_intersections(mesh, x)),
    ]:
        print(f"  {name:18} {1e3 * least(ours):9.2f} {1e3 * least(other):9.2f}")


if __name__ == "__main__":
    blocks()
    steps(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
