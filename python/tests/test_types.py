"""Type stubs: those of the package and of the compiled part, and the examples as their user."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mypy")
PACKAGE = Path(__file__).parents[1]


def check(*arguments, folder):
    # the package as it is installed, not as it lies here
    command = [sys.executable, "-m", *map(str, arguments)]
    told = subprocess.run(command, capture_output=True, text=True, cwd=folder, env={**os.environ, "MYPYPATH": ""})
    assert told.returncode == 0, told.stdout + told.stderr


def test_package(tmp_path):
    check("mypy", "--strict", "--config-file", PACKAGE / "pyproject.toml", "-p", "standoff", folder=tmp_path)


def test_examples_are_typed(tmp_path):
    examples = sorted((PACKAGE / "examples").glob("*.py"))
    check("mypy", "--strict", "--config-file", PACKAGE / "pyproject.toml", *examples, folder=tmp_path)


def test_stubs_of_the_compiled_part(tmp_path):
    # the compiled module lists its names, which its stub need not
    (tmp_path / "allowed").write_text("standoff._standoff.__all__\n")
    check("mypy.stubtest", "standoff._standoff", "--allowlist", "allowed", folder=tmp_path)
