#!/bin/bash
# What users, and tools that rotate logs, do to the files of live traces: cut, overwrite, remove, and
# the folder with them. The program does not notice, and at its end the trace is there, whole.
. "$(dirname "$0")/lib.sh"

build busy busy.c
instrumented busy

# while_busy MODE WHAT: runs busy, calls WHAT meanwhile, twice, and compares its end
while_busy()
{
    rm -rf traces
    call_trace_service spawn --trace-dir="$work/traces" --mode="$1" --log-file="$work/log"
    begin_busy
    "$2"
    sleep 0.3
    "$2"
    sleep 0.3
    end_busy "$1, $2"
    call_trace_service stop >stopped
    [[ $2 == cut_events || $2 == overwritten ]] || # the events are files, and are gone
        whole "$1, $2"
}

whole()
{
    grinder --mode=summary traces/busy-*.bin >summary 2>problems || { cat problems >&2; fail "$1: not whole"; }
    (($(summed entries) > 1000)) || fail "$1: few entries"
}

cut() { for file in traces/*.bin; do : >"$file"; done; }
cut_events() { for file in traces/*; do : >"$file"; done; }
copied_over() { for file in traces/*.bin; do cp /bin/ls "$file"; done; }
overwritten() { for file in traces/*; do cp /bin/ls "$file"; done; }
removed() { rm -f traces/*.bin; }
made_again() { rm -rf traces; mkdir traces; }

for mode in profile calltrace; do
    for what in cut copied_over removed cut_events overwritten; do
        while_busy "$mode" "$what"
    done
done
while_busy profile made_again

# A folder that was removed and made again is found by programs that begin later, too.
call_trace_service spawn --trace-dir="$work/traces"
rm -rf traces
mkdir traces
run instrumented ./busy 3
equal "a folder made again: status" "$(<instrumented.status)" 3
call_trace_service stop >stopped
grinder --mode=summary traces/busy-*.bin >summary
(($(summed entries) > 5)) || fail "a folder made again: nothing was recorded"
