#!/bin/bash
# Every kind of argument and result, at every level of optimisation, from gcc and clang.
# needs: clang
. "$(dirname "$0")/lib.sh"

for CC in gcc clang; do
    for optimise in -O0 -O1 -O2 -O3 -Os; do
        build conventions conventions.c $optimise -Wno-psabi
        instrumented conventions
        recorded conventions
        equal "calls of large_result" "$(calls_of large_result)" 3
        equal "calls of compare" "$(calls_of compare)" \
            "$(awk '/comparisons/ { print $1 }' native.stdout)"
    done
done
