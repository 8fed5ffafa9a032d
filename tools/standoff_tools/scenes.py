"""Scenes to run, from the lists in `tools/data`."""
import sys

from . import ROOT, data


class Scene:
    """A scene to run: its name, its file (of this repository, or after `shared:` of the folder of shared data), the number of steps and replaced
    values. Other entries of the data file are in `more`."""

    def __init__(self, name, file, steps, sets=(), **more):
        self.name, self.file, self.steps, self.sets, self.more = name, file, steps, list(sets), more
        self.shared = file.startswith("shared:")

    def path(self, shared):
        """The scene file, given the folder of shared data."""
        return shared / self.file.removeprefix("shared:") if self.shared else ROOT / self.file

    def meshes(self, shared):
        """The folder of the meshes, for scenes of the IPC reference."""
        return shared / "data" / "ipc" if self.file.endswith(".txt") else None


def scenes(name, key):
    """The scenes of a list of a data file."""
    return [Scene(**entry) for entry in data(name)[key]]


def chosen(name, parts):
    """Whether a name holds one of the parts, or there are none."""
    return not parts or any(part in name for part in parts)


def present(listed, parts, shared):
    """The scenes whose name holds one of the parts and whose file is there; says which files are absent."""
    for scene in listed:
        if not chosen(scene.name, parts):
            continue
        if scene.path(shared).exists():
            yield scene
        else:
            print(f"{scene.name}: skipped, {scene.path(shared)} is absent", file=sys.stderr)
