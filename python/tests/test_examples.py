"""Every example runs and keeps its own assertions."""

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda e: e.stem)
def test_example(example, tmp_path):
    told = subprocess.run([sys.executable, example], capture_output=True, text=True, cwd=tmp_path)
    assert told.returncode == 0, told.stdout + told.stderr
    assert told.stdout


def test_all_are_documented():
    page = (Path(__file__).parents[2] / "docs/src/python.md").read_text()
    assert len(EXAMPLES) == 6 and all(f"`{e.name}`" in page for e in EXAMPLES)
