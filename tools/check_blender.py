#!/usr/bin/env python3
"""Imports an exported run into Blender and compares what arrives there with the run's frames.

    pip install bpy meshio numpy          # bpy 5.0 needs Python 3.11
    tools/check_blender.py [--standoff target/release/standoff] [--steps 12] [SCENE ...]

Simulates a few steps of every scene (by default a cloth with a solid, a scene whose gravity acts along z, and bodies that move rigidly), exports
them as .usda and .glb, imports each into an empty Blender scene, and compares the vertices of every mesh in world
coordinates, at the time of every frame, with the positions that the run wrote: motion, scale and axes. Blender's z is
up, so a scene whose y is up must arrive turned: (x, y, z) becomes (x, -z, y). Positions must agree within 1e-5
of the largest coordinate (Blender calculates in single precision). Prints a line per import; exit code 1 if anything
differs.
"""

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import bpy
import numpy as np

from check_export import ROOT, frames_of

TOLERANCE = 1e-5

CLOTH_AND_SOLID = """
ground = 0.0
time = { step = 0.02, end = 1.0 }
[materials.felt.shell]
thickness = "4 mm"
[[objects]]
name = "ball"
shape = { kind = "sphere", radius = 0.1, layers = 3 }
translate = [0.1, 0.13, 0]
velocity = [0.5, 0, 0.2]
[[objects]]
name = "cloth"
role = "shell"
material = "felt"
shape = { kind = "plane", size = [0.4, 0.3], cells = [8, 6] }
translate = [0, 0.3, 0]
"""

Z_UP = """
gravity = [0, 0, -9.81]
time = { step = 0.02, end = 1.0 }
[[objects]]
name = "box"
shape = { kind = "box", size = [0.1, 0.2, 0.3] }
translate = [1, 2, 3]
velocity = [1, 0, 0.5]
"""

RIGID = """
ground = 0.0
time = { step = 0.02, end = 1.0 }
[[objects]]
name = "dice"
role = "rigid"
shape = { kind = "box", size = [0.1, 0.08, 0.06] }
translate = [0, 0.2, 0]
angular_velocity = [1000, 600, 400]
[[objects]]
name = "paddle"
role = "obstacle"
shape = { kind = "box", size = [0.2, 0.02, 0.1], surface = true }
translate = [-1, 0.5, 0]
[[objects.motion]]
translation = ["0.5*t", "0.1*sin(20*t)", 0]
rotation = { axis = [1, 2, 3], angle = "3000*t" }
[[objects]]
name = "table"
role = "obstacle"
shape = { kind = "box", size = [0.2, 0.02, 0.1], surface = true }
translate = [1, 0.1, 0]
"""


def empty():
    bpy.ops.wm.read_factory_settings(use_empty=True)
    return bpy.context.scene


def arrived(scene, seconds, rate):
    """World positions of the meshes at a time, by name."""
    frame = seconds * rate
    scene.frame_set(int(frame), subframe=frame - int(frame))
    graph = bpy.context.evaluated_depsgraph_get()
    found = {}
    for item in scene.objects:
        if item.type != "MESH":
            continue
        evaluated = item.evaluated_get(graph)
        mesh = evaluated.to_mesh()
        points = np.empty(3 * len(mesh.vertices), dtype=np.float32)
        mesh.vertices.foreach_get("co", points)
        world = np.array(evaluated.matrix_world)
        found[item.name] = points.reshape(-1, 3).astype(float) @ world[:3, :3].T + world[:3, 3]
        evaluated.to_mesh_clear()
    return found


def compare(scene, rate, start, times, bodies, z_up):
    worst = 0.0
    for k, time in enumerate(times):
        found = arrived(scene, time - start, rate)
        for name, positions, triangles in bodies:
            if not triangles:
                continue
            expected = positions[k] if z_up else positions[k][:, [0, 2, 1]] * [1, -1, 1]
            points = next((p for n, p in found.items() if n.split(".")[0] == name), None)
            assert points is not None, f"{name} is missing among {sorted(found)}"
            assert points.shape == expected.shape, f"{name}: {points.shape} instead of {expected.shape}"
            error = np.abs(points - expected).max() / np.abs(expected).max()
            assert error <= TOLERANCE, f"{name} at {time:.3f} s: relative error {error:.1e}"
            worst = max(worst, error)
    return worst


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("scenes", nargs="*", type=Path)
    parser.add_argument("--standoff", default=ROOT / "target/release/standoff", type=Path)
    parser.add_argument("--steps", default=12, type=int)
    args = parser.parse_args()
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        scenes = args.scenes
        if not scenes:
            scenes = [folder / f"{name}.toml" for name in ("cloth-and-solid", "z-up", "rigid")]
            for scene, text in zip(scenes, (CLOTH_AND_SOLID, Z_UP, RIGID)):
                scene.write_text(text)
        for scene in scenes:
            run = folder / f"run-{scene.stem}"
            command = [args.standoff, "run", scene, "-o", run, "--steps", str(args.steps), "--quiet"]
            subprocess.run(command, check=True, capture_output=True)
            _, times, bodies = frames_of(run)
            for extension in ("usda", "glb"):
                file = folder / f"{scene.stem}.{extension}"
                command = [args.standoff, "export", run, "-o", file, "--tetrahedra"]
                subprocess.run(command, check=True, capture_output=True)
                blender = empty()
                try:
                    if extension == "usda":
                        # Blender takes time codes for frames and keeps its own rate of frames
                        head = file.read_text()[:1000]
                        rate = float(re.search(r"timeCodesPerSecond = (\S+)", head).group(1))
                        z_up = 'upAxis = "Z"' in head
                        start = 0.0
                        bpy.ops.wm.usd_import(filepath=str(file))
                    else:
                        rate = blender.render.fps / blender.render.fps_base
                        start = times[0]
                        bpy.ops.import_scene.gltf(filepath=str(file))
                    error = compare(blender, rate, start, times, bodies, z_up)
                    print(f"{scene.stem}.{extension}: {len(times)} frames, largest relative error {error:.1e}", flush=True)
                except AssertionError as error:
                    failed += 1
                    print(f"{scene.stem}.{extension}: FAILED: {error}", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
