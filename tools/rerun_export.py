#!/usr/bin/env python3
"""Writes a run as a recording of Rerun (https://rerun.io), to be compared with other data there.

    pip install rerun-sdk
    tools/rerun_export.py DIR OUT.rrd [--colour ARRAY] [--low X --high Y]
    rerun OUT.rrd

It logs, over the step and the time in seconds: the surface of every body, segments with their radius, particles and points,
the contact forces as arrows, and the statistics of the steps as curves. Surfaces are coloured by the magnitude of ARRAY (velocity by
default; any array of the frames, values of cells averaged onto their vertices), from X to Y or over the range of the whole run, because Rerun fixes
colours when they are logged. Half-spaces are not exported. Needs NumPy and rerun-sdk, tested with version 0.41.
"""
import argparse, pathlib, re

import numpy as np

from standoff_tools import stats
from standoff_tools.frames import raw_arrays

TET, TRIANGLE, LINE, VERTEX = 10, 5, 3, 1
QUADRATIC_TET, QUADRATIC_TRIANGLE = 24, 22
# the nodes of the faces of a tetrahedron, outwards: corners, then the middles of their edges, and the triangles between six nodes
FACES = [[1, 2, 3, 5, 9, 8], [0, 3, 2, 7, 9, 6], [0, 1, 3, 4, 8, 7], [0, 2, 1, 6, 5, 4]]
FOUR = [[0, 3, 5], [3, 1, 4], [5, 4, 2], [3, 4, 5]]
TYPES = {"Float64": "<f8", "Int32": "<i4", "UInt8": "u1"}
# viridis at nine places, linear in between
MAP = np.array([(68, 1, 84), (71, 44, 122), (59, 81, 139), (44, 113, 142), (33, 144, 141), (39, 173, 129), (92, 200, 99),
                (170, 220, 50), (253, 231, 37)], float)


def read_frame(path):
    """The arrays of a frame by name, and which of them belong to cells."""
    found = raw_arrays(path)
    values = {name: np.frombuffer(array.raw, TYPES[array.kind]) for name, array in found.items()}
    arrays = {name: v.reshape(-1, found[name].components) if found[name].components > 1 else v for name, v in values.items()}
    return arrays, {name for name, array in found.items() if array.of_cells}


def cells_of(arrays, kind, corners):
    """The cells of a kind: their vertices, and their indices among all cells."""
    index = np.flatnonzero(arrays["types"] == kind)
    first = arrays["offsets"][index] - corners
    return arrays["connectivity"][first[:, None] + np.arange(corners)], index


def boundary(tets, owner):
    """The faces that belong to one tetrahedron only, outwards, as triangles, and the indices of their tetrahedra."""
    nodes = 3 if tets.shape[1] == 4 else 6
    faces = tets[:, [face[:nodes] for face in FACES]].reshape(-1, nodes)
    _, index, count = np.unique(np.sort(faces[:, :3], axis=1), axis=0, return_index=True, return_counts=True)
    single = np.sort(index[count == 1])
    return divided(faces[single], owner[single // 4])


def divided(faces, owner):
    """Faces of three or six nodes as triangles, and the cell of each."""
    return (faces, owner) if faces.shape[1] == 3 else (faces[:, FOUR].reshape(-1, 3), np.repeat(owner, 4))


def values_of(arrays, cells, name):
    """One number for each vertex."""
    values = arrays.get(name)
    if values is None:
        raise SystemExit(f"the frames have no array '{name}'; they have {', '.join(sorted(arrays))}")
    if values.ndim > 1:
        values = np.linalg.norm(values, axis=1)
    if name not in cells:
        return values
    sizes = np.diff(arrays["offsets"], prepend=0)
    total, count = np.zeros(len(arrays["points"])), np.zeros(len(arrays["points"]))
    np.add.at(total, arrays["connectivity"], np.repeat(values, sizes))
    np.add.at(count, arrays["connectivity"], 1)
    return total / np.maximum(count, 1)


def colours_of(values, low, high):
    place = np.clip((values - low) / max(high - low, 1e-300), 0, 1) * (len(MAP) - 1)
    return np.stack([np.interp(place, np.arange(len(MAP)), MAP[:, c]) for c in range(3)], axis=1).astype(np.uint8)


def log_frame(rr, path, bodies, colour, low, high):
    """Logs a frame: surfaces, segments and points of every body, and the contact forces."""
    arrays, cells = read_frame(path)
    points, body = arrays["points"], arrays["body"]
    rr.set_time("step", sequence=int(path.stem))
    rr.set_time("time", duration=float(arrays["timevalue"][0]))
    colours = colours_of(values_of(arrays, cells, colour), low, high)
    solids = [boundary(*cells_of(arrays, TET, 4)), boundary(*cells_of(arrays, QUADRATIC_TET, 10))]
    thin = [divided(*cells_of(arrays, TRIANGLE, 3)), divided(*cells_of(arrays, QUADRATIC_TRIANGLE, 6))]
    faces, face_cells = map(np.concatenate, zip(*solids, *thin))
    (edges, edge_cells), (single, single_cells) = cells_of(arrays, LINE, 2), cells_of(arrays, VERTEX, 1)
    radius = arrays.get("radius", np.zeros(len(body)))
    # negative radii are pixels: what has no radius is drawn thin
    radius = np.where(radius > 0, radius, -1.0)
    for index, about in enumerate(bodies):
        place = "world/" + re.sub(r"[^\w-]", "_", about["name"])
        own = faces[body[face_cells] == index]
        if len(own):
            used, local = np.unique(own, return_inverse=True)
            mesh = rr.Mesh3D(vertex_positions=points[used], triangle_indices=local.reshape(-1, 3), vertex_colors=colours[used])
            rr.log(place + "/surface", mesh)
        own = body[edge_cells] == index
        if own.any():
            strips = rr.LineStrips3D(points[edges[own]], colors=colours[edges[own][:, 0]], radii=radius[edge_cells[own]])
            rr.log(place + "/segments", strips)
        own = body[single_cells] == index
        if own.any():
            v = single[own][:, 0]
            rr.log(place + "/points", rr.Points3D(points[v], colors=colours[v], radii=radius[single_cells[own]]))
    forces = arrays.get("contact_force")
    if forces is not None:
        size = np.linalg.norm(forces, axis=1)
        acting = size > 1e-3 * max(size.max(), 1e-300)
        rr.log("world/contact_force", rr.Arrows3D(origins=points[acting], vectors=forces[acting]))


def log_reports(rr, folder):
    """Logs the statistics of all steps as curves."""
    for step in stats.reports(folder):
        rr.set_time("step", sequence=step["step"])
        rr.set_time("time", duration=step["time"])
        for name in ("kinetic_energy", "elastic_energy", "gravity_energy", "contact_energy", "newton_iterations", "contacts", "min_gap"):
            if step.get(name) is not None:
                rr.log("statistics/" + name, rr.Scalars(step[name]))
        rr.log("statistics/seconds", rr.Scalars(step["seconds"]["total"]))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("output")
    parser.add_argument("--colour", default="velocity")
    parser.add_argument("--low", type=float)
    parser.add_argument("--high", type=float)
    args = parser.parse_args()
    import rerun as rr

    info = stats.info(args.folder)
    frames = sorted((args.folder / "frames").glob("*.vtu"))
    if not frames:
        raise SystemExit(f"{args.folder} has no frames")
    low, high = args.low, args.high
    if low is None or high is None:
        ranges = [(v.min(), v.max()) for v in (values_of(*read_frame(f), args.colour) for f in frames)]
        low = min(r[0] for r in ranges) if low is None else low
        high = max(r[1] for r in ranges) if high is None else high
    rr.init("standoff", recording_id=str(args.folder.resolve()))
    rr.save(args.output)
    rr.log("/", rr.ViewCoordinates.RIGHT_HAND_Y_UP, static=True)
    for frame in frames:
        log_frame(rr, frame, info["bodies"], args.colour, low, high)
    log_reports(rr, args.folder)
    print(f"{args.output}: {len(frames)} frames, {args.colour} from {low:.4g} to {high:.4g}")


if __name__ == "__main__":
    main()
