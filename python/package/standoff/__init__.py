"""Simulation of deformable solids in contact.

A :class:`Scene` says what is simulated, a :class:`Simulation` advances it step by step, a :class:`Batch` many at once,
:func:`run` and :func:`resume` do whole runs in a folder. Units are SI, y is up, arrays are NumPy's.
"""

from . import errors
from ._standoff import __version__, set_threads
from .batch import Batch, BatchBody, BatchHalfSpace
from .errors import (
    BatchError,
    BuildError,
    CancelledError,
    ControlError,
    Error,
    MeshError,
    OutputError,
    ReferenceSceneError,
    RunError,
    SceneError,
    StepError,
)
from .exports import Curves, export, plot, render
from .frames import Frames, frames
from .scene import Scene, resume, run
from .simulation import Applied, Body, Contact, HalfSpace, Held, Iteration, Joint, Simulation
from .sweep import sweep
from .viewer import Viewer, view

__all__ = [
    "Applied",
    "Batch",
    "BatchBody",
    "BatchError",
    "BatchHalfSpace",
    "Body",
    "BuildError",
    "CancelledError",
    "Contact",
    "ControlError",
    "Curves",
    "Error",
    "Frames",
    "HalfSpace",
    "Held",
    "Joint",
    "Iteration",
    "MeshError",
    "OutputError",
    "ReferenceSceneError",
    "RunError",
    "Scene",
    "SceneError",
    "Simulation",
    "StepError",
    "Viewer",
    "__version__",
    "errors",
    "export",
    "frames",
    "plot",
    "render",
    "resume",
    "run",
    "set_threads",
    "sweep",
    "view",
]
