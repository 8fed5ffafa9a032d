#!/usr/bin/env bash
# All checks of the source without running it: format, lock files, lints, documentation; circles of imports, long code, language,
# links and measured figures where Python is installed, spelling where typos is, licences and sources where cargo-deny is. Needs Rust
# (cargo).
set -euo pipefail
cd "$(dirname "$0")"

say() { printf '\n== %s\n' "$*"; }

say "format"
cargo fmt --all --check
say "lock files"
cargo metadata --manifest-path fuzz/Cargo.toml --locked --format-version 1 >/dev/null
say "lints"
# with what is compiled for graphics processors alone, and with the Python package, which needs Python
packages=(--workspace)
if ! command -v python3 >/dev/null; then
    packages+=(--exclude standoff-python)
    echo "Python package not checked: python3 is not installed"
fi
cargo clippy "${packages[@]}" --features standoff-cli/gpu,standoff/gpu --all-targets --locked -- -D warnings
say "documentation"
RUSTDOCFLAGS="-D warnings" cargo doc --workspace --exclude standoff-python --features standoff-cli/gpu,standoff/gpu --no-deps --locked
say "licences, bans, sources"
if command -v cargo-deny >/dev/null; then
    cargo deny --locked check licenses bans sources
else
    echo "not checked: cargo-deny is not installed (.ci/run installs it)"
fi
say "structure"
if command -v python3 >/dev/null; then
    python3 tools/import_circles.py
    python3 tools/long_code.py
    python3 tools/test_tools.py
else
    echo "not checked: python3 is not installed"
fi
say "language"
if command -v python3 >/dev/null; then
    python3 tools/prose.py
    python3 tools/gallery.py --check
    python3 tools/results.py --check
    python3 tools/notebooks.py --check
    python3 tools/scene_keys.py --check
    python3 tools/scene_index.py --check
    python3 tools/plot_theory.py --check
else
    echo "not checked: python3 is not installed"
fi
if command -v typos >/dev/null; then
    typos
else
    echo "spelling not checked: typos is not installed (.ci/run installs it)"
fi
