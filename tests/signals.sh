#!/bin/bash
# Signal handlers that call functions, on the interrupted stack and on alternate ones, a thousand
# signals a second on one thread and as many as can be on four.
# seconds: 20
. "$(dirname "$0")/lib.sh"

build signals signals.c
instrumented signals
recorded signals
# A signal that interrupts a hook at its work is not recorded but counted.
handled=$(calls_of handle) skipped=$(summed skipped)
[[ $((handled + skipped)) -ge 20800 && $handled -gt 18000 ]] ||
    fail "$handled signals were recorded and $skipped calls skipped"
