#!/usr/bin/env python3
"""Exports runs and reads every frame back with the formats' own tools.

    pip install usd-core pygltflib trimesh meshio numpy ./python
    tools/check_export.py [--standoff target/release/standoff] [--steps 6] [SCENE ...]

Simulates a few steps of every scene (by default: the scenes of the repository that lie directly in
`scenes/` and in `scenes/unit`, `scenes/erleben`, `scenes/rigid`), exports it as .usda, .glb, .ply, .obj and .stl, reads these with
OpenUSD, pygltflib and trimesh, and compares positions, triangles, times, units and axes with the frames that
the run wrote, which meshio reads. Positions must agree within 1e-6 of the largest coordinate, those of what has a transform that
moves within 1e-5 of its diagonal more. With
`gltf-validator` (npm) on the PATH or given by --validator, every .glb must pass without errors.
Prints a line per scene; exit code 1 if anything differs.
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

import meshio
import numpy as np
import pygltflib
import trimesh
from pxr import Usd, UsdGeom

from standoff_tools import ROOT
from standoff_tools.frames import Frames
from standoff_tools.run import run_scene

TOLERANCE = 1e-6
# of the diagonal of a body that is written as a mesh with a transform
WHOLE = 1e-5


def boundary(tets):
    """Faces that belong to one tetrahedron."""
    faces = np.concatenate([tets[:, list(f)] for f in ((0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2))])
    _, first, count = np.unique(np.sort(faces, axis=1), axis=0, return_index=True, return_counts=True)
    return faces[np.sort(first[count == 1])]


def frames_of(run):
    """Steps, times, and for every body its name, vertices, and positions in each frame."""
    frames = Frames(run)
    files = sorted((run / "frames").glob("*.vtu"))
    meshes = [meshio.read(f) for f in files]
    bodies = []
    first = meshes[0]
    for index, body in enumerate(frames.listed):
        used, triangles = [], []
        for block, owner in zip(first.cells, first.cell_data["body"]):
            cells = block.data[np.ravel(owner) == index]
            if block.type == "tetra" and len(cells):
                cells = boundary(cells)
                triangles.append(cells)
            elif block.type == "triangle":
                triangles.append(cells)
            used.append(cells.ravel())
        used = np.unique(np.concatenate(used)).astype(int)
        if len(used):
            count = sum(len(t) for t in triangles)
            bodies.append((body["name"], [m.points[used] for m in meshes], count))
    return frames.steps, frames.times(), bodies


def same(found, expected, what, whole):
    """Raises unless two arrays of positions agree."""
    assert found.shape == expected.shape, f"{what}: {found.shape} instead of {expected.shape}"
    return small(np.abs(found - expected).max(), expected, what, whole)


def small(error, expected, what, whole):
    """Raises if positions of a body are too far off; `whole` if it has a transform. Returns the relative error."""
    scale = max(np.abs(expected).max(), 1e-300)
    bound = TOLERANCE * scale + whole * WHOLE * np.linalg.norm(np.ptp(expected, axis=0))
    assert error <= bound, f"{what}: relative error {error / scale:.2e}"
    return error / scale


def sorted_rows(x):
    return x[np.lexsort(x.T)]


def check_usd(path, times, bodies):
    stage = Usd.Stage.Open(str(path))
    assert UsdGeom.GetStageMetersPerUnit(stage) == 1.0
    rate = stage.GetTimeCodesPerSecond()
    by_name = {}
    for prim in stage.Traverse():
        if prim.GetTypeName() in ("Mesh", "BasisCurves", "Points"):
            by_name.setdefault(prim.GetDisplayName(), []).append(prim)
    worst = 0.0
    assert len(by_name) == len(bodies), f"{len(by_name)} prims, {len(bodies)} bodies"
    for name, positions, count in bodies:
        prims = by_name[name]
        for prim in prims:
            samples = UsdGeom.PointBased(prim).GetPointsAttr().GetTimeSamples()
            whole = not samples and len(times) > 1
            if whole:
                # nothing at all where it rests
                samples = UsdGeom.Xformable(prim).GetTimeSamples() or [t * rate for t in times]
            assert np.allclose(np.array(samples) / rate, times, rtol=1e-9, atol=1e-12), f"{name}: times"
            if prim.IsA(UsdGeom.Mesh):
                mesh = UsdGeom.Mesh(prim)
                counts = np.array(mesh.GetFaceVertexCountsAttr().Get())
                indices = np.array(mesh.GetFaceVertexIndicesAttr().Get())
                valid, reason = UsdGeom.Mesh.ValidateTopology(
                    mesh.GetFaceVertexIndicesAttr().Get(),
                    mesh.GetFaceVertexCountsAttr().Get(),
                    len(mesh.GetPointsAttr().Get(samples[0])),
                )
                assert valid, reason
                assert len(counts) == count and len(indices) == 3 * count, f"{name}: {len(counts)} faces"
            for sample, expected in zip(samples, positions):
                points = np.array(UsdGeom.PointBased(prim).GetPointsAttr().Get(sample), dtype=float)
                world = np.array(UsdGeom.Xformable(prim).ComputeLocalToWorldTransform(sample))
                points = points @ world[:3, :3] + world[3, :3]
                if prim.IsA(UsdGeom.Mesh) and len(prims) == 1:
                    worst = max(worst, same(points, expected, f"{name} (USD)", whole))
                else:
                    # curves repeat the points at which they meet
                    nearest = np.abs(points[:, None] - expected[None]).max(axis=2).min(axis=1)
                    worst = max(worst, small(nearest.max(), expected, f"{name} (USD)", whole))
    return worst, UsdGeom.GetStageUpAxis(stage)


def check_glb(path, times, bodies, up):
    gltf = pygltflib.GLTF2().load(str(path))
    blob = gltf.binary_blob()

    def array(index):
        accessor = gltf.accessors[index]
        view = gltf.bufferViews[accessor.bufferView]
        kind = {5126: "<f4", 5125: "<u4"}[accessor.componentType]
        width = {"SCALAR": 1, "VEC3": 3, "VEC4": 4}[accessor.type]
        start = (view.byteOffset or 0) + (accessor.byteOffset or 0)
        values = np.frombuffer(blob, kind, accessor.count * width, start)
        return values.reshape(-1, width) if width > 1 else values

    channels = {}
    for animation in gltf.animations or []:
        for channel in animation.channels:
            sampler = animation.samplers[channel.sampler]
            seconds = array(sampler.input)
            assert np.allclose(seconds, np.array(times) - times[0], rtol=1e-6, atol=1e-9)
            channels[channel.target.node, channel.target.path] = array(sampler.output).astype(float)
    worst = 0.0
    assert [n.name for n in gltf.nodes] == [b[0] for b in bodies]
    for node, (mesh, (name, positions, count)) in enumerate(zip(gltf.meshes, bodies)):
        primitive = mesh.primitives[0]
        base = array(primitive.attributes.POSITION).astype(float)
        deltas = np.array([array(t["POSITION"]) for t in primitive.targets or []], dtype=float)
        assert len(deltas) in (0, len(times) - 1) and (len(deltas) > 0) == ((node, "weights") in channels), name
        if primitive.mode == 4:
            assert len(array(primitive.indices)) == 3 * count
        still = [gltf.nodes[node].translation or [0, 0, 0]] * len(times)
        shifts = np.array(channels.get((node, "translation"), still))
        turns = channels.get((node, "rotation"), np.tile([0.0, 0, 0, 1], (len(times), 1)))
        assert np.allclose(np.linalg.norm(turns, axis=1), 1, atol=1e-6) and ((turns[1:] * turns[:-1]).sum(axis=1) > 0).all(), name
        for frame, expected in enumerate(positions):
            found = base
            if len(deltas):
                found = base + np.tensordot(channels[node, "weights"].reshape(len(times), -1)[frame], deltas, 1)
            axis, w = turns[frame, :3], turns[frame, 3]
            found = found + 2 * np.cross(axis, np.cross(axis, found) + w * found) + shifts[frame]
            if up == "Z":
                found = found[:, [0, 2, 1]] * [1, -1, 1]
            worst = max(worst, same(found, expected, f"{name} (glTF)", not len(deltas)))
    return worst


def check_sequence(stem, steps, bodies):
    everything = [np.concatenate([b[1][k] for b in bodies]) for k in range(len(steps))]
    faces = sum(b[2] for b in bodies)
    for k, step in enumerate(steps):
        name = f"{stem.name}_{step:06d}"
        path = stem.with_name(f"{name}.ply")
        # meshio does not know edges
        if faces and b"element edge" not in path.read_bytes()[:400]:
            ply = meshio.read(path)
            assert np.array_equal(ply.points, everything[k]), f"{name}.ply"
            assert sum(len(c.data) for c in ply.cells if c.type == "triangle") == faces
        elif faces:
            data = path.read_bytes()
            start = data.index(b"end_header\n") + len(b"end_header\n")
            kind = np.dtype([("x", "<f8", 3), ("body", "<i4")])
            points = np.frombuffer(data, kind, len(everything[k]), start)["x"]
            assert np.array_equal(points, everything[k]), f"{name}.ply"
        lines = stem.with_name(f"{name}.obj").read_text().splitlines()
        points = np.array([[float(x) for x in l.split()[1:]] for l in lines if l.startswith("v ")])
        assert np.array_equal(points, everything[k]), f"{name}.obj"
        if faces:
            stl = trimesh.load(stem.with_name(f"{name}.stl"), process=False)
            assert len(stl.faces) == faces, f"{name}.stl"
            scale = np.abs(everything[k]).max()
            found = stl.vertices
            assert np.abs(found).max() <= scale * (1 + TOLERANCE), f"{name}.stl"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("scenes", nargs="*", type=Path)
    parser.add_argument("--standoff", default=ROOT / "target/release/standoff", type=Path)
    parser.add_argument("--validator", help="program that validates a .glb given as its argument")
    parser.add_argument("--steps", default=6, type=int)
    args = parser.parse_args()
    folders = [ROOT / "scenes", ROOT / "scenes/unit", ROOT / "scenes/erleben", ROOT / "scenes/rigid"]
    scenes = args.scenes or sorted(s for f in folders for s in f.glob("*.toml"))
    failed = 0
    for scene in scenes:
        with tempfile.TemporaryDirectory() as folder:
            run, stem = Path(folder) / "run", Path(folder) / "out"
            run_scene(args.standoff, scene, run, sets=("output.every=2",), steps=args.steps, threads=None)
            try:
                for extension in ("usda", "glb", "ply", "obj", "stl"):
                    command = [args.standoff, "export", run, "-o", stem.with_suffix("." + extension), "--tetrahedra"]
                    subprocess.run(command, check=True, capture_output=True, text=True)
                steps, times, bodies = frames_of(run)
                usd, up = check_usd(stem.with_suffix(".usda"), times, bodies)
                glb = check_glb(stem.with_suffix(".glb"), times, bodies, up)
                check_sequence(stem, steps, bodies)
                if args.validator:
                    subprocess.run([args.validator, stem.with_suffix(".glb")], check=True)
                print(
                    f"{scene.stem}: {len(bodies)} bodies, {len(times)} frames, up {up}, "
                    f"largest error USD {usd:.1e}, glTF {glb:.1e}; PLY and OBJ equal",
                    flush=True,
                )
            except (AssertionError, subprocess.CalledProcessError, KeyError) as error:
                failed += 1
                print(f"{scene.stem}: FAILED: {error} {getattr(error, 'stderr', '') or ''}", flush=True)
    print(f"{len(scenes) - failed} of {len(scenes)} scenes agree")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
