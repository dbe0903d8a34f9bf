#!/bin/bash
# Signal handlers that call functions, on the interrupted stack and on alternate ones, a thousand
# signals a second on one thread, as many as can be on four, and in threads that have just begun.
# seconds: 20
. "$(dirname "$0")/lib.sh"

build signals signals.c
instrumented signals
recorded signals
# A signal that interrupts a hook at its work is not recorded but counted, be it the first of its
# thread, which makes the thread's state.
handled=$(<instrumented/handled) recorded=$(calls_of handle)
outside=$(sed -n 's|^ *skipped  *\([0-9]*\) calls in threads.*|\1|p' summary)
skipped=$(($(summed skipped) + ${outside:-0}))
((recorded <= handled && recorded + skipped >= handled && recorded > 18000)) ||
    fail "of $handled signals $recorded were recorded, and $skipped calls skipped"
