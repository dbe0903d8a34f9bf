#!/bin/bash
# fork: a child has a trace of its own and returns through the frames its parent entered.
. "$(dirname "$0")/lib.sh"

build forks forks.c
instrumented forks
recorded forks
equal "traces" "$(traces_left)" 5
# fib(10) twice, fib(8) twice, fib(12)
equal "calls of fib" "$(calls_of fib)" $((2 * 177 + 2 * 67 + 465))
equal "calls of fork_below" "$(calls_of fork_below)" 20

recorded forks tree
equal "traces" "$(traces_left)" 40
equal "calls of child_work" "$(calls_of child_work)" 40
equal "calls of tree" "$(calls_of tree)" 40

# Children that load a library before they call anything else: while the parent records, and while it is paused.
printf 'long late(long number) { return 3 * number; }\n' >late.c
gcc -O1 -shared -fPIC late.c -o native/liblate.so
instrument native/liblate.so -o instrumented/liblate.so
build late_calls late_calls.c '-Wl,-rpath,$ORIGIN'
instrumented late_calls --exclude=call_late # so that it is not the first
recorded late_calls
equal "traces" "$(traces_left)" 5
equal "calls of late" "$(calls_of late)" 4
rm -rf traces
run instrumented "$BUILD/service/call_trace_service" start --paused --trace-dir="$work/traces" -- ./late_calls
compare_runs "late_calls, paused"
