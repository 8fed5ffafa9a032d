"""What can go wrong. The text is that of the command line; fields say what it is about."""

from __future__ import annotations

import copyreg
from typing import Any


class Error(Exception):
    """Any error of Standoff."""

    def __reduce__(self) -> Any:
        # the fields travel between processes, too
        return copyreg.__newobj__, (type(self), *self.args), self.__dict__


class SceneError(Error):
    """A scene that does not make sense: `path` in the scene (``objects[2].material``), `object`, and for a
    file `location`, `line` and `column`."""

    path: str = ""
    object: str | None = None
    location: str | None = None
    line: int | None = None
    column: int | None = None


class ReferenceSceneError(Error):
    """A scene of the IPC 2020 reference that cannot be taken over."""


class MeshError(Error):
    """A mesh that cannot be read."""


class BuildError(Error):
    """A scene that cannot be simulated: `body`, `vertex`, `element`, `vertices`, `key`, `count` … where they
    apply."""


class StepError(Error):
    """A step that could not be done; the state is the one before it. `step`, and where they apply `name`,
    `progress`, `iterations`, `residual`, `tolerance`."""

    step: int = 0


class ControlError(Error):
    """Something that cannot be set between steps; nothing was changed. `name`, `known`, `place` … where they
    apply."""


class OutputError(Error):
    """Results that cannot be written or read: `path`."""


class RunError(Error):
    """A run that did not reach its end: `step`."""
