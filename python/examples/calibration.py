# %% [markdown]
# # Friction and stiffness from a recorded motion
#
# A soft block slides and leans on a slope. Markers on it were recorded with errors of 0.1 mm; the calibration finds
# the coefficient of friction and Young's modulus with which the simulation moves as recorded.

# %%
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

import standoff

KEYS = ("friction.coefficient", "materials.foam.young_modulus")
TRUE = dict(zip(KEYS, (0.3, 2e4)))
NOISE = 1e-4


def scene() -> standoff.Scene:
    block = {"name": "block", "shape": {"kind": "box", "size": [0.2, 0.2, 0.2], "cells": [2, 2, 2]},
             "material": "foam", "translate": [0, 0.1005, 0]}
    # gravity leans, as on a slope
    return standoff.Scene(
        ground=0.0, gravity=[5.0, -9.0, 0.0], time={"step": 0.01, "end": 0.2}, objects=[block],
        friction={"coefficient": 0.1}, materials={"foam": {"young_modulus": 1e5, "density": 500}},
        output={"every": 2})


def markers(folder: str) -> dict[str, list[Any]]:
    """Of a run: where the corners of the block are in every frame."""
    positions = standoff.frames(folder).array("positions", body="block")
    corners = np.abs(positions[0] - positions[0].mean(axis=0)).min(axis=1) > 0.09
    return {"markers": positions[:, corners].tolist()}


# %% [markdown]
# The calibration starts from a coarse grid. From its best point on, it solves least-squares problems (Gauss–Newton)
# in the logarithms of both values, with derivatives by differences. All runs of an iteration are one sweep.

# %%
def runs(points: np.ndarray, folder: Path) -> np.ndarray:
    """The markers of a run for each row of `points`, logarithms of both values."""
    values: list[Mapping[str, float]] = [dict(zip(KEYS, np.exp(p).tolist())) for p in points]
    table = standoff.sweep(scene(), values, folder, measure=markers)
    return np.array([np.ravel(row["markers"]) for row in table])


def calibrate(record: np.ndarray, folder: Path) -> np.ndarray:
    """The logarithms of both values, from a record of the markers."""
    grid = np.array([[np.log(f), np.log(e)] for f in (0.1, 0.2, 0.4) for e in (5e3, 2e4, 8e4)]) + 0.2
    errors = np.linalg.norm(runs(grid, folder / "grid") - record.ravel(), axis=1)
    best: np.ndarray = grid[errors.argmin()]
    for iteration in range(4):
        step = 1e-2
        here, *beside = runs(best + step * np.array([[0, 0], [1, 0], [0, 1]]), folder / str(iteration))
        slopes = np.array([(b - here) / step for b in beside]).T
        change = np.linalg.lstsq(slopes, record.ravel() - here, rcond=None)[0]
        best = best + np.clip(change, -0.5, 0.5)
        print("friction {:.4f}, Young's modulus {:.4g} Pa".format(*np.exp(best)))
    return best


# %%
if __name__ == "__main__":
    out = Path("out/calibration")
    standoff.run(scene().with_overrides(TRUE), out / "record", force=True)
    exact = np.array(markers(str(out / "record"))["markers"])
    record = exact + NOISE * np.random.default_rng(1).standard_normal(exact.shape)
    found = np.exp(calibrate(record, out))
    errors = found / list(TRUE.values()) - 1
    print("off by {:+.2%} and {:+.2%}".format(*errors))
    assert (np.abs(errors) < [0.001, 0.005]).all()
