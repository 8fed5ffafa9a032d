"""The viewer of a run, from Python."""

import gc
import json
import shutil
import urllib.request
from pathlib import Path

import pytest
from scenes import blocks

import standoff


def test_a_folder_without_a_run_is_refused(tmp_path):
    with pytest.raises(standoff.OutputError, match="holds no run") as caught:
        standoff.view(tmp_path)
    assert caught.value.path == tmp_path


def has_page(shows):
    """What `shows` gives, unless the package was built without Node.js: then it has no page, and says so."""
    try:
        return shows()
    except standoff.OutputError as error:
        assert "npm run build" in str(error) and shutil.which("npm") is None
        pytest.skip("the package was built without the viewer's page")


def test_the_viewer_serves_a_run(tmp_path):
    standoff.run(blocks(time={"step": 0.01, "end": 0.02}), tmp_path / "run")
    viewer = has_page(lambda: standoff.view(tmp_path / "run"))
    with viewer:
        assert viewer.url.startswith("http://127.0.0.1:")
        assert viewer.url in viewer._repr_html_()
        with urllib.request.urlopen(viewer.url + "api/run") as answer:
            assert json.load(answer)["frames"][-1] == 2
    with pytest.raises(OSError):
        urllib.request.urlopen(viewer.url + "api/run")


def test_a_simulation_shows_itself_without_a_folder(tmp_path):
    simulation = standoff.Simulation(blocks(time={"step": 0.01, "end": 0.03}))
    with has_page(simulation.view) as viewer:
        simulation.run()
        with urllib.request.urlopen(viewer.url + "api/run") as answer:
            assert json.load(answer)["frames"] == [0, 1, 2, 3]
        folder = Path(viewer.folder)
        assert folder.is_dir()
        [file] = simulation.export(tmp_path / "new" / "run.html")
        del simulation
        gc.collect()
        assert folder.is_dir(), "the viewer still shows it"
    del viewer
    gc.collect()
    assert not folder.exists()
    text = file.read_text(encoding="utf-8")
    assert all(f'id="api/frame/{step}"' in text for step in range(4))

    late = standoff.Simulation(blocks(time={"step": 0.01, "end": 0.03}))
    late.step()
    with pytest.raises(standoff.OutputError):
        late.view()


def test_a_recorded_simulation_shows_its_folder(tmp_path):
    simulation = standoff.Simulation(blocks(time={"step": 0.01, "end": 0.03}))
    simulation.record(tmp_path / "run")
    simulation.run()
    with has_page(simulation.view) as viewer:
        assert viewer.folder == str(tmp_path / "run")


def test_a_file_keeps_its_limit(tmp_path):
    standoff.run(blocks(time={"step": 0.01, "end": 0.04}), tmp_path / "run")
    [whole] = has_page(lambda: standoff.export(tmp_path / "run", tmp_path / "run.html"))
    below = whole.stat().st_size / 1e6 - 1e-4
    with pytest.warns(UserWarning, match="3 of 5 frames"):
        standoff.export(tmp_path / "run", whole, force=True, limit_mb=below)
    assert whole.stat().st_size < 1e6 * below
    with pytest.raises(standoff.OutputError, match="more than the limit of 0.1 MB"):
        standoff.export(tmp_path / "run", whole, force=True, limit_mb=0.1)
