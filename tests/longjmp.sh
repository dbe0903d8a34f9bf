#!/bin/bash
# longjmp leaves nested frames, siglongjmp leaves handlers, also one that came at any instruction.
. "$(dirname "$0")/lib.sh"

build jumps jumps.c
instrumented jumps
recorded jumps
# nest enters itself to the eighth level each time; a jump to a level returns from there
equal "calls of nest" "$(calls_of nest)" 8000
equal "calls of raise_below" "$(calls_of raise_below)" 120000
# a signal that interrupts a hook at its work is not recorded but counted
[[ $(($(calls_of jump_from_handler) + $(summed skipped))) -ge 10600 ]] ||
    fail "handlers were not recorded"

# Stacks that were left by a jump have the time that the summary says, however it was estimated.
grinder --mode=profile --output-format=folded --output-file=folded traces/*.bin
equal "nanoseconds of all stacks" "$(awk '{ sum += $NF } END { printf "%d", sum }' folded)" \
    "$(awk '/^totals:/ { print $2 }' summary)"
