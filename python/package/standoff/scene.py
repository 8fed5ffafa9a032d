"""Scenes, and whole runs of them."""

from __future__ import annotations

import json
import logging
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from . import _toml
from ._standoff import CoreScene

#: Keys of an object that are arrays: a mesh in memory.
_ARRAYS = ("points", "tetrahedra", "triangles", "segments")


def _index_array(array: Any) -> np.ndarray | None:
    return None if array is None else np.ascontiguousarray(array, dtype=np.int64)


def _without_arrays(
    objects: Sequence[Mapping[str, Any]], planar: bool
) -> tuple[list[dict[str, Any]], list[Any]]:
    sections: list[dict[str, Any]] = []
    meshes: list[Any] = []
    for item in objects:
        section = {k: v for k, v in item.items() if k not in _ARRAYS}
        if any(item.get(k) is not None for k in _ARRAYS):
            if item.get("points") is None:
                raise ValueError(f"object {item.get('name')!r} has elements but no points")
            key = f"scene.meshes/{len(meshes):06}.vtu"
            points = np.ascontiguousarray(item["points"], dtype=np.float64)
            if points.ndim == 2 and points.shape[1] == 2 and planar:
                points = np.pad(points, ((0, 0), (0, 1)))
            elements = (_index_array(item.get(k)) for k in _ARRAYS[1:])
            meshes.append((key, (points, *elements)))
            section["mesh"] = key
        sections.append(section)
    return sections, meshes


_logger = logging.getLogger("standoff")
# silent until a program asks, as libraries are
_logger.addHandler(logging.NullHandler())


class Scene:
    """A scene that has been checked.

    Its arguments are the sections of a scene file (``docs/src/scene-file.md``) as mappings and lists: `time`,
    `contact`, `friction`, `solver`, `output`, `materials`, `objects`, `half_spaces`, `attachments`,
    `stitches`, `ties`, `joints`, `robots`, and the values `dimension`, `gravity` and `ground`. Numbers are SI, strings may have units (``"2 mm"``).
    An object has a `mesh` (a file), a `shape`, or arrays: `points` (n×3, n×2 if `dimension` is 2 or "axisymmetric") with `tetrahedra` (m×4), `triangles`
    (m×3) or `segments` (m×2) of 0-based indices; points alone are particles or a point obstacle.

    Raises :class:`SceneError` with the path of what is wrong.
    """

    _core: CoreScene

    def __init__(self, *, objects: Sequence[Mapping[str, Any]] = (), **sections: Any) -> None:
        plain, meshes = _without_arrays(objects, sections.get("dimension") in (2, "axisymmetric"))
        text = _toml.document({**sections, "objects": plain})
        self._source: tuple[Any, ...] = ("parse", text, [], meshes)
        self._build()

    def _build(self) -> None:
        kind, *arguments = self._source
        self._core = getattr(CoreScene, kind)(*arguments)

    @classmethod
    def _of(cls, *source: Any) -> Scene:
        scene = cls.__new__(cls)
        scene._source = source
        scene._build()
        return scene

    @classmethod
    def load(cls, path: str | os.PathLike[str], overrides: Mapping[str, Any] | None = None) -> Scene:
        """A scene from a file, with overrides such as ``{"materials.rubber.young_modulus": 2e5}``; None takes
        a key out. A file ``.txt`` is a scene of the IPC 2020 reference."""
        texts = [_toml.override(k, v) for k, v in (overrides or {}).items()]
        return cls._of("load", os.path.abspath(path), texts)

    @classmethod
    def of_run(cls, folder: str | os.PathLike[str]) -> Scene:
        """The scene of the run in a folder, with the bits that it had."""
        return cls._of("load_run", os.path.abspath(folder))

    def with_overrides(self, overrides: Mapping[str, Any]) -> Scene:
        """The same scene with some values changed, by their path."""
        kind, *arguments = self._source
        texts = [_toml.override(k, v) for k, v in overrides.items()]
        if kind == "load_run":
            raise ValueError("the scene of a run cannot be changed; load its scene file instead")
        arguments[1] = [*arguments[1], *texts]
        return Scene._of(kind, *arguments)

    def with_steps(self, steps: int) -> Scene:
        """The same scene with its end after this many steps."""
        scene = Scene.__new__(Scene)
        scene._source, scene._core = self._source, self._core.with_steps(steps)
        return scene

    def __reduce__(self) -> Any:
        return _scene, (self._source, self.steps, self._core.fingerprint())

    def __repr__(self) -> str:
        return f"<standoff.Scene of {', '.join(self.bodies)}; {self.steps} steps>"

    @property
    def steps(self) -> int:
        """Steps to the end."""
        return self._core.steps

    @property
    def notes(self) -> list[str]:
        """What readers of meshes changed or left out."""
        return self._core.notes

    @property
    def bodies(self) -> dict[str, dict[str, Any]]:
        """Of every body by name: `role`, `first` and `end` of its vertices in the whole scene, `rest`
        positions, and its elements with indices within the body."""
        return {b.pop("name"): b for b in self._core.bodies()}

    @property
    def half_spaces(self) -> list[str]:
        """Names of the half-spaces; that of `ground` is ``"ground"``."""
        return self._core.half_spaces

    @property
    def prescriptions(self) -> list[str]:
        """Names of what is held or moved, such as ``"ball.corner"`` or ``"ball.fixed[0]"``."""
        return self._core.prescriptions

    @property
    def loads(self) -> list[str]:
        """Names of forces and pressures, such as ``"ball.force[0]"``."""
        return self._core.loads

    def resolved(self) -> str:
        """The scene as the text of a scene file, with every default."""
        return self._core.resolved()


def _scene(source: tuple[Any, ...], steps: int, fingerprint: int) -> Scene:
    scene = Scene._of(*source)
    if scene.steps != steps:
        scene = scene.with_steps(steps)
    if scene._core.fingerprint() != fingerprint:
        raise ValueError(f"{source[1]} or one of its meshes has changed since the scene was pickled")
    return scene


def _observer(progress: bool, steps: int, callback: Callable[[dict[str, Any]], None] | None) -> Any:
    if not progress and callback is None and not _logger.isEnabledFor(logging.WARNING):
        return None

    def observe(text: str) -> None:
        report = json.loads(text)
        log(report)
        if progress:
            show(report, steps)
        if callback is not None:
            callback(report)

    return observe


def log(report: Mapping[str, Any]) -> None:
    """Tells the logger ``standoff`` of a step: as information, or as a warning if the step did not converge."""
    level = logging.INFO if report["outcome"] == "converged" else logging.WARNING
    if _logger.isEnabledFor(level):
        text = "step %d, t = %.4g s: %s, %d iterations, %d contacts"
        numbers = (report["step"], report["time"], report["outcome"])
        _logger.log(level, text, *numbers, report["newton_iterations"], report["contacts"], extra={"report": report})


def show(report: Mapping[str, Any], steps: int) -> None:
    """One line that is written over from step to step."""
    end = "\n" if report["step"] >= steps else "\r"
    line = f"step {report['step']}/{steps}  t = {report['time']:.4g} s  {report['contacts']} contacts"
    print(f"{line}  {report['newton_iterations']} iterations   ", end=end, file=sys.stderr, flush=True)


def run(
    scene: Scene,
    folder: str | os.PathLike[str],
    *,
    force: bool = False,
    progress: bool = False,
    callback: Callable[[dict[str, Any]], None] | None = None,
) -> str:
    """Runs a scene to its end in a folder, as ``standoff run`` does; returns the closing table. After an
    interrupt (Ctrl-C) the run can be resumed. `callback` sees the report of every step."""
    observer = _observer(progress, scene.steps, callback)
    return scene._core.run(os.fspath(folder), force, False, observer)


def resume(
    folder: str | os.PathLike[str],
    *,
    steps: int | None = None,
    progress: bool = False,
    callback: Callable[[dict[str, Any]], None] | None = None,
) -> str:
    """Continues the run in a folder, to its scene's end or after so many steps. What follows has the bits of
    a run that was never stopped."""
    scene = Scene.of_run(folder)
    if steps is not None:
        scene = scene.with_steps(steps)
    observer = _observer(progress, scene.steps, callback)
    return scene._core.run(os.fspath(folder), False, True, observer)
