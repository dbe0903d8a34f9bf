#!/bin/bash
# exit() while other threads are deep in calls: what returns afterwards counts as live. A thread that was
# stopped in a hook may be off by that one call (docs/agent.md).
. "$(dirname "$0")/lib.sh"

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
            grinder --mode=summary traces/*.bin >summary 2>problems || true
            awk '$1 ~ /^[0-9]+$/ && / (holds|BROKEN) / {
                threads++
                off = $2 - $3 - $4 - $5
                if (off < -1 || off > 1)
                    print
            }
            END { if (threads != 9) print threads " threads" }' summary >off
            equal "threads off by more than one" "$(<off)" ""
        done
    done
done
