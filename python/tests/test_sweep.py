"""Many runs of one scene."""

import json
import subprocess
import sys
from pathlib import Path

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
    # a run that ended before its row was written is not run again
    (tmp_path / "0003" / "result.json").unlink()
    assert standoff.sweep(scene(), VALUES, tmp_path, measure=lambda folder: lowest(folder), processes=1) == table
    with pytest.raises(ValueError, match="other values"):
        standoff.sweep(scene(), [{"friction.coefficient": 0.2}], tmp_path)
    with pytest.raises(ValueError, match="another scene"):
        standoff.sweep(scene().with_steps(7), VALUES, tmp_path)


INTERRUPTED = """
import os, signal, sys
import standoff
sys.path.insert(0, sys.argv[2])
from test_sweep import VALUES, lowest, scene

def interrupt(folder):
    # as Ctrl-C does while other runs wait
    os.kill(os.getpid(), signal.SIGINT)
    return lowest(folder)

if __name__ == "__main__":
    try:
        standoff.sweep(scene(), VALUES, sys.argv[1], measure=interrupt, processes=1)
    except KeyboardInterrupt:
        print("interrupted")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="a process cannot send itself Ctrl-C there")
def test_an_interrupted_sweep_is_continued(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(INTERRUPTED)
    arguments = [sys.executable, script, tmp_path / "sweep", Path(__file__).parent]
    told = subprocess.run(arguments, capture_output=True, text=True, timeout=120)
    assert told.stdout == "interrupted\n", told
    done = sorted(p.parent.name for p in (tmp_path / "sweep").glob("*/result.json"))
    assert len(done) < 4
    table = standoff.sweep(scene(), VALUES, tmp_path / "sweep", measure=lowest, processes=1)
    whole = standoff.sweep(scene(), VALUES, tmp_path / "whole", measure=lowest, processes=2)
    drop = lambda rows: [{k: v for k, v in row.items() if k != "folder"} for row in rows]
    assert drop(table) == drop(whole)


def test_a_variant_that_fails_is_a_row(tmp_path):
    values = [{"time.step": -1.0}, {"time.step": 0.02}]
    table = standoff.sweep(scene(), values, tmp_path, processes=1)
    assert "time.step" in table[0]["error"] and table[1]["error"] is None
    assert json.loads((tmp_path / "0001" / "result.json").read_text()) == table[1]


def test_on_ray(tmp_path):
    ray = pytest.importorskip("ray")

    def measured(folder):
        # like a function of a notebook, which the nodes of Ray cannot import
        import standoff

        return {"lowest": float(standoff.Simulation.resume(folder)["block"].positions[:, 1].min())}

    ray.init(num_cpus=2, log_to_driver=False)
    try:
        # Ray is used because it is initialised
        table = standoff.sweep(scene(), VALUES, tmp_path / "ray", measure=measured)
        (tmp_path / "ray" / "0001" / "result.json").unlink()
        again = standoff.sweep(scene(), VALUES, tmp_path / "ray", measure=measured, ray=True)
    finally:
        ray.shutdown()
    assert [r["step"] for r in table] == [6] * 4 and again == table
    alone = standoff.sweep(scene(), VALUES, tmp_path / "processes", measure=lowest)
    drop = lambda rows: [{k: v for k, v in row.items() if k != "folder"} for row in rows]
    assert drop(alone) == drop(table)
