#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The installed library serves a program that knows nothing of the source tree: the example is built
# with what pkg-config says and run, and the shared object exports the header's names only.
# Usage: chash_install.sh BUILD_DIRECTORY EXAMPLE.c
set -eu

build=$1
example=$2
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT

DESTDIR=$root meson install -C "$build" --no-rebuild --tags chash,devel >"$root/log" 2>&1 || {
	cat "$root/log"
	exit 1
}
pc=$(find "$root" -name guideway-chash.pc)
[ -n "$pc" ] || { echo "no guideway-chash.pc was installed"; exit 1; }
export PKG_CONFIG_PATH="${pc%/*}" PKG_CONFIG_SYSROOT_DIR="$root"
flags=$(pkg-config --cflags --libs guideway-chash)
library=$(find "$root" -name 'libguideway-chash.so')

# shellcheck disable=SC2086
cc -std=c11 -pedantic -Wall -Wextra -Werror -o "$root/example" "$example" $flags
LD_LIBRARY_PATH=${library%/*} "$root/example" alice bob >"$root/answers"
[ "$(wc -l <"$root/answers")" -eq 2 ]
grep -Eq '^alice 10\.0\.0\.[123]:80$' "$root/answers"
grep -Eq '^bob 10\.0\.0\.[123]:80$' "$root/answers"

lines=$(wc -l <"$example")
[ "$lines" -le 40 ] || { echo "the example has grown to $lines lines"; exit 1; }

exported=$(nm -D --defined-only "$library" | awk '$2 == "T" || $2 == "D" || $2 == "B" || $2 == "R" {sub(/@.*/, "", $3); print $3}' | sort)
header=$(find "$root" -path '*/guideway/chash.h')
for name in $exported; do
	grep -q "\b$name(" "$header" || { echo "$name is exported and not declared"; exit 1; }
done
declared=$(grep -Eo '\bgw_chash_[a-z0-9_]+\(' "$header" | tr -d '(' | sort -u)
for name in $declared; do
	echo "$exported" | grep -qx "$name" || { echo "$name is declared and not exported"; exit 1; }
done
echo "chash_install: example built and run, $(echo "$exported" | wc -l) names exported"
