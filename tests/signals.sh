#!/bin/bash
# Signal handlers that call functions, at a thousand signals a second, on the interrupted stack and
# on alternate ones, on one thread and on four.
. "$(dirname "$0")/lib.sh"

build signals signals.c
instrumented signals
recorded signals
# A signal that interrupts a hook at its work is not recorded but counted.
handled=$(calls_of handle) skipped=$(summed skipped)
[[ $((handled + skipped)) -ge 4000 && $handled -gt 3600 ]] ||
    fail "$handled signals were recorded and $skipped calls skipped"
