"""Many runs of one scene."""

import json

import pytest
from scenes import blocks

import standoff


def lowest(folder):
    """A figure of a run's own."""
    resumed = standoff.Simulation.resume(folder)
    return {"lowest": float(resumed["block"].positions[:, 1].min())}


VALUES = {"materials.foam.young_modulus": [1e5, 4e5], "friction.coefficient": [0.1, 0.5]}


def scene():
    output = {"checkpoint_every": 3}
    time = {"step": 0.01, "end": 0.06}
    return blocks(time=time, output=output, materials={"foam": {}}, material="foam")


def test_a_sweep_and_its_resumption(tmp_path):
    table = standoff.sweep(scene(), VALUES, tmp_path, measure=lowest, processes=2)
    assert [r["friction.coefficient"] for r in table] == [0.1, 0.5, 0.1, 0.5]
    assert all(r["error"] is None and r["step"] == 6 and r["lowest"] > 0 for r in table)
    frames = lambda k: [p.read_bytes() for p in sorted((tmp_path / k / "frames").iterdir())]
    # as the run by itself
    alone = tmp_path / "alone"
    standoff.run(scene().with_overrides({"friction.coefficient": 0.5}), alone)
    assert frames("alone") == frames("0001")
    # a variant that was interrupted is resumed, the others are read
    expected = frames("0002")
    (tmp_path / "0002" / "result.json").unlink()
    for step in (4, 5, 6):
        (tmp_path / "0002" / "frames" / f"{step:06}.vtu").unlink()
    lines = (tmp_path / "0002" / "stats.jsonl").read_text().splitlines(keepends=True)
    (tmp_path / "0002" / "stats.jsonl").write_text("".join(lines[:3]))
    for checkpoint in (tmp_path / "0002" / "checkpoints").iterdir():
        if checkpoint.name > "000003":
            checkpoint.unlink()
    again = standoff.sweep(scene(), VALUES, tmp_path, measure=lowest, processes=1)
    assert again == table and frames("0002") == expected
    with pytest.raises(ValueError, match="other values"):
        standoff.sweep(scene(), [{"friction.coefficient": 0.2}], tmp_path)


def test_a_variant_that_fails_is_a_row(tmp_path):
    values = [{"time.step": -1.0}, {"time.step": 0.02}]
    table = standoff.sweep(scene(), values, tmp_path, processes=1)
    assert "time.step" in table[0]["error"] and table[1]["error"] is None
    assert json.loads((tmp_path / "0001" / "result.json").read_text()) == table[1]


def test_on_ray(tmp_path):
    ray = pytest.importorskip("ray")
    ray.init(num_cpus=2, log_to_driver=False)
    try:
        table = standoff.sweep(scene(), VALUES, tmp_path, ray=True)
    finally:
        ray.shutdown()
    assert [r["step"] for r in table] == [6] * 4
