#!/bin/bash
# A program ends as it always did, ten frames deep, and its trace is whole: exit, _exit, abort,
# signals, SIGKILL; in a thread and in a handler.
. "$(dirname "$0")/lib.sh"

build endings endings.c
instrumented endings
for how in return exit quick_exit _exit abort term segv kill; do
    recorded endings $how
    equal "$how: calls of descend" "$(calls_of descend)" 10
    equal "$how: calls of end" "$(calls_of end)" 1
done
# atexit handlers and destructors run after main and are recorded
recorded endings exit
equal "calls of fib" "$(calls_of fib)" $((177 + 67))
for where in thread handler; do
    recorded endings exit $where
    equal "$where: calls of descend" "$(calls_of descend)" 10
done
