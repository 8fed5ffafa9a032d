"""The Python blocks of the handbook run as they are printed, in a folder with the runs that they read."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

import standoff

DOCS = Path(__file__).parents[2] / "docs" / "src"


def blocks(page: Path, language: str) -> list[str]:
    text = page.read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


PAGES = sorted(DOCS.rglob("*.md"))
BLOCKS = [(page, k, code) for page in PAGES for k, code in enumerate(blocks(page, "python"))]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """`out/ball`, a ball that falls for a hundred steps, and `out/puck` of the page getting-started.md."""
    folder = tmp_path_factory.mktemp("docs")
    ball = {"name": "ball", "shape": {"kind": "sphere", "radius": 0.1, "layers": 1}, "translate": [0, 0.2, 0]}
    scene = standoff.Scene(ground=0.0, time={"step": 0.01, "end": 1.0}, objects=[ball])
    standoff.run(scene, folder / "out" / "ball")
    [puck] = [t for t in blocks(DOCS / "getting-started.md", "toml") if 'name = "puck"' in t]
    (folder / "puck.toml").write_text(puck, encoding="utf-8")
    standoff.run(standoff.Scene.load(folder / "puck.toml"), folder / "out" / "puck")
    return folder


def test_the_handbook_has_python():
    assert {"python.md", "getting-started.md", "results.md"} <= {page.name for page, _, _ in BLOCKS}


@pytest.mark.parametrize(("page", "number", "code"), BLOCKS, ids=[f"{p.stem}-{k}" for p, k, _ in BLOCKS])
def test_block(folder, page, number, code):
    needed = re.findall(r"^import (\w+)", code, re.MULTILINE)
    missing = [name for name in needed if importlib.util.find_spec(name) is None]
    if missing:
        pytest.skip(f"{', '.join(missing)} is not installed")
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=folder, timeout=600)
    if "standoff.view(" in code and told.returncode:
        # the package may have been built without the viewer's page, and says so
        assert "npm run build" in told.stderr, told.stderr
        return
    assert told.returncode == 0, told.stderr
    if "out/puck" in code:
        [printed] = re.findall(r"This prints ([\d.]+) m\.", page.read_text(encoding="utf-8"))
        assert f"{float(told.stdout):.3f}" == printed
