#!/usr/bin/env bash
# Packs a program that was built as `cargo build --release`: `packaging/archive.sh PROGRAM TARGET FOLDER` writes
# standoff-VERSION-TARGET.tar.gz with the stripped program, licences, manual pages and completions, its debug information apart,
# and a checksum of each. On Linux and macOS; elsewhere the debug information is a file of its own already.
set -euo pipefail
program=$(realpath "$1") target=$2 out=$3
cd "$(dirname "$0")/.."
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -1)
name="standoff-$version-$target"
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT
mkdir -p "$out" "$work/$name/completions"
out=$(realpath "$out")
suffix=""
case "$target" in
*windows*)
    suffix=.exe
    cp "$program" "$work/$name/standoff.exe"
    [ -f "${program%.exe}.pdb" ] && cp "${program%.exe}.pdb" "$work/"
    ;;
*apple*)
    dsymutil "$program" -o "$work/standoff.dSYM"
    strip -x -o "$work/$name/standoff" "$program"
    ;;
*)
    objcopy --only-keep-debug --compress-debug-sections=zlib "$program" "$work/standoff.debug"
    strip -o "$work/$name/standoff" "$program"
    (cd "$work" && objcopy --add-gnu-debuglink=standoff.debug "$name/standoff")
    ;;
esac
cp README.md LICENSE-MIT LICENSE-APACHE CHANGELOG.md "$work/$name/"
"$work/$name/standoff$suffix" man "$work/$name/man" >/dev/null
for shell in bash zsh fish powershell; do
    "$work/$name/standoff$suffix" completions "$shell" >"$work/$name/completions/standoff.$shell"
done
tar -C "$work" -czf "$out/$name.tar.gz" "$name"
rm -r "${work:?}/${name:?}"
[ -z "$(ls "$work")" ] || tar -C "$work" -czf "$out/$name-debug.tar.gz" $(ls "$work")
cd "$out"
for file in "$name"*.tar.gz; do
    # macOS has the second of these
    { sha256sum "$file" 2>/dev/null || shasum -a 256 "$file"; } >"$file.sha256"
done
ls -l "$name"*.tar.gz
