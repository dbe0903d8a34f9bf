#!/bin/bash
# How much memory recording takes at most: a thread at rest, a calling context, a live call. Pages
# and addresses are counted, which no load of the machine changes.
# alone: it looks at what the system has
. "$(dirname "$0")/lib.sh"

build footprint footprint.c
instrumented footprint

timing=

# more_of NODE_LIMIT WHAT NUMBER: sets number, and what the recorded program has more than the native
# one of each of them, in bytes: share (of memory), space (of addresses)
more_of()
{
    local limit=$1 native recorded
    shift
    run native ./footprint "$@"
    equal "status of $* native" "$(<native.status)" 0
    rm -rf traces
    run instrumented "$BUILD/service/call_trace_service" start $timing --quiet --node-limit="$limit" \
        --trace-dir="$work/traces" -- ./footprint "$@"
    equal "status of $* recorded" "$(<instrumented.status)" 0
    read -ra native <native.stdout
    read -ra recorded <instrumented.stdout
    number=${recorded[0]}
    share=$(((recorded[2] - native[2]) / number))
    space=$(((recorded[3] - native[3]) / number))
    echo "$*: $share bytes of memory, $space of addresses for each"
}

# within WHAT FOUND MOST: more than nothing, and no more than that
within()
{
    ((0 < $2 && $2 <= $3)) || fail "$1: $2 bytes, expected 1 to $3"
}

# state 12 KiB, records 32, a block of contexts 4, one of stack depths 4, a page of table 4; 8 MiB of
# addresses for the table; of waits, a block and a page of table. Where there are copies, a page of the
# shadow of its stack of 64 KiB.
[[ ${UMBRA_TEST_HOW:-auto} == prologue ]] && shadow=0 page=0 || shadow=65536 page=4096
more_of 65536 threads 100
within "memory of a thread at rest" "$share" $((65 * 1024 + page))
within "addresses of a thread" "$space" $((8192 * 1024 + 12288 + shadow))

# 64 in a block of 63, and of places of 8 in the table 1 1/3 to 2 2/3, twice for the first of a caller's places;
# where there are copies, 32 and a link of 16 for each of two calls
timing=--timing=adaptive # else copies keep 16 for each place that has called, too
more_of 200000 contexts 16
[[ ${UMBRA_TEST_HOW:-auto} == prologue ]] && links=0 || links=64
within "memory of a context" "$share" $((64 * 64 / 63 + 2 * 22 + 1 + links))
within "trace of a context" $(($(stat -c %s traces/*.bin) / number)) $((66 + links))

# a record of 64 in a block of 510, and up to two notes of 16 on how deep the stack was, 252 in a
# block of 4 KiB; the thunks are the same pages for all
more_of 1000 frames 50000
[[ ${UMBRA_TEST_HOW:-auto} == prologue ]] && call=64 || call=$((64 + 32)) # the shadow of its stack
within "memory of a live call" "$share" $((call + 2 * 16 + 2))

run native ./footprint threads 100
run instrumented ./footprint threads 100
read -ra native <native.stdout
read -ra instrumented <instrumented.stdout
equal "addresses of 100 threads without a service" "${instrumented[3]}" "${native[3]}"
