# %% [markdown]
# # Many runs
#
# A block slides to rest on the ground. A sweep runs it with several coefficients of friction and stiffnesses, each
# variant in a folder of its own, on all processors; with Ray on those of a cluster (`ray=True`). When it is called
# again, it reads what is finished and resumes what was interrupted.

# %%
import standoff

SPEED = 1.0
VALUES = {"friction.coefficient": [0.2, 0.4, 0.8], "materials.foam.young_modulus": [5e4, 5e5]}


def scene() -> standoff.Scene:
    block = {"name": "block", "shape": {"kind": "box", "size": [0.2, 0.1, 0.2], "cells": [2, 1, 2]},
             "material": "foam", "translate": [0, 0.0505, 0], "velocity": [SPEED, 0, 0]}
    return standoff.Scene(
        ground=0.0, time={"step": 0.01, "end": 0.5}, friction={"coefficient": 0.1},
        materials={"foam": {"young_modulus": 1e5, "density": 300}}, objects=[block], output={"every": 10})


def measure(folder: str) -> dict[str, float]:
    """Of a run: how far the block has come."""
    positions = standoff.frames(folder).array("positions", body="block")
    return {"slid": float((positions[-1] - positions[0])[:, 0].mean())}


# %%
if __name__ == "__main__":
    table = standoff.sweep(scene(), VALUES, "out/sweep", measure=measure, progress=True)
    for row in table:
        mu, modulus = (row[key] for key in VALUES)
        print(f"μ = {mu}, E = {modulus:.0e} Pa: {row['slid']:.3f} m, v²/(2 μ g) = {SPEED**2 / (2 * mu * 9.81):.3f} m")
        assert row["error"] is None and abs(row["slid"] * 2 * mu * 9.81 / SPEED**2 - 1) < 0.15
    # nothing is left to do
    assert standoff.sweep(scene(), VALUES, "out/sweep", measure=measure) == table
