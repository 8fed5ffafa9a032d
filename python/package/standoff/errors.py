"""What can go wrong. The text is that of the command line; fields say what it is about.

A field that does not apply is ``None``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any


class Error(Exception):
    """Any error of Standoff."""

    #: Number of the member of a batch.
    member: int | None = None

    def __reduce__(self) -> Any:
        # the fields travel between processes, too
        return _new, (type(self), *self.args), self.__dict__


def _new(kind: type[Error], *args: Any) -> Error:
    return kind(*args)


class SceneError(Error):
    """A scene that does not make sense."""

    #: Its path in the scene, such as ``objects[2].material``.
    path: str = ""
    #: Name of the object.
    object: str | None = None
    #: Place in the scene file, such as ``scene.toml:3:1``.
    location: str | None = None
    #: Line of the scene file, from 1.
    line: int | None = None
    #: Column of the scene file, from 1.
    column: int | None = None


class ReferenceSceneError(Error):
    """A scene of the IPC 2020 reference that cannot be taken over."""


class MeshError(Error):
    """A mesh that cannot be read."""


class BuildError(Error):
    """A scene that cannot be simulated."""

    #: Setting, by its path in the scene.
    key: str | None = None
    #: Value of the setting.
    value: str | None = None
    #: Name of the body.
    body: str | None = None
    #: Name of the energy.
    energy: str | None = None
    #: Name of the joint.
    joint: str | None = None
    #: Index of the element within its body.
    element: int | None = None
    #: Vertices of the element.
    vertices: list[int] | None = None
    #: Number of pairs that intersect.
    count: int | None = None
    #: Vertex that lies behind a half-space.
    vertex: int | None = None
    #: Name of the half-space.
    half_space: str | None = None
    #: How far it lies behind, m.
    depth: float | None = None


class StepError(Error):
    """A step that could not be done; the state is the one before it."""

    #: The step, from 1.
    step: int = 0
    #: What blocks a motion.
    name: str | None = None
    #: Part of the motion that was possible, per cent.
    progress: float | None = None
    #: The joint that stays open.
    joint: str | None = None
    #: How far it is open, in terms of the radius of its smaller body.
    error: float | None = None
    #: Newton iterations that were done.
    iterations: int | None = None
    #: Size of the last Newton direction, m/s.
    residual: float | None = None
    #: What it should have come below, m/s.
    tolerance: float | None = None
    #: Limit of the time for a step, s.
    limit: float | None = None


class CancelledError(StepError):
    """A step that a callback ended; the state is the one before it, and the step may be taken again."""


class ControlError(Error):
    """Something that cannot be set between steps; nothing was changed."""

    #: The name that was given.
    name: str | None = None
    #: The names that there are.
    known: list[str] | None = None
    #: Number of values that were given.
    found: int | None = None
    #: Number of values that are expected.
    expected: int | None = None
    #: The vertex.
    place: str | None = None


class BatchError(Error):
    """Something that a batch of simulations does not have, such as a member or an array of all members."""


class OutputError(Error):
    """Results that cannot be written or read."""

    #: The file or folder.
    path: Path | None = None


class RunError(Error):
    """A run that did not reach its end."""

    #: Steps done.
    step: int | None = None
