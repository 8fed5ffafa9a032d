#!/usr/bin/env bash
# All tests in one command, those of the documentation included. Needs Rust (cargo). ./lint.sh checks
# the source. STANDOFF_THOROUGH=1 draws all random samples, as .ci/run does; without it a twentieth to a half.
set -euo pipefail
cd "$(dirname "$0")"
# shared/ holds data that is too large for the repository; it lies beside the project where it is available
export STANDOFF_SHARED="${STANDOFF_SHARED:-$PWD/../shared}"
# tests that cannot run note it here, a line each
export STANDOFF_NOT_RUN="${CARGO_TARGET_DIR:-$PWD/target}/not-run.txt"
mkdir -p "$(dirname "$STANDOFF_NOT_RUN")"
: >"$STANDOFF_NOT_RUN"

say() { printf '\n== %s\n' "$*"; }

say "tests"
status=0
cargo test --locked --no-fail-fast || status=$?

say "not run"
tests=$(sed 's/: .*//' "$STANDOFF_NOT_RUN" | sort -u)
if [ -n "$tests" ]; then
    printf '%s tests were not run, or not in full: the shared data is absent (STANDOFF_SHARED)\n' \
        "$(wc -l <<<"$tests")"
    printf '%s\n' "$tests"
else
    echo "0 tests: all data was there"
fi
exit "$status"
