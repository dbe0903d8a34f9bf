#!/bin/bash
# Signal handlers that call functions, at a thousand signals a second, on the interrupted stack and
# on alternate ones, on one thread and on four.
. "$(dirname "$0")/lib.sh"

build signals signals.c
instrumented signals
recorded signals
handled=$(calls_of handle)
[[ $handled -ge 4000 ]] || fail "only $handled signals were recorded"
