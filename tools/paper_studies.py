#!/usr/bin/env python3
"""Repeats studies of the papers that vary a value over several runs of one scene, and prints each as a table (Markdown).

    tools/paper_studies.py STUDY target/release/standoff OUT [--coarse]

STUDY is one of

    accuracy      ε_d, d̂ and ε_v down to the values of [Li 2020, §7.4], and loose ones
    arch          the masonry arch: relaxation of friction, and the barrier-free solver [Li 2020, Fig. 7; Zheng 2025, Fig. 10]
    friction      orders of the smoothing of friction [Li 2020, suppl. I]
    card-house    blocks that hit a house of cards [Li 2020, Fig. 5], with the boards of the paper
    rods          rods twisted for 30 s [Li 2020, Fig. 4; Zheng 2025, Fig. 6]
    ball-rollers  a ball in rollers of triangles, segments and points, for 10 s [Li 2020, Figs 8 and 18]
    rollers       a body in rollers at three stiffnesses [Li 2020, Fig. 16; Zheng 2025, Fig. 14]
    tube          a tube of cloth as a shell, with and without a thickness, and as a wall of tetrahedra [Li 2021, Fig. 2, suppl. 1]
    locking       a cloth on a ball with meshes, stiffnesses and limits of the stretch [Li 2021, suppl. 2 and 3]
    locking-mesh  the same with the mesh and the four combinations of stiffness and limit of [Li 2021, Fig. 11]
    stack         a ball on a stack of cloths with three thicknesses [Li 2021, Fig. 18]
    bar           convergence in time of a bar that hits the ground [Zheng 2025, Fig. 7]
    termination   iterations with the published end of a step, for both solvers [Zheng 2025, Fig. 20]

Every run takes one thread and the audit of every step, and stays in OUT. A run that is there already is not repeated. Seconds are CPU
seconds of the process, as far as one of these runs took them. `--coarse` takes smaller meshes where a study has large ones. The papers' own figures
are in tools/data/paper-studies.json. Needs the Python package of Standoff (`pip install ./python`).
"""
import argparse, functools, json, math, pathlib, re, subprocess, sys

from standoff_tools import ROOT, TOOLS, data, stats
from standoff_tools.frames import Frames
from standoff_tools.run import run_scene
from standoff_tools.tables import head, row, scientific

PAPERS = data("paper-studies")


class Run:
    """Reports and frames of a run."""

    def __init__(self, folder, seconds):
        self.folder, self.seconds = folder, seconds
        self.reports = stats.reports(folder)
        self.bodies = {b["name"]: b for b in stats.info(folder)["bodies"]}
        self.mean, self.most = functools.partial(stats.mean, self.reports), functools.partial(stats.most, self.reports)

    @functools.cached_property
    def frames(self):
        return Frames(self.folder)

    def iterations(self):
        return stats.iterations(self.reports)

    def gap(self):
        return stats.gap(self.reports)

    def unconverged(self):
        return stats.unconverged(self.reports, ("converged", "time-of-impact"))

    def points(self, step, body=None):
        """Positions at the end of a step, of a body or of all."""
        return self.frames.array(step, "points", body)

    def last(self):
        return self.reports[-1]["step"] if self.reports else 0

    def vertices(self):
        return sum(b["vertices"] for b in self.bodies.values() if not b["obstacle"])


def run(args, name, scene, sets=(), steps=None, meshes=None):
    """A run of a scene with replaced values, or what is there of it."""
    folder = args.out / name
    record = folder / "study.json"
    if not record.exists():
        done = run_scene(args.standoff, ROOT / scene, folder, sets=("output.checkpoint_every=0", *sets), steps=steps, meshes=meshes)
        if not (folder / "run.json").exists():
            sys.exit(f"{name}: {done.error}")
        error = done.error.splitlines()[0] if done.code and done.error else ""
        record.write_text(json.dumps(dict(seconds=done.cpu, error=error)))
    done = json.loads(record.read_text())
    if done["error"]:
        print(f"{name}: {done['error']}", file=sys.stderr)
    return Run(folder, done["seconds"])


def iterations_and_most(r):
    """The cell of the mean and the most Newton iterations of a step."""
    return f"{r.mean('newton_iterations'):.1f} ({r.most('newton_iterations')})"


def contacts_and_most(r):
    """The cell of the mean and the most contacts of a step."""
    return f"{r.mean('contacts'):.0f} ({r.most('max_contacts')})"


def per_step(r):
    return f"{r.seconds / max(len(r.reports), 1):.2g}"


def distance(a, b, step):
    """Root mean square distance of the deformable vertices of two runs, m."""
    pairs = [p for name, body in a.bodies.items() if not body["obstacle"]
             for p in zip(a.points(step, name), b.points(step, name))]
    return math.sqrt(sum(math.dist(p, q) ** 2 for p, q in pairs) / len(pairs))


# ---- [Li 2020] ----

def arch(args):
    """Updates of friction with and without relaxation, and how far the top third comes down by the barrier-free solver."""
    scene = args.shared.resolve() / "data/ipc/scenes/paperExamples/7_masonryArch.txt"
    meshes = args.shared / "data" / "ipc"

    def unsettled(r):
        return ", ".join(str(s["step"]) for s in r.reports if s["outcome"] != "converged") or "none"

    head("first 60 steps", "Newton iterations", "steps that did not converge in 100 updates")
    for name, relaxation in (("without relaxation", "false"), ("with", "true")):
        r = run(args, f"arch-{relaxation}", scene, [f"friction.relaxation={relaxation}"], 60, meshes)
        row(name, f"{r.iterations():,}", unsettled(r))
    print()
    head("μ", "first step that did not converge", "its updates", "its Newton iterations")
    r = run(args, "arch-0.2", scene, ["friction.coefficient=0.2"], 45, meshes)
    first = next((s for s in r.reports if s["outcome"] != "converged"), r.reports[-1])
    row(0.2, first["step"], first["lagging_iterations"], first["newton_iterations"])
    print()
    times = (60, 80, 100, 130, 150)
    head("μ", "top third lowered after 0.6 s", *(f"{step / 100} s" for step in times[1:]), "Newton iterations", "steps that did not converge")
    for coefficient in (0.5, 0):
        r = run(args, f"arch-barrier-free-{coefficient}", scene, [f"friction.coefficient={coefficient}", "solver.method=barrier-free",
                "solver.barrier_free.fallback=none", "output.every=1"], 150, meshes)
        start = r.points(0)
        top = [v for v, p in enumerate(start) if p[1] > 0.67 * max(q[1] for q in start)]
        lowered = []
        for step in times:
            now = r.points(step)
            lowered.append(f"{max(start[v][1] - now[v][1] for v in top):.3f} m")
        row(coefficient, *lowered, f"{r.iterations():,} in {len(r.reports)} steps", unsettled(r))


def accuracy(args):
    """Each of the three accuracies alone, over five orders or more."""
    scene = "scenes/two-cubes-fall.toml"
    print("Two cubes that fall on each other and on the ground with friction:\n")
    head("ε_d, m/s", "d̂, m", "ε_v, m/s", "steps, not converged", "iterations per step (most)", "largest Newton direction / h, m/s",
         "smallest gap, m", "distance from the most accurate, m", "CPU s")
    base = dict(d=1e-3, gap=1e-3, v=1e-3)
    rows = [dict(d=e) for e in (1e-1, 1e-3, 1e-5, 1e-7)] + [dict(gap=g) for g in (1e-2, 1e-4, 1e-5, 1e-6)]
    rows += [dict(v=v) for v in (1e-2, 1e-5, 1e-8)] + [dict(d=1e-7, gap=1e-6, v=1e-8)]
    found = []
    for k, change in enumerate(rows):
        values = base | change
        sets = [f"solver.end.velocity={values['d']}", f"contact.d_hat={values['gap']}",
                f"friction.stick_speed={values['v']}", "friction.coefficient=0.3"]
        found.append((values, run(args, f"accuracy-{k}", scene, sets)))
    finest = found[-1][1]
    for values, r in found:
        off = distance(r, finest, min(r.last(), finest.last()))
        row(f"{values['d']:g}", f"{values['gap']:g}", f"{values['v']:g}", f"{len(r.reports)}, {r.unconverged()}",
            iterations_and_most(r), scientific(r.most("residual_speed")), scientific(r.gap()),
            scientific(off) if r is not finest else "–", f"{r.seconds:.1f}")
    print("\nA block on a slope at the threshold of friction, whose creep is the error of static friction:\n")
    head("ε_v, m/s", "ε_d, m/s", "way from 2.5 s to 10 s, m", "its speed over ε_v", "iterations per step (most)", "not converged", "CPU s")
    for v in (1e-3, 1e-5, 1e-7, 1e-8):
        tolerance = min(1e-3, v / 10)
        r = run(args, f"accuracy-slope-{v:g}", "scenes/friction-slope-stick.toml",
                [f"friction.stick_speed={v}", f"solver.end.velocity={tolerance}"])
        way = abs(sum(2 * q[0] - q[1] - 2 * p[0] + p[1] for p, q in zip(r.points(100, "block"), r.points(r.last(), "block"))))
        way /= math.sqrt(5) * len(r.points(0, "block"))
        row(f"{v:g}", f"{tolerance:g}", scientific(way), f"{way / v / 7.5:.2f}",
            iterations_and_most(r), r.unconverged(), f"{r.seconds:.1f}")


def friction(args):
    """Iterations by the order of the smoothing."""
    meshes = args.shared / "data" / "ipc"
    scenes = args.shared / "data/ipc/scenes"
    cases = [("ball in rollers", scenes / "otherExamples/typical/sphere1K_DCORotCylinders.txt", 200, meshes),
             ("masonry arch", scenes / "paperExamples/7_masonryArch.txt", 200 if args.coarse else 2000, meshes),
             ("house of cards that is hit", "scenes/papers/card-house-hit.toml", None, None),
             ("rollers", "scenes/rollers.toml", None, None)]
    head("scene", "steps", *(f"{c}: iterations, CPU s per step" for c in ("linear (C⁰)", "quadratic (C¹)", "cubic (C²)")), "not converged")
    for name, scene, steps, meshes in cases:
        runs = [run(args, f"friction-{name}-{order}".replace(" ", "-"), scene,
                    ["output.every=100", f"friction.transition={order}", f"friction.half_space_transition={order}"], steps, meshes)
                for order in ("linear", "quadratic", "cubic")]
        row(name, len(runs[0].reports), *(f"{r.mean('newton_iterations'):.2f}, {per_step(r)}" for r in runs),
            " / ".join(str(r.unconverged()) for r in runs))


def card_house(args):
    cells = 8 if args.coarse else 19
    # the boards are the first objects
    sets = [f"objects[{k}].shape.cells=[{cells}, {cells}]" for k in range(7)]
    r = run(args, f"card-house-{cells}", "scenes/papers/card-house-hit.toml", sets)
    head("run", "vertices", "steps, not converged", "contacts, mean (most)", "iterations per step", "s per step", "smallest gap, m")
    row("Standoff", r.vertices(), f"{len(r.reports)}, {r.unconverged()}", contacts_and_most(r),
        f"{r.mean('newton_iterations'):.1f}", per_step(r), scientific(r.gap()))
    row(*PAPERS["card-house"])
    top = [sum(p[1] for p in r.points(s, "board 6")) / len(r.points(s, "board 6")) for s in range(r.last() + 1)]
    hit = next(k for k in range(len(top)) if k > 20 and top[k] < top[k - 1] - 0.02)
    print(f"\nThe uppermost boards stay at {top[hit - 1]:.4f} m ({top[20]:.4f} m after 0.5 s) until the block hits them at "
          f"{0.025 * hit:.3f} s, and are at {top[-1]:.3f} m at the end.")


def rods(args):
    """Four rods twisted by both ends for 30 s, in parts of 5 s."""
    r = run(args, "rods-30", "scenes/stress/twisted-rods.toml", ["time.end=30", "output.every=25"])
    head("time, s", "turns of each end", "contacts, mean (most)", "iterations per step (most)", "wall s per step", "not converged")
    for first in range(0, len(r.reports), 250):
        part = r.reports[first:first + 250]
        mean = lambda values: sum(values) / len(part)
        row(f"{part[0]['time'] - 0.02:.0f} to {part[-1]['time']:.0f}", f"{part[-1]['time'] / 2:.1f}",
            f"{mean(s['contacts'] for s in part):.0f} ({max(s['max_contacts'] for s in part)})",
            f"{mean(s['newton_iterations'] for s in part):.1f} ({max(s['newton_iterations'] for s in part)})",
            f"{mean(s['seconds']['total'] for s in part):.2g}", stats.unconverged(part))
    print(f"\n{r.vertices()} vertices, {stats.seconds(r.reports):.0f} s, smallest gap {scientific(r.gap())} m.")


def ball_rollers(args):
    """The scenes of the reference with its coarser ball, for their whole time."""
    meshes = args.shared / "data/ipc"
    names = {"8_rollerBall": "triangles", "18_segRollerBall": "segments", "18_pointRollerBall": "points"}
    head("rollers of", "vertices of the ball", "steps, not converged", "contacts, mean (most)", "iterations per step (most)", "s per step",
         "smallest gap, m", "middle of the ball at the start, after 2.5, 5, 7.5 and 10 s, m")
    for name, what in names.items():
        r = run(args, f"ball-{name}", meshes / "scenes/paperExamples" / f"{name}.txt",
                ["time.step=0.02", "output.every=25", f'objects.sphere5K.mesh="{(meshes / "tetMeshes/sphere1K.msh").resolve()}"'],
                meshes=meshes)
        ball = next(name for name, b in r.bodies.items() if not b["obstacle"])
        heights = [sum(p[1] for p in r.points(s, ball)) / r.vertices() for s in range(0, r.last() + 1, 125)]
        row(what, r.vertices(), f"{len(r.reports)}, {r.unconverged()}", contacts_and_most(r),
            iterations_and_most(r), per_step(r), scientific(r.gap()),
            ", ".join(f"{y:.2f}" for y in heights))


def rollers(args):
    """The speed of the body between the upper rollers, whose surfaces move at 1/3 m/s."""
    head("E, Pa", "width of the body, m", "contacts, mean (most)", "iterations per step (most)", "s per step", "way down, m",
         "speed between the upper rollers, m/s: mean, least, greatest")
    for stiffness, radius in ((1e5, 0.13), (5e5, 0.13), (1e7, 0.13), (1e7, 0.07)):
        r = run(args, f"rollers-{stiffness:g}-{radius}", "scenes/papers/six-rollers.toml",
                [f"materials.soft.young_modulus={stiffness}", f"objects.body.shape.radius={radius}"])
        y = [sum(p[1] for p in r.points(s, "body")) / len(r.points(s, "body")) for s in range(r.last() + 1)]
        speed = [(a - b) / 0.025 for a, b in zip(y, y[1:]) if 0.8 < b < 1.1]
        cell = f"{sum(speed) / len(speed):.3f}, {min(speed):.3f}, {max(speed):.3f}" if speed else "not drawn in"
        row(f"{stiffness:g}", 2 * radius, contacts_and_most(r),
            iterations_and_most(r), per_step(r), f"{y[0] - y[-1]:.2f}", cell)


# ---- [Li 2021] ----

def tube(args):
    around, along, end = (24, 12, 1.6) if args.coarse else (48, 28, 4.0)
    mesh = (args.out / f"tube-wall-{around}-{along}.vtk").resolve()
    args.out.mkdir(parents=True, exist_ok=True)
    subprocess.run([sys.executable, TOOLS / "gallery_meshes.py", "--tube", f"{around},{along}", mesh], check=True)
    runs = {
        "shell": run(args, f"tube-shell-{around}", "scenes/codim/twisted-tube.toml",
                     [f"objects.tube.shape.around={around}", f"objects.tube.shape.along={along}", f"time.end={end}"]),
        "shell without a thickness": run(args, f"tube-thin-{around}", "scenes/codim/twisted-tube.toml",
                                         [f"objects.tube.shape.around={around}", f"objects.tube.shape.along={along}", f"time.end={end}",
                                          "objects.tube.contact_thickness=0"]),
        "tetrahedra": run(args, f"tube-wall-{around}", "scenes/codim/tube-wall.toml",
                          [f'objects.tube.mesh="{mesh}"', f"time.end={end}"]),
    }
    head("tube", "vertices", "steps", "iterations per step", "s per step", "most contacts", "radius of the middle, mm")
    for name, r in runs.items():
        # vertices within a tenth of the length from the middle
        where = [k for k, p in enumerate(r.points(0, "tube")) if abs(p[0]) < 0.016]
        radii = [math.hypot(*r.points(r.last(), "tube")[k][1:]) for k in where]
        row(name, r.vertices(), len(r.reports), f"{r.mean('newton_iterations'):.1f}", per_step(r), r.most("max_contacts"),
            f"{1e3 * sum(radii) / len(radii):.1f}")
    for cells in PAPERS["tube"]:
        row(*cells)


def silhouette(points, cells=200):
    """Area of the vertical projection of a cloth, of the square raster cells that hold a point of a fine sampling."""
    n = round(math.sqrt(len(points)))
    fine, size = max(2, 600 // n), 1.2 / cells
    seen = set()
    for j in range(n - 1):
        for i in range(n - 1):
            a, b, c, d = (points[k] for k in (j * n + i, j * n + i + 1, (j + 1) * n + i, (j + 1) * n + i + 1))
            for u in range(fine):
                for v in range(fine):
                    s, t = u / fine, v / fine
                    x, z = ((1 - s) * (1 - t) * a[k] + s * (1 - t) * b[k] + (1 - s) * t * c[k] + s * t * d[k] for k in (0, 2))
                    seen.add((math.floor(x / size), math.floor(z / size)))
    return len(seen) * size**2


def locking(args):
    """Energies at rest, and the drape coefficient: the area beside the ball that the cloth covers, over that beside the ball when it is flat."""
    sizes = (16, 32, 64) if args.coarse else (16, 32, 64, 96)
    cases = [(n, 1, 1, None) for n in sizes] + [(n, 1, 0.01, None) for n in sizes[1:]] + [(sizes[1], 0.01, 1, 1.0608), (sizes[1], 0.01, 0.01, 1.0608)]
    head("cells", "membrane", "bending", "limit", "iterations per step", "s per step", "drape coefficient", "greatest stretch",
         "energy of the membrane, mJ", "of bending, mJ", "ratio")
    for n, membrane, bending, limit in cases:
        sets = [f"objects.cloth.shape.cells=[{n}, {n}]", f"materials.cotton.shell.membrane_factor={membrane}",
                f"materials.cotton.shell.bending_factor={bending}", f"materials.cotton.shell.stretch_limit={limit or 'inf'}", "output.every=40"]
        r = run(args, f"locking-{n}-{membrane}-{bending}-{limit}", "scenes/codim/cloth-on-ball.toml", sets)
        area = silhouette(r.points(r.last(), "cloth"))
        ball = math.pi * 0.3**2
        energies = [1e3 * r.reports[-1]["energies"][name] for name in ("membranes", "hinges")]
        row(f"{n} × {n}", membrane, bending, limit or "none", f"{r.mean('newton_iterations'):.1f}", per_step(r),
            f"{(area - ball) / (1 - ball):.3f}", f"{max(stretches(r)):.3f}", *(f"{e:.3g}" for e in energies), f"{energies[0] / energies[1]:.3g}")


def locking_mesh(args):
    text = (ROOT / "scenes" / "codim" / "cloth-on-ball.toml").read_text()
    scene = args.out / "cloth-on-ball-square2K.toml"
    mesh = args.shared.resolve() / "data" / "cipc" / "square2K.obj"
    scene.write_text(re.sub(r'shape = \{ kind = "plane".*', f'mesh = "{mesh}"', text))
    head("picture", "membrane", "limit", "greatest and mean stretch", "iterations per step")
    for picture, membrane, limit in (("top left", 1, None), ("top right", 0.1, None), ("bottom left", 0.01, None), ("bottom right", 0.01, 1.0608)):
        sets = [f"materials.cotton.shell.membrane_factor={membrane}", f"materials.cotton.shell.stretch_limit={limit or 'inf'}", "output.every=40"]
        r = run(args, f"locking-mesh-{membrane}-{limit}", scene.resolve(), sets)
        # triangles of obstacles have no stretch
        of = [s for s in stretches(r) if s > 0]
        row(picture, membrane, limit or "none", f"{max(of):.3f}, {sum(of) / len(of):.3f}", f"{r.mean('newton_iterations'):.1f}")


def stretches(r):
    """Greatest stretch of every triangle in the last frame."""
    return r.frames.array(r.last(), "stretch")


def stack(args):
    cells = 10 if args.coarse else 16
    head("d̂, mm", "vertices", "iterations per step", "[Li 2021]", "contacts, mean (most)", "s per step", "stack before the ball falls, mm",
         "lowest point of the ball, mm", "the same at the end, mm")
    for d in (1, 5, 10):
        r = run(args, f"stack-{d}-{cells}", "scenes/codim/cloth-stack.toml",
                [f'contact.d_hat="{d} mm"', f'objects.cloth.array.spacing=[0, "{1.2 * d} mm", 0]', f'objects.cloth.translate=[0, "{1.2 * d} mm", 0]',
                 f"objects.cloth.shape.cells=[{cells}, {cells}]", f"objects.ball.translate=[0.002, {0.1 + 0.012 * d}, 0]",
                 # the ball waits until the cloths are at rest
                 'objects.ball.fixed=[{ vertices = "all", end = 0.4 }]', "time.end=1.2"])
        low = [min(p[1] for p in r.points(s, "ball")) for s in range(r.last() + 1)]
        # after 0.4 s, before the ball falls
        top = max(p[1] for p in r.points(20, "cloth[0,9,0]"))
        row(d, r.vertices(), f"{r.mean('newton_iterations'):.1f}", PAPERS["stack"][str(d)], contacts_and_most(r), per_step(r),
            f"{1e3 * top:.1f}", f"{1e3 * min(low):.1f}", f"{1e3 * low[-1]:.1f}")


# ---- [Zheng 2025] ----

def chain(n, height, rest, speed, wave, times, dt=1e-6):
    """The exact motion of a bar of n linear elements above a rigid plane at height 0, up to the error of central differences
    with the step dt: heights and speeds of its vertices at each of the times. Its lowest vertex stays on the plane while it is
    pressed on it."""
    cell = 1.0 / n
    rate = (wave / cell) ** 2
    y, v = [height + rest + k * cell for k in range(n + 1)], [-speed] * (n + 1)
    held, out, t = False, [], 0.0
    for wanted in times:
        while t < wanted - 0.5 * dt:
            pull = [rate * (y[k + 1] - y[k] - cell) for k in range(n)]
            a = [2 * pull[0], *(pull[k] - pull[k - 1] for k in range(1, n)), -2 * pull[-1]]
            if held and a[0] > 0:
                held = False
            v = [w + dt * b for w, b in zip(v, a)]
            if held:
                v[0] = 0.0
            y = [x + dt * w for x, w in zip(y, v)]
            if not held and y[0] <= rest:
                y[0], v[0], held = rest, 0.0, True
            t += dt
        out.append((list(y), list(v)))
    return out


def bar(args):
    """A bar of 1 m and a wave speed of 10 m/s hits the ground at 0.5 m/s; only the time step changes. It is a rod that is too thick to
    buckle, because the stretching of rods is that of linear elements."""
    n, delta, thickness, fall, wave, v0 = (16, 1e-4, 1e-3, 0.01, 10.0, 0.5)
    rest = delta + thickness / 2
    scene = args.out / "bar.toml"
    scene.write_text(f'''ground = 0.0
gravity = [0, 0, 0]
time = {{ step = 0.001, end = 0.25 }}
contact = {{ d_hat = {delta}, self_contact = false }}
solver = {{ method = "barrier-free", end.velocity = 1e-6 }}
[[objects]]
name = "bar"
role = "rod"
radius = 0.5
contact_thickness = {thickness}
shape = {{ kind = "polyline", points = [[0, 0, 0], [0, 1, 0]], segments = {n} }}
material = {{ young_modulus = 1e5, poisson_ratio = 0.0, density = 1000 }}
translate = [0, {fall + rest}, 0]
velocity = [0, {-v0}, 0]
''')
    times = [1e-3 * k for k in range(251)]
    exact = chain(n, fall, rest, v0, wave, times)
    area = math.pi / 4
    head("h, ms", "position, error, m", "order", "velocity, error, m/s", "order", "mean contact force, N", "iterations per step")
    before = None
    for h in [1e-3 / 2**k for k in range(4 if args.coarse else 6)]:
        r = run(args, f"bar-{h:g}", scene.resolve(), [f"time.step={h}", "output.interval=0.001"])
        errors = []
        for name, which in (("points", 0), ("velocity", 1)):
            total = [abs(p[1] - q) for k in range(251) for p, q in zip(r.frames.array(round(1e-3 * k / h), name), exact[k][which])]
            errors.append(sum(total) / len(total))
        orders = ["–" if not before else f"{math.log2(a / b):.2f}" for a, b in zip(before or errors, errors)]
        inside = [s["linear_momentum"][1] for s in r.reports if 0.06 - 1e-9 <= s["time"] <= 0.18 + 1e-9]
        force = (inside[-1] - inside[0]) / ((len(inside) - 1) * h)
        row(f"{1e3 * h:g}", scientific(errors[0]), orders[0], scientific(errors[1]), orders[1], f"{force:.1f}", f"{r.mean('newton_iterations'):.2f}")
        before = errors
    y = [s[0] for s in exact]
    print(f"\nThe exact motion is that of the same {n} elements. Force of the continuous bar: {1000 * wave * v0 * area:.1f} N. Its upper end "
          f"turns at {min(range(251), key=lambda k: y[k][-1])} ms, that of the continuous bar at 120 ms.")


def termination(args):
    """Iterations until Π (1 − α) < 1e-3 with K_min = 1."""
    scenes = [("animal well", "scenes/stress/animal-well.toml", 10), ("chain rings", "scenes/stress/chain-rings.toml", 60),
              ("funnel", "scenes/stress/funnel.toml", 60), ("squishy balls", "scenes/papers/squishy-balls-pressed.toml", 40),
              ("ball on plate", "scenes/stress/ball-on-plate.toml", 30)]
    head("scene", "steps", "barrier to the velocity tolerance", "barrier, published end", "barrier-free, published end", "ratio of the last two", "iterations that collisions shorten")
    for name, scene, steps in scenes:
        key = name.replace(" ", "-")
        own = run(args, f"termination-{key}-own", scene, ["solver.method=barrier"], steps)
        barrier = run(args, f"termination-{key}-barrier", scene, ["solver.method=barrier", "solver.end.cumulative_toi=1e-3"], steps)
        free = run(args, f"termination-{key}-free", scene, ["solver.method=barrier-free", "solver.barrier_free.min_iterations=1",
                   "solver.barrier_free.tolerance=1e-3", "solver.barrier_free.subproblem=published", "solver.barrier_free.fallback=none"], steps)
        n = min(len(r.reports) for r in (own, barrier, free))
        totals = [sum(s["newton_iterations"] for s in r.reports[:n]) / max(n, 1) for r in (own, barrier, free)]
        cuts = [sum(s["step_cuts"]["ccd"] for s in r.reports[:n]) for r in (barrier, free)]
        row(name, n, *(f"{t:.1f}" for t in totals), f"{totals[1] / max(totals[2], 1e-9):.2f}", f"{cuts[0]} / {cuts[1]}")


STUDIES = {f.__name__.replace("_", "-"): f for f in (accuracy, arch, friction, card_house, rods, ball_rollers, rollers, tube, locking, locking_mesh, stack, bar, termination)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("study", choices=STUDIES)
    parser.add_argument("standoff", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--coarse", action="store_true", help="smaller meshes")
    parser.add_argument("--shared", type=pathlib.Path, default=ROOT / "testdata")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    STUDIES[args.study](args)


if __name__ == "__main__":
    main()
