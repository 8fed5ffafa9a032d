"""Runs in formats of other programs, pictures and films, and curves: the commands ``standoff export``, ``render``
and ``plot``."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from pathlib import Path

from . import _standoff as _core
from .errors import OutputError

__all__ = ["Curves", "export", "plot", "render"]


def export(
    folder: str | os.PathLike[str],
    file: str | os.PathLike[str],
    *,
    force: bool = False,
    tetrahedra: bool = False,
    limit_mb: float = 25.0,
) -> list[Path]:
    """Writes the surfaces of the run in a folder with their motion, in the format that `file` ends with: ``.html`` (the
    viewer with the run in it, which needs no server), ``.usda``, ``.glb``, or a file per frame as ``.ply``, ``.obj`` or
    ``.stl``. Returns the file, or the first and the last one.

    An HTML file has at most `limit_mb` million bytes. If the run is larger, the file has every second frame, every fourth
    and so on, and a warning says how many.

    With `force` files that exist are replaced; with `tetrahedra` the boundary of the tetrahedra is written although
    a finer surface rides along (``fill.carry_surface``).

    Raises:
        OutputError: the folder holds no run, the format is unknown, or a file exists.
    """
    limit = round(limit_mb * 1e6)
    files, frames, of_frames = _core.export(os.fspath(folder), os.fspath(file), force, tetrahedra, limit)
    if frames < of_frames:
        warnings.warn(f"{file} has {frames} of {of_frames} frames, to be below {limit_mb:g} MB", stacklevel=2)
    return files


def render(
    folder: str | os.PathLike[str],
    output: str | os.PathLike[str],
    *,
    size: tuple[int, int] = (1280, 720),
    direction: Sequence[float] | None = None,
    force: bool = False,
) -> list[Path]:
    """Makes a PNG picture of every frame of the run in a folder, in the folder `output`; or a film, if `output` is
    a file ``.mp4``, ``.webm`` or ``.gif`` (by ffmpeg, which has to be installed). Returns the files.

    `size` is in pixels, 16 to 8192 each; `direction` points from the middle of the scene to where it is seen from.

    Raises:
        OutputError: the folder holds no run, a file exists and `force` is not set, or ffmpeg fails.
    """
    width, height = size
    if not (16 <= width <= 8192 and 16 <= height <= 8192):
        raise ValueError(f"size: expected 16 to 8192 pixels each, got {size}")
    point = None if direction is None else [float(c) for c in direction]
    if point is not None and (len(point) != 3 or not any(point)):
        raise ValueError(f"direction: expected three numbers, not all 0, got {direction}")
    return _core.render(os.fspath(folder), os.fspath(output), [width, height], point, force)


class Curves:
    """Curves of a run as a drawing. In a notebook its value is shown inside the cell."""

    def __init__(self, svg: str) -> None:
        #: The drawing, as the text of an SVG.
        self.svg = svg

    def _repr_svg_(self) -> str:
        return self.svg


def plot(
    folder: str | os.PathLike[str],
    file: str | os.PathLike[str] | None = None,
    *,
    curves: str | Sequence[str] = (),
    against: str | None = None,
    force: bool = False,
) -> Curves:
    """Draws the curves of the run in a folder: energies, smallest gap, contacts, iterations, seconds; or quantities
    of ``stats.jsonl`` such as ``"forces.held.bar.left.x"``, over time or `against` another one. With `file` they are
    written there, too, as SVG.

    Raises:
        OutputError: the folder holds no run, no step has the quantity, or the file exists and `force` is not set.
    """
    path = None if file is None else Path(file)
    if path is not None and path.suffix.lower() != ".svg":
        error = OutputError(f"{path}: curves are drawn as SVG; choose a name that ends with .svg")
        error.path = path
        raise error
    names = [curves] if isinstance(curves, str) else list(curves)
    drawn = Curves(_core.curves(os.fspath(folder), names, against))
    if path is not None:
        if path.exists() and not force:
            error = OutputError(f"{path} exists; choose another name, or pass force=True to replace it")
            error.path = path
            raise error
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(drawn.svg, encoding="utf-8")
    return drawn
