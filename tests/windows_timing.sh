#!/bin/bash
# Times of Windows programs are true: what functions that wait busily measure of themselves is what
# the trace says, with both timings, of both services, also of a tail call, and of a call that is slow
# once in a million. Status says of timing what the trace says.
# needs: wine wine64 gcc-mingw-w64-x86-64
# alone: what it times would wait for the others
. "$(dirname "$0")/lib.sh"
. "$TESTS/wine.sh"

# near WHAT FOUND EXPECTED PERCENT
near()
{
    awk -v a="$2" -v b="$3" -v percent="$4" \
        'BEGIN { exit !(a > b * (1 - percent / 100) && a < b * (1 + percent / 100)) }' ||
        fail "$1: $2 ns, should be within $4% of $3"
}

# self_ns FUNCTION: as the summary has it
self_ns()
{
    awk -v name="$1" '$NF == name { print $2; exit }' summary
}

windows_tools
wine_begins
AGENT=$WINDOWS/hooks/hooks.dll
x86_64-w64-mingw32-gcc-posix -O2 -g -static "$TESTS/programs/spins.c" -o native/spins.exe
instrumented spins.exe 2>notes

# timed TIMING SERVICE…
timed()
{
    local timing=$1
    shift
    rm -rf traces
    timeout 60 "$@" spawn --timing="$timing" --trace-dir=traces
    run instrumented spins.exe
    equal "status with $timing timing" "$(<instrumented.status)" 0
    timeout 60 "$@" status >status
    timeout 60 "$@" stop >stopped
    contains status "^timing: $timing"
    balanced
    contains summary "^  timing    $timing"
    while read -r name ns; do
        near "$name, $timing" "$(self_ns "$name")" "$ns" "$([[ $name == rarely_slow ]] && echo 30 || echo 10)"
    done < <(tr -d '\r' <instrumented.stderr)
    equal "calls of spin_1us" "$(calls_of spin_1us)" 100000
    equal "calls of rarely_slow" "$(calls_of rarely_slow)" 1000000
}

timed exact "$BUILD/service/call_trace_service"
timed adaptive "$BUILD/service/call_trace_service"
timed adaptive wine "$WINDOWS/service/call_trace_service.exe"
