"""Environments for reinforcement learning over a :class:`standoff.Batch`: vector environments of `gymnasium
<https://gymnasium.farama.org>`_, which has to be installed (``pip install standoff[gym]``).

:class:`Lift` and :class:`Fold` are tasks; a task of one's own is a subclass of :class:`BatchEnv`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from .batch import Array, Batch
from .scene import Scene

__all__ = ["BatchEnv", "Fold", "Lift"]

Floats = NDArray[np.float32]
Mask = NDArray[np.bool_]
#: Variations of a scene, see :class:`standoff.Batch`.
Overrides = Sequence[Mapping[str, Any]] | Mapping[str, Sequence[Any]] | None


class BatchEnv(VectorEnv[Floats, Floats, NDArray[Any]]):
    """A task in every member of a batch.

    Actions are numbers from −1 to 1. A subclass says what they do (:meth:`act`), what is seen (:meth:`observe`), what it
    is worth (:meth:`evaluate`) and how an episode begins (:meth:`begin`).

    Where an episode has ended, the next step begins a new one, whatever the action (``AutoresetMode.NEXT_STEP``). An episode is
    `truncated` after `length` steps. It is `terminated` where the task is done, and where a step of the simulation failed:
    ``info["failed"]`` tells these apart, and ``info["error"]`` says why. A failed step earns nothing.

    Results depend on the seed and the actions alone, not on the number of threads.

    Args:
        scene: The scene of all members.
        num_envs: Number of members.
        observations, actions: Sizes of the vectors of one member.
        substeps: Time steps of the simulation in a step of the environment.
        length: Steps of an episode.
        overrides: What differs between members, see :class:`standoff.Batch`.
        threads: Number of threads.
    """

    metadata: dict[str, Any] = {"autoreset_mode": AutoresetMode.NEXT_STEP}

    def __init__(
        self,
        scene: Scene,
        num_envs: int,
        *,
        observations: int,
        actions: int,
        substeps: int,
        length: int,
        overrides: Overrides = None,
        threads: int | None = None,
    ) -> None:
        #: The simulations.
        self.batch = Batch(scene, num_envs, overrides=overrides, threads=threads)
        self.num_envs = num_envs
        self.single_observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (observations,), np.float32)
        self.single_action_space = gymnasium.spaces.Box(-1.0, 1.0, (actions,), np.float32)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.substeps, self.length = substeps, length
        #: Steps of the episode of each member.
        self.elapsed = np.zeros(num_envs, dtype=np.int64)
        self._over: Mask = np.zeros(num_envs, dtype=np.bool_)

    @abstractmethod
    def act(self, actions: Array) -> dict[str | tuple[str, str], Array]:
        """The actions of :meth:`Batch.step` for those of all members (members × actions), from −1 to 1."""

    @abstractmethod
    def observe(self) -> Array:
        """What is seen of all members (members × observations)."""

    @abstractmethod
    def evaluate(self) -> tuple[Array, Mask]:
        """The reward of the last step of all members, and whether the task is done."""

    @abstractmethod
    def begin(self, members: NDArray[np.int64]) -> None:
        """Begins an episode in members that have been reset, with random numbers of ``self.np_random`` alone."""

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Floats, dict[str, Any]]:
        """Begins an episode in all members; with the same `seed` the same one. `options` has no meaning."""
        super().reset(seed=seed)
        self._begin(np.ones(self.num_envs, dtype=np.bool_))
        return self._observed(), {}

    def _begin(self, which: Mask) -> None:
        members = np.flatnonzero(which)
        if len(members):
            self.batch.reset(members)
            self.elapsed[members] = 0
            self.begin(members)
        self._over = np.zeros(self.num_envs, dtype=np.bool_)

    def _observed(self) -> Floats:
        return self.observe().astype(np.float32)

    def step(
        self, actions: Floats
    ) -> tuple[Floats, NDArray[Any], NDArray[Any], NDArray[Any], dict[str, Any]]:
        """Does a step of every member (members × actions); what is not in [−1, 1] is cut off."""
        given = np.asarray(actions, dtype=np.float64)
        if given.shape != self.action_space.shape:
            raise ValueError(f"actions: expected shape {self.action_space.shape}, got {given.shape}")
        if not np.isfinite(given).all():
            raise ValueError("actions: not all of them are finite")
        anew = self._over
        self._begin(anew)
        members = np.flatnonzero(~anew)
        told = {key: values[members] for key, values in self.act(np.clip(given, -1, 1)).items()}
        done = self.batch.step(told, members=members, steps=self.substeps)
        failed = np.zeros(self.num_envs, dtype=np.bool_)
        failed[members] = ~done
        self.elapsed[members] += 1
        reward, solved = self.evaluate()
        stands = anew | failed
        reward = np.where(stands, 0.0, reward)
        terminated = failed | (solved & ~stands)
        truncated = ~terminated & (self.elapsed >= self.length)
        self._over = terminated | truncated
        info: dict[str, Any] = {"failed": failed}
        if failed.any():
            errors = self.batch.errors
            info["error"] = np.array([str(errors[k]) if failed[k] else None for k in range(self.num_envs)], dtype=object)
        return self._observed(), reward, terminated, truncated, info

    def close_extras(self, **kwargs: Any) -> None:
        """Ends the threads."""
        self.batch.close()


def _turned(x: Array, angles: Array) -> Array:
    """Points of bodies (m × n × 3) turned about the vertical through the mean of each, by `angles` (m), rad."""
    middle = x.mean(axis=1, keepdims=True)
    cos, sin = np.cos(angles)[:, np.newaxis], np.sin(angles)[:, np.newaxis]
    away, out = x - middle, x.copy()
    out[..., 0] = middle[..., 0] + cos * away[..., 0] + sin * away[..., 2]
    out[..., 2] = middle[..., 2] - sin * away[..., 0] + cos * away[..., 2]
    return out


class Lift(BatchEnv):
    """A gripper of two plates lifts a soft cube from the ground.

    The cube has edges of 60 mm, 300 kg/m³ and 50 kPa, the coefficient of friction is 0.6. It begins at a random place
    (up to 5 mm off the middle in x, 10 mm in z) and angle (up to 0.1 rad). A step is 20 ms.

    Actions: the speed at which the plates close, as a part of 0.1 m/s each, and at which they rise, as a part of 0.1 m/s. Plates stay between
    35 and 90 mm apart and within 150 mm of height.

    Observation (14): the cube's mean relative to the middle between the plates (m) and its mean velocity (m/s); the gap between the
    plates and how far they have risen (m); the contact forces on the left and on the right plate (N).

    Reward: by how much the cube was lifted in the step, as a part of 50 mm; the task is done when it was lifted by 50 mm.
    """

    #: How far the cube is to be lifted, m.
    GOAL = 0.05
    #: Largest speed of a plate, m/s.
    SPEED = 0.1
    _STEP, _SIZE, _THICKNESS = 0.01, 0.06, 0.01

    def __init__(
        self,
        num_envs: int = 1,
        *,
        length: int = 150,
        overrides: Overrides = None,
        threads: int | None = None,
    ) -> None:
        plate = {"kind": "box", "size": [self._THICKNESS, 0.06, 0.08], "cells": [1, 1, 1], "surface": True}
        aside = 0.5 * (0.08 + self._THICKNESS)
        scene = Scene(
            ground=0.0,
            time={"step": self._STEP, "end": 10},
            friction={"coefficient": 0.6},
            materials={"foam": {"young_modulus": 5e4, "density": 300}},
            objects=[
                {"name": "cube", "shape": {"kind": "box", "size": [self._SIZE] * 3, "cells": [3, 3, 3]},
                 "material": "foam", "translate": [0, 0.5 * self._SIZE + 1e-4, 0]},
                {"name": "left", "shape": plate, "translate": [-aside, 0.035, 0]},
                {"name": "right", "shape": plate, "translate": [aside, 0.035, 0]},
            ],
        )
        super().__init__(
            scene, num_envs, observations=14, actions=2, substeps=2, length=length, overrides=overrides, threads=threads
        )
        self._height = np.zeros(num_envs)
        self._start = self.batch["cube"].mean[:, 1]

    def _plates(self) -> tuple[Array, Array, Array]:
        """Middle between the plates (m), their gap and their height."""
        left, right = (self.batch[name].targets.mean(axis=1) for name in ("left", "right"))
        return 0.5 * (left + right), right[:, 0] - left[:, 0] - self._THICKNESS, left[:, 1]

    def act(self, actions: Array) -> dict[str | tuple[str, str], Array]:
        """See the class."""
        _, gap, height = self._plates()
        most, steps = self.SPEED * self._STEP, self.substeps
        close = np.clip(most * actions[:, 0], 0.5 * (gap - 0.09) / steps, 0.5 * (gap - 0.035) / steps)
        rise = np.clip(most * actions[:, 1], (0.035 - height) / steps, (0.185 - height) / steps)
        still = np.zeros(self.num_envs)
        return {
            "left": np.stack([close, rise, still], axis=1),
            "right": np.stack([-close, rise, still], axis=1),
        }

    def observe(self) -> Array:
        """See the class."""
        middle, gap, height = self._plates()
        cube = self.batch["cube"]
        rows = [cube.mean - middle, cube.velocities.mean(axis=1), gap, height - 0.035,
                self.batch["left"].force, self.batch["right"].force]
        return np.column_stack(rows)

    def evaluate(self) -> tuple[Array, Mask]:
        """See the class."""
        before, self._height = self._height, self.batch["cube"].mean[:, 1] - self._start
        return (self._height - before) / self.GOAL, self._height >= self.GOAL

    def begin(self, members: NDArray[np.int64]) -> None:
        """See the class."""
        shift = self.np_random.uniform([-0.005, 0, -0.01], [0.005, 0, 0.01], (len(members), 3))
        angles = self.np_random.uniform(-0.1, 0.1, len(members))
        cube = self.batch["cube"]
        cube.set_positions(_turned(cube.positions[members], angles) + shift[:, np.newaxis], members)
        self._height[members] = 0.0


class Fold(BatchEnv):
    """A corner of a cloth that lies on the ground is dragged onto the opposite one.

    The cloth has edges of 200 mm and 10 × 10 cells, a thickness of 0.5 mm, 0.5 MPa and 300 kg/m³; the coefficient of friction is 0.4. It begins
    at a random angle, and the held corner moves with it. A step is 40 ms.

    Actions: the velocity of the held corner, as parts of 0.5 m/s. The corner stays between 2 and 150 mm above the ground, and within
    300 mm of the middle.

    Observation (33): the positions of nine points of the cloth (m), the held corner first, the one opposite last, and the velocities of
    the held corner and of the middle (m/s).

    Reward: by how much the held corner came closer to the opposite one in the step, as a part of their distance at the start; the task
    is done when they are less than 20 mm apart.
    """

    #: Distance of the corners at which the task is done, m.
    GOAL = 0.02
    #: Largest speed of the corner along an axis, m/s.
    SPEED = 0.5
    _STEP, _SIZE, _CELLS = 0.02, 0.2, 10

    def __init__(
        self,
        num_envs: int = 1,
        *,
        length: int = 75,
        overrides: Overrides = None,
        threads: int | None = None,
    ) -> None:
        cells, half = self._CELLS, 0.5 * self._SIZE
        held = {"vertices": [0]}
        scene = Scene(
            ground=0.0,
            time={"step": self._STEP, "end": 10},
            friction={"coefficient": 0.4},
            materials={"cotton": {"young_modulus": 5e5, "density": 300, "shell": {"thickness": 5e-4}}},
            objects=[
                {"name": "cloth", "shape": {"kind": "plane", "size": [self._SIZE] * 2, "cells": [cells, cells]},
                 "role": "shell", "material": "cotton", "translate": [0, 1e-3, 0],
                 "regions": {"corner": held}, "fixed": [{"vertices": "corner"}]},
            ],
        )
        super().__init__(
            scene, num_envs, observations=33, actions=3, substeps=2, length=length, overrides=overrides, threads=threads
        )
        rest = self.batch.scenes[0].bodies["cloth"]["rest"]
        corner = rest[0] - rest.mean(axis=0)
        at = np.array([[a, 0, b] for a in (1, 0, -1) for b in (1, 0, -1)]) * [np.sign(corner[0]) * half, 0, np.sign(corner[2]) * half]
        away = rest - rest.mean(axis=0)
        #: Vertices that are seen: a grid of 3 × 3 from the held corner on.
        self._seen = [int(np.linalg.norm(away - p, axis=1).argmin()) for p in at]
        self._distance = np.ones(num_envs)
        self._apart = float(np.linalg.norm(rest[self._seen[0]] - rest[self._seen[-1]]))

    def act(self, actions: Array) -> dict[str | tuple[str, str], Array]:
        """See the class."""
        corner = self.batch["cloth"].targets[:, self._seen[0]]
        low, high = np.array([-0.3, 0.002, -0.3]), np.array([0.3, 0.15, 0.3])
        goal = corner + self.substeps * self.SPEED * self._STEP * actions
        return {("prescription", "cloth.corner"): (np.clip(goal, low, high) - corner) / self.substeps}

    def observe(self) -> Array:
        """See the class."""
        cloth = self.batch["cloth"]
        x, v = cloth.positions[:, self._seen], cloth.velocities[:, self._seen]
        return np.concatenate([x, v[:, [0, 4]]], axis=1).reshape(self.num_envs, -1)

    def _distances(self) -> Array:
        x = self.batch["cloth"].positions
        distances: Array = np.linalg.norm(x[:, self._seen[0]] - x[:, self._seen[-1]], axis=1)
        return distances

    def evaluate(self) -> tuple[Array, Mask]:
        """See the class."""
        before, self._distance = self._distance, self._distances()
        return (before - self._distance) / self._apart, self._distance < self.GOAL

    def begin(self, members: NDArray[np.int64]) -> None:
        """See the class."""
        cloth = self.batch["cloth"]
        angles = self.np_random.uniform(-np.pi, np.pi, len(members))
        cloth.set_positions(_turned(cloth.positions[members], angles), members)
        self._distance[members] = self._distances()[members]
