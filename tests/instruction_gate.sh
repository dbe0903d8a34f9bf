#!/bin/bash
# A gate for CI by exact instructions: of two builds of a stripped program it names the one function that takes 0.2%
# of all more, though all code has moved; of twenty runs of the same build, nothing.
# needs: gawk
. "$(dirname "$0")/lib.sh"

by_copies || { echo "skipped: instructions are counted in copies"; exit 0; }

# recording NAME FOLDER: runs instrumented/NAME
recording()
{
    (cd instrumented && call_trace_service start --timing=none --trace-dir="$work/$2" -- "./$1")
}

# gate STATUS ARGUMENT…: leaves changes and problems
gate()
{
    local wanted=$1 status=0
    shift
    grinder --mode=diff --weight=instructions --output-format=table "$@" >changes 2>problems || status=$?
    equal "status of $* ($(<problems))" "$status" "$wanted"
}

# names of what changed, in the table
changed()
{
    sed '1d; /^[0-9]* that did not change$/d; / (all)$/d; /^    [-+]/d; s/.*%  //' changes
}

# share NAME: of all instructions, what the whole has more
share()
{
    gawk '$NF == "(all)" { sub(/^\+/, "", $(NF - 1)); sub(/%/, "", $(NF - 1)); print $(NF - 1) }' changes
}

address()
{
    printf '%#x' "0x$(nm "native/$1" | gawk '$3 == "weigh" { print $1 }')"
}

build first gate.c -fno-toplevel-reorder
build second gate.c -fno-toplevel-reorder -DSECOND
[[ $(address first) != "$(address second)" ]] || fail "weigh has not moved"
for name in first second; do
    strip -s -o "native/$name.stripped" "native/$name"
    instrumented "$name.stripped" --count=instructions
    recording "$name.stripped" "$name"
done

gate 1 --threshold=0.1% first second
equal "what changed" "$(changed)" "second.stripped!$(address second) (was first.stripped!$(address first))"
contains changes "^    \+2,000 in .*second.stripped!$(address second)\$"
gawk -v share="$(share)" 'BEGIN { exit !(share > 0.15 && share < 0.25) }' || fail "0.2%: $(<changes)"
gate 1 --threshold=0.1 first second
gate 0 --threshold=0.5% first second
gate 1 --threshold=0% second first
contains changes "^    -2,000 in .*first.stripped!$(address first)\$"
equal "back again" "$(changed)" "first.stripped!$(address first) (was second.stripped!$(address second))"

# Twenty runs of one build.
for ((i = 0; i < 20; i++)); do
    recording second.stripped "again.$i"
    gate 0 --threshold=0 second "again.$i"
    equal "what changed in run $i" "$(changed)" ""
done

# What cannot be compared has a status of its own.
gate 2 --threshold=0.1%% first second
gate 2 --threshold=% first second
gate 2 --threshold=0.1% first nowhere
