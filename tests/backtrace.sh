#!/bin/bash
# backtrace() walks through instrumented frames: every caller's name, in order, none twice.
. "$(dirname "$0")/lib.sh"

for CC in gcc clang; do
    build backtraces backtraces.c -rdynamic
    instrumented backtraces
    recorded backtraces
    contains instrumented.stdout '^plain: print_callers innermost( beta alpha){6} main$'
    equal "calls of print_callers" "$(calls_of print_callers)" 4
done
