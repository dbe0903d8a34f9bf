#!/bin/bash
# Recording that is paused and resumed while a program runs, and that begins paused: what is called
# meanwhile is not recorded, what was open before ends as ever, and every thread balances.
. "$(dirname "$0")/lib.sh"

build counted counted.c
instrumented counted
truncate -s 4096 counters

# entries_now NAME: calls recorded so far, by a snapshot
entries_now()
{
    rm -f "$1.bin"
    call_trace_service snapshot --output="$1.bin" >/dev/null
    grinder --mode=summary "$1.bin" >summary || fail "the snapshot $1 does not balance"
    summed entries
}

call_trace_service spawn --trace-dir=traces
(cd instrumented && exec ./counted ../counters) &
program=$!
started+=("$program")
for ((i = 0; i < 100; i++)); do
    [[ $(call_trace_service list --json | grep -c '"running"') -gt 0 ]] && break
    sleep 0.1
done
sleep 0.3

call_trace_service pause
sleep 0.2
paused=$(entries_now paused)
((paused > 0)) || fail "nothing was recorded before the pause"
sleep 0.5
equal "calls recorded in a pause" "$(entries_now still_paused)" "$paused"
contains summary paused

call_trace_service resume
sleep 0.5
resumed=$(entries_now resumed)
((resumed > paused)) || fail "nothing is recorded behind the pause"
echo "$paused calls before the pause, $((resumed - paused)) in half a second behind it"
kill -9 "$program"
wait "$program" 2>/dev/null || true
started=()
call_trace_service stop
balanced

build coroutines coroutines.c
instrumented coroutines
run native ./coroutines
rm -rf traces
run instrumented "$BUILD/service/call_trace_service" start --paused --trace-dir="$work/traces" -- \
    ./coroutines
compare_runs "coroutines, paused"
balanced
equal "calls of a program that was paused from the start" "$(summed entries)" 0
