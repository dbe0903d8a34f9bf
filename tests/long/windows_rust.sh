#!/bin/bash
# Rust programs for Windows: panics caught by catch_unwind on five threads.
# needs: wine wine64 gcc-mingw-w64-x86-64 rustc:amd64 libstd-rust-dev-windows
. "$(dirname "$0")/../lib.sh"
. "$TESTS/wine.sh"

# The standard library for Windows is Debian's, and so must the compiler be.
rustc=/usr/bin/rustc
windows_tools
wine_begins
AGENT=$WINDOWS/hooks/hooks.dll

# Rust's file names in messages are the same everywhere; lines end as they do here.
normalise()
{
    sed -i 's/\r$//' "$1"
}

for optimise in 0 3; do
    "$rustc" --target x86_64-pc-windows-gnu -C opt-level=$optimise "$TESTS/programs/panics.rs" \
        -o native/panics.exe
    instrumented panics.exe
    recorded panics.exe
    # 6,000 rounds and the one that nobody catches
    equal "calls of descend" "$(calls_of descend)" $((6001 * 11))
    equal "threads that panicked" "$(calls_by_part descend | wc -l)" 6
done
