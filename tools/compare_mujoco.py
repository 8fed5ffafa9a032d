#!/usr/bin/env python3
"""Runs the same cloth in Standoff and in MuJoCo's penetration-free mode (flag ipc), by turns, and compares CPU time.

    pip install mujoco
    tools/compare_mujoco.py target/release/standoff [--steps N] [--repeat N]
    tools/compare_mujoco.py target/release/examples/step_error --errors
    tools/compare_mujoco.py target/release/standoff --trajectories

A cloth of 51 × 51 vertices and 1 m falls onto a fixed ball of 0.6 m and slides off: E = 100 kPa, ν = 0.3, 1 mm thick,
0.2 kg/m², 2.5 mm of contact on either side, no friction (MuJoCo's mode has none), steps of 10 ms. Both programs have one thread. The
ball is analytic in MuJoCo and a mesh in Standoff. MuJoCo solves by conjugate gradients with 400 iterations at most and a tolerance of 1e-6,
as its own tests of that mode do; Standoff has its default tolerance. CPU seconds are user and system time of
the whole process. Prints a table (Markdown).

With `--errors`, single steps of both programs are compared with steps of the same program at much smaller tolerances (`step_error` is an example
of benches/). Prints, by tolerance, CPU seconds per step, and of the velocities at the ends of the steps the largest error and the geometric mean over the steps of the
root mean square over the vertices, in units of the cloth's diagonal per second.

With `--trajectories`, 24 steps of both programs are compared with the same program's own run at much smaller tolerances: root mean square
over the vertices of the distance at 0.16, 0.20 and 0.24 s, and CPU seconds of the whole process, the least of --repeat runs. Needs the Python package of Standoff (`pip install ./python`).
"""
import argparse, importlib.util, json, os, pathlib, sys, tempfile, time

from standoff_tools import stats
from standoff_tools.frames import Frames
from standoff_tools.run import printed_by, scene_command
from standoff_tools.tables import geometric_mean, head, row

RADIUS, HALF, CELLS = 0.3, 2.5e-3, 50
MJCF = f"""<mujoco>
  <option timestep="0.01" integrator="discrete" solver="CG" iterations="400" tolerance="1e-6"><flag ipc="enable"/></option>
  <size memory="4G"/>
  <worldbody>
    <geom type="sphere" size="{RADIUS}" condim="1"/>
    <flexcomp name="cloth" type="grid" dim="2" count="{CELLS + 1} {CELLS + 1} 1" spacing="{1 / CELLS} {1 / CELLS} {1 / CELLS}"
              pos="0 0 {RADIUS + 0.01}" radius="{HALF}" mass="0.2">
      <elasticity young="1e5" poisson="0.3" thickness="1e-3" damping="1e-4" elastic2d="both"/>
      <contact condim="1" selfcollide="auto"/>
    </flexcomp>
  </worldbody>
</mujoco>"""
SCENE = f"""
gravity = [0, -9.81, 0]
time = {{ step = 0.01, end = 10.0 }}
output = {{ interval = 0.1 }}

[materials.cloth]
density = 200
young_modulus = 1e5
poisson_ratio = 0.3
shell = {{ thickness = 0.001 }}

[[objects]]
name = "ball"
shape = {{ kind = "sphere", radius = {RADIUS}, surface = true, layers = 12 }}

[[objects]]
name = "cloth"
role = "shell"
shape = {{ kind = "plane", size = [1.0, 1.0], cells = [{CELLS}, {CELLS}] }}
material = "cloth"
contact_thickness = {2 * HALF}
translate = [0.0, {RADIUS + 0.01}, 0.0]
"""


def mujoco(steps):
    """One run in this process; prints the mean height over the ball's centre and the least gap."""
    import mujoco as m
    import numpy

    model = m.MjModel.from_xml_string(MJCF)
    data = m.MjData(model)
    for _ in range(steps):
        m.mj_step(model, data)
    x = data.flexvert_xpos
    print(json.dumps({"height": float(x[:, 2].mean()), "gap": float(numpy.linalg.norm(x, axis=1).min() - RADIUS)}))


# MuJoCo's tolerances with limits of the iterations; the first three have the limit of the runs above, which binds in steps with many contacts.
# Then the steps that count as exact.
TOLERANCES = [(1e-4, 400), (1e-5, 400), (1e-6, 400), (1e-7, 2000), (1e-8, 4000), (1e-9, 8000)]
EXACT = (1e-14, 40000)
EVERY = 4


def mujoco_errors(steps):
    """Errors of single steps of MuJoCo by tolerance: the rows of a table."""
    import mujoco as m
    import numpy

    def model(tolerance, iterations):
        made = m.MjModel.from_xml_string(MJCF)
        made.opt.tolerance, made.opt.iterations = tolerance, iterations
        return made

    exact = model(*EXACT)
    run, kind = m.MjData(exact), m.mjtState.mjSTATE_INTEGRATION
    state = numpy.zeros(m.mj_stateSize(exact, kind))
    models = [model(*t) for t in TOLERANCES]
    data = [m.MjData(made) for made in models]
    seconds, errors = numpy.zeros(len(models)), [[] for _ in models]
    for step in range(1, steps + 1):
        m.mj_getState(exact, run, state, kind)
        m.mj_step(exact, run)
        if step % EVERY:
            continue
        for k, made in enumerate(models):
            m.mj_setState(made, data[k], state, kind)
            before = time.process_time()
            m.mj_step(made, data[k])
            seconds[k] += time.process_time() - before
            errors[k].append(numpy.linalg.norm((data[k].qvel - run.qvel).reshape(-1, 3), axis=1) / 2**0.5)
    head("MuJoCo's tolerance", "CPU s", "largest error", "mean error")
    for (tolerance, _), t, e in zip(TOLERANCES, seconds, errors):
        mean = geometric_mean(max(1e-12, (step**2).mean() ** 0.5) for step in e)
        row(f"{tolerance:g}", f"{t / len(e):.3f}", f"{max(step.max() for step in e):.1e}", f"{mean:.1e}")


def errors(program, steps):
    """Errors of single steps of both programs."""
    with tempfile.TemporaryDirectory() as folder:
        scene = pathlib.Path(folder) / "drape.toml"
        scene.write_text(SCENE)
        tolerances = [f"tolerance={t}" for t in (0.1, 0.03, 0.01, 0.003, 0.001, 1e-4)]
        command = [program, scene, f"steps={steps}", f"every={EVERY}", *tolerances]
        print("Standoff\n\n" + measured(command)[0] + "\nMuJoCo\n", flush=True)
    mujoco_errors(steps)


TRAJECTORY_STEPS, TRAJECTORY_AT = 24, (16, 20, 24)
# options of Standoff by what a row is called; the first is what the others are compared with
OURS = {
    "exact": ["--set", "solver.end.velocity=1e-6", "--set", "solver.end.forces=1e-10"],
    "default": [],
    "velocity tolerance 1.4e-3 m/s": ["--set", "solver.end.velocity=1.4e-3"],
    "force tolerance 1e-3": ["--set", "solver.end.forces=1e-3"],
    "force tolerance 1e-5": ["--set", "solver.end.forces=1e-5"],
    "force tolerance 1 (the direction alone)": ["--set", "solver.end.forces=1"],
}


def mujoco_trajectory(tolerance, iterations, out):
    """One run of MuJoCo in this process; writes the positions at some steps."""
    import mujoco as m
    import numpy

    model = m.MjModel.from_xml_string(MJCF)
    model.opt.tolerance, model.opt.iterations = tolerance, iterations
    data, kept = m.MjData(model), []
    for step in range(1, TRAJECTORY_STEPS + 1):
        m.mj_step(model, data)
        # kinematics of the end of the step
        if step in TRAJECTORY_AT:
            kept.append(data.qpos.reshape(-1, 3).copy())
    numpy.save(out, numpy.array(kept))


def trajectories(binary, repeat):
    """Errors of trajectories of both programs: the rows of a table."""
    import numpy

    def show(name, cpu, iterations, x, exact):
        rms = [1000 * numpy.sqrt(((a - b) ** 2).sum(axis=1).mean()) for a, b in zip(x, exact)]
        row(name, f"{cpu:.2f}", iterations, *(f"{e:.1e}" for e in rms))

    head("run", "CPU s", "Newton iterations", "rms error, mm, t = 0.16 s", "0.20 s", "0.24 s")
    with tempfile.TemporaryDirectory() as folder:
        scene, out = pathlib.Path(folder) / "drape.toml", pathlib.Path(folder) / "run"
        scene.write_text(SCENE.replace("interval = 0.1", "interval = 0.04"))
        exact = None
        for name, options in OURS.items():
            command = scene_command(binary, scene, out, steps=TRAJECTORY_STEPS, options=options)
            cpu = min(measured(command)[1] for _ in range(repeat))
            frames = Frames(out)
            x = [frames.numpy(step, "points") for step in TRAJECTORY_AT]
            exact = exact or x
            show("Standoff, " + name, cpu, stats.iterations(stats.reports(out)), x, exact)
        exact, out = None, pathlib.Path(folder) / "x.npy"
        for tolerance, iterations in (EXACT, (1e-6, 400), (1e-8, 4000), (1e-10, 8000)):
            command = [sys.executable, __file__, "--mujoco-trajectory", tolerance, iterations, out]
            cpu = min(measured(command)[1] for _ in range(repeat))
            x = numpy.load(out)
            exact = x if exact is None else exact
            show(f"MuJoCo, tolerance {tolerance:g}, at most {iterations} iterations", cpu, "–", x, exact)


def measured(command):
    """The standard output and CPU seconds of a command on one thread."""
    return printed_by(command, env={**os.environ, "OMP_NUM_THREADS": "1"})


def standoff(binary, steps, folder):
    """CPU seconds of a run, mean height of the cloth at its end, Newton iterations, and steps."""
    scene, out = folder / "drape.toml", folder / "run"
    scene.write_text(SCENE)
    _, cpu = measured(scene_command(binary, scene, out, steps=steps))
    reports = stats.reports(out)
    # the energy of weight says how high the cloth is
    height = reports[-1]["gravity_energy"] / (0.2 * 9.81)
    return cpu, height, stats.iterations(reports), len(reports)


def by_turns(binary, steps, repeat):
    """Runs of both programs by turns: the rows of a table."""
    head("run", "steps", "Standoff: CPU s", "Newton iterations", "mean height, m", "MuJoCo ipc: CPU s", "mean height, m", "least gap, mm", "CPU ratio")
    for k in range(repeat):
        with tempfile.TemporaryDirectory() as folder:
            cpu, height, iterations, done = standoff(binary, steps, pathlib.Path(folder))
        printed, theirs = measured([sys.executable, __file__, "--mujoco", "--steps", steps])
        other = json.loads(printed)
        row(k + 1, done, f"{cpu:.2f}", iterations, f"{height:.4f}", f"{theirs:.2f}", f"{other['height']:.4f}", f"{1000 * other['gap']:.2f}",
            f"{theirs / cpu:.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary", nargs="?")
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--mujoco", action="store_true", help="one run of MuJoCo, used by this script itself")
    parser.add_argument("--errors", action="store_true", help="errors of single steps; `binary` is step_error")
    parser.add_argument("--trajectories", action="store_true", help="errors of runs of 24 steps")
    parser.add_argument("--mujoco-trajectory", nargs=3, help="one run of MuJoCo, used by this script itself")
    args = parser.parse_args()
    if args.mujoco_trajectory:
        tolerance, iterations, out = args.mujoco_trajectory
        return mujoco_trajectory(float(tolerance), int(iterations), out)
    if args.mujoco:
        return mujoco(args.steps)
    if not args.binary or not pathlib.Path(args.binary).is_file():
        parser.error(f"the program '{args.binary or ''}' does not exist: name that of Standoff, such as target/release/standoff")
    if importlib.util.find_spec("mujoco") is None:
        parser.error("the Python package mujoco is missing: pip install mujoco")
    if args.trajectories:
        return trajectories(args.binary, args.repeat)
    if args.errors:
        if args.steps < EVERY:
            parser.error(f"--errors compares every {EVERY}th step: ask for at least {EVERY} --steps")
        return errors(args.binary, args.steps)
    by_turns(args.binary, args.steps, args.repeat)


if __name__ == "__main__":
    main()
