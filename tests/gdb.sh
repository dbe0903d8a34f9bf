#!/bin/bash
# gdb's `bt` walks through instrumented frames: every caller, in order; with the frame filter of
# samples/ nothing else is to be seen.
# needs: gdb
. "$(dirname "$0")/lib.sh"

build backtraces backtraces.c
instrumented backtraces

# Without a service nothing is hooked, and there is nothing to walk through.
call_trace_service spawn --trace-dir=traces

# The callers by name, without the frames that gdb takes for signal handlers'.
callers()
{
    gdb -nx -batch "$@" -ex 'set debuginfod enabled off' -ex 'break print_callers' -ex run \
        -ex 'bt' instrumented/backtraces 2>gdb.log </dev/null >bt
    sed -nE 's/^#[0-9]+ +(0x[0-9a-f]+ in )?([a-z_]+) \(.*/\2/p' bt | paste -sd' '
}

expected="print_callers innermost beta alpha beta alpha beta alpha beta alpha beta alpha beta alpha"
case $(callers) in
    "$expected main") ;;
    *) cat bt gdb.log; fail "callers are missing or in disorder" ;;
esac
if [[ ${UMBRA_TEST_HOW:-auto} == @(prologue|i386) ]]; then
    contains bt '<signal handler called>' # else nothing was hooked, or the filter is of no use
else # frames of copies have no thunks, but those that are timed
    callers -ex 'break print_callers' -ex run -ex 'frame function innermost' -ex 'info symbol $pc' >/dev/null
    contains bt '^innermost \+ [0-9]+ in section \.umbra\.stubs'
fi

case $(callers -x "$TESTS/../samples/gdb_frame_filter.py") in
    "$expected main") ;;
    *) cat bt gdb.log; fail "callers are missing with the frame filter" ;;
esac
grep '<signal handler called>' bt && fail "the frame filter left thunks in"
call_trace_service stop
