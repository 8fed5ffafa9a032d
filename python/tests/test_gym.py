"""Vector environments over batches: the interface of gymnasium, tasks that can be done, what depends on what."""

import importlib.util
import warnings

import numpy as np
import pytest

import standoff

if importlib.util.find_spec("gymnasium") is None:
    pytest.skip("gymnasium is not installed: environments are not tested", allow_module_level=True)

from gymnasium.vector import AutoresetMode, VectorEnv

from standoff.gym import BatchEnv, Fold, Lift

TASKS = [Lift, Fold]


def grip(observation):
    """Closes the plates of `Lift` until they feel 2 N, then rises."""
    feels = (np.abs(observation[:, 8]) > 2)[:, None]
    return np.where(feels, [0.0, 1.0], [0.5, 0.0]).astype(np.float32)


def drag(observation):
    """Takes the corner of `Fold` over to the opposite one."""
    way = observation[:, 24:27] - observation[:, 0:3]
    far = np.linalg.norm(way, axis=1) > 0.1
    way[:, 1] = np.where(far, 0.05, 0.003) - observation[:, 1]
    return np.clip(way / 0.02, -1, 1) * np.float32(0.6)


def play(task, policy, seed, steps, n=3, threads=2, **settings):
    """Observations, rewards and ends of so many steps."""
    environment = task(n, threads=threads, **settings)
    observation, _ = environment.reset(seed=seed)
    environment.action_space.seed(seed)
    told = []
    for _ in range(steps):
        action = environment.action_space.sample() if policy is None else policy(observation)
        observation, *rest, _ = environment.step(action)
        told.append((observation, *rest))
    environment.close()
    return [np.array(list(column)) for column in zip(*told)]


@pytest.mark.parametrize("task", TASKS)
def test_the_interface(task):
    environment = task(2)
    assert isinstance(environment, VectorEnv) and environment.num_envs == 2
    assert environment.metadata["autoreset_mode"] == AutoresetMode.NEXT_STEP
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        observation, info = environment.reset(seed=3)
        assert environment.observation_space.contains(observation) and info == {}
        observation, reward, terminated, truncated, info = environment.step(environment.action_space.sample())
    assert environment.observation_space.contains(observation)
    assert reward.shape == terminated.shape == truncated.shape == info["failed"].shape == (2,)
    assert terminated.dtype == truncated.dtype == bool and np.isfinite(observation).all()
    assert environment.single_observation_space.shape == observation.shape[1:]
    for wrong in (np.zeros((3, 2)), np.full(environment.action_space.shape, np.nan)):
        with pytest.raises(ValueError, match="actions: "):
            environment.step(wrong)
    environment.close()


@pytest.mark.parametrize("task", TASKS)
def test_results_depend_on_seed_and_actions_alone(task):
    one = play(task, None, 5, 6, threads=1)
    two = play(task, None, 5, 6, threads=2)
    assert all((a == b).all() for a, b in zip(one, two))
    other = play(task, None, 6, 6, threads=2)
    assert not (one[0] == other[0]).all()
    # a second episode of an environment is that of a new one
    environment = task(3, threads=2)
    environment.reset(seed=1)
    environment.step(environment.action_space.sample())
    first, _ = environment.reset(seed=5)
    new, _ = task(3).reset(seed=5)
    assert (first == new).all() and not (first[0] == first[1]).all()


@pytest.mark.parametrize(("task", "policy", "steps"), [(Lift, grip, 45), (Fold, drag, 40)])
def test_tasks_can_be_done(task, policy, steps):
    _, rewards, terminated, truncated = play(task, policy, 1, steps)
    assert terminated.any(axis=0).all() and not truncated.any()
    for k in range(3):
        end = int(terminated[:, k].argmax())
        # a whole lift is worth 1; a fold what is left of the distance less
        assert 0.9 < rewards[: end + 1, k].sum() < 1.1
        # the next step begins the next episode
        assert end + 1 == steps or (rewards[end + 1, k] == 0 and not terminated[end + 1, k])


def test_episodes_end_and_others_begin():
    environment = Lift(2, length=3)
    first, _ = environment.reset(seed=2)
    still = np.zeros((2, 2), np.float32)
    ends = []
    for _ in range(8):
        observation, reward, terminated, truncated, _ = environment.step(still)
        ends.append(truncated.tolist())
        assert not terminated.any()
        if ends[-2:-1] == [[True, True]]:
            # nothing but a new place of the cube
            assert environment.batch.step_index.tolist() == [0, 0] and (reward == 0).all()
            assert not (observation[:, :3] == first[:, :3]).all() and (observation[:, 3:6] == 0).all()
    assert ends == [[k % 4 == 2] * 2 for k in range(8)]


def test_members_may_differ_and_one_may_end_alone():
    softness = {"materials.foam.young_modulus": [2e4, 2e5]}
    environment = Lift(2, overrides=softness)
    observation, _ = environment.reset(seed=4)
    for _ in range(30):
        observation, _, terminated, _, _ = environment.step(np.array([[0.5, 0.0], [0.5, 0.0]], np.float32))
    forces = np.abs(observation[:, 8])
    assert forces[1] > 2 * forces[0] > 1 and not terminated.any()


class Crush(BatchEnv):
    """A plate that is driven through a block which lies on another one: steps fail."""

    def __init__(self, n):
        plate = {"kind": "plane", "size": [1, 1], "cells": [1, 1]}
        objects = [
            {"name": "block", "shape": {"kind": "box", "size": [0.2] * 3, "cells": [1, 1, 1]}, "translate": [0, 0.101, 0]},
            {"name": "low", "shape": plate},
            {"name": "high", "shape": plate, "translate": [0, 0.21, 0]},
        ]
        scene = standoff.Scene(time={"step": 0.01, "end": 1}, objects=objects)
        super().__init__(scene, n, observations=1, actions=1, substeps=1, length=10)

    def act(self, actions):
        return {"high": np.outer(actions[:, 0], [0, 0.5, 0])}

    def observe(self):
        return self.batch["block"].mean[:, 1:2]

    def evaluate(self):
        return np.ones(self.num_envs), np.zeros(self.num_envs, dtype=bool)

    def begin(self, members):
        pass


def test_a_step_that_fails_ends_the_episode_of_its_member():
    environment = Crush(3)
    environment.reset(seed=0)
    _, reward, terminated, truncated, info = environment.step(np.array([[0], [-1], [0]], np.float32))
    assert terminated.tolist() == info["failed"].tolist() == [False, True, False] and not truncated.any()
    assert reward.tolist() == [1, 0, 1]
    assert "prescribed motion 'high' is blocked" in info["error"][1] and info["error"][0] is None
    assert environment.batch.step_index.tolist() == [1, 0, 1]
    _, reward, terminated, _, info = environment.step(np.zeros((3, 1), np.float32))
    assert reward.tolist() == [1, 0, 1] and not terminated.any() and not info["failed"].any()
    assert environment.step(np.zeros((3, 1), np.float32))[1].tolist() == [1, 1, 1]
