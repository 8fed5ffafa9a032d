"""A simulation that is advanced step by step."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._standoff import CoreSimulation
from .errors import ControlError
from .exports import export
from .scene import Scene, log, show
from .viewer import Viewer

Array = NDArray[np.float64]


def _vectors(array: ArrayLike) -> Array:
    out = np.ascontiguousarray(array, dtype=np.float64)
    if out.ndim != 2 or out.shape[1] != 3:
        raise ValueError(f"expected an array of shape (n, 3), got {out.shape}")
    return out


def _vector(array: ArrayLike) -> list[float]:
    out = np.asarray(array, dtype=np.float64)
    if out.shape != (3,):
        raise ValueError(f"expected three numbers, got an array of shape {out.shape}")
    return [float(c) for c in out]


def _moved(force: Array, torque: Array, about: ArrayLike) -> Array:
    moved: Array = torque - np.cross(np.asarray(about, dtype=np.float64), force)
    return moved


class Contact:
    """What a body, an obstacle or a half-space acts with on another one by contact and friction at the end of the last step. The forces on
    the two are opposite; their moments differ by those that friction has by the distance of the two surfaces."""

    def __init__(self, values: Array) -> None:
        #: Force, N.
        self.force: Array = values[0]
        #: The part of it that is friction, N.
        self.friction_force: Array = values[1]
        #: The part of it along the normals of the contacts, N.
        self.normal_force: Array = values[0] - values[1]
        self._torque: Array = values[2]

    def __repr__(self) -> str:
        return f"<standoff.Contact: {self.force} N>"

    def torque(self, about: ArrayLike = (0, 0, 0)) -> Array:
        """Moment of the force about a point, N m."""
        return _moved(self.force, self._torque, about)


class Body:
    """A body of a simulation. Arrays are read-only views into those of the whole simulation after the last
    step; the attributes `positions`, `velocities` and `targets` can be set. The last four vertices of a rigid body are its control
    points, by which the others move: its velocities are those that these get."""

    def __init__(self, simulation: Simulation, name: str, entry: dict[str, Any]) -> None:
        self._simulation = simulation
        self._part = slice(entry["first"], entry["end"])
        #: Its name.
        self.name = name
        #: ``"volume"``, ``"rigid"``, ``"shell"``, ``"rod"``, ``"particles"`` or ``"obstacle"``.
        self.role: str = entry["role"]
        #: Positions of the undeformed body, m.
        self.rest: Array = entry["rest"]
        #: Tetrahedra (n×4), by vertices within the body.
        self.tetrahedra: NDArray[np.int64] = entry["tetrahedra"]
        #: Triangles of a shell, an obstacle, or the surface by which a solid touches (n×3), by vertices within the body.
        self.triangles: NDArray[np.int64] = entry["triangles"]
        #: Segments of a rod or of wires (n×2), by vertices within the body.
        self.segments: NDArray[np.int64] = entry["segments"]

    def __repr__(self) -> str:
        return f"<standoff.Body {self.name!r}: {self.role}, {len(self.rest)} vertices>"

    @property
    def vertices(self) -> slice:
        """Its vertices among those of the whole simulation."""
        return self._part

    @property
    def positions(self) -> Array:
        """Positions, m (n×3). Those that are set are checked as a start is: :class:`ControlError`, and no change, where
        surfaces intersect or an element is inverted. Vertices keep their velocities, as if they had moved with them
        uniformly up to now; held ones and those of obstacles stay where they are put. A rod has no twist then beyond its
        natural one. A rigid body's positions include its control points. The same positions change nothing."""
        return self._simulation.positions[self._part]

    @positions.setter
    def positions(self, positions: ArrayLike) -> None:
        self._simulation._change("set_positions", self.name, _vectors(positions))

    @property
    def velocities(self) -> Array:
        """Velocities, m/s (n×3). Setting one vector gives it to all vertices."""
        return self._simulation.velocities[self._part]

    @velocities.setter
    def velocities(self, velocities: ArrayLike) -> None:
        n = self._part.stop - self._part.start
        v = np.asarray(velocities, dtype=np.float64)
        v = np.broadcast_to(v, (n, 3)) if v.ndim == 1 else v
        self._simulation._change("set_velocities", self.name, _vectors(v))

    @property
    def targets(self) -> Array:
        """Where prescribed vertices have to be at the end of the next step, m (n×3): of an obstacle, or of a
        body all of whose vertices are held. They stay there until they are told otherwise."""
        return self._simulation._get("targets")[self._part]

    @targets.setter
    def targets(self, targets: ArrayLike) -> None:
        self._simulation._change("set_targets", self.name, _vectors(targets))

    def move_by(self, displacement: ArrayLike) -> None:
        """Moves the targets by a vector, m."""
        self.targets = self.targets + np.asarray(displacement, dtype=np.float64)

    def set_pose(self, rotation: ArrayLike = (0, 0, 0), translation: ArrayLike = (0, 0, 0)) -> None:
        """Sets the targets to x ↦ R x + t of where the scene places the body: R turns by the length of
        `rotation` (rad) about its direction through the origin, t is `translation` (m)."""
        self._simulation._change("set_pose", self.name, _vector(rotation), _vector(translation))

    @property
    def masses(self) -> Array:
        """Masses of the vertices, kg; of an obstacle fictitious."""
        return self._simulation.masses[self._part]

    @property
    def contact_forces(self) -> Array:
        """Contact and friction forces on the vertices at the end of the last step, N (n×3)."""
        return self._simulation.contact_forces[self._part]

    @property
    def force(self) -> Array:
        """Sum of the contact and friction forces on it, N."""
        force: Array = self.contact_forces.sum(axis=0)
        return force

    def torque(self, about: ArrayLike = (0, 0, 0)) -> Array:
        """Torque of the contact and friction forces on it about a point, N m."""
        arms = self.positions - np.asarray(about, dtype=np.float64)
        torque: Array = np.cross(arms, self.contact_forces).sum(axis=0)
        return torque

    def contact_with(self, other: str) -> Contact:
        """What a body, an obstacle or a half-space, by name, acts with on it; zero where they do not touch."""
        return Contact(self._simulation._core.contact_between(self.name, other))

    @property
    def centre(self) -> Array:
        """Centre of mass, m; of an obstacle the mean of its vertices."""
        weights = None if self.role == "obstacle" else self.masses
        return np.average(self.positions, axis=0, weights=weights)


class HalfSpace:
    """A half-space of a simulation."""

    def __init__(self, simulation: Simulation, name: str, index: int) -> None:
        self._simulation, self.name, self._index = simulation, name, index

    def __repr__(self) -> str:
        return f"<standoff.HalfSpace {self.name!r}>"

    @property
    def force(self) -> Array:
        """Sum of the contact and friction forces on it at the end of the last step, N."""
        force: Array = self._simulation._core.half_space_forces()[2 * self._index]
        return force

    def torque(self, about: ArrayLike = (0, 0, 0)) -> Array:
        """Torque of these forces about a point, N m."""
        forces = self._simulation._core.half_space_forces()
        return _moved(forces[2 * self._index], forces[2 * self._index + 1], about)

    def contact_with(self, other: str) -> Contact:
        """What a body or an obstacle, by name, acts with on it; zero where they do not touch."""
        return Contact(self._simulation._core.contact_between(self.name, other))


class Applied:
    """What a load acts with: a force, a pressure, an attachment or a seam."""

    def __init__(self, simulation: Simulation, name: str) -> None:
        self._simulation, self.name = simulation, name
        self._values()

    def __repr__(self) -> str:
        return f"<standoff.{type(self).__name__} {self.name!r}>"

    def _values(self) -> Array:
        return self._simulation._core.applied(self.name)

    @property
    def force(self) -> Array:
        """Its force at the end of the last step, N: of an attachment on the vertices that are attached, of a seam on
        its first body."""
        force: Array = self._values()[0]
        return force

    def torque(self, about: ArrayLike = (0, 0, 0)) -> Array:
        """Moment of this force about a point, N m."""
        values = self._values()
        return _moved(values[0], values[1], about)


class Held(Applied):
    """What holds a set of vertices that is fixed or moved."""

    def _values(self) -> Array:
        return self._simulation._core.held(self.name)

    @property
    def force(self) -> Array:
        """Force of the support on the vertices in the last step, N; zero where they were not held."""
        return super().force

    @property
    def displacement(self) -> Array:
        """Mean displacement of the vertices since the start of the scene, m."""
        displacement: Array = self._values()[2]
        return displacement

    @property
    def targets(self) -> Array:
        """Where the vertices have to be at the end of the next step, m (n×3). They stay there until they are told
        otherwise."""
        return self._simulation.targets(self.name)

    @targets.setter
    def targets(self, targets: ArrayLike) -> None:
        self._simulation.set_targets(self.name, targets)

    def release(self) -> None:
        """Lets the vertices go, from the next step on."""
        self._simulation.set_prescription(self.name, False)

    def hold(self) -> None:
        """Holds the vertices again, from where they are."""
        self._simulation.set_prescription(self.name, True)


class Joint:
    """A joint: where it is, what it acts with, and what its drive moves to. Coordinates are those of the moved body, forces act on it."""

    def __init__(self, simulation: Simulation, name: str) -> None:
        self._simulation, self.name = simulation, name
        self._values()

    def __repr__(self) -> str:
        return f"<standoff.Joint {self.name!r}>"

    def _values(self) -> dict[str, Any]:
        values: dict[str, Any] = json.loads(self._simulation._core.joint(self.name))
        return values

    @property
    def angle(self) -> float | None:
        """Angle about the axis, rad; None where the joint does not turn about one."""
        angle: float | None = self._values()["angle"]
        return angle

    @property
    def angular_speed(self) -> float | None:
        """Its rate, rad/s."""
        angular_speed: float | None = self._values()["angular_speed"]
        return angular_speed

    @property
    def displacement(self) -> float | None:
        """Displacement along the axis, or the distance, m; None where the joint does not slide."""
        displacement: float | None = self._values()["displacement"]
        return displacement

    @property
    def speed(self) -> float | None:
        """Its rate, m/s."""
        speed: float | None = self._values()["speed"]
        return speed

    @property
    def effort(self) -> float:
        """What the drive acted with in the last step, N m or N."""
        return float(self._values().get("drive", 0.0))

    @property
    def limit_effort(self) -> float:
        """What a limit acted with in the last step, N m or N."""
        return float(self._values().get("limit", 0.0))

    @property
    def force(self) -> Array:
        """Force of the joint in the last step, without the drive, N."""
        return np.array(self._values()["force"])

    @property
    def moment(self) -> Array:
        """Moment of the joint about its point in the last step, without the drive, N m."""
        return np.array(self._values()["moment"])

    @property
    def point(self) -> Array:
        """The joint's point on the moved body, m."""
        return np.array(self._values()["point"])

    @property
    def broken(self) -> bool:
        """Whether it has broken; the force that broke it is in the report of that step, which lists it under `broken_joints`."""
        return bool(self._values().get("broken", False))

    def target(
        self, position: float | None = None, velocity: float | None = None, effort: float | None = None
    ) -> None:
        """Where the drive moves to in the steps to come (rad or m), how fast (rad/s or m/s), and what it adds (N m or N), each
        in place of what the scene says; without any, what the scene says holds again. Gains and cap are those of the
        scene. A joint without a drive takes an effort alone."""
        self._simulation._change("set_joint_target", self.name, position, velocity, effort)


@dataclass(frozen=True, eq=False)
class Iteration:
    """A step in one of its iterations."""

    #: Number of the step, from 1.
    step: int
    #: Number of the iteration that is under way, from 1: of Newton's method, or of the method that takes its place.
    number: int
    #: Largest nodal Newton direction of the iteration before, divided by the time step, m/s; none before the first.
    residual_speed: float | None
    #: The Newton tolerance, m/s.
    tolerance: float
    #: Positions of the iterate, m (n×3); with the method ``admm-pd`` those at the start of the step.
    positions: Array


class Simulation:
    """A simulation that is advanced step by step. Between any two steps, positions, velocities and forces may
    be read, and targets, loads, gravity, positions and velocities changed; all of that is part of its state.

    Bodies and half-spaces are found by name: ``simulation["ball"]``. Other threads run while it steps; those
    that use it wait until the step is done. It can be pickled.
    """

    _core: CoreSimulation

    def __init__(self, scene: Scene) -> None:
        self._set_up(scene, CoreSimulation(scene._core))

    def _set_up(self, scene: Scene, core: CoreSimulation) -> None:
        #: The scene.
        self.scene = scene
        self._core = core
        #: Arrays that were read, each with the value of `_now` before it was.
        self._arrays: dict[str, tuple[object, Array]] = {}
        #: Replaced before and after each change: what another thread reads meanwhile is kept for neither.
        self._now = object()
        #: Report of the last step: energies, contacts, iterations, seconds.
        self.report: dict[str, Any] | None = None
        # bodies refer to this, and this not to them: a recording ends when the last reference to it goes
        self._entries = scene.bodies
        #: Where it is recorded, and what removes that folder if it is a temporary one.
        self._folder: str | None = None
        self._temporary: tempfile.TemporaryDirectory[str] | None = None
        self._half_spaces = {name: k for k, name in enumerate(scene.half_spaces)}

    @classmethod
    def resume(cls, folder: str | os.PathLike[str], scene: Scene | None = None) -> Simulation:
        """Takes up the run in a folder where its newest checkpoint left it, and continues to record there."""
        simulation = cls._taken(scene or Scene.of_run(folder), "resume", os.fspath(folder))
        simulation._folder = os.fspath(folder)
        return simulation

    @classmethod
    def restore(cls, scene: Scene, saved: bytes) -> Simulation:
        """A simulation of a scene in the state that :meth:`save` gave."""
        return cls._taken(scene, "restore", saved)

    @classmethod
    def _taken(cls, scene: Scene, how: str, source: Any) -> Simulation:
        simulation = cls.__new__(cls)
        simulation._set_up(scene, getattr(CoreSimulation, how)(scene._core, source))
        return simulation

    def __reduce__(self) -> Any:
        return Simulation.restore, (self.scene, self.save())

    def __repr__(self) -> str:
        return f"<standoff.Simulation of {', '.join(self._entries)} at step {self.step_index}>"

    def save(self) -> bytes:
        """The whole state. From it, :meth:`restore` and :meth:`load` continue with the same bits."""
        return self._core.save()

    def load(self, saved: bytes) -> None:
        """Goes back or forward to a state that :meth:`save` gave."""
        self._change("load", saved)
        self.report = None

    def reset(self) -> None:
        """Goes back to the state before the first step, without anything that was set since. A recording ends."""
        self._change("reset")
        self.report = None

    def record(self, folder: str | os.PathLike[str], *, force: bool = False) -> None:
        """Records this simulation in a folder, from its first step on, as ``standoff run`` does."""
        self._core.record(os.fspath(folder), force)
        self._folder = os.fspath(folder)

    def view(self, *, listen: str = "127.0.0.1:0", height: int = 640) -> Viewer:
        """Shows this simulation in the browser while it is advanced, and afterwards; see :func:`standoff.view`. If it is not
        being recorded, it is from now on, in a temporary folder that goes with the simulation and its viewers.

        Raises:
            OutputError: steps were done without a recording, or the package was built without the viewer.
        """
        viewer = Viewer(self._recorded(), listen, height)
        viewer._keeps = self._temporary
        return viewer

    def export(
        self,
        file: str | os.PathLike[str],
        *,
        force: bool = False,
        tetrahedra: bool = False,
        limit_mb: float = 25.0,
    ) -> list[Path]:
        """Writes what has been recorded of this simulation, as :func:`standoff.export` does; with ``.html`` as one file that
        any browser shows. A recording must have begun before the first step, by :meth:`record` or :meth:`view`."""
        return export(self._recorded(), file, force=force, tetrahedra=tetrahedra, limit_mb=limit_mb)

    def _recorded(self) -> str:
        """The folder of its recording, which begins if there is none."""
        if self._folder is None:
            temporary = tempfile.TemporaryDirectory(prefix="standoff-")
            self.record(os.path.join(temporary.name, "run"))
            self._temporary = temporary
        assert self._folder is not None
        return self._folder

    def finish(self) -> None:
        """Ends a recording: the last state is written as frame and checkpoint."""
        self._core.finish()

    def step(self, *, watch: Callable[[Iteration], bool | None] | None = None) -> dict[str, Any]:
        """Does one time step and returns its report. Raises :class:`StepError` with the state before it.

        `watch` is called in every iteration before its linear system is solved; where that is tried several times, before
        each of them. It ends the step by returning ``False``, which raises :class:`CancelledError`, or by an exception,
        which is raised here. So does an interrupt (Ctrl-C). The state is then the one before the step. `watch` cannot use
        this simulation, and influences no result.
        """
        told = None if watch is None else lambda *seen: watch(Iteration(*seen))
        report: dict[str, Any] = json.loads(self._change("step", told))
        self.report = report
        log(report)
        return report

    def run(
        self,
        *,
        steps: int | None = None,
        progress: bool = False,
        callback: Callable[[Simulation], bool | None] | None = None,
        watch: Callable[[Iteration], bool | None] | None = None,
    ) -> None:
        """Does the steps up to the end of the scene, or so many. `callback` is called after each step and may
        change the simulation; it ends the run by returning ``False``. `watch` is called within each step, see
        :meth:`step`. An interrupt (Ctrl-C) ends the step that is under way; a recorded run can be resumed then."""
        end = self.scene.steps if steps is None else self.step_index + steps
        try:
            while self.step_index < end:
                report = self.step(watch=watch)
                if progress:
                    show(report, end)
                if callback is not None and callback(self) is False:
                    break
        except KeyboardInterrupt:
            self.finish()
            raise
        if self.is_finished:
            self.finish()

    @property
    def time(self) -> float:
        """Time, s."""
        return self._core.time

    @property
    def step_index(self) -> int:
        """Steps done."""
        return self._core.step_index

    @property
    def is_finished(self) -> bool:
        """Whether the end of the scene is reached."""
        return self.step_index >= self.scene.steps

    @property
    def energies(self) -> dict[str, float]:
        """Every energy at the end of the last step by name, J, with ``"kinetic"`` and ``"gravity"``."""
        if self.report is None:
            return {}
        own = {"kinetic": self.report["kinetic_energy"], "gravity": self.report["gravity_energy"]}
        return {**self.report["energies"], **own}

    def _get(self, what: str) -> Array:
        now = self._now
        read, array = self._arrays.get(what, (None, None))
        if array is None or read is not now:
            array = self._core.masses() if what == "masses" else self._core.vectors(what)
            array.flags.writeable = False
            self._arrays[what] = now, array
        return array

    def _change(self, how: str, *arguments: Any) -> Any:
        self._now = object()
        try:
            return getattr(self._core, how)(*arguments)
        finally:
            self._now = object()

    @property
    def positions(self) -> Array:
        """Positions of all vertices, m (n×3)."""
        return self._get("positions")

    @property
    def velocities(self) -> Array:
        """Velocities of all vertices, m/s (n×3)."""
        return self._get("velocities")

    @property
    def contact_forces(self) -> Array:
        """Contact and friction forces on all vertices at the end of the last step, N (n×3)."""
        return self._get("contact_forces")

    @property
    def masses(self) -> Array:
        """Masses of all vertices, kg; those of obstacles are fictitious."""
        return self._get("masses")

    def von_mises(self) -> Array:
        """Von Mises stress of every tetrahedron, Pa."""
        return self._core.elements("von_mises")

    def stresses(self) -> Array:
        """Cauchy stress of every tetrahedron, Pa (n×3×3), the mean over a quadratic one."""
        return self._core.tensors("stresses").reshape(-1, 3, 3)

    def recovered_stresses(self) -> Array:
        """Cauchy stress at every vertex, Pa (n×3×3), recovered from those of the tetrahedra around it; 0 where there is no solid."""
        return self._core.tensors("recovered_stresses").reshape(-1, 3, 3)

    def stress_errors(self) -> Array:
        """Estimated error of the stress of every tetrahedron, Pa."""
        return self._core.elements("stress_errors")

    def strains(self) -> Array:
        """Logarithmic strain ½ ln FFᵀ of every tetrahedron (n×3×3)."""
        return self._core.tensors("strains").reshape(-1, 3, 3)

    def plastic_strains(self) -> Array:
        """Equivalent plastic strain of every tetrahedron, the mean over a quadratic one."""
        return self._core.elements("plastic_strains")

    def stretches(self) -> Array:
        """Greatest principal stretch of every triangle of shells, then stretch of every segment of rods."""
        return self._core.elements("stretches")

    def bending_energies(self) -> Array:
        """Bending energy of the same, J."""
        return self._core.elements("bending_energies")

    def contacts(self) -> dict[str, NDArray[Any]]:
        """Every contact, a column per quantity: `vertices` (n×4, −1 where unused) of the first primitive, then of
        the second, `first` how many belong to the first, `half_space` by index or −1, `points` (n×2×3) closest
        to each other, m, `normal` from the second to the first, `gap`, m, and normal `force`, N."""
        return self._core.contacts()

    def __getitem__(self, name: str) -> Any:
        if name in self._entries:
            return Body(self, name, self._entries[name])
        if name not in self._half_spaces:
            known = [*self._half_spaces, *self._entries]
            error = ControlError(f"there is no body '{name}'; there are: {', '.join(known)}")
            error.name, error.known = name, known
            raise error
        return HalfSpace(self, name, self._half_spaces[name])

    def held(self, name: str) -> Held:
        """What holds the vertices of a prescription. See :attr:`Scene.prescriptions`; where several have one name, the
        second is ``NAME#2``."""
        return Held(self, name)

    def applied(self, name: str) -> Applied:
        """What a load acts with. See :attr:`Scene.loads`; attachments and seams have theirs. Where several have one
        name, the second is ``NAME#2``."""
        return Applied(self, name)

    def __iter__(self) -> Iterator[Body]:
        return iter(self.bodies.values())

    @property
    def bodies(self) -> dict[str, Body]:
        """Bodies by name, in the order of their vertices."""
        return {name: Body(self, name, entry) for name, entry in self._entries.items()}

    @property
    def joints(self) -> dict[str, Joint]:
        """Joints by name, in the order of the scene, then tendons, whose `displacement` is their sum."""
        return {name: Joint(self, name) for name in self._core.joint_names()}

    def set_gravity(self, gravity: ArrayLike) -> None:
        """Sets gravity for the steps to come, m/s²."""
        self._change("set_gravity", _vector(gravity))

    def set_load(self, name: str, value: ArrayLike | None) -> None:
        """Sets the value of a load for the steps to come: three numbers for a force (N), an acceleration
        (m/s²) or a traction (Pa), one for a pressure (Pa), ``None`` for that of the scene. See :attr:`Scene.loads`."""
        array = None if value is None else np.asarray(value, dtype=np.float64)
        vector = _vector(array) if array is not None and array.ndim else None
        self._change("set_load", name, vector, float(array) if array is not None and not array.ndim else None)

    def targets(self, name: str) -> Array:
        """Targets of the vertices of a prescription, m. See :attr:`Scene.prescriptions`."""
        return self._core.prescribed_targets(name)

    def set_targets(self, name: str, targets: ArrayLike) -> None:
        """Where the vertices of a prescription have to be at the end of the next step, m; they stay there."""
        self._change("set_prescribed_targets", name, _vectors(targets))

    def set_prescription(self, name: str, acts: bool) -> None:
        """Lets a prescription go, or hold again from where its vertices are."""
        self._change("set_prescription", name, acts)

    def audit(self) -> list[str]:
        """What the independent audit finds wrong with the current positions: always nothing."""
        return self._core.audit()
