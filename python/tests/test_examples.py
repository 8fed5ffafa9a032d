"""Every example runs, as a script and as a notebook, and keeps its own assertions."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1]
EXAMPLES = sorted((PACKAGE / "examples").glob("*.py"))
NOTEBOOKS = sorted((PACKAGE / "notebooks").glob("*.ipynb"))


def skip_without_gymnasium(name):
    if name == "environments" and importlib.util.find_spec("gymnasium") is None:
        pytest.skip("gymnasium is not installed: the example of environments is not run")


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda e: e.stem)
def test_example(example, tmp_path):
    skip_without_gymnasium(example.stem)
    told = subprocess.run([sys.executable, example], capture_output=True, text=True, cwd=tmp_path)
    assert told.returncode == 0, told.stdout + told.stderr
    assert told.stdout


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda n: n.stem)
def test_notebook(notebook, tmp_path):
    skip_without_gymnasium(notebook.stem)
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    cells = nbformat.read(notebook, as_version=4)
    nbformat.validate(cells)
    assert all(c.cell_type == "markdown" or not c.outputs for c in cells.cells)
    nbclient.NotebookClient(cells, timeout=600, resources={"metadata": {"path": tmp_path}}).execute()
    outputs = [o for c in cells.cells for o in c.get("outputs", [])]
    assert any(o.output_type == "stream" for o in outputs)
    for error in (o for o in outputs if o.output_type == "error"):
        # the package may have been built without the viewer's page, and says so
        assert error.ename == "OutputError" and "npm run build" in error.evalue
    if notebook.stem == "cloth_on_sphere":
        shown = [set(o.data) for o in outputs if o.output_type == "execute_result"]
        assert any("image/svg+xml" in s for s in shown)
        viewer = [o.data["text/html"] for o in outputs if "text/html" in o.get("data", {})]
        assert (len(viewer) == 1 and "<iframe" in viewer[0]) or any(o.output_type == "error" for o in outputs)


def test_notebooks_are_those_of_the_examples():
    script = PACKAGE.parent / "tools/notebooks.py"
    told = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True)
    assert told.returncode == 0, told.stderr
    assert [n.stem for n in NOTEBOOKS] == [e.stem for e in EXAMPLES]


def test_all_are_documented():
    page = (PACKAGE.parent / "docs/src/python.md").read_text(encoding="utf-8")
    assert len(EXAMPLES) == 12 and all(f"`{e.stem}`" in page for e in EXAMPLES)
