#!/bin/bash
# SIGKILL of the service while a program runs: the program goes on undisturbed, and what it
# recorded before and after is in the trace.
. "$(dirname "$0")/lib.sh"

build signals signals.c
instrumented signals
run native ./signals

"$BUILD/service/call_trace_service" start --trace-dir=traces 2>service.log &
service=$!
started+=("$service")
for ((i = 0; i < 100; i++)); do
    grep -q ready service.log && break
    sleep 0.1
done
(cd instrumented && exec timeout 60 ./signals) >instrumented.stdout 2>instrumented.stderr &
program=$!
started+=("$program")
sleep 0.5
kill -9 "$service"
status=0
wait "$program" || status=$?
echo "$status" >instrumented.status
compare_runs "signals, its service killed"
balanced
[[ $(calls_of handle) -gt 18000 ]] || fail "calls after the service's end are missing"
