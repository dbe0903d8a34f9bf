#!/bin/bash
# Times of Windows programs are true: what functions that wait busily measure of themselves is what
# the trace says, with adaptive and exact timing, of both services, also of a tail call, and of a
# call that is slow once in a million. With --timing=none there are counts alone. Status says of
# timing what the trace says.
# needs: wine wine64 gcc-mingw-w64-x86-64
# alone: what it times would wait for the others
. "$(dirname "$0")/lib.sh"
. "$TESTS/wine.sh"

windows_tools
wine_begins
AGENT=$WINDOWS/hooks/hooks.dll
x86_64-w64-mingw32-gcc-posix -O2 -g -static "$TESTS/programs/spins.c" -o native/spins.exe
instrumented spins.exe 2>notes

# recorded TIMING SERVICE…
recorded()
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
    contains summary "^  timing    ${timing/samples/adaptive}" # Windows programs take no samples
    equal "calls of spin_1us" "$(calls_of spin_1us)" 100000
    equal "calls of rarely_slow" "$(calls_of rarely_slow)" 1000000
}

# timed TIMING SERVICE…
timed()
{
    recorded "$@"
    while read -r name ns; do
        near "$name, $1" "$(self_ns "$name")" "$ns" "$([[ $name == rarely_slow ]] && echo 30 || echo 15)"
    done < <(tr -d '\r' <instrumented.stderr)
}

measured timed exact "$BUILD/service/call_trace_service"
measured timed adaptive "$BUILD/service/call_trace_service"
measured timed samples "$BUILD/service/call_trace_service"
measured timed adaptive wine "$WINDOWS/service/call_trace_service.exe"

gcc -O2 -D_GNU_SOURCE -I"$TESTS/.." -o untimed "$TESTS/campaigns/untimed.c"
for service in "$BUILD/service/call_trace_service" "wine $WINDOWS/service/call_trace_service.exe"; do
    # shellcheck disable=SC2086
    recorded none $service
    ./untimed traces/*.bin >figures
    contains figures ' 0 timed, 0 with times, 0 past their turn, '
done
