"""Many runs of one scene with different values."""

from __future__ import annotations

import itertools
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from ._standoff import set_threads
from .errors import Error
from .scene import Scene, resume, run

#: What is kept of a variant beside its run.
_RESULT = "result.json"

#: What a user computes from the folder of a run.
Measure = Callable[[str], Mapping[str, Any]]


def _run(scene: Scene, values: Mapping[str, Any], folder: str, threads: int) -> dict[str, Any]:
    """Runs one variant, or what is left of it; returns its row."""
    path = Path(folder)
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
    last = lines.read_text(encoding="utf-8").splitlines()[-1:] if lines.exists() else []
    report = json.loads(last[0]) if last else {}
    return row | {k: report.get(k) for k in ("step", "time", "min_gap", "kinetic_energy", "elastic_energy")}


def _finish(row: dict[str, Any], measure: Measure | None) -> dict[str, Any]:
    """Measures a run and keeps its row."""
    if measure is not None and row["error"] is None:
        row |= measure(row["folder"])
    folder = Path(row["folder"])
    folder.mkdir(parents=True, exist_ok=True)
    temporary = folder / (_RESULT + ".tmp")
    text = json.dumps(row, default=_plain)
    temporary.write_text(text)
    os.replace(temporary, folder / _RESULT)
    # as it will be read again
    return _row(text)


def _plain(value: Any) -> Any:
    """Numbers and arrays of NumPy as those of Python."""
    return value.tolist() if hasattr(value, "tolist") else str(value)


def _row(text: str) -> dict[str, Any]:
    row: dict[str, Any] = json.loads(text)
    return row


def _variant(
    scene: Scene, values: Mapping[str, Any], folder: str, threads: int, measure: Measure | None
) -> dict[str, Any]:
    """Runs and measures one variant."""
    return _finish(_run(scene, values, folder, threads), measure)


def variants(values: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    """Every combination of the values, the last key varying fastest."""
    return [dict(zip(values, v)) for v in itertools.product(*values.values())]


def sweep(
    scene: Scene,
    values: Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Any]],
    folder: str | os.PathLike[str],
    *,
    measure: Measure | None = None,
    processes: int | None = None,
    threads: int = 1,
    ray: bool | None = None,
    progress: bool = False,
) -> list[dict[str, Any]]:
    """Runs variants of a scene, each in a folder of its own below `folder`, and returns a table: a row (mapping)
    per variant, in order, with its values, `folder`, `error`, figures of its last step, and what
    `measure(folder)` returns.

    `values` are lists by path in the scene, such as ``{"materials.rubber.young_modulus": [1e5, 2e5]}``, of
    which every combination is run, or a list of the variants themselves. A sweep that was interrupted continues
    where it stopped when it is called again: what is finished is read, what was begun is resumed. A variant
    that fails leaves its message in `error`.

    Variants run in `processes` processes (as many as there are processors by default) with `threads` threads
    each, and `measure` in this one; with `ray` true both as tasks of Ray, which has to be installed, on the cluster
    that ``ray.init`` gave or gives. Folders and scene files must be at the same path on all of its nodes. By default
    Ray is used where it is initialised. With `progress` the number of finished runs is printed.

    New processes import the script that calls this; it must do so below ``if __name__ == "__main__":``.
    """
    all_variants = variants(values) if isinstance(values, Mapping) else [dict(v) for v in values]
    root = Path(folder).absolute()
    root.mkdir(parents=True, exist_ok=True)
    _check_plan(root, scene, all_variants)
    rows: dict[int, dict[str, Any]] = {}
    for k in range(len(all_variants)):
        done = root / f"{k:04}" / _RESULT
        if done.exists():
            rows[k] = _row(done.read_text())
    left = {k: (scene, v, str(root / f"{k:04}"), threads) for k, v in enumerate(all_variants) if k not in rows}

    def tell() -> None:
        if progress:
            end = "\n" if len(rows) == len(all_variants) else "\r"
            print(f"{len(rows)} of {len(all_variants)} runs", end=end, file=sys.stderr, flush=True)

    tell()
    if left:
        work = _on_ray if (_ray_is_up() if ray is None else ray) else _on_processes
        for k, row in work(left, measure, threads, processes):
            rows[k] = row
            tell()
    return [rows[k] for k in range(len(all_variants))]


def _on_processes(
    left: Mapping[int, Any], measure: Measure | None, _: int, processes: int | None
) -> Iterator[tuple[int, dict[str, Any]]]:
    # a fork of a process with threads may hang: begin afresh
    pool = ProcessPoolExecutor(processes, mp_context=get_context("spawn"))
    try:
        futures = {pool.submit(_run, *arguments): k for k, arguments in left.items()}
        for future in as_completed(futures):
            # the first fault of a worker ends the sweep
            yield futures[future], _finish(future.result(), measure)
    finally:
        # after an interrupt no further run begins
        pool.shutdown(cancel_futures=True)


def _on_ray(
    left: Mapping[int, Any], measure: Measure | None, threads: int, _: int | None
) -> Iterator[tuple[int, dict[str, Any]]]:
    import ray

    if not ray.is_initialized():
        ray.init()
    task: Any = ray.remote(num_cpus=threads)(_variant)
    futures = {task.remote(*arguments, measure): k for k, arguments in left.items()}
    try:
        while futures:
            (future,), _rest = ray.wait(list(futures))
            yield futures.pop(future), ray.get(future)
    finally:
        for future in futures:
            ray.cancel(future)


def _check_plan(root: Path, scene: Scene, all_variants: list[dict[str, Any]]) -> None:
    """A folder belongs to one sweep."""
    plan = root / "sweep.json"
    scene_id = [scene._core.fingerprint(), scene.steps]
    text = json.dumps({"scene": scene_id, "variants": all_variants}, default=_plain)
    if plan.exists() and plan.read_text() != text:
        raise ValueError(f"{root} holds a sweep of another scene or over other values; choose another folder")
    plan.write_text(text)


def _ray_is_up() -> bool:
    ray = sys.modules.get("ray")
    return ray is not None and ray.is_initialized()
