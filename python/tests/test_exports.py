"""Frames as arrays, other formats, pictures and curves."""

import shutil
from pathlib import Path

import numpy as np
import pytest
from scenes import blocks

import standoff


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs") / "run"
    standoff.run(blocks(time={"step": 0.01, "end": 0.08}, output={"every": 2}), folder)
    return folder


def test_frames(run):
    frames = standoff.frames(run)
    assert frames.steps == [0, 2, 4, 6, 8] and len(frames) == 5
    assert frames.times == pytest.approx([0, 0.02, 0.04, 0.06, 0.08])
    last = standoff.Simulation.resume(run)
    assert (frames[-1]["positions"] == last.positions).all()
    assert (frames[-1]["velocity"] == last.velocities).all()
    assert (frames.array("positions")[-1] == last.positions).all()
    block = frames.array("velocity", body="block")
    assert block.shape == (5, 27, 3) and (block[0] == 0).all() and (block[-1] == last["block"].velocities).all()
    assert np.abs(frames[-1]["contact_force"]).max() > 0
    assert [f["positions"].shape for f in frames[1:3]] == [(36, 3)] * 2
    with pytest.raises(KeyError, match="charge"):
        frames.array("charge")
    with pytest.raises(IndexError):
        frames[5]


@pytest.mark.parametrize("name", ["a.usda", "a.glb"])
def test_export(run, tmp_path, name):
    assert standoff.export(run, tmp_path / name) == [tmp_path / name]
    assert (tmp_path / name).stat().st_size > 1000
    with pytest.raises(standoff.OutputError, match="exists") as caught:
        standoff.export(run, tmp_path / name)
    assert caught.value.path == tmp_path / name
    standoff.export(run, tmp_path / name, force=True)


def test_export_of_a_sequence(run, tmp_path):
    files = standoff.export(run, tmp_path / "a.obj")
    assert [f.name for f in files] == ["a_000000.obj", "a_000008.obj"]
    with pytest.raises(standoff.OutputError, match="unknown format"):
        standoff.export(run, tmp_path / "a.xyz")
    with pytest.raises(standoff.OutputError, match="holds no run"):
        standoff.export(tmp_path, tmp_path / "b.obj")


def test_render(run, tmp_path):
    files = standoff.render(run, tmp_path / "pictures", size=(64, 48), direction=(1, 0.5, 0))
    assert [f.name for f in files] == [f"{k:06}.png" for k in (0, 2, 4, 6, 8)]
    assert all(f.read_bytes().startswith(b"\x89PNG") for f in files)
    with pytest.raises(standoff.OutputError, match="exists"):
        standoff.render(run, tmp_path / "pictures", size=(64, 48))
    with pytest.raises(ValueError, match="size"):
        standoff.render(run, tmp_path / "pictures", size=(1, 48))
    with pytest.raises(ValueError, match="direction"):
        standoff.render(run, tmp_path / "pictures", direction=(0, 0, 0))
    if shutil.which("ffmpeg"):
        assert standoff.render(run, tmp_path / "film.gif", size=(64, 48)) == [tmp_path / "film.gif"]


def test_plot(run, tmp_path):
    curves = standoff.plot(run)
    assert curves.svg.startswith("<svg") and curves._repr_svg_() == curves.svg
    standoff.plot(run, tmp_path / "curves.svg")
    assert Path(tmp_path / "curves.svg").read_text(encoding="utf-8") == curves.svg
    with pytest.raises(standoff.OutputError, match="exists"):
        standoff.plot(run, tmp_path / "curves.svg")


def test_curves_are_svg_and_their_folder_is_created(tmp_path):
    standoff.run(blocks(time={"step": 0.01, "end": 0.02}), tmp_path / "run")
    with pytest.raises(standoff.OutputError, match=r"ends with \.svg") as caught:
        standoff.plot(tmp_path / "run", tmp_path / "curves.png")
    assert caught.value.path == tmp_path / "curves.png" and not (tmp_path / "curves.png").exists()
    drawn = standoff.plot(tmp_path / "run", tmp_path / "a" / "b" / "curves.svg")
    assert (tmp_path / "a" / "b" / "curves.svg").read_text(encoding="utf-8") == drawn.svg
