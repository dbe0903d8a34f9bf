#!/bin/bash
# Functions that go on in another, which counts as a leaf, return: nothing of them is counted as unwound. A
# jump past endbr64 is a tail call; what goes on further behind is no call.
. "$(dirname "$0")/lib.sh"

for compiler in '-O2' '-O2 -fno-pie -no-pie'; do
    # shellcheck disable=SC2086
    build joined joined.c joined_amd64.S $compiler
    for how in prologue copy; do
        instrumented joined --how=$how
        for timing in adaptive exact; do
            same joined
            rm -rf traces
            run instrumented "$BUILD/service/call_trace_service" start --timing=$timing \
                --trace-dir="$work/traces" -- ./joined
            compare_runs "joined, $how, $timing"
            balanced
            equal "unwound, $how, $timing" "$(summed unwound)" 0
            for function in joins joins_at_times joins_deeper all; do
                equal "calls of $function, $how, $timing" "$(calls_of $function)" 1000
            done
            equal "calls of leaf, $how, $timing" "$(calls_of leaf)" 2500
        done
    done
    equal "why joins is not copied" "$(instrument --list --how=copy native/joined |
        awk -F '\t' '$5 == "joins" { print $4, $6 }')" "copied "
done
