"""The scenes of the papers at the papers' size, from tools/data/at-size.toml: how each is made, run and recorded. See tools/papers.py."""
import inspect, json, re, tomllib

from . import ROOT, TOOLS, made_scenes
from .made_scenes import Absent

RECORDS = ROOT / "docs" / "at-size.json"
KINDS = ("scene", "ipc", "template", "made")
KEYS = {"name", *KINDS, "arguments", "set", "every", "instead", "differs", "event"}
# a mesh of the shared data, and the folders of meshes that the scripts of the IPC 2020 reference name
DATA, INPUT = re.compile(r'data:([^"\']+)'), re.compile(r"^(?:meshCO )?input/(\S+)", re.M)

# the reference names the wires and the points of a surface by these endings; the importer takes them from the surface
REDUCED = re.compile(r"\.(seg|pt)$")


class Scene:
    """A scene of the list. `shared` is the folder with the shared data, which may be absent."""

    def __init__(self, entry, shared):
        if unknown := set(entry) - KEYS:
            raise ValueError(f"at-size.toml, {entry.get('name')}: unknown keys {sorted(unknown)}")
        if sum(kind in entry for kind in KINDS) != 1:
            raise ValueError(f"at-size.toml, {entry.get('name')}: one of {', '.join(KINDS)} is needed")
        self.entry, self.name = entry, entry["name"]
        self.folders = [ROOT / "testdata" / "data", shared / "data"]

    def found(self, path):
        """A file of the shared data."""
        for folder in self.folders:
            if (folder / path).exists():
                return folder / path
        raise Absent(f"{path} is absent: it is neither in {' nor in '.join(map(str, self.folders))}")

    def placed(self, text):
        """A text with the paths of the files that it names after `data:`."""
        return DATA.sub(lambda match: str(self.found(match[1])), text)

    def ipc(self, text):
        """The folder that holds all meshes of a scene of the reference."""
        names, faults = INPUT.findall(text), []
        for folder in self.folders:
            absent = [name for name in names if not (folder / "ipc" / name).exists() and not (folder / "ipc" / REDUCED.sub(".obj", name)).exists()]
            if not absent:
                return folder / "ipc"
            faults.append(f"{', '.join(dict.fromkeys(absent))} in {folder / 'ipc'}")
        raise Absent("absent are " + ", and ".join(faults))

    def arguments(self, out):
        """What follows `standoff run` and `standoff check`. Writes the scene and its meshes into the folder `out` if they have to be made."""
        entry, meshes = self.entry, None
        if "scene" in entry:
            path = ROOT / entry["scene"]
        elif "ipc" in entry:
            path = self.found(f"ipc/scenes/{entry['ipc']}.txt")
            meshes = self.ipc(path.read_text())
        else:
            path, meshes = self.written(out)
        options = ["--mesh-root", meshes] if meshes else []
        for value in entry.get("set", ()):
            options += ["--set", self.placed(value)]
        return [str(a) for a in (path, *options)]

    def written(self, out):
        """The file of a scene that is made, in a folder of its own with its meshes."""
        folder = out / f"{self.name}.scene"
        folder.mkdir(parents=True, exist_ok=True)
        if "template" in self.entry:
            text = (TOOLS / "data" / "at-size" / self.entry["template"]).read_text()
        else:
            make = getattr(made_scenes, self.entry["made"])
            more = {"data": self.found("garments").parent} if "data" in inspect.signature(make).parameters else {}
            text = make(folder, **self.entry.get("arguments", {}), **more)
        reference = text.startswith("energy")
        path, text = folder / ("scene.txt" if reference else "scene.toml"), self.placed(text)
        # an unchanged file keeps its time, so that a run finds the scene that it was started with
        if not path.exists() or path.read_text() != text:
            path.write_text(text)
        return path, self.ipc(text) if reference else None

    def command(self):
        """How the scene is run, in words of the repository."""
        return f"tools/papers.py run {self.name}"


def entries():
    """What tools/data/at-size.toml says of each scene, by their names."""
    listed = tomllib.loads((TOOLS / "data" / "at-size.toml").read_text())["scenes"]
    found = {entry["name"]: entry for entry in listed}
    if len(found) != len(listed):
        raise ValueError("at-size.toml: two scenes have the same name")
    return found


def scenes(shared):
    """All scenes by their names."""
    return {name: Scene(entry, shared) for name, entry in entries().items()}


def records():
    """What has been run, by the names of the scenes."""
    return json.loads(RECORDS.read_text()) if RECORDS.exists() else {}


def save(found):
    RECORDS.write_text(json.dumps({k: found[k] for k in sorted(found)}, indent=1, ensure_ascii=False) + "\n")
