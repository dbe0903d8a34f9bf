#!/bin/bash
# exit() while other threads are deep in calls: what returns afterwards counts as live, and the grinder
# need not derive it. Only of a thread that was stopped in a hook it may have to (docs/agent.md).
# seconds: 15
. "$(dirname "$0")/lib.sh"

derived=
for how in "" -static; do
    # shellcheck disable=SC2086
    build amid_calls amid_calls.c $how
    instrumented amid_calls
    for timing in adaptive exact; do
        run native ./amid_calls
        for i in 1 2 3; do
            rm -rf traces
            run instrumented "$BUILD/service/call_trace_service" start --timing=$timing \
                --trace-dir="$work/traces" -- ./amid_calls
            compare_runs "amid_calls, run $i"
            balanced
            if grep "made before the fork" summary; then
                fail "returns after exit() are taken for a fork's"
            fi
            derived+=$'\n'$(awk '$1 ~ /^[0-9]+$/ && $(NF - 1) == "derived"' summary)
        done
    done
done
# one of a hundred threads; three were seen, and on a busy machine four
[[ $(grep -c . <<<"$derived") -le 8 ]] || fail "live had to be derived:$derived"
