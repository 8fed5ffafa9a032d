#!/usr/bin/env bash
# All tests, in one command: format, lints, documentation, licences and sources, Rust and doc tests.
# Needs Rust (cargo) and a C compiler; installs cargo-deny where it is missing.
set -euo pipefail
cd "$(dirname "$0")"
# shared/ (oracle values, reference runs) lies beside the project where it is available
export STANDOFF_SHARED="${STANDOFF_SHARED:-$PWD/../shared}"

say() { printf '\n== %s\n' "$*"; }

say "format"
cargo fmt --all --check
say "lints"
cargo clippy --workspace --all-targets --locked -- -D warnings
say "documentation"
RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked
say "licences, bans, sources"
command -v cargo-deny >/dev/null || cargo install cargo-deny --version 0.20.2 --locked
cargo deny --locked check licenses bans sources
say "tests"
cargo test --workspace --locked --no-fail-fast
