#!/bin/bash
# A million frames at once, on a thread with a big stack and on the main thread.
. "$(dirname "$0")/lib.sh"

build deep deep.c
instrumented deep
recorded deep
equal "calls of descend" "$(calls_of descend)" 3000000
