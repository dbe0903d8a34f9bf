#!/bin/bash
# A program that forks twice and closes every descriptor is recorded, and finds no descriptor taken.
. "$(dirname "$0")/lib.sh"

build daemonize daemonize.c
instrumented daemonize
same daemonize "$work/result" "$work/result.new"

# The daemon outlives its first process, so the service is one of its own.
call_trace_service spawn --trace-dir=traces
run instrumented ./daemonize "$work/result" "$work/result.new"
compare_runs daemonize
call_trace_service stop
balanced
equal "calls of daemon_work" "$(calls_of daemon_work)" 1
equal "calls of fib" "$(calls_of fib)" 57313
