"""Many runs of one scene with different values."""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from ._standoff import set_threads
from .errors import Error
from .scene import Scene, resume, run

#: What a run writes about itself beside its results.
_RESULT = "result.json"


def _variant(
    scene: Scene,
    values: Mapping[str, Any],
    folder: str,
    measure: Callable[[str], Mapping[str, Any]] | None,
    threads: int,
) -> dict[str, Any]:
    """Runs one variant, or what is left of it; returns its row."""
    path = Path(folder)
    done = path / _RESULT
    if done.exists():
        return json.loads(done.read_text())
    set_threads(threads)
    row: dict[str, Any] = {**values, "folder": folder, "error": None}
    try:
        if any((path / "checkpoints").glob("*.ckpt")):
            resume(folder)
        else:
            run(scene.with_overrides(values), folder, force=True)
    except Error as error:
        row["error"] = str(error)
    lines = path / "stats.jsonl"
    last = lines.read_text().splitlines()[-1:] if lines.exists() else []
    report = json.loads(last[0]) if last else {}
    row |= {k: report.get(k) for k in ("step", "time", "min_gap", "kinetic_energy", "elastic_energy")}
    if measure is not None and row["error"] is None:
        row |= measure(folder)
    temporary = path / (_RESULT + ".tmp")
    path.mkdir(parents=True, exist_ok=True)
    temporary.write_text(json.dumps(row))
    os.replace(temporary, done)
    return row


def variants(values: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    """Every combination of the values, the last key varying fastest."""
    return [dict(zip(values, v)) for v in itertools.product(*values.values())]


def sweep(
    scene: Scene,
    values: Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Any]],
    folder: str | os.PathLike[str],
    *,
    measure: Callable[[str], Mapping[str, Any]] | None = None,
    processes: int | None = None,
    threads: int = 1,
    ray: bool | None = None,
) -> list[dict[str, Any]]:
    """Runs variants of a scene, each in a folder of its own below `folder`, and returns a table: a row (mapping)
    per variant, in order, with its values, `folder`, `error`, figures of its last step, and what
    `measure(folder)` returns.

    `values` are lists by path in the scene, such as ``{"materials.rubber.young_modulus": [1e5, 2e5]}``, of
    which every combination is run, or a list of the variants themselves. A sweep that was interrupted goes on
    where it stopped when it is called again: what is finished is read, what was begun is resumed. A variant
    that fails leaves its message in `error`.

    Variants run in `processes` processes (as many as there are processors by default) with `threads` threads
    each; with `ray` true as tasks of Ray, which has to be installed, on the cluster that ``ray.init`` gave or
    gives. `measure` has to be a function of a module then. By default Ray is used where it is initialised.
    """
    all_variants = variants(values) if isinstance(values, Mapping) else [dict(v) for v in values]
    root = Path(folder).absolute()
    root.mkdir(parents=True, exist_ok=True)
    _check_plan(root, all_variants)
    arguments = [
        (scene, variant, str(root / f"{k:04}"), measure, threads)
        for k, variant in enumerate(all_variants)
    ]
    if ray if ray is not None else _ray_is_up():
        return _on_ray(arguments, threads)
    # a fork of a process with threads may hang: begin afresh
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        futures = [pool.submit(_variant, *a) for a in arguments]
        for future in as_completed(futures):
            # the first fault of a worker ends the sweep
            future.result()
    return [future.result() for future in futures]


def _check_plan(root: Path, all_variants: list[dict[str, Any]]) -> None:
    """A folder belongs to one sweep."""
    plan, text = root / "sweep.json", json.dumps(all_variants, default=str)
    if plan.exists() and plan.read_text() != text:
        raise ValueError(f"{root} holds a sweep over other values; choose another folder")
    plan.write_text(text)


def _ray_is_up() -> bool:
    import sys

    ray = sys.modules.get("ray")
    return ray is not None and ray.is_initialized()


def _on_ray(arguments: list[tuple[Any, ...]], threads: int) -> list[dict[str, Any]]:
    import ray

    if not ray.is_initialized():
        ray.init()
    task = ray.remote(num_cpus=threads)(_variant)
    return ray.get([task.remote(*a) for a in arguments])
