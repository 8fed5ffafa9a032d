"""The viewer of a run, from Python."""

import json
import shutil
import urllib.request

import pytest
from scenes import blocks

import standoff


def test_a_folder_without_a_run_is_refused(tmp_path):
    with pytest.raises(standoff.OutputError, match="holds no run") as caught:
        standoff.view(tmp_path)
    assert caught.value.path == tmp_path


def test_the_viewer_serves_a_run(tmp_path):
    standoff.run(blocks(time={"step": 0.01, "end": 0.02}), tmp_path / "run")
    try:
        viewer = standoff.view(tmp_path / "run")
    except standoff.OutputError as error:
        # a package that was built without Node.js has no page, and says so
        assert "npm run build" in str(error) and shutil.which("npm") is None
        pytest.skip("the package was built without the viewer's page")
    with viewer:
        assert viewer.url.startswith("http://127.0.0.1:")
        assert viewer.url in viewer._repr_html_()
        with urllib.request.urlopen(viewer.url + "api/run") as answer:
            assert json.load(answer)["frames"][-1] == 2
    with pytest.raises(OSError):
        urllib.request.urlopen(viewer.url + "api/run")
