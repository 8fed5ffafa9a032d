#!/usr/bin/env bash
# Builds the Python package's wheel and tests it in a fresh virtual environment: `python/test.sh`. Needs Rust,
# Python 3.10 or newer, and a package index for maturin, NumPy and what the extra `test` names.
set -euo pipefail
cd "$(dirname "$0")"
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/../target}"
venv="$CARGO_TARGET_DIR/python-venv"
rm -rf "$venv" "$CARGO_TARGET_DIR/wheels"
python3 -m venv "$venv"
"$venv/bin/pip" install --quiet "maturin>=1.8,<2"
"$venv/bin/maturin" build --release --locked --strip --out "$CARGO_TARGET_DIR/wheels"
wheel=("$CARGO_TARGET_DIR"/wheels/standoff-*.whl)
"$venv/bin/pip" install --quiet "${wheel[0]}[test]"
# not there for every Python; without it the test of sweeps on Ray is skipped
"$venv/bin/pip" install --quiet ray || echo "Ray is not available: sweeps on it are not tested"
"$venv/bin/python" -m pytest -q "$@"
