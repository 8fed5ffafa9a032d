#!/usr/bin/env python3
"""The three-dimensional experiments of the orientation-aware potential [Huang 2024] with three potentials.

    tools/orientation_paper.py run BINARY OUT [NAME ...] [--seconds S]
    tools/orientation_paper.py table OUT
    tools/orientation_paper.py check
    tools/orientation_paper.py pictures OUT [NAME ...]

`run` computes the experiments named (all without one; patterns like 'corner*') with the orientation-aware, the IPC and the
convergent potential at the same contact distance, from the same start and to the same tolerance, each run on one thread and
for S seconds of wall time at most (120 by default), audits the frames of each, and writes OUT/results.json. `table` brings
docs/orientation-paper.json up to date with that file and writes the tables of docs/src/validation/orientation-2024.md from it,
between their marks. `check` has exit code 1 if the tables differ from the file. `pictures` renders docs/src/images/orientation-*.png from the frames of OUT.

Needs `pip install pyvista pillow`. The figures of the paper are in tools/data/orientation-paper.json. Seconds are CPU time (user and system) of
the whole program with its audit and output, memory is the largest that it had.
"""
import argparse, fnmatch, json, pathlib, re, subprocess, sys, threading, time, tomllib

from standoff_tools import ROOT, TOOLS, data, stats
from standoff_tools.run import run_scene
from standoff_tools.tables import markdown, number, replaced

FIGURES, PAGE = ROOT / "docs" / "orientation-paper.json", ROOT / "docs" / "src" / "validation" / "orientation-2024.md"
IMAGES = ROOT / "docs" / "src" / "images"
POTENTIALS = ("orientation-aware", "ipc", "convergent")
PAPER = data("orientation-paper")["paper"]
SHORT = {"orientation-aware": "orientation-aware", "ipc": "IPC", "convergent": "convergent"}

# two balls that one step moves to their place: forces and energies of the contact are negligible beside their inertia, so that
# the contact energy over κ is the potential of the same two surfaces in each refinement
BALLS = """gravity = [0, 0, 0]
time = {{ step = 0.001, end = 0.001 }}
contact = {{ d_hat = 0.8, stiffness = 1e-9, self_contact = false }}
solver.end = {{ velocity = 1e-6 }}
[[objects]]
name = "left"
shape = {{ kind = "sphere", radius = 1, layers = {0} }}
[[objects]]
name = "right"
shape = {{ kind = "sphere", radius = 1, layers = {0} }}
rotate = [20, 30, 40]
translate = [3.0, 0.3, 0.2]
velocity = [-730, 0, 0]
"""
# a cube that one step moves to 7 mm above a block with a top of its own size, which it overhangs
OVERHANG = """gravity = [0, 0, 0]
time = {{ step = 0.001, end = 0.001 }}
contact = {{ d_hat = 0.01, stiffness = 1e-9, orientation = {{ alpha = 0.5 }} }}
[[objects]]
name = "cube"
shape = {{ kind = "box" }}
translate = [{0}, 1.02, 0]
velocity = [0, -13, 0]
[[objects]]
name = "cliff"
role = "obstacle"
shape = {{ kind = "cliff" }}
"""


def experiment(label, figure, scene, tolerance, *sets, merit, only=None, every=1, table="main",
               potentials=POTENTIALS):
    """`sets` holds for all potentials, `only` for one; there a key without a value is one that the scene is stripped of."""
    return dict(label=label, figure=figure, scene=scene, tolerance=tolerance, sets=list(sets), merit=merit,
                only=only or {}, every=every, table=table, potentials=potentials)


CUBE = "objects.column.shape={ kind = \"box\", size = [0.6, 0.6, 0.6], cells = [10, 20, 10] }"
EXPERIMENTS = {
    "rounded-block": experiment("Block with rounded corners", "1", "orientation/rounded-block", 1e-3, merit="displacement"),
    "two-blocks": experiment("Two blocks", "11", "orientation/two-blocks", 1e-4, "time.end=0.094", "contact.orientation.alpha=0.1",
                             merit="displacement"),
    "slit-block": experiment("Block with a slit", "11", "orientation/slit-block", 1e-4, merit="slit"),
    "compressed-block": experiment("Compressed cube", "12", "orientation/compressed-block", 1e-3, CUBE, "contact.d_hat=0.0125",
                                   "time.step=0.0047", "contact.orientation.alpha=0.1", merit="bulge"),
    "balloon": experiment("Balloon", "13", "orientation/balloon", 1e-3, merit="wall"),
    "funnel": experiment("Funnel", "22", "orientation/funnel", 1e-3, merit="recovery"),
    "compactor": experiment("Compactor", "23", "orientation/compactor", 1e-3, merit="recovery"),
    "mat-twist": experiment("Mat twist", "24", "twisted-mat", 1e-3, "contact.d_hat=0.01", "contact.orientation.alpha=0.4",
                            merit="contacts"),
}
for d_hat in (0.01, 0.001):
    for alpha in (0.5, 0.1, 1.0):
        EXPERIMENTS[f"cliff-{d_hat:g}-{alpha:g}"] = experiment(
            f"α = {alpha:g}", "21", "orientation/cliff-edge", 1e-4, "time.end=4", f"contact.d_hat={d_hat}",
            f"contact.orientation.alpha={alpha}", merit="drift", every=10, table="cliff",
            potentials=POTENTIALS if alpha == 0.5 else POTENTIALS[:1])
for by in (0, 0.2, 0.5, 1, 2, 4, 6, 10):
    for alpha in (0.5, 0.1, 1.0):
        EXPERIMENTS[f"overhang-{by:g}-{alpha:g}"] = experiment(
            f"{1e-3 * by}", "21", OVERHANG, 1e-6, f"contact.orientation.alpha={alpha}", merit="direction", table="overhang",
            potentials=POTENTIALS if alpha == 0.5 else POTENTIALS[:1])
for n in (4, 8, 16):
    EXPERIMENTS[f"corner-{n}"] = experiment(
        f"{n} cells", "16", "orientation/corner", 0.1, f"objects.corner.shape.cells={n}", f"objects.plate.shape.cells=[{n}, 1, {n}]",
        merit="gap", table="corner", only={"ipc": ["contact.stiffness"], "convergent": ["contact.stiffness=1e9"]})
    EXPERIMENTS[f"corner-own-{n}"] = EXPERIMENTS[f"corner-{n}"] | dict(
        only={"orientation-aware": ["contact.orientation"]}, potentials=POTENTIALS[:1])
for name in ("spike-spike", "spike-plane", "spike-wedge", "spike-crack", "spike-hole", "wedge-wedge", "wedge-plane", "wedge-crack",
             "cube-cliff", "cube-internal-edges"):
    EXPERIMENTS[f"erleben-{name}"] = experiment(name, "20", f"erleben/{name}", 1e-3, merit="gap", table="erleben")
for d_hat in (0.003, 0.006, 0.012, 0.024):
    for alpha in (0.1, 0.5, 1.0):
        EXPERIMENTS[f"rings-{d_hat:g}-{alpha:g}"] = experiment(
            f"{d_hat:g}", "18", "orientation/two-rings", 1e-3, f"contact.d_hat={d_hat}", f"contact.orientation.alpha={alpha}",
            merit="gap", table="sweep", only={"ipc": ["contact.stiffness"]},
            every=10, potentials=POTENTIALS if alpha == 0.5 else POTENTIALS[:1])
for layers in (2, 4, 8, 16):
    EXPERIMENTS[f"balls-{layers}"] = experiment(f"{layers}", "19", BALLS, 1e-6, merit="potential", table="balls")


def scene_of(name, potential, out):
    """The scene file and the settings for one potential."""
    entry = EXPERIMENTS[name]
    if entry["scene"] in (BALLS, OVERHANG):
        path = out / f"{name}.toml"
        path.write_text(entry["scene"].format(entry["label"]))
        return path, []
    path = ROOT / "scenes" / f"{entry['scene']}.toml"
    sets = [s if "=" in s else f"{s}=unset" for s in entry["only"].get(potential, [])]
    return path, sets


def watched(process, memory):
    """Notes the most resident memory of a process until its end, MiB. What `wait4` reports includes that of this script."""
    status = pathlib.Path(f"/proc/{process.pid}/status")
    while status.exists():
        try:
            found = re.search(r"VmHWM:\s+(\d+) kB", status.read_text())
        except OSError:
            return  # it has just ended
        if not found:
            return
        memory["mib"] = int(found[1]) / 1024
        time.sleep(0.005)


def settings(name, potential, scene, only):
    """The replaced values of an experiment with one potential."""
    entry = EXPERIMENTS[name]
    sets = [f"contact.potential={potential}", f"solver.end.velocity={entry['tolerance']}", f"output.every={entry['every']}",
            *entry["sets"], *only]
    oriented = "orientation = {" in pathlib.Path(scene).read_text() or any(s.startswith("contact.orientation.") for s in sets)
    if potential != "orientation-aware" and oriented:
        # nothing else reads these
        sets.append("contact.orientation=unset")
    return sets


def run(name, potential, binary, out, seconds):
    """Computes and audits an experiment with one potential; its figures."""
    folder = out / f"{name}-{potential}"
    scene, only = scene_of(name, potential, out)
    memory = {"mib": 0}
    watch = lambda process: threading.Thread(target=watched, args=(process, memory)).start()
    done = run_scene(binary, scene, folder, sets=settings(name, potential, scene, only), seconds=seconds, on_start=watch)
    message = done.error
    audit = subprocess.run([binary, "audit", folder, "--threads", "1"], capture_output=True, text=True)
    found = summary(name, folder)
    found |= {"cpu": done.cpu, "mib": memory["mib"], "code": done.code, "stopped": seconds if done.stopped else None,
              "message": message[-400:], "clean": audit.returncode == 0,
              "audit": (audit.stdout + audit.stderr).strip().replace(str(folder), "")[-200:]}
    print(f"{name}, {potential}: {found['computed']}/{found['steps']} steps, {found['iterations']} iterations, {found['cpu']:.1f} s, "
          f"{found['merit']} {message[-200:]}{' stopped' if found['stopped'] else ''}{'' if found['clean'] else ' AUDIT'}", flush=True)
    return found


class Frames:
    def __init__(self, folder):
        self.folder = folder
        self.files = sorted((folder / "frames").glob("*.vtu"))
        self.bodies = stats.info(folder)["bodies"]

    def read(self, index=-1):
        import pyvista
        return pyvista.read(self.files[index])

    def part(self, array, body):
        return array[body["first_vertex"]:body["first_vertex"] + body["vertices"]]


def off_rest(frames, frame):
    """The largest root mean square distance of a body's vertices from its shape at rest, moved rigidly as near as possible, m."""
    import numpy as np
    worst = 0
    for body in frames.bodies:
        if body["obstacle"]:
            continue
        x, u = (frames.part(a, body) for a in (frame.points, frame["displacement"]))
        rest = x - u
        a, b = rest - rest.mean(0), x - x.mean(0)
        left, _, right = np.linalg.svd(a.T @ b)
        sign = np.diag([1, 1, np.linalg.det(left @ right)])
        worst = max(worst, np.sqrt(((a @ left @ sign @ right - b) ** 2).sum(1).mean()))
    return worst


def merit(kind, frames, steps):
    """The figures by which an experiment is judged: of the last frame, or of all steps."""
    import numpy as np
    frame = frames.read()
    if kind == "displacement":
        return {"displacement": float(np.linalg.norm(frame["displacement"], axis=1).max())}
    if kind == "slit":
        rest = frame.points - frame["displacement"]
        side = lambda s: frame.points[(abs(rest[:, 0] - s * 0.005) < 1e-9) & (abs(rest[:, 1] - 0.25) < 1e-9)]
        return {"slit": float(np.linalg.norm(side(1) - side(-1), axis=1).mean())}
    if kind == "bulge":
        return {"bulge": float(abs(frame.points[:, [0, 2]]).max() - 0.3),
                "forces": float(np.linalg.norm(frame["contact_force"], axis=1).sum())}
    if kind == "wall":
        x, n = frame.points, frame.n_points // 2
        return {"wall": float(np.linalg.norm(x[n:] - x[:n], axis=1).mean()),
                "forces": float(np.linalg.norm(frame["contact_force"], axis=1).sum())}
    if kind == "drift":
        found = {}
        for second in (1, 2, 4):
            index = round(second / 4 * (len(frames.files) - 1))
            x = frames.part(frames.read(index).points, frames.bodies[0])
            off, edge = x.mean(0) - (0.5, 0, 0.5), x[1] - x[0]
            found[f"drift_{second}"] = float(np.hypot(off[0], off[2]))
            found[f"turn_{second}"] = float(abs(np.degrees(np.arctan2(edge[2], edge[0]))))
        return found
    if kind == "recovery":
        off = [float(off_rest(frames, frames.read(k))) for k in range(0, len(frames.files), 5)]
        peak = off.index(max(off))
        return {"deformed": off[peak], "recovered": min(off[peak:])}
    if kind == "direction":
        force = frames.part(frame["contact_force"], frames.bodies[0]).sum(0)
        return {"direction": float(force[0] / force[1])}
    if kind == "potential":
        return {"potential": steps[-1]["contact_energy"] / 1e-9 if steps else None}
    if kind == "contacts":
        return {"contacts": steps[-1]["contacts"]}
    return {}


def summary(name, folder):
    """What the tables need of a run."""
    import numpy as np, pyvista
    steps, frames = stats.reports(folder), Frames(folder)
    frame, scene = frames.read(0), tomllib.loads((folder / "scene.resolved.toml").read_text())
    tets = frame.cells_dict[pyvista.CellType.TETRA]
    pairs = np.unique(np.sort(np.concatenate([tets[:, [i, j]] for i in range(4) for j in range(i)])), axis=0)
    rest = frame.points - frame["displacement"]
    edges = np.linalg.norm(rest[pairs[:, 0]] - rest[pairs[:, 1]], axis=1)
    material = next(iter(scene.get("materials", {}).values()), {})
    gaps = [s["min_gap"] for s in steps if s["min_gap"] is not None]
    wanted = scene["time"]["end"] / scene["time"]["step"]
    reach = frame["contact_reach"] if "contact_reach" in frame.point_data else np.zeros(1)
    return {
        "vertices": len(np.unique(tets)), "tets": len(tets), "edges": [float(edges.min()), float(edges.mean()), float(edges.max())],
        "h": scene["time"]["step"], "d_hat": stats.info(folder)["d_hat"],
        "alpha": scene["contact"]["orientation"]["alpha"],
        "material": [material.get("young_modulus"), material.get("poisson_ratio"), material.get("density")],
        "tolerance": EXPERIMENTS[name]["tolerance"], "computed": len(steps), "steps": int(np.ceil(wanted - 1e-6)),
        "unconverged": stats.unconverged(steps),
        "iterations": stats.iterations(steps), "contacts": stats.contacts(steps),
        "reach": float(reach.max()), "min_gap": min(gaps, default=None), "merit": merit(EXPERIMENTS[name]["merit"], frames, steps),
    }


def length(x):
    return "–" if x is None else f"{number(1e3 * x)} mm" if x < 1 else f"{number(x)} m"


def described(found):
    """The figures of merit in words."""
    m = found["merit"]
    if "displacement" in m:
        return f"moved by {length(m['displacement'])}"
    if "slit" in m:
        return f"slit of {length(m['slit'])} at the top"
    if "bulge" in m:
        return f"sides out by {length(max(m['bulge'], 0) if abs(m['bulge']) > 1e-9 else 0)}; contact forces of {number(m['forces'])} N"
    if "wall" in m:
        return f"wall of {length(m['wall'])}; contact forces of {number(m['forces'] / 1000)} kN"
    if "recovered" in m:
        return f"deformed by {length(m['deformed'])}, then by as little as {length(m['recovered'])}"
    if "contacts" in m:
        return f"{m['contacts']} contacts in the end"
    return ""


def steps_of(found):
    """The number of steps, and what did not go as it should."""
    text = f"{found['computed']}" if found["computed"] == found["steps"] else f"{found['computed']} of {found['steps']}"
    if found["stopped"]:
        text += f", stopped at {found['stopped']:g} s"
    elif found["message"]:
        text += ", failed"
    if found["unconverged"]:
        text += f", {found['unconverged']} not converged"
    return text if found["clean"] else text + ", audit: " + found["audit"]


def per_step(found, key):
    return found[key] / found["computed"] if found["computed"] else None


def chosen(figures, table):
    """Name, entry and results by potential of the experiments of a table."""
    for name, entry in EXPERIMENTS.items():
        found = {p: figures[f"{name}/{p}"] for p in entry["potentials"] if f"{name}/{p}" in figures}
        if entry["table"] == table and found:
            yield name, entry, found


def setups(figures):
    rows = [["experiment", "Fig.", "vertices, tetrahedra", "edges: least, mean, greatest, m", "d̂, m", "α", "E, ν, ρ", "h, s",
             "tolerance, m/s", "[Huang 2024]: vertices, cells", "edges, m", "d̂, m", "α"]]
    for name, entry, found in chosen(figures, "main"):
        f, p = found[POTENTIALS[0]], PAPER.get(name)
        rows.append([entry["label"], entry["figure"], f"{f['vertices']}, {f['tets']}", ", ".join(number(e, 2) for e in f["edges"]),
                     number(f["d_hat"]), number(f["alpha"]), ", ".join(number(x) for x in f["material"]), number(f["h"]),
                     number(f["tolerance"]), *((f"{p[0]}, {p[1]}", p[2], number(p[3]), number(p[4])) if p else ("–",) * 4)])
    return markdown(rows)


def results(figures):
    rows = [["experiment", "potential", "steps", "iterations per step", "contacts, most", "CPU s per step", "smallest gap",
             "what is seen", "[Huang 2024]: iterations", "s per step"]]
    for name, entry, found in chosen(figures, "main"):
        for potential, f in found.items():
            p = PAPER.get(name) if potential == POTENTIALS[0] else None
            rows.append([entry["label"], SHORT[potential], steps_of(f), number(per_step(f, "iterations")), str(f["contacts"]),
                         number(per_step(f, "cpu"), 2), length(f["min_gap"]), described(f),
                         *((number(p[7]), number(p[6])) if p else ("", ""))])
    return markdown(rows)


def cliff(figures):
    rows = [["d̂", "potential", *(f"drift, turn after {s} s" for s in (1, 2, 4)), "iterations per step"]]
    for d_hat in ("0.01", "0.001"):
        keys = [(f"orientation-aware, α = {alpha}", f"cliff-{d_hat}-{alpha}/orientation-aware") for alpha in ("0.1", "0.5", "1")]
        keys += [(SHORT[p], f"cliff-{d_hat}-0.5/{p}") for p in POTENTIALS[1:]]
        for label, key in keys:
            f = figures[key]
            m = f["merit"]
            moved = (f"{length(m[f'drift_{s}'])}, {number(m[f'turn_{s}'], 2)}°" for s in (1, 2, 4))
            rows.append([length(float(d_hat)), label, *moved, number(per_step(f, "iterations")) +
                         ("" if steps_of(f) == str(f["steps"]) else " " + steps_of(f))])
    return markdown(rows)


def overhang(figures):
    rows = [["overhang", *(f"orientation-aware, α = {alpha}" for alpha in ("0.1", "0.5", "1")), "IPC", "convergent"]]
    for by in ("0", "0.2", "0.5", "1", "2", "4", "6", "10"):
        keys = [f"overhang-{by}-{alpha}/orientation-aware" for alpha in ("0.1", "0.5", "1")]
        keys += [f"overhang-{by}-0.5/{p}" for p in POTENTIALS[1:]]
        rows.append([f"{by} mm", *(f"{figures[k]['merit']['direction'] + 0:.3f}".replace("-0.000", "0.000") for k in keys)])
    return markdown(rows)


def corners(figures):
    rows = [["cells of the corner and of the plate", "tetrahedra", "orientation-aware, L = 50 mm", "orientation-aware, L of the edges",
             "convergent, κ = 1 GPa", "IPC, adaptive κ"]]
    for n in (4, 8, 16):
        keys = (f"corner-{n}/orientation-aware", f"corner-own-{n}/orientation-aware", f"corner-{n}/convergent", f"corner-{n}/ipc")
        if all(k in figures for k in keys):
            found = [figures[k] for k in keys]
            rows.append([str(n), str(found[0]["tets"]), *(f"{length(f['min_gap'])} ({number(per_step(f, 'iterations'))})" for f in found)])
            rows[-1][2:] = [c if f["computed"] == f["steps"] and not f["unconverged"] else c + " " + steps_of(f)
                            for c, f in zip(rows[-1][2:], found)]
    return markdown(rows)


def erleben(figures):
    rows = [["scene", "d̂", *(f"{SHORT[p]}: {what}" for p in POTENTIALS for what in ("iterations per step", "smallest gap"))]]
    for _, entry, found in chosen(figures, "erleben"):
        cells = [c for f in found.values() for c in (number(per_step(f, "iterations")), length(f["min_gap"]))]
        cells = [c if f["computed"] == f["steps"] and not f["unconverged"] else c + " " + steps_of(f)
                 for c, f in zip(cells, (f for f in found.values() for _ in range(2)))]
        rows.append([entry["label"], length(found[POTENTIALS[0]]["d_hat"]), *cells])
    return markdown(rows)


def sweep(figures):
    rows = [["d̂", "α = 0.1", "α = 0.5", "α = 1", "convergent", "IPC, adaptive κ"]]
    for d_hat in ("0.003", "0.006", "0.012", "0.024"):
        keys = [f"rings-{d_hat}-{alpha}/orientation-aware" for alpha in ("0.1", "0.5", "1")]
        keys += [f"rings-{d_hat}-0.5/{p}" for p in ("convergent", "ipc")]
        cells = []
        for f in (figures.get(k) for k in keys):
            whole = f and f["computed"] == f["steps"] and not f["unconverged"]
            cells.append("–" if not f else number(per_step(f, "iterations")) if whole else steps_of(f))
        rows.append([length(float(d_hat)), *cells])
    return markdown(rows)


def balls(figures):
    rows = [["layers", "longest edge, m", *(f"{SHORT[p]}: {what}" for p in POTENTIALS for what in ("contacts", "potential"))]]
    for _, entry, found in chosen(figures, "balls"):
        cells = [c for f in found.values() for c in (str(f["contacts"]), number(f["merit"]["potential"], 4))]
        rows.append([entry["label"], number(found[POTENTIALS[0]]["edges"][2]), *cells])
    return markdown(rows)


TABLES = {"setups": setups, "results": results, "corner": corners, "erleben": erleben, "sweep": sweep, "balls": balls, "cliff": cliff, "overhang": overhang}


def tables(out):
    figures = json.loads(FIGURES.read_text()) if FIGURES.exists() else {}
    figures |= json.loads((out / "results.json").read_text())
    order = [f"{name}/{p}" for name, entry in EXPERIMENTS.items() for p in entry["potentials"]]
    figures = {key: figures[key] for key in order if key in figures}
    FIGURES.write_text(json.dumps(figures, indent=1, ensure_ascii=False) + "\n")
    PAGE.write_text(page(figures))


def page(figures):
    """The text of the page with tables of these figures."""
    text = PAGE.read_text()
    for kind, of in TABLES.items():
        text = replaced(text, f"<!-- tools/orientation_paper.py: {kind} -->", of(figures))
    return text


# names of experiments in rows, the frame as a part of the run, and the options of tools/render.py
VIEWS = {
    "rest": [("rounded-block", 1, ["--view", "1,0.8,1.3", "--stress", "40", "--edges", "--extent", "2.1"]),
             ("two-blocks", 1, ["--view", "1,0.4,1.6", "--stress", "600", "--edges", "--extent", "1.8"]),
             ("slit-block", 1, ["--view", "0.3,0.5,1.6", "--stress", "6", "--edges", "--extent", "0.85"])],
    "deformed": [("compressed-block", 1, ["--view", "1,0.5,1.4", "--stress", "30000", "--edges", "--extent", "1.0"]),
                 ("balloon", 1, ["--view", "1,0.5,1.4", "--stress", "120000", "--edges", "--cut"])],
    "corner": [("corner-8", 0.5, ["--view", "1,0.25,0.6", "--stress", "1e9", "--edges", "--extent", "0.8", "--look", "0.05,0.06,0"])],
    "cliff": [("cliff-0.01-0.5", 1, ["--view", "0.7,1.2,1.4", "--bodies", "--edges", "--extent", "2.6", "--look", "0.5,0.5,0.5"]),
              ("cliff-0.001-0.5", 1, ["--view", "0.7,1.2,1.4", "--bodies", "--edges", "--extent", "2.6", "--look", "0.5,0.5,0.5"])],
    "examples": [("funnel", 0.45, ["--view", "0.4,0.15,1.6", "--stress", "15000", "--obstacle-opacity", "0.3", "--extent", "1.1", "--look", "0,-0.05,0"]),
                 ("compactor", 0.333, ["--view", "0.5,0.6,1.6", "--bodies", "--obstacle-opacity", "0.3", "--extent", "0.9"]),
                 ("mat-twist", 1, ["--view", "0.25,0.35,1", "--stress", "40000", "--zoom", "1.2"])],
}


def pictures(out, names):
    """The potentials side by side, an experiment in each row."""
    from PIL import Image, ImageDraw, ImageFont
    width, height, head = 480, 330, 26
    font = ImageFont.load_default(15)
    for name, rows in VIEWS.items():
        if names and name not in names:
            continue
        sheet = Image.new("RGB", (3 * width, head + height * len(rows)), "#f7f7f5")
        draw = ImageDraw.Draw(sheet)
        for column, potential in enumerate(POTENTIALS):
            draw.text(((column + 0.5) * width, head / 2 + 2), SHORT[potential], fill="#303030", font=font, anchor="mm")
            for row, (of, part, options) in enumerate(rows):
                folder, picture = out / f"{of}-{potential}", out / "picture.png"
                frames = sorted((folder / "frames").glob("*.vtu"))
                step = int(frames[round(part * (len(frames) - 1))].stem)
                subprocess.run([sys.executable, TOOLS / "render.py", folder, str(step), picture, "--size", f"{width}x{height}",
                                *options], check=True)
                sheet.paste(Image.open(picture).convert("RGB"), (column * width, head + row * height))
        target = IMAGES / f"orientation-{name}.png"
        for colours in (256, 128, 64, 32):
            sheet.quantize(colours, method=Image.Quantize.MAXCOVERAGE, kmeans=1).save(target, optimize=True)
            if target.stat().st_size <= 150_000:
                break
        print(target, target.stat().st_size)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    running = commands.add_parser("run")
    running.add_argument("binary", type=pathlib.Path)
    running.add_argument("out", type=pathlib.Path)
    running.add_argument("names", nargs="*")
    running.add_argument("--seconds", type=float, default=120, help="wall time for each run")
    commands.add_parser("table").add_argument("out", type=pathlib.Path)
    commands.add_parser("check")
    drawing = commands.add_parser("pictures")
    drawing.add_argument("out", type=pathlib.Path)
    drawing.add_argument("names", nargs="*")
    args = parser.parse_args()
    if args.command == "table":
        return tables(args.out)
    if args.command == "check":
        same = page(json.loads(FIGURES.read_text())) == PAGE.read_text()
        return None if same else f"the tables of {PAGE.relative_to(ROOT)} differ from {FIGURES.relative_to(ROOT)}"
    if args.command == "pictures":
        return pictures(args.out, args.names)
    args.out.mkdir(parents=True, exist_ok=True)
    listed = args.out / "results.json"
    figures = json.loads(listed.read_text()) if listed.exists() else {}
    for name, entry in EXPERIMENTS.items():
        if not args.names or any(fnmatch.fnmatch(name, n) for n in args.names):
            for potential in entry["potentials"]:
                figures[f"{name}/{potential}"] = run(name, potential, args.binary.resolve(), args.out, args.seconds)
                listed.write_text(json.dumps(figures, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    sys.exit(main())
