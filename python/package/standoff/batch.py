"""Many simulations in one process, which are advanced together."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._standoff import CoreBatch
from .errors import ControlError, Error
from .scene import Scene
from .simulation import Simulation

Array = NDArray[np.float64]

__all__ = ["Batch", "BatchBody", "BatchHalfSpace"]

_logger = logging.getLogger("standoff")


class BatchBody:
    """A body in all members of a batch. Arrays are copies, with the member as their first index; the attributes
    `positions`, `velocities` and `targets` can be set."""

    def __init__(self, batch: Batch, name: str, entry: Mapping[str, Any]) -> None:
        self._batch = batch
        #: Its name.
        self.name = name
        #: Its role, see :class:`standoff.Body`.
        self.role: str = entry["role"]
        self._size = entry["end"] - entry["first"]

    def __repr__(self) -> str:
        return f"<standoff.BatchBody {self.name!r} of {len(self._batch)} members: {self.role}, {self._size} vertices>"

    def _get(self, what: str) -> Array:
        return self._batch._vectors(what, self.name)

    def _set(self, what: str, values: ArrayLike, members: ArrayLike | None) -> None:
        which = self._batch._which(members)
        rows = _rows(what, values, len(which), self._size)
        self._batch._change("set_vectors", what, self.name, which, rows)

    @property
    def positions(self) -> Array:
        """Positions, m (members × n × 3)."""
        return self._get("positions")

    @positions.setter
    def positions(self, positions: ArrayLike) -> None:
        self._set("positions", positions, None)

    def set_positions(self, positions: ArrayLike, members: ArrayLike | None = None) -> None:
        """Sets the positions in some members, m (members × n × 3), as :attr:`standoff.Body.positions` does. Members whose
        positions cannot be set keep theirs, and the error of the first of them is raised."""
        self._set("positions", positions, members)

    @property
    def velocities(self) -> Array:
        """Velocities, m/s (members × n × 3)."""
        return self._get("velocities")

    @velocities.setter
    def velocities(self, velocities: ArrayLike) -> None:
        self._set("velocities", velocities, None)

    def set_velocities(self, velocities: ArrayLike, members: ArrayLike | None = None) -> None:
        """Sets the velocities in some members, m/s (members × n × 3)."""
        self._set("velocities", velocities, members)

    @property
    def targets(self) -> Array:
        """Targets, m (members × n × 3), see :attr:`standoff.Body.targets`."""
        return self._get("targets")

    @targets.setter
    def targets(self, targets: ArrayLike) -> None:
        self._set("targets", targets, None)

    @property
    def contact_forces(self) -> Array:
        """Contact and friction forces at the end of the last step, N (members × n × 3)."""
        return self._get("contact_forces")

    @property
    def force(self) -> Array:
        """Sum of the contact and friction forces on it, N (members × 3)."""
        force: Array = self.contact_forces.sum(axis=1)
        return force

    @property
    def mean(self) -> Array:
        """Mean of its vertices, m (members × 3)."""
        mean: Array = self.positions.mean(axis=1)
        return mean


class BatchHalfSpace:
    """A half-space in all members of a batch."""

    def __init__(self, batch: Batch, name: str) -> None:
        self._batch, self.name = batch, name

    def __repr__(self) -> str:
        return f"<standoff.BatchHalfSpace {self.name!r} of {len(self._batch)} members>"

    @property
    def force(self) -> Array:
        """Sum of the contact and friction forces on it at the end of the last step, N (members × 3)."""
        return self._batch._core.half_space_forces(self.name)[::2]


class Batch:
    """Simulations of one scene, or of variations of it, in one process: members, which are advanced in parallel, each
    on one thread, and have the bits that each of them has alone. What goes wrong in one member does not concern the
    others.

    Args:
        scene: The scene of all members, or a scene for each.
        n: Number of members; not needed with `overrides` or several scenes.
        overrides: What differs from `scene`, by its path in it: a mapping for each member, or one mapping with a list of
            values for each path, such as ``{"materials.rubber.young_modulus": [1e5, 2e5]}``.
        threads: Number of threads; by default that of :func:`standoff.set_threads`.

    ``batch[k]`` is member `k`, a :class:`standoff.Simulation`, ``batch["ball"]`` a body in all members as arrays. Leaving a
    ``with`` block ends the threads and the recordings of members.

    Raises:
        SceneError, BuildError: a scene does not make sense or cannot be simulated; `member` is the number of the first such member.
    """

    def __init__(
        self,
        scene: Scene | Sequence[Scene],
        n: int | None = None,
        *,
        overrides: Sequence[Mapping[str, Any]] | Mapping[str, Sequence[Any]] | None = None,
        threads: int | None = None,
    ) -> None:
        #: The scene of every member.
        self.scenes: list[Scene] = _scenes(scene, n, overrides)
        distinct = {id(s): s for s in self.scenes}
        number = {key: k for k, key in enumerate(distinct)}
        cores = [s._core for s in distinct.values()]
        if threads is not None and threads < 1:
            raise ValueError(f"threads: expected at least 1, got {threads}")
        self._core = CoreBatch(cores, [number[id(s)] for s in self.scenes], threads or 0)
        #: Members of which there is an object.
        self._members: dict[int, Simulation] = {}
        #: What ended the last step of the members that failed, by their number.
        self.errors: dict[int, Error] = {}
        first = self.scenes[0]
        self._entries, self._half_spaces = first.bodies, first.half_spaces
        self._prescriptions, self._loads = first.prescriptions, first.loads

    def __len__(self) -> int:
        return len(self.scenes)

    def __repr__(self) -> str:
        bodies = ", ".join(self._entries)
        return f"<standoff.Batch of {len(self)} members of {bodies}, on {self.threads} threads>"

    def __enter__(self) -> Batch:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def close(self) -> None:
        """Ends the threads, and the recordings of members. Members can still be read, and advanced; the threads then begin again."""
        self._core.close()

    @property
    def threads(self) -> int:
        """Number of threads."""
        return self._core.threads

    def __getitem__(self, which: Any) -> Any:
        if not isinstance(which, str):
            return self.member(which)
        if which in self._entries:
            return BatchBody(self, which, self._entries[which])
        if which in self._half_spaces:
            return BatchHalfSpace(self, which)
        raise _unknown("body", which, [*self._half_spaces, *self._entries])

    def __iter__(self) -> Iterator[Simulation]:
        return map(self.member, range(len(self)))

    def member(self, k: int) -> Simulation:
        """Member number `k`, from 0; negative numbers count from the end."""
        k = range(len(self))[k]
        if k not in self._members:
            simulation = Simulation.__new__(Simulation)
            simulation._set_up(self.scenes[k], self._core.member(k))
            self._members[k] = simulation
            simulation.report = self.report(k)
        return self._members[k]

    def report(self, k: int) -> dict[str, Any] | None:
        """The report of the last step of member `k`: energies, contacts, iterations, seconds."""
        text = self._core.member(range(len(self))[k]).report()
        return None if text is None else json.loads(text)

    @property
    def positions(self) -> Array:
        """Positions of all vertices, m (members × n × 3). Members with different numbers of vertices have no common
        array, which raises :class:`BatchError`; ``batch[k].positions`` is that of one member."""
        return self._vectors("positions", None)

    @property
    def velocities(self) -> Array:
        """Velocities of all vertices, m/s (members × n × 3)."""
        return self._vectors("velocities", None)

    @property
    def contact_forces(self) -> Array:
        """Contact and friction forces on all vertices at the end of the last step, N (members × n × 3)."""
        return self._vectors("contact_forces", None)

    @property
    def step_index(self) -> NDArray[np.uint64]:
        """Steps done by each member."""
        return self._core.step_indices()

    @property
    def time(self) -> Array:
        """Time of each member, s."""
        return self._core.times()

    @property
    def is_finished(self) -> NDArray[np.bool_]:
        """Whether each member has reached the end of its scene. It can go on beyond that."""
        ends = np.array([s.steps for s in self.scenes], dtype=np.uint64)
        return self.step_index >= ends

    def step(
        self,
        actions: Mapping[str | tuple[str, str], ArrayLike] | None = None,
        *,
        members: ArrayLike | None = None,
        steps: int = 1,
    ) -> NDArray[np.bool_]:
        """Does one time step, or `steps`, of every member, or of some. Returns for each of them whether all were done.

        A member whose step fails keeps the state before that step; :attr:`errors` has what ended it, and the logger
        ``standoff`` is told. The next call tries it again.

        `actions` are set before each of the steps. Their keys are names of bodies, prescriptions (:attr:`Scene.prescriptions`) and
        loads (:attr:`Scene.loads`), and ``"gravity"``; their values are arrays with a row for each member:

        - targets of a body or prescription (members × n × 3), m;
        - a vector (members × 3) by which the targets of a body or prescription are moved in each step, m;
        - a force, N, or an acceleration, m/s² (members × 3), or a pressure, Pa (members), of a load;
        - gravity, m/s² (members × 3).

        Where a prescription and a load have one name, the key is ``("prescription", name)`` or ``("load", name)``.

        An interrupt (Ctrl-C) ends the steps that are under way: members then have done different numbers of steps.

        Raises:
            ControlError: nothing has the name of an action.
            BatchError: a member that does not exist or is named twice.
            ValueError: an array has another shape.
        """
        if steps < 1:
            raise ValueError(f"steps: expected at least 1, got {steps}")
        which = self._which(members)
        if not which:
            return np.zeros(0, dtype=np.bool_)
        told = [self._action(key, values, len(which)) for key, values in (actions or {}).items()]
        found: list[Error | None] = self._change("step", told, which, steps)
        for k, error in zip(which, found):
            self.errors.pop(k, None)
            if error is not None:
                self.errors[k] = error
                _logger.warning("%s", error)
        return np.array([error is None for error in found], dtype=np.bool_)

    def _action(
        self, key: str | tuple[str, str], values: ArrayLike, count: int
    ) -> tuple[str, str, Array]:
        kind, name = ("", key) if isinstance(key, str) else key
        if kind not in ("", "body", "prescription", "load"):
            raise ValueError(f"{key!r}: expected 'body', 'prescription' or 'load' before the name")
        array = np.asarray(values, dtype=np.float64)
        if name == "gravity" and not kind:
            return "gravity", name, _rows(name, array, count, 1)
        lists = {"body": self._entries, "prescription": self._prescriptions, "load": self._loads}
        named = [k for k, names in lists.items() if name in names and kind in ("", k)]
        if not named:
            raise _unknown(kind or "body, prescription or load", name, [n for names in lists.values() for n in names])
        if len(named) > 1:
            ways = " or ".join(repr((k, name)) for k in named)
            raise ValueError(f"{name!r} is the name of several things; use the key {ways}")
        if named == ["load"]:
            if array.ndim == 1:
                pressures = np.zeros((len(array), 3))
                pressures[:, 0] = array
                return "pressure", name, _rows(name, pressures, count, 1)
            return "load", name, _rows(name, array, count, 1)
        of = "body " if named == ["body"] else ""
        if array.ndim == 2:
            return of + "move", name, _rows(name, array, count, 1)
        return of + "targets", name, _rows(name, array, count, None)

    def reset(
        self, members: ArrayLike | None = None, saved: bytes | Sequence[bytes] | None = None
    ) -> None:
        """Takes all members, or some, back to the state before their first step, or to states that :meth:`save` gave: one for
        each, or one for all. What follows has the same bits as what followed it. Recordings of these members end."""
        which = self._which(members)
        if saved is None:
            self._change("reset", which)
        else:
            states = [saved] * len(which) if isinstance(saved, bytes) else list(saved)
            self._change("load", which, states)
        for k in which:
            self.errors.pop(k, None)

    def save(self, members: ArrayLike | None = None) -> list[bytes]:
        """The whole state of all members, or of some, for :meth:`reset`, and for :meth:`Simulation.restore`."""
        return self._core.save(self._which(members))

    def _which(self, members: ArrayLike | None) -> list[int]:
        """Numbers of members; of a mask those where it is true."""
        if members is None:
            return list(range(len(self)))
        array = np.atleast_1d(np.asarray(members))
        if array.ndim != 1:
            raise ValueError(f"members: expected a list of numbers, got shape {array.shape}")
        if array.dtype == np.bool_:
            if len(array) != len(self):
                raise ValueError(f"members: a mask of {len(array)} for {len(self)} members")
            array = np.flatnonzero(array)
        if array.size and not np.issubdtype(array.dtype, np.integer):
            raise ValueError(f"members: expected whole numbers, got {array.dtype}")
        # numbers from the end, as in lists; others that do not exist are refused with their number
        return [int(k) + len(self) if -len(self) <= k < 0 else abs(int(k)) for k in array]

    def _vectors(self, what: str, body: str | None) -> Array:
        return self._core.vectors(what, body).reshape(len(self), -1, 3)

    def _change(self, how: str, *arguments: Any) -> Any:
        for simulation in list(self._members.values()):
            simulation._now = object()
        try:
            return getattr(self._core, how)(*arguments)
        finally:
            for k, simulation in list(self._members.items()):
                simulation._now = object()
                simulation.report = self.report(k)


def _unknown(what: str, name: str, known: Sequence[str]) -> ControlError:
    error = ControlError(f"there is no {what} '{name}'; there are: {', '.join(known)}")
    error.name, error.known = name, list(known)
    return error


def _rows(name: str, values: ArrayLike, count: int, size: int | None) -> Array:
    """Values of `count` members, `size` vectors each, as vectors one after the other."""
    array = np.asarray(values, dtype=np.float64)
    if size == 1 and array.ndim == 2:
        array = array[:, np.newaxis, :]
    expected = (count, array.shape[1] if size is None and array.ndim == 3 else size, 3)
    if array.shape != expected:
        shown = (count, 3) if size == 1 else (count, "n" if size is None else size, 3)
        raise ValueError(f"{name!r}: expected an array of shape {shown}, got {np.shape(values)}")
    return np.ascontiguousarray(array.reshape(-1, 3))


def _scenes(
    scene: Scene | Sequence[Scene],
    n: int | None,
    overrides: Sequence[Mapping[str, Any]] | Mapping[str, Sequence[Any]] | None,
) -> list[Scene]:
    """The scene of every member; members that are alike have one object."""
    if not isinstance(scene, Scene):
        scenes = list(scene)
        if overrides is not None:
            raise ValueError("overrides: they are for one scene, not for several")
        if n not in (None, len(scenes)):
            raise ValueError(f"n: {n} members, but {len(scenes)} scenes")
        return scenes
    if overrides is None:
        if n is None:
            raise ValueError("n: say how many members there are, or what differs between them (overrides)")
        return [scene] * n
    if isinstance(overrides, Mapping):
        lengths = {key: len(values) for key, values in overrides.items()}
        count = n if n is not None else next(iter(lengths.values()), 0)
        for key, length in lengths.items():
            if length != count:
                raise ValueError(f"overrides: {length} values of {key!r} for {count} members")
        variants = [{key: values[k] for key, values in overrides.items()} for k in range(count)]
    else:
        variants = [dict(values) for values in overrides]
        if n not in (None, len(variants)):
            raise ValueError(f"overrides: {len(variants)} mappings for {n} members")
    made: dict[str, Scene] = {"[]": scene}
    scenes = []
    for k, values in enumerate(variants):
        key = repr(sorted(values.items(), key=lambda item: item[0]))
        if key not in made:
            try:
                made[key] = scene.with_overrides(values)
            except Error as error:
                error.args = (f"member {k}: {error}",)
                error.member = k
                raise
        scenes.append(made[key])
    return scenes
