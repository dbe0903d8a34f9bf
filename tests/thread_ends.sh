#!/bin/bash
# Threads that end by pthread_exit and by cancellation, with cleanup handlers in ten frames.
. "$(dirname "$0")/lib.sh"

build thread_ends thread_ends.c
instrumented thread_ends
recorded thread_ends
equal "calls of descend" "$(calls_of descend)" $((150 * 11))
equal "calls of clean" "$(calls_of clean)" $((150 * 11))
equal "calls of destroy" "$(calls_of destroy)" 150
