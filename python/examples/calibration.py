"""A friction coefficient and a stiffness from a recorded motion: a soft block slides and leans on a conveyor. The
record comes from a run whose values the calibration does not see; it finds them by sweeps."""

import tempfile
from pathlib import Path

import numpy as np

import standoff

TRUE = {"friction.coefficient": 0.3, "materials.foam.young_modulus": 2e4}


def scene():
    block = {"name": "block", "shape": {"kind": "box", "size": [0.2, 0.2, 0.2], "cells": [2, 2, 2]},
             "material": "foam", "translate": [0, 0.1005, 0]}
    # gravity leans, as on a slope
    return standoff.Scene(
        ground=0.0, gravity=[5.0, -9.0, 0.0], time={"step": 0.01, "end": 0.2}, objects=[block],
        friction={"coefficient": 0.1}, materials={"foam": {"young_modulus": 1e5, "density": 500}},
        output={"every": 20})


def measure(folder):
    """Of a run: how far the block has come, and how far its top leans."""
    simulation = standoff.Simulation.resume(folder)
    block = simulation["block"]
    top = block.rest[:, 1] > 0.15
    slid = block.positions[~top, 0].mean() - block.rest[~top, 0].mean()
    lean = block.positions[top, 0].mean() - block.rest[top, 0].mean() - slid
    return {"slid": slid, "lean": lean}


def calibrate(record, folder):
    """Narrows a grid about the best values, three times."""
    friction, stiffness = np.linspace(0.1, 0.5, 5), np.geomspace(5e3, 8e4, 5)
    for level in range(3):
        values = {"friction.coefficient": [float(f) for f in friction],
                  "materials.foam.young_modulus": [float(e) for e in stiffness]}
        table = standoff.sweep(scene(), values, folder / str(level), measure=measure)
        size = {k: max(abs(r[k]) for r in table) for k in record}
        best = min(table, key=lambda r: sum(((r[k] - record[k]) / size[k]) ** 2 for k in record))
        f, e = best["friction.coefficient"], best["materials.foam.young_modulus"]
        width, factor = 0.1 / 3 ** (level + 1), 2 ** (1 / 3 ** (level + 1))
        friction, stiffness = np.linspace(f - width, f + width, 3), e * factor ** np.arange(-1, 2)
    return f, e


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        standoff.run(scene().with_overrides(TRUE), Path(folder) / "record")
        f, e = calibrate(measure(Path(folder) / "record"), Path(folder))
    print(f"friction {f:.3f} (truly 0.3), Young's modulus {e:.3g} Pa (truly 2e4)")
    assert abs(f - 0.3) < 0.03 and abs(e / 2e4 - 1) < 0.15
