#!/bin/bash
# A signal comes as the agent has just found that it does not know the thread yet. The handler's hooks make the
# thread's state, and there is one of it.
# needs: gdb
. "$(dirname "$0")/lib.sh"

# threads_shown: how many threads the summary has
threads_shown()
{
    awk '$1 == "thread" && $2 == "entries" { there = 1; next } NF == 0 { there = 0 }
        there && $1 ~ /^[0-9]+$/ { count++ } END { print count + 0 }' summary
}

build born born.c
instrumented born
cat >gdb.commands <<'END'
set debuginfod enabled off
set breakpoint pending on
set confirm off
handle SIGUSR1 nostop noprint pass
break thread_begin
run >output
continue
signal SIGUSR1
while 1
continue
end
END
status=0
(cd instrumented && timeout 60 "$BUILD/service/call_trace_service" start --trace-dir=../traces -- \
    gdb -nx -batch -x "$work/gdb.commands" ./born) >gdb.out 2>&1 </dev/null || status=$?
((status != 124)) || fail "the program does not end: $(<gdb.out)"
contains gdb.out 'Breakpoint 1.* thread_begin'
equal output "$(<instrumented/output)" 21
rm -f traces/gdb*.bin
balanced
equal "calls of the handler" "$(calls_of handle)" 1
equal "calls of fib" "$(calls_of fib)" 60
equal threads "$(threads_shown)" 5
