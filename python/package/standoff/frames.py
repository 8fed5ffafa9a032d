"""What the frames of a run hold, as arrays."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from . import _standoff as _core
from .scene import Scene

__all__ = ["Frames", "frames"]

#: Names in frames and here.
_POSITIONS, _TIME = "points", "TimeValue"


class Frames(Sequence[dict[str, NDArray[np.float64]]]):
    """The frames of the run in a folder, in order. ``frames[k]`` has the arrays of a frame by their name:
    ``"positions"``, ``"velocity"``, ``"contact_force"``, ``"von_mises"`` … (``docs/src/results.md``)."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        #: The folder.
        self.folder = os.fspath(folder)
        files = _core.frame_files(self.folder)
        #: The step of each frame.
        self.steps: list[int] = [step for step, _ in files]
        self._files = [file for _, file in files]

    def __len__(self) -> int:
        return len(self._files)

    @overload
    def __getitem__(self, k: int) -> dict[str, NDArray[np.float64]]: ...

    @overload
    def __getitem__(self, k: slice) -> list[dict[str, NDArray[np.float64]]]: ...

    def __getitem__(self, k: int | slice) -> Any:
        if isinstance(k, slice):
            return [self[i] for i in range(len(self))[k]]
        found = _core.read_frame(self._files[k])
        found.pop(_TIME, None)
        return {("positions" if name == _POSITIONS else name): a for name, a in found.items()}

    @property
    def times(self) -> NDArray[np.float64]:
        """The time of each frame, s."""
        return np.array([_core.read_frame(f, [_TIME])[_TIME][0] for f in self._files])

    def array(self, name: str, body: str | None = None) -> NDArray[np.float64]:
        """An array of all frames, the frames along its first axis, 0 where a frame lacks it; with `body` the part of that body, of an array
        over the vertices."""
        stored = _POSITIONS if name == "positions" else name
        found = [_core.read_frame(file, [stored]).get(stored) for file in self._files]
        # an array that is zero throughout is not written
        zero = next((np.zeros_like(a) for a in found if a is not None), None)
        if zero is None:
            raise KeyError(f"no frame of {self.folder} has an array {name!r}")
        whole = np.stack([zero if a is None else a for a in found])
        if body is None:
            return whole
        entry = Scene.of_run(self.folder).bodies[body]
        return whole[:, entry["first"] : entry["end"]]


def frames(folder: str | os.PathLike[str]) -> Frames:
    """The frames of the run in a folder.

    Raises:
        OutputError: the folder holds no run, or a frame is damaged.
    """
    return Frames(folder)
