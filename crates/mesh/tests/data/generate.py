"""Writes the mesh files of this folder with independent programs: meshio, gmsh and vtk (from PyPI).

    pip install meshio gmsh vtk
    python generate.py

Every file holds the same mesh, or as much of it as its format can: 5 points, 2 tetrahedra, the 6
triangles of their surface, 1 line and 1 point. The tests know it (tests/format_fixtures.rs).
Integer cell data `part`: 1 and 2 on the tetrahedra, 3 on the triangles, 4 on the line, 5 on the
point. Gmsh physical groups: volumes `body` (1), `other` (2), surface `skin` (3), curve 4 and point
5 without names.
"""

import struct
from pathlib import Path

import gmsh
import meshio
import numpy as np
import vtk

HERE = Path(__file__).parent
POINTS = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 1.125)]
TETS = [(0, 1, 2, 3), (1, 2, 3, 4)]
TRIANGLES = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 4), (2, 3, 4), (1, 4, 3)]
LINES = [(0, 4)]
VERTICES = [(3,)]
PARTS = [1, 2] + 6 * [3] + [4, 5]


def with_meshio():
    cells = [("tetra", TETS), ("triangle", TRIANGLES), ("line", LINES), ("vertex", VERTICES)]
    data = [np.array(p, dtype=np.int32) for p in ([1, 2], 6 * [3], [4], [5])]
    points = np.array(POINTS, dtype=float)
    full = meshio.Mesh(points, cells, cell_data={"part": data, "weight": [1.5 * d for d in data]})
    for binary, name in ((False, "text"), (True, "binary")):
        full.write(HERE / f"meshio_42_{name}.vtk", file_format="vtk42", binary=binary)
        full.write(HERE / f"meshio_51_{name}.vtk", file_format="vtk51", binary=binary)
        full.write(HERE / f"meshio_{name}.vtu", binary=binary, compression=None)
    full.write(HERE / "meshio_zlib.vtu", binary=True, compression="zlib")
    groups = meshio.Mesh(points, cells, cell_data={"gmsh:physical": data, "gmsh:geometrical": data})
    groups.field_data = {
        "body": np.array([1, 3]),
        "other": np.array([2, 3]),
        "skin": np.array([3, 2]),
    }
    for binary, name in ((False, "text"), (True, "binary")):
        groups.write(HERE / f"meshio_22_{name}.msh", file_format="gmsh22", binary=binary)
    # meshio writes several kinds of cells as 4.1 only with entities: tetrahedra alone
    plain = meshio.Mesh(points, cells[:1])
    for binary, name in ((False, "text"), (True, "binary")):
        plain.write(HERE / f"meshio_41_{name}.msh", file_format="gmsh", binary=binary)
    surface = meshio.Mesh(points, [("triangle", TRIANGLES)])
    surface.write(HERE / "meshio.obj")
    for binary, name in ((False, "text"), (True, "binary")):
        surface.write(HERE / f"meshio_{name}.ply", binary=binary)
        surface.write(HERE / f"meshio_{name}.stl", binary=binary)


def with_gmsh():
    gmsh.initialize()
    gmsh.option.setNumber("General.Terminal", 0)
    model = gmsh.model
    for dim, tag in ((3, 1), (3, 2), (2, 3), (1, 4), (0, 5)):
        model.addDiscreteEntity(dim, tag)
    # sparse node tags, as after deleting parts of a model
    tags = [10, 20, 30, 40, 50]
    model.mesh.addNodes(3, 1, tags, np.array(POINTS, dtype=float).ravel())

    def add(dim, entity, kind, first, cells):
        nodes = [tags[v] for c in cells for v in c]
        numbers = list(range(first, first + len(cells)))
        model.mesh.addElementsByType(entity, kind, numbers, nodes)

    add(3, 1, 4, 1, TETS[:1])
    add(3, 2, 4, 2, TETS[1:])
    add(2, 3, 2, 3, TRIANGLES)
    add(1, 4, 1, 9, LINES)
    add(0, 5, 15, 10, VERTICES)
    for dim, tag, name in ((3, 1, "body"), (3, 2, "other"), (2, 3, "skin"), (1, 4, ""), (0, 5, "")):
        model.addPhysicalGroup(dim, [tag], tag, name)
    for version, short in ((2.2, "22"), (4.1, "41")):
        for binary, name in ((0, "text"), (1, "binary")):
            gmsh.option.setNumber("Mesh.MshFileVersion", version)
            gmsh.option.setNumber("Mesh.Binary", binary)
            gmsh.write(str(HERE / f"gmsh_{short}_{name}.msh"))
    gmsh.finalize()


def with_vtk():
    points = vtk.vtkPoints()
    points.SetDataTypeToDouble()
    for p in POINTS:
        points.InsertNextPoint(*p)
    grid = vtk.vtkUnstructuredGrid()
    grid.SetPoints(points)
    for kind, cells in ((10, TETS), (5, TRIANGLES), (3, LINES), (1, VERTICES)):
        for c in cells:
            grid.InsertNextCell(kind, len(c), c)
    part = vtk.vtkIntArray()
    part.SetName("part")
    for p in PARTS:
        part.InsertNextValue(p)
    grid.GetCellData().AddArray(part)
    for name, components in (("heat", 1), ("flow", 3)):
        array = vtk.vtkFloatArray()
        array.SetName(name)
        array.SetNumberOfComponents(components)
        for k in range(len(POINTS)):
            array.InsertNextTuple([0.5 * k + c for c in range(components)])
        array.GetRange()
        grid.GetPointData().AddArray(array)
    grid.GetPointData().SetActiveScalars("heat")
    grid.GetPointData().SetActiveVectors("flow")

    surface = vtk.vtkPolyData()
    surface.SetPoints(points)
    for cells, attach in (
        (VERTICES, surface.SetVerts),
        (LINES, surface.SetLines),
        (TRIANGLES, surface.SetPolys),
    ):
        array = vtk.vtkCellArray()
        for c in cells:
            array.InsertNextCell(len(c), c)
        attach(array)
    order = vtk.vtkIntArray()
    order.SetName("part")
    for p in [5, 4] + 6 * [3]:
        order.InsertNextValue(p)
    surface.GetCellData().SetScalars(order)

    def write(writer, data, name, **settings):
        writer.SetInputData(data)
        writer.SetFileName(str(HERE / name))
        for key, value in settings.items():
            getattr(writer, key)(*value)
        writer.Write()

    xml, xml_poly = vtk.vtkXMLUnstructuredGridWriter, vtk.vtkXMLPolyDataWriter
    plain = {"SetCompressorTypeToNone": ()}
    write(xml(), grid, "vtk_text.vtu", SetDataModeToAscii=(), **plain)
    write(xml(), grid, "vtk_base64.vtu", SetDataModeToBinary=(), **plain)
    write(xml(), grid, "vtk_zlib.vtu", SetDataModeToBinary=(), SetBlockSize=(64,))
    write(xml(), grid, "vtk_raw.vtu", SetDataModeToAppended=(), EncodeAppendedDataOff=(), **plain)
    write(xml(), grid, "vtk_raw_zlib.vtu", SetDataModeToAppended=(), EncodeAppendedDataOff=())
    write(xml(), grid, "vtk_appended.vtu", SetDataModeToAppended=(), EncodeAppendedDataOn=())
    write(
        xml(),
        grid,
        "vtk_big_64.vtu",
        SetDataModeToAppended=(),
        EncodeAppendedDataOff=(),
        SetByteOrderToBigEndian=(),
        SetHeaderTypeToUInt64=(),
        **plain,
    )
    write(xml(), grid, "vtk_lz4.vtu", SetDataModeToBinary=(), SetCompressorTypeToLZ4=())
    write(xml_poly(), surface, "vtk_raw.vtp", SetDataModeToAppended=(), EncodeAppendedDataOff=())
    for version in (42, 51):
        for mode, name in (("SetFileTypeToASCII", "text"), ("SetFileTypeToBinary", "binary")):
            settings = {mode: (), "SetFileVersion": (version,)}
            grid_name, surface_name = f"vtk_{version}_{name}.vtk", f"vtk_{version}_{name}_poly.vtk"
            write(vtk.vtkUnstructuredGridWriter(), grid, grid_name, **settings)
            write(vtk.vtkPolyDataWriter(), surface, surface_name, **settings)
    write(vtk.vtkPLYWriter(), surface, "vtk_big.ply", SetDataByteOrderToBigEndian=())


def big_endian_gmsh():
    """Gmsh writes the byte order of its machine: turn a little-endian machine's files around by
    writing them anew, from the description of the format."""

    def pack(kinds, *values):
        return struct.pack(">" + kinds, *values)

    names = b'$PhysicalNames\n3\n2 3 "skin"\n3 1 "body"\n3 2 "other"\n$EndPhysicalNames\n'
    blocks = [(4, 3, 1, TETS[:1]), (4, 3, 2, TETS[1:]), (2, 2, 3, TRIANGLES), (1, 1, 4, LINES)]
    blocks.append((15, 0, 5, VERTICES))

    out = b"$MeshFormat\n2.2 1 8\n" + pack("i", 1) + b"\n$EndMeshFormat\n" + names
    out += b"$Nodes\n5\n"
    for k, p in enumerate(POINTS):
        out += pack("i3d", k + 1, *p)
    out += b"\n$EndNodes\n$Elements\n10\n"
    number = 1
    for kind, _, group, cells in blocks:
        out += pack("3i", kind, len(cells), 2)
        for c in cells:
            out += pack(f"{3 + len(c)}i", number, group, group, *(v + 1 for v in c))
            number += 1
    (HERE / "big_22.msh").write_bytes(out + b"\n$EndElements\n")

    out = b"$MeshFormat\n4.1 1 8\n" + pack("i", 1) + b"\n$EndMeshFormat\n" + names
    out += b"$Entities\n" + pack("4Q", 1, 1, 1, 2)
    for dim, group in ((0, 5), (1, 4), (2, 3), (3, 1), (3, 2)):
        out += pack("i", group) + pack("3d" if dim == 0 else "6d", *(3 if dim == 0 else 6) * [0.0])
        out += pack("Qi", 1, group) + (b"" if dim == 0 else pack("Q", 0))
    out += b"\n$EndEntities\n$Nodes\n" + pack("4Q", 1, 5, 1, 5) + pack("3iQ", 3, 1, 0, 5)
    out += pack("5Q", *range(1, 6)) + b"".join(pack("3d", *p) for p in POINTS)
    out += b"\n$EndNodes\n$Elements\n" + pack("4Q", len(blocks), 10, 1, 10)
    number = 1
    for kind, dim, group, cells in blocks:
        out += pack("3iQ", dim, group, kind, len(cells))
        for c in cells:
            out += pack(f"{1 + len(c)}Q", number, *(v + 1 for v in c))
            number += 1
    (HERE / "big_41.msh").write_bytes(out + b"\n$EndElements\n")


with_meshio()
with_gmsh()
with_vtk()
big_endian_gmsh()
