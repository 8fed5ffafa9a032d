#!/usr/bin/env python3
"""What Python costs: CPU seconds of a run of 3,000 vertices through Python and through the command line, alternating,
one thread; and the building blocks of the toolkit beside ipctk's, with the differences of their values.
Needs the package with its extra `test`.

    python/benchmark.py [REPETITIONS]
    python/benchmark.py --instructions     # of three steps, counted by valgrind: other work does not disturb that
"""

import re
import resource
import shutil
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import time
from pathlib import Path

import ipctk
import numpy as np

import standoff
from standoff import toolkit

sys.path.insert(0, str(Path(__file__).parent / "tests"))
import edge_pairs

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
    program = shutil.which("standoff", path=sysconfig.get_path("scripts"))
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
    ratios = sorted(p / t for p, t in zip(all_python, all_told))
    print(f"least of Python over least of the command: {min(all_python) / min(all_told):.4f}")
    print(f"pair by pair: from {ratios[0]:.4f} to {ratios[-1]:.4f}, median {statistics.median(ratios):.4f}")


def counted(command, folder):
    """Instructions of a process, counted by valgrind."""
    program = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder / 'out'}", *map(str, command)]
    told = subprocess.run(program, capture_output=True, text=True)
    found = re.search(r"I\s+refs:\s+([\d,]+)", told.stderr)
    if found is None:
        sys.exit(told.stdout + told.stderr)
    return int(found[1].replace(",", ""))


def instructions():
    """Prints the instructions of three steps through Python and through the command."""
    program = shutil.which("standoff", path=sysconfig.get_path("scripts"))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "scene.toml").write_text(SCENE.replace("end = 0.1", "end = 0.03"))
        start = counted([sys.executable, "-c", "import standoff"], folder)
        run = [sys.executable, program, "run", folder / "scene.toml", "-o", folder / "a", "--threads", "1"]
        told = counted(run, folder) - start
        python = counted([sys.executable, "-c", STEPS, folder / "scene.toml", folder / "b"], folder) - start
    print(f"instructions of three steps: command {told:.4g}, Python {python:.4g}, ratio {python / told:.4f}")


def least(work):
    """Least CPU seconds of five repetitions."""
    times = []
    for _ in range(5):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def off(ours, theirs):
    """The largest difference of two arrays or sparse matrices, by the largest entry of the second."""
    dense = lambda a: a.toarray() if hasattr(a, "toarray") else np.asarray(a, dtype=float)
    ours, theirs = dense(ours), dense(theirs)
    return np.abs(ours.reshape(theirs.shape) - theirs).max() / np.abs(theirs).max()


def blocks():
    """Prints a table (Markdown) of CPU milliseconds of building blocks here and of ipctk, with the difference of
    their values."""
    standoff.set_threads(1)
    ipctk.set_num_threads(1)
    sphere = {"name": "a", "shape": {"kind": "sphere", "radius": 0.5, "layers": 14, "surface": True}}
    body = standoff.Scene(objects=[sphere, {"shape": {"kind": "box"}, "translate": [9, 0, 0]}]).bodies["a"]
    a, faces = body["rest"], body["triangles"]
    rest = np.vstack([a, a + [0.01, 1.001, 0.02]])
    faces = np.vstack([faces, faces + len(a)])
    n, random = len(rest), np.random.default_rng(1)
    x = np.asfortranarray(rest + 1e-5 * random.standard_normal(rest.shape))
    x1 = np.asfortranarray(rest + 0.05 * random.standard_normal(rest.shape))
    edges = np.asfortranarray(ipctk.edges(faces).astype(np.int32))
    triangles = np.asfortranarray(faces.astype(np.int32))
    flags = [True] * n
    mesh = ipctk.CollisionMesh(flags, flags, np.asfortranarray(rest), edges, triangles)
    surface = toolkit.Surface(rest, faces)
    clamp = ipctk.PSDProjectionMethod.CLAMP
    rows = []

    def row(name, ours, other, value=True, lacking=0.0):
        difference = off(ours(), other() + lacking) if value else None
        rows.append((name, least(ours), least(other), difference))

    def potential(name, kind, d_hat, stiffness, collisions, build, energy, projected=True, lacking=None):
        contacts = surface.contacts(x, d_hat, stiffness=stiffness, potential=kind)
        build()
        row(f"{name}: contacts", lambda: surface.contacts(x, d_hat, stiffness=stiffness, potential=kind), build, False)
        # what ipctk's sum lacks of its own formula
        of_value, of_gradient, of_hessian = lacking() if lacking else (0.0, 0.0, 0.0)
        row(f"{name}: value", lambda: contacts.value(x), lambda: energy(collisions, mesh, x), lacking=of_value)
        gradient = lambda: energy.gradient(collisions, mesh, x)
        row(f"{name}: gradient", lambda: contacts.gradient(x), gradient, lacking=of_gradient)
        hessian = lambda: energy.hessian(collisions, mesh, x)
        row(f"{name}: Hessian", lambda: contacts.hessian(x, project=False), hessian, lacking=of_hessian)
        row(f"{name}: Hessian, projected", lambda: contacts.hessian(x), lambda: energy.hessian(collisions, mesh, x, clamp), projected)
        return contacts

    d_hat = 0.02
    plain, barrier = ipctk.NormalCollisions(), ipctk.BarrierPotential(d_hat, 1.0)
    contacts = potential("IPC", "ipc", d_hat, 1.0, plain, lambda: plain.build(mesh, x, d_hat), barrier)
    convergent = ipctk.NormalCollisions()
    convergent.use_area_weighting = True
    convergent.collision_set_type = ipctk.NormalCollisions.CollisionSetType.IMPROVED_MAX_APPROX
    physical = ipctk.BarrierPotential(d_hat, 1.0, True)
    # ipctk projects pairs of negative weight, too
    build = lambda: convergent.build(mesh, x, d_hat)
    lacking = lambda: edge_pairs.correction(mesh, convergent, physical, x, d_hat)[:3]
    potential("convergent", "convergent", d_hat, 1.0, convergent, build, physical, False, lacking)
    parameters = ipctk.SmoothContactParameters(d_hat, 0.5, 0.0, 0.1, 0.0, 2)
    smooth, shape = ipctk.SmoothCollisions(), toolkit.OrientationAware(areas="current", reach="uniform")
    build = lambda: smooth.build(mesh, x, parameters)
    potential("orientation-aware", shape, d_hat, 2 / 3 * d_hat**2, smooth, build, ipctk.SmoothPotential(parameters))

    eps, u = 1e-4, 1e-4 * random.standard_normal(x.shape)
    tangential, dissipation = ipctk.TangentialCollisions(), ipctk.FrictionPotential(eps)
    theirs = lambda: tangential.build(mesh, x, plain, barrier, 0.3)
    theirs()
    friction = contacts.friction(x, 0.3, eps)
    moved, v = x + u, np.asfortranarray((x + u) - x)
    row("friction: contacts", lambda: contacts.friction(x, 0.3, eps), theirs, False)
    row("friction: value", lambda: friction.value(moved, x), lambda: dissipation(tangential, mesh, v))
    row("friction: gradient", lambda: friction.gradient(moved, x), lambda: dissipation.gradient(tangential, mesh, v))
    row("friction: Hessian", lambda: friction.hessian(moved, x), lambda: dissipation.hessian(tangential, mesh, v))

    candidates = ipctk.Candidates()
    row("candidates", lambda: surface.candidates(x, distance=d_hat), lambda: candidates.build(mesh, x, d_hat / 2), False)
    row("swept candidates", lambda: surface.candidates(x, x1), lambda: candidates.build(mesh, x, x1), False)
    additive = ipctk.AdditiveCCD()
    step = lambda: ipctk.compute_collision_free_stepsize(mesh, x, x1, narrow_phase_ccd=additive)
    row("step size, additive CCD", lambda: surface.max_step(x, x1), step, False)
    exact = lambda: ipctk.compute_collision_free_stepsize(mesh, x, x1)
    row("step size, inclusion-based CCD", lambda: surface.max_step(x, x1, method="inclusion"), exact, False)
    row("intersections", lambda: surface.intersections(x), lambda: ipctk.has_intersections(mesh, x), False)

    print(f"{n} vertices, {len(faces)} triangles, {len(contacts)} contacts of IPC, one thread\n")
    print(f"| CPU ms | here | ipctk {ipctk.__version__} | ratio | difference |")
    print("|---|---|---|---|---|")
    for name, ours, other, difference in rows:
        said = "" if difference is None else f"{difference:.1e}"
        print(f"| {name} | {1e3 * ours:.2f} | {1e3 * other:.2f} | {other / ours:.1f} | {said} |")
    worst = max(d for *_, d in rows if d is not None)
    print(f"\nlargest difference: {worst:.1e}")
    assert worst < 1e-10


if __name__ == "__main__":
    if sys.argv[1:] == ["--instructions"]:
        instructions()
    else:
        blocks()
        steps(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
