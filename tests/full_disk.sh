#!/bin/bash
# A trace that cannot grow, since the disk is full or it has reached its limit: the program does
# not notice, and the summary counts what was dropped.
. "$(dirname "$0")/lib.sh"

build coroutines coroutines.c
instrumented coroutines

# dropped_but_unharmed WHAT: compares with the native run; the trace is cut short and says so.
dropped_but_unharmed()
{
    compare_runs "$1"
    balanced
    [[ $(summed dropped) -gt 0 ]] || fail "$1: nothing was dropped"
}

run native ./coroutines

run instrumented "$BUILD/service/call_trace_service" start --max-trace-size=64K \
    --trace-dir="$work/traces" -- ./coroutines
dropped_but_unharmed "a trace of 64 KiB"

((EUID == 0)) || exit 0 # only root can make a disk
rm -rf traces
mkdir traces
unshare --mount bash -c '
    mount -t tmpfs -o size=300k tmpfs traces &&
        "$1/service/call_trace_service" start --trace-dir=traces -- "$2/instrumented/coroutines"
    status=$?
    mkdir copies && cp --sparse=always traces/*.bin copies
    exit $status' - "$BUILD" "$work" >instrumented.stdout 2>instrumented.stderr &&
    status=0 || status=$?
echo "$status" >instrumented.status
mv copies/* traces
dropped_but_unharmed "a full disk"
