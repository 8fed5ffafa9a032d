"""Frames of runs. Numbers come from the Python package of Standoff; the bytes of all arrays, which it does not give, are read here."""
import functools, importlib, re, struct, sys, typing, zlib

from . import ROOT
from .stats import info


def package():
    """The Python package of Standoff: an installed one, or that of this checkout where its compiled part is in the folder."""
    try:
        return importlib.import_module("standoff")
    except ImportError:
        sys.path.append(str(ROOT / "python" / "package"))
    try:
        return importlib.import_module("standoff")
    except ImportError as error:
        sys.exit(f"frames are read by the Python package of Standoff: pip install {ROOT / 'python'} ({error})")


# what a frame lacks of these is zero throughout
VECTORS = ("displacement", "velocity", "contact_force")


class Frames:
    """Arrays of the frames of a run by step."""

    def __init__(self, folder):
        self.listed = info(folder)["bodies"]
        self.bodies = {b["name"]: b for b in self.listed}
        self.frames = package().frames(folder)
        self.steps = self.frames.steps
        self.read = functools.lru_cache(maxsize=2)(lambda step: self.frames[self.steps.index(step)])

    def part(self, array, body):
        """The rows of a body of an array over the vertices."""
        return array[body["first_vertex"]:body["first_vertex"] + body["vertices"]]

    def numpy(self, step, name, body=None):
        """An array at the end of a step, of a body or of all."""
        frame = self.read(step)
        found = frame.get("positions" if name == "points" else name)
        if found is None and name in VECTORS:
            found = 0 * frame["positions"]
        if found is None:
            raise KeyError(f"frame {step} has no array {name}")
        return found if body is None else self.part(found, self.bodies[body])

    def array(self, step, name, body=None):
        """The same as a list of rows."""
        return self.numpy(step, name, body).tolist()

    def times(self):
        """The time of every frame, s."""
        return self.frames.times.tolist()

    def deformable(self, step):
        """Positions of the vertices of all bodies that are no obstacles, or None where there is no such frame."""
        if step not in self.steps:
            return None
        import numpy
        points = self.numpy(step, "points")
        return numpy.concatenate([self.part(points, b) for b in self.listed if not b["obstacle"]])


class Array(typing.NamedTuple):
    """An array of a frame as it is stored."""

    kind: str
    raw: bytes
    components: int
    of_cells: bool


ARRAY = re.compile(rb"<DataArray\s([^>]*)>")
ATTRIBUTE = re.compile(rb'(\w+)="([^"]*)"')


def unpacked(data, at, word, size):
    """The bytes of a compressed array: the number of blocks, their sizes, and the blocks."""
    integer = lambda at: struct.unpack_from(word, data, at)[0]
    blocks, raw = integer(at), b""
    place = at + size * (3 + blocks)
    for k in range(blocks):
        length = integer(at + size * (3 + k))
        raw += zlib.decompress(data[place:place + length])
        place += length
    return raw


def raw_arrays(path):
    """Every array of a frame by its name in small letters, as older builds wrote them too: VTU with appended raw data, compressed by zlib or not."""
    data = path.read_bytes()
    marker = data.index(b"<AppendedData")
    start = data.index(b"_", marker) + 1
    header = data[:marker]
    if b'encoding="raw"' not in data[marker:start]:
        raise ValueError(f"{path}: appended data is not raw")
    word, size = ("<Q", 8) if b'header_type="UInt64"' in header else ("<I", 4)
    cells = range(header.find(b"<CellData"), header.find(b"</CellData"))
    found = {}
    for match in ARRAY.finditer(header):
        of = dict(ATTRIBUTE.findall(match[1]))
        at = start + int(of[b"offset"])
        if b"vtkZLibDataCompressor" in header:
            raw = unpacked(data, at, word, size)
        else:
            raw = data[at + size:at + size + struct.unpack_from(word, data, at)[0]]
        name, components = of[b"Name"].decode().lower(), int(of.get(b"NumberOfComponents", 1))
        found[name] = Array(of[b"type"].decode(), raw, components, match.start() in cells)
    return found


def raw_positions(path):
    """Coordinates of a frame's points as one list."""
    points = raw_arrays(path)["points"]
    if points.kind != "Float64":
        raise ValueError(f"{path}: points are {points.kind}")
    return struct.unpack(f"<{len(points.raw) // 8}d", points.raw)
