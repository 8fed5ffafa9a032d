"""Scenes of figures that consist of many similar objects, or of meshes that a script makes. Each function writes its meshes into a folder and returns the
text of a scene file (for `chain` of a scene of the IPC 2020 reference), in which "data:PATH" stands for a mesh of the shared data."""
import json, math, subprocess, sys

from . import ROOT, TOOLS, meshes

SCENES = ROOT / "scenes"


class Absent(Exception):
    """A file or a package that the scene needs is absent."""


def card_shuffle(folder, cards=54):
    """The shuffle of scenes/codim/card-shuffle.toml with a whole deck [Li 2021, Fig. 8]: meshes of the paper's number of cells, cards that are released
    from below and in turns, two in 40 ms, and walls that square the deck from 4 s to 4.38 s."""
    text = (SCENES / "codim" / "card-shuffle.toml").read_text()
    text = text[:text.index('[[objects]]\nname = "card 0"')]
    for old, new in (("end = 1.4 }", "end = 6.0 }"), ("size = [0.01, 0.02, 0.1]", "size = [0.01, 0.06, 0.1]"), ("0.008, 0.0]", "0.031, 0.0]"),
                     ("start = 0.8\nend = 1.18", "start = 4.0\nend = 4.38")):
        if old not in text:
            sys.exit(f"scenes/codim/card-shuffle.toml has no longer {old!r}")
        text = text.replace(old, new)
    for i in range(cards):
        side = 1 if i % 2 else -1
        held = "min = [0.99, -inf, -inf], max = [inf, inf, inf]" if i % 2 else "min = [-inf, -inf, -inf], max = [0.01, inf, inf]"
        text += f"""
[[objects]]
name = "card {i}"
role = "shell"
shape = {{ kind = "plane", size = [0.0888, 0.0635], cells = [14, 6] }}
material = "card"
contact_thickness = "0.1 mm"
translate = [{0.03 * side}, {0.002 + 0.0006 * i:.4f}, 0.0]
regions.side.box = {{ {held}, relative = true }}
[[objects.fixed]]
vertices = "side"
end = {0.1 + 0.06 * i:.2f}
"""
    return text


def rows_of_disc(count, step):
    """The rows of rods whose ends fill a disc, as the script of [Li 2021] places them: for each row its height and its number of rods."""
    middle = (count - 1) / 2
    rows = ((j, int(2 * math.sqrt(middle**2 - (j - middle) ** 2))) for j in range(count))
    return [(step * (j - middle), n) for j, n in rows if n]


HAIR = """time = {{ step = 0.01, end = {end} }}
friction = {{ coefficient = {friction}, stick_speed = "0.1 mm/s" }}
contact = {{ d_hat = "0.1 mm" }}
solver.end = {{ velocity = "1 mm/s", norm = "root-mean-square", consecutive = 3 }}

[materials.hair]
young_modulus = "400 MPa"
poisson_ratio = 0.3
density = 1300
"""
HELD = 'box = {{ min = [{}, -inf, -inf], max = [{}, inf, inf], relative = true }}'


def braid(folder, count=30, segments=60):
    """Two bundles of hair, whose upper ends are turned against the lower ones for 3 s; then the lower ends are free [Li 2021, Fig. 3, left]. Hairs are
    along x here, and gravity points to their second end."""
    step, length, text = 3e-4, 0.15, "gravity = [9.81, 0, 0]\n" + HAIR.format(end=6.0, friction=0.1)
    width, end = step * (count - 1), 1 / (segments - 2)
    for side in (-1, 1):
        for row, (z, n) in enumerate(rows_of_disc(count, step)):
            y = side * (width / 2 + 5 * step) - step * n / 2
            text += f"""
[[objects]]
name = "bundle {side} row {row}"
role = "rod"
radius = "0.04 mm"
shape = {{ kind = "polyline", points = [[{-length / 2}, 0, 0], [{length / 2}, 0, 0]], segments = {segments} }}
material = "hair"
translate = [0.0, {y:.6f}, {z:.6f}]
array = {{ counts = [1, {n}, 1], spacing = [0, {step}, 0] }}
regions.upper = {{ {HELD.format("-inf", f"{end:.5f}")} }}
regions.lower = {{ {HELD.format(f"{1 - end:.5f}", "inf")} }}
[[objects.motion]]
vertices = "upper"
velocity = [0.001, 0, 0]
angular_velocity = [-270, 0, 0]
pivot = [0, 0, 0]
end = 3.0
[[objects.fixed]]
vertices = "upper"
start = 3.0
[[objects.motion]]
vertices = "lower"
velocity = [-0.001, 0, 0]
angular_velocity = [270, 0, 0]
pivot = [0, 0, 0]
end = 3.0
"""
    return text


def hairs(folder, count=35, segments=50):
    """A bundle that hangs from both ends, and another one that falls across it and over a ball [Li 2021, Fig. 3, right]."""
    step, text = 4e-4, HAIR.format(end=3.0, friction=0.2)
    width = step * (count - 1)
    text += """
[[objects]]
name = "ball"
shape = { kind = "sphere", radius = 0.033, surface = true, layers = 7 }
translate = [0.1, -0.1, 0]
"""
    for row, (z, n) in enumerate(rows_of_disc(count, step)):
        text += f"""
[[objects]]
name = "hanging {row}"
role = "rod"
radius = "0.04 mm"
shape = {{ kind = "polyline", points = [[0, 0, -0.1], [0, 0, 0.1]], segments = {segments} }}
material = "hair"
translate = [{-step * n / 2:.6f}, {z:.6f}, 0]
array = {{ counts = [{n}, 1, 1], spacing = [{step}, 0, 0] }}
regions.ends.vertices = [0, {segments}]
[[objects.fixed]]
vertices = "ends"

[[objects]]
name = "falling {row}"
role = "rod"
radius = "0.04 mm"
shape = {{ kind = "polyline", points = [[-0.047, 0, 0], [0.153, 0, 0]], segments = {segments} }}
material = "hair"
translate = [0, {width + step - step * n / 2:.6f}, {z:.6f}]
array = {{ counts = [1, {n}, 1], spacing = [0, {step}, 0] }}
regions.root = {{ {HELD.format(f"{1 - 1 / (segments - 2):.5f}", "inf")} }}
[[objects.fixed]]
vertices = "root"
"""
    return text


def chain(folder, links=100):
    """A chain of tori that hangs from a ring, in the language of the reference, like its own scenes of 5, 10 and 35 links [Li 2020, §7.1]."""
    lines = ["energy NH", "warmStart 0", "size -1", "time 10 4e-2", "density 5e2", "stiffness 1e7 0.4", "script fallNoShift", "", f"shapes input {links}"]
    lines += [f"input/tetMeshes/torus.msh  0 {-0.51 * i:.2f} 0  0 {90 * (1 - i % 2)} 0  1 1 1" for i in range(links)]
    return "\n".join(lines + ["selfCollisionOn", "", "meshCO input/triMeshes/torus.obj  0 0.51 0  1  50 0", ""])


def compactor(folder):
    """The ball, the mat and the bunny of the reference in the box of scenes/papers/trash-compactor.toml [Li 2020, Fig. 15]."""
    text = (SCENES / "papers" / "trash-compactor.toml").read_text()
    head = text[text.index("gravity"):text.index("[[objects]]")]
    box = text[text.index("# the corners move"):text.index("[[expect]]")]
    bodies = (("ball", "sphere5K", "0.2", "[-0.2, -0.1, 0]"), ("mat", "mat40x40", "[0.5, 1, 0.4]", "[0, 0.2, 0]"), ("bunny", "bunny", "0.08", "[0.13, -0.15, 0]"))
    return head + "".join(f"""
[[objects]]
name = "{name}"
mesh = "data:ipc/tetMeshes/{mesh}.msh"
scale = {scale}
material = "soft"
translate = {place}
""" for name, mesh, scale, place in bodies) + "\n" + box


def squishy_ball(folder, times=2):
    """The ball of scenes/papers/squishy-ball.toml with every tetrahedron divided into eight, `times` times."""
    import gallery_meshes

    points, tets = gallery_meshes.squishy_tets()
    for _ in range(times):
        points, tets = meshes.eighths(points, tets)
    meshes.write_tets(folder / "squishy-ball.vtk", points, tets, "papers.py")
    return (SCENES / "papers" / "squishy-ball.toml").read_text()


def slit_block(folder, cells=10):
    """The block of scenes/orientation/slit-block.toml with as many tetrahedra as in [Huang 2024, Fig. 11]."""
    return orientation_scene(folder, "slit-block", cells=cells)


def balloon(folder, layers=2):
    """The hollow ball of scenes/orientation/balloon.toml with as many vertices as in [Huang 2024, Fig. 13]."""
    return orientation_scene(folder, "balloon", layers=layers)


def orientation_scene(folder, name, **finer):
    """A scene of scenes/orientation with a finer mesh."""
    import orientation_meshes

    getattr(orientation_meshes, name.replace("-", "_"))(folder / f"{name}.vtk", **finer)
    return (SCENES / "orientation" / f"{name}.toml").read_text()


def reef_knot(folder, along=1500, across=33):
    """The knot of scenes/codim/reef-knot.toml with a mesh of the paper's size."""
    command = [sys.executable, TOOLS / "ribbon.py", folder / "ribbon.obj", "--along", str(along), "--across", str(across)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise Absent("tools/ribbon.py: " + (done.stderr.splitlines() or [""])[-1])
    return (SCENES / "codim" / "reef-knot.toml").read_text()


def dress(folder, data):
    """The panels of the dress around the body, sewn together while it falls [Li 2021, Fig. 5]. A seam of the data ties a vertex to a point of an edge;
    here it ties it to the nearer end of that edge, and to 2 mm, twice the contact distance, because contact acts between the sewn parts."""
    lines = (data / "garments" / "dress-stage.obj").read_text().splitlines()
    # the reader of OBJ files refuses statements of other formats
    (folder / "dress.obj").write_text("".join(line + "\n" for line in lines if line.startswith(("v ", "f "))))
    seams = [line.split()[1:] for line in lines if line.startswith("stitch ")]
    pairs = [[int(a), int(c) if float(r) > 0.5 else int(b)] for a, b, c, r in seams]
    return (TOOLS / "data" / "at-size" / "dress.toml").read_text().replace("PAIRS", json.dumps(pairs))
