#!/bin/bash
# How many instructions a call has more when it is hooked. A longer path is a slower one for all:
# who makes it longer shows with bench/run that it is worth that, and sets the new number here.
. "$(dirname "$0")/lib.sh"

# added KIND: instructions of a call more than the native one's
added()
{
    echo $(($(awk -v kind="$1" '$1 == kind { print $2 }' instrumented.stdout) -
        $(awk -v kind="$1" '$1 == kind { print $2 }' native.stdout)))
}

# at_most WHAT KIND LIMIT LIMIT: with a prologue that is hooked, and with a body that is copied. What is
# stepped through takes long: so these are calls that are timed, which go to the agent, but for those that
# copies count.
at_most()
{
    local found limit=$3
    [[ ${UMBRA_TEST_HOW:-auto} == prologue ]] || limit=$4
    found=$(added "$2")
    ((found > 0)) || fail "$1: $found instructions added: not hooked?"
    ((found <= limit)) || fail "$1: $found instructions added to a call, expected at most $limit"
    echo "$1: $found"
}

build stepped stepped.c
instrumented stepped
run native ./stepped
run instrumented ./stepped
at_most "off, a leaf" leaf 5 3
at_most "off, a call" loop 6 3

# recorded OPTION
recorded()
{
    run instrumented "$BUILD/service/call_trace_service" start "$1" --trace-dir="$work/traces" -- \
        ./stepped alone
}

recorded --paused
at_most "paused, a leaf" leaf 5 3
at_most "paused, a call" loop 6 3
recorded --timing=exact
at_most "exact, a leaf" leaf 131 158
at_most "exact, a call" loop 132 158
at_most "exact, a tail call" jump 217 271
recorded --timing=adaptive
at_most "adaptive, a leaf" leaf 75 15
at_most "adaptive, a call" loop 153 17
at_most "adaptive, a tail call" jump 240 34
