#!/bin/bash
# Rust panics pass through ten instrumented frames and are caught by catch_unwind, alone, on four
# threads, and by join.
# needs: rustc gcc
. "$(dirname "$0")/lib.sh"

for optimise in 0 3; do
    build panics panics.rs -C opt-level=$optimise -g
    instrumented panics
    recorded panics
    # 6,000 rounds and the one that nobody catches
    equal "calls of descend" "$(calls_of descend)" $((6001 * 11))
    equal "threads that panicked" "$(calls_by_part descend | wc -l)" 6
done
