#!/bin/bash
# A signal at any instruction of a call, the hooks' own included, whose handler makes calls and
# returns, or leaves by longjmp: no call is counted twice, none is lost. EVERY=1: at each instruction.
# seconds: 30
. "$(dirname "$0")/lib.sh"

printed()
{
    awk -v name="$1" '$1 == name { print $2 }' instrumented.stdout
}

build interrupted interrupted.c
instrumented interrupted
for timing in exact adaptive; do
    for how in return leave "return nested" "leave nested"; do
        rm -rf traces
        every=${EVERY:-3}
        [[ $how != *nested ]] || every=$((4 * every))
        # shellcheck disable=SC2086
        run instrumented "$BUILD/service/call_trace_service" start --timing="$timing" \
            --trace-dir="$work/traces" -- ./interrupted ${how% *} "$every" ${how#"${how% *}"}
        equal "status, $timing, $how" "$(<instrumented.status)" 0
        balanced
        rounds=$(printed rounds) most_left=0 skipped=$(summed skipped) calls=0 runs=0
        for function in leaf loop jump leap handle; do
            calls=$((calls + $(calls_of "$function"))) runs=$((runs + $(printed "$function")))
        done
        echo "$timing, $how: $rounds rounds, $runs bodies run, $calls calls recorded, $skipped skipped"
        by_copies || ((rounds * every > 200)) || fail "$timing, $how: $rounds rounds: not hooked?"
        ((skipped < rounds * 5)) || fail "$timing, $how: $skipped calls skipped in $rounds rounds"
        # what a handler leaves may have been counted without its body having been run
        [[ $how == return* ]] || most_left=$rounds
        ((calls + skipped >= runs && calls + skipped <= runs + most_left)) ||
            fail "$timing, $how: $calls calls and $skipped skipped, but $runs bodies were run"
    done
done
