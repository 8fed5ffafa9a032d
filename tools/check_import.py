#!/usr/bin/env python3
"""Reads meshes of glTF, USD, MJCF and URDF with Standoff and with the formats' own tools, and compares.

    pip install trimesh usd-core mujoco yourdfpy numpy
    cargo build --release -p standoff-mesh --example to_obj
    tools/check_import.py [--reader target/release/examples/to_obj] [FILE ...]

By default the files of crates/mesh/tests/data. trimesh reads glTF, OpenUSD the stages, MuJoCo and yourdfpy the robots.
Every vertex of a mesh, and every corner of a box, must be there to 1e-6 of the largest coordinate, and none more; vertices
of round shapes must lie on the shape, and be as many as expected. Prints a line per file; exit code 1 if
anything differs.
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "crates/mesh/tests/data"
TOLERANCE = 1e-6
SIGNS = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)


class Expected:
    """Points that must be there, and surfaces on which points may lie."""

    def __init__(self):
        self.points = [np.zeros((0, 3))]
        self.round = []

    def mesh(self, points, matrix=None):
        points = np.asarray(points, float).reshape(-1, 3)
        matrix = np.eye(4) if matrix is None else np.asarray(matrix, float)
        self.points.append(points @ matrix[:3, :3].T + matrix[:3, 3])

    def box(self, half, matrix):
        self.mesh(SIGNS * half, matrix)

    def add_round(self, kind, size, matrix):
        self.round.append((kind, np.asarray(size, float), np.linalg.inv(matrix)))

    def compare(self, found):
        """Largest distance of a found point from what is expected, and of an expected point from the found ones."""
        points = np.concatenate(self.points)
        scale = max(np.abs(found).max(), 1e-300)

        def nearest(a, b):
            if not len(b):
                return np.full(len(a), np.inf)
            return np.concatenate([np.linalg.norm(b[None] - part[:, None], axis=2).min(axis=1)
                                   for part in np.array_split(a, max(1, len(a) * len(b) // 5_000_000)) if len(part)])

        missing = nearest(points, found).max() if len(points) else 0.0
        off = nearest(found, points)
        for kind, size, inverse in self.round:
            local = found @ inverse[:3, :3].T + inverse[:3, 3]
            off = np.minimum(off, distance(kind, size, local))
        return missing / scale, off.max() / scale


def distance(kind, size, p):
    """Distance of points from a round shape about z; for ellipsoids as a fraction of the axes."""
    flat, up = np.hypot(p[:, 0], p[:, 1]), np.abs(p[:, 2])
    if kind == "ellipsoid":
        return np.abs(np.linalg.norm(p / size, axis=1) - 1) * size.min()
    if kind == "capsule":
        return np.abs(np.hypot(flat, np.maximum(up - size[1], 0)) - size[0])
    # vertices of a cylinder: on its rims, or in the middle of a cap
    return np.maximum(np.abs(up - size[1]), np.minimum(np.abs(flat - size[0]), flat))


def gltf(path):
    import trimesh

    expected = Expected()
    scene = trimesh.load_scene(path, process=False)
    for node in scene.graph.nodes_geometry:
        matrix, name = scene.graph[node]
        geometry = scene.geometry[name]
        used = np.unique(geometry.faces) if hasattr(geometry, "faces") else slice(None)
        expected.mesh(geometry.vertices[used], matrix)
    return expected


def usd(path):
    from pxr import Usd, UsdGeom

    expected = Expected()
    stage = Usd.Stage.Open(str(path))
    unit = UsdGeom.GetStageMetersPerUnit(stage)
    when = Usd.TimeCode.EarliestTime()
    for prim in stage.Traverse():
        imageable = UsdGeom.Imageable(prim)
        if not prim.HasAttribute("points") or imageable.ComputeVisibility(when) == "invisible":
            continue
        points = prim.GetAttribute("points")
        samples = (points.Get(time) for time in points.GetTimeSamples())
        points = np.array(points.Get() or next(p for p in samples if p is not None), float)
        if prim.IsA(UsdGeom.Mesh):
            points = points[used_by_faces(UsdGeom.Mesh(prim))]
        matrix = np.array(UsdGeom.Xformable(prim).ComputeLocalToWorldTransform(when)).T
        expected.mesh(points, np.diag([unit, unit, unit, 1]) @ matrix)
    return expected


def used_by_faces(mesh):
    counts, indices = mesh.GetFaceVertexCountsAttr().Get(), np.array(mesh.GetFaceVertexIndicesAttr().Get())
    holes = set(mesh.GetHoleIndicesAttr().Get() or [])
    pieces = np.split(indices, np.cumsum(counts)[:-1])
    return np.unique(np.concatenate([p for k, p in enumerate(pieces) if k not in holes]))


def mjcf(path):
    import mujoco

    expected = Expected()
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    kind = mujoco.mjtGeom
    for k in range(model.ngeom):
        if not model.geom_contype[k] and not model.geom_conaffinity[k]:
            continue
        matrix = np.eye(4)
        matrix[:3, :3], matrix[:3, 3] = data.geom_xmat[k].reshape(3, 3), data.geom_xpos[k]
        size = model.geom_size[k]
        of = model.geom_type[k]
        if of == kind.mjGEOM_BOX:
            expected.box(size, matrix)
        elif of == kind.mjGEOM_MESH:
            mesh = model.geom_dataid[k]
            start = model.mesh_vertadr[mesh]
            expected.mesh(model.mesh_vert[start:start + model.mesh_vertnum[mesh]], matrix)
        elif of == kind.mjGEOM_SPHERE:
            expected.add_round("ellipsoid", np.repeat(size[0], 3), matrix)
        elif of == kind.mjGEOM_ELLIPSOID:
            expected.add_round("ellipsoid", size, matrix)
        elif of == kind.mjGEOM_CAPSULE:
            expected.add_round("capsule", size[:2], matrix)
        elif of == kind.mjGEOM_CYLINDER:
            expected.add_round("cylinder", size[:2], matrix)
    return expected


def urdf(path):
    import trimesh
    import yourdfpy

    expected = Expected()
    robot = yourdfpy.URDF.load(str(path), load_meshes=False, build_scene_graph=True)
    for link in robot.robot.links:
        place = robot.get_transform(link.name)
        for collision in link.collisions:
            matrix = place @ (np.eye(4) if collision.origin is None else collision.origin)
            shape = collision.geometry
            if shape.box:
                expected.box(np.asarray(shape.box.size) / 2, matrix)
            elif shape.sphere:
                expected.add_round("ellipsoid", np.repeat(shape.sphere.radius, 3), matrix)
            elif shape.cylinder:
                expected.add_round("cylinder", [shape.cylinder.radius, shape.cylinder.length / 2], matrix)
            elif shape.mesh:
                name = shape.mesh.filename.split("://")[-1]
                found = [f for f in (path.parent / name, path.parent.parent / name) if f.is_file()]
                scale = np.ones(3) if shape.mesh.scale is None else shape.mesh.scale
                expected.mesh(trimesh.load_mesh(found[0], process=False).vertices * scale, matrix)
    return expected


READERS = {".glb": gltf, ".gltf": gltf, ".usda": usd, ".usdc": usd, ".usdz": usd, ".xml": mjcf, ".urdf": urdf}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reader", type=Path, default=ROOT / "target/release/examples/to_obj")
    parser.add_argument("files", nargs="*", type=Path)
    arguments = parser.parse_args()
    names = ["scene.glb", "scene_embedded.gltf", "usd_core.usda", "usd_core.usdc", "usd_core.usdz", "usd_types.usdc",
             "robot/shapes.xml", "robot/arm.urdf"]
    files = arguments.files or [DATA / n for n in names]
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        for file in files:
            out = Path(folder) / "out.obj"
            subprocess.run([arguments.reader.resolve(), file, out], check=True)
            lines = [line.split() for line in out.read_text().splitlines()]
            points = np.array([[float(x) for x in line[1:4]] for line in lines if line[0] == "v"])
            used = sorted({int(v) - 1 for line in lines if line[0] in "flp" for v in line[1:]})
            missing, off = READERS[file.suffix](file).compare(points[used])
            wrong = max(missing, off) > TOLERANCE
            failed |= wrong
            print(f"{'DIFFERS' if wrong else 'equal':8} {file.name:24} {len(used):6} vertices, "
                  f"missing by {missing:.1e}, off by {off:.1e}")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
