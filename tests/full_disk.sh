#!/bin/bash
# A trace that cannot grow, since the disk is full or it has reached its limit: the program does
# not notice, and the summary counts what was dropped.
. "$(dirname "$0")/lib.sh"

build coroutines coroutines.c
instrumented coroutines

# The service says that it could not write everything it wanted to.
normalise()
{
    sed -i '/^call_trace_service: .*No space left on device$/d' "$1"
}

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
mkdir traces disk
mount -t tmpfs -o size=300k tmpfs disk
run instrumented "$BUILD/service/call_trace_service" start --trace-dir="$work/disk" -- ./coroutines
cp --sparse=always disk/*.bin traces
umount disk
dropped_but_unharmed "a full disk"
