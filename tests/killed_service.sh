#!/bin/bash
# SIGKILL of the service while a program runs: the program goes on undisturbed, and what it
# recorded is in the trace.
. "$(dirname "$0")/lib.sh"

build signals signals.c
instrumented signals
run native ./signals
call_trace_service spawn --trace-dir=traces
service=$(call_trace_service status | grep -oE 'pid[ :=]*[0-9]+' | grep -oE '[0-9]+' | head -n 1)
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
[[ $(calls_of handle) -ge 4000 ]] || fail "calls after the service's end are missing"
