"""Writes the glTF and USD files of this folder: the .usda with OpenUSD (usd-core from PyPI), the glTF from numbers.

    pip install usd-core
    python generate_scenes.py

The tests know what they hold (tests/scene_formats.rs).
"""

import base64
import json
import struct
from pathlib import Path

from pxr import Gf, Sdf, Usd, UsdGeom, UsdUtils

HERE = Path(__file__).parent
SQUARE = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0)]


def gltf():
    """One document, as .glb, with a file beside it, and with embedded data."""
    data, views, accessors = bytearray(), [], []

    def view(content):
        data.extend(b"\0" * (-len(data) % 4))
        views.append({"buffer": 0, "byteOffset": len(data), "byteLength": len(content)})
        data.extend(content)
        return len(views) - 1

    def accessor(content, component, kind, count, **more):
        entry = {"componentType": component, "type": kind, "count": count, **more}
        if content is not None:
            entry["bufferView"] = view(content)
        accessors.append(entry)
        return len(accessors) - 1

    def positions(points):
        low, high = ([f(p[k] for p in points) for k in range(3)] for f in (min, max))
        content = b"".join(struct.pack("<3f", *p) for p in points)
        return accessor(content, 5126, "VEC3", len(points), min=low, max=high)

    square = positions(SQUARE)
    # corners that are named twice, as for normals
    corners = positions([SQUARE[k] for k in (0, 1, 2, 2, 1, 3)])
    # rows of 20 bytes: a position and two numbers that are none
    views.append({"buffer": 0, "byteOffset": len(data), "byteLength": 4 * 20 - 8, "byteStride": 20})
    data.extend(b"".join(struct.pack("<5f", *p, 7, 8) for p in SQUARE))
    accessors.append({"componentType": 5126, "type": "VEC3", "count": 4, "bufferView": len(views) - 1,
                      "min": [0, 0, 0], "max": [1, 1, 0]})
    strided = len(accessors) - 1
    # zeros but for two vertices
    sparse = accessor(None, 5126, "VEC3", 3, min=[0, 0, 0], max=[1, 1, 0], sparse={
        "count": 2,
        "indices": {"bufferView": view(struct.pack("<2H", 1, 2)), "componentType": 5123},
        "values": {"bufferView": view(struct.pack("<6f", *SQUARE[1], *SQUARE[2]))},
    })
    small = accessor(struct.pack("<3B", 0, 1, 2), 5121, "SCALAR", 3)
    lines = accessor(struct.pack("<4H", 0, 1, 1, 3), 5123, "SCALAR", 4)
    large = accessor(struct.pack("<2I", 2, 3), 5125, "SCALAR", 2)
    quarter = 0.5 ** 0.5
    document = {
        "asset": {"version": "2.0"}, "scene": 1,
        "scenes": [{"nodes": [5]}, {"nodes": [0, 3, 4, 6, 7]}],
        "nodes": [
            {"name": "root", "translation": [0, 0, 1], "rotation": [0, 0, quarter, quarter], "scale": [2, 2, 2],
             "children": [1, 2]},
            {"name": "triangle", "translation": [1, 0, 0], "mesh": 0},
            # mirrored in x
            {"name": "strip", "matrix": [-1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 5, 1], "mesh": 1},
            {"name": "wires", "mesh": 2},
            {"name": "sparse fan", "mesh": 3},
            {"name": "of another scene", "mesh": 0},
            {"name": "corners", "mesh": 4, "translation": [0, 3, 0]},
            {"name": "strided", "mesh": 5, "translation": [0, 4, 0]},
        ],
        "meshes": [
            {"primitives": [{"attributes": {"POSITION": square}, "indices": small}]},
            {"primitives": [{"attributes": {"POSITION": square}, "mode": 5}]},
            {"primitives": [
                {"attributes": {"POSITION": square}, "indices": lines, "mode": 1},
                {"attributes": {"POSITION": square}, "indices": small, "mode": 2},
                {"attributes": {"POSITION": square}, "indices": large, "mode": 0},
            ]},
            {"primitives": [{"attributes": {"POSITION": sparse}, "mode": 6, "targets": [{"POSITION": sparse}]}]},
            {"primitives": [{"attributes": {"POSITION": corners}}]},
            {"primitives": [{"attributes": {"POSITION": strided}, "indices": small}]},
        ],
        "accessors": accessors, "bufferViews": views,
    }
    data.extend(b"\0" * (-len(data) % 4))
    document["buffers"] = [{"byteLength": len(data)}]
    text = json.dumps(document, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 4)
    head = struct.pack("<4s2I", b"glTF", 2, 12 + 8 + len(text) + 8 + len(data))
    chunks = struct.pack("<I4s", len(text), b"JSON") + text + struct.pack("<I4s", len(data), b"BIN\0") + data
    (HERE / "scene.glb").write_bytes(head + chunks)
    document["buffers"][0]["uri"] = "data:application/octet-stream;base64," + base64.b64encode(data).decode()
    (HERE / "scene_embedded.gltf").write_text(json.dumps(document))
    document["buffers"][0]["uri"] = "scene%20data.bin"
    (HERE / "scene_file.gltf").write_text(json.dumps(document, indent=1))
    (HERE / "scene data.bin").write_bytes(data)


def usd():
    """A stage in centimetres with z up, transforms of every kind, a hole, curves, points and samples."""
    stage = Usd.Stage.CreateNew(str(HERE / "usd_core.usda"))
    UsdGeom.SetStageMetersPerUnit(stage, 0.01)
    UsdGeom.SetStageUpAxis(stage, UsdGeom.Tokens.z)
    world = UsdGeom.Xform.Define(stage, "/World")
    world.AddTranslateOp().Set((0, 0, 100))
    world.AddRotateXYZOp().Set((10, 20, 30))
    world.AddScaleOp().Set((1, 2, 3))

    def mesh(path, points, counts, indices):
        prim = UsdGeom.Mesh.Define(stage, path)
        prim.CreatePointsAttr([Gf.Vec3f(*p) for p in points])
        prim.CreateFaceVertexCountsAttr(counts)
        prim.CreateFaceVertexIndicesAttr(indices)
        prim.CreateSubdivisionSchemeAttr("none")
        return prim

    box = mesh("/World/quads", SQUARE + [(2, 0, 0), (2, 1, 0)], [4, 4], [0, 1, 3, 2, 1, 4, 5, 3])
    box.CreateHoleIndicesAttr([1])
    box.AddOrientOp().Set(Gf.Quatf(0.5, 0.5, 0.5, 0.5))
    pivot = box.AddTranslateOp(opSuffix="pivot")
    pivot.Set((1, 2, 3))
    box.AddRotateZYXOp().Set((5, 6, 7))
    box.AddTranslateOp(opSuffix="pivot", isInverseOp=True)
    reset = mesh("/World/reset", SQUARE, [3], [0, 1, 2])
    reset.SetResetXformStack(True)
    reset.AddTransformOp().Set(Gf.Matrix4d((0, 1, 0, 0), (-1, 0, 0, 0), (0, 0, 1, 0), (4, 5, 6, 1)))
    reset.CreateOrientationAttr("leftHanded")
    # an arrowhead, no fan from its first vertex
    mesh("/World/arrow", [(0, 0, 0), (2, -1, 0), (1, 0, 0), (2, 1, 0)], [4], [3, 0, 1, 2])
    curves = UsdGeom.BasisCurves.Define(stage, "/wires")
    curves.CreateTypeAttr("linear")
    curves.CreateCurveVertexCountsAttr([2, 2])
    curves.CreatePointsAttr([Gf.Vec3f(*p) for p in [(0, 0, 0), (1, 0, 0), (1, 0, 0), (1, 1, 0)]])
    points = UsdGeom.Points.Define(stage, "/points")
    points.CreatePointsAttr().Set([Gf.Vec3f(1, 2, 3)], 7)
    points.GetPointsAttr().Set([Gf.Vec3f(4, 5, 6)], 2)
    hidden = mesh("/hidden", SQUARE, [3], [0, 1, 2])
    hidden.CreateVisibilityAttr("invisible")
    stage.SetMetadata("comment", 'text with "quotes", (brackets) and # marks')
    stage.GetRootLayer().Save()
    stage.GetRootLayer().Export(str(HERE / "usd_core.usdc"))
    UsdUtils.CreateNewUsdzPackage(str(HERE / "usd_core.usdc"), str(HERE / "usd_core.usdz"))


def usd_types():
    """A stage for the binary form: lists that are long enough to be compressed, of whole numbers and of few different
    ones, transforms of every precision, and numbers that fit into their fields."""
    stage = Usd.Stage.CreateNew(str(HERE / "usd_types.usda"))
    UsdGeom.SetStageMetersPerUnit(stage, 0.3)
    for k, (angle, half) in enumerate([(Gf.Quatd, Gf.Vec3d), (Gf.Quatf, Gf.Vec3f), (Gf.Quath, Gf.Vec3h)]):
        precision = [UsdGeom.XformOp.PrecisionDouble, UsdGeom.XformOp.PrecisionFloat, UsdGeom.XformOp.PrecisionHalf][k]
        prim = UsdGeom.Mesh.Define(stage, f"/part{k}")
        prim.AddTranslateOp(precision).Set(half(1.5, -2.25, k))
        prim.AddOrientOp(precision).Set(angle(0.5, 0.5, -0.5, 0.5))
        prim.AddScaleOp(precision).Set(half(1, 2, 3))
        prim.AddRotateXOp(precision).Set(30)
        n = 7
        grid = [Gf.Vec3f(i, j, 0.1 * i * j) for i in range(n) for j in range(n)]
        if k == 2:
            prim.CreatePointsAttr().Set(grid, 3)
            prim.GetPointsAttr().Set([p * 2 for p in grid], 1)
            prim.GetPointsAttr().Set(Sdf.ValueBlock(), 0)
        else:
            prim.CreatePointsAttr(grid)
        faces = [(i * n + j, i * n + j + 1, (i + 1) * n + j + 1, (i + 1) * n + j) for i in range(n - 1) for j in range(n - 1)]
        prim.CreateFaceVertexCountsAttr([4] * len(faces))
        prim.CreateFaceVertexIndicesAttr([v for f in faces for v in f])
        prim.CreateHoleIndicesAttr([5, 100000, 70000])
        prim.CreateSubdivisionSchemeAttr("none")
    unit = UsdGeom.Points.Define(stage, "/part0/unit")
    unit.AddTransformOp().Set(Gf.Matrix4d(1))
    unit.CreatePointsAttr([Gf.Vec3f(1, 0, 0)])
    away = UsdGeom.Points.Define(stage, "/part0/away")
    away.GetPrim().SetActive(False)
    away.CreatePointsAttr([Gf.Vec3f(9, 9, 9)])
    stage.GetRootLayer().Save()
    stage.GetRootLayer().Export(str(HERE / "usd_types.usdc"))


def usd_arcs():
    """Binary files that refer to others, or have variants."""
    for name in ["references", "payload", "inherits", "variants", "sublayers"]:
        stage = Usd.Stage.CreateNew(str(HERE / f"usd_{name}.usdc"))
        prim = stage.DefinePrim("/m", "Mesh")
        if name == "references":
            prim.GetReferences().AddReference("other.usda")
        elif name == "payload":
            prim.GetPayloads().AddPayload("other.usda")
        elif name == "inherits":
            prim.GetInherits().AddInherit("/class")
        elif name == "variants":
            prim.GetVariantSets().AddVariantSet("shape").AddVariant("long")
        else:
            stage.GetRootLayer().subLayerPaths.append("other.usda")
        stage.GetRootLayer().Save()


if __name__ == "__main__":
    gltf()
    usd()
    usd_types()
    usd_arcs()
