#!/bin/bash
# Bars over time of --timing=samples: over all slices, each function's own time is the one in its trace, in
# the page what the page's figures say, never more than the thread's processor time, and where it ran.
# needs: python3
# seconds: 20
. "$(dirname "$0")/lib.sh"

build sampled sampled.c -pthread

check()
{
    /usr/bin/python3 "$TESTS/slices.py" "$@" || fail "slices.py $*"
}

for how in prologue copy; do
    instrumented sampled --overwrite --how=$how
    rm -rf traces
    run instrumented "$BUILD/service/call_trace_service" start --timing=samples \
        --trace-dir="$work/traces" -- ./sampled all
    equal "status, $how" "$(<instrumented.status)" 0
    balanced
    check sums traces/*.bin "$(awk '$1 == "main" { print $2 }' instrumented.stderr)"
    grinder --mode=report --output-file=page.html traces/*.bin 2>said
    check page page.html shallow caller reading sleeping
done

echo '-- as few slices as were asked for, and none'
rm -rf traces
call_trace_service start --timing=samples --slices=4 --trace-dir=traces -- instrumented/sampled all 2>said
check sums traces/*.bin "$(awk '$1 == "main" { print $2 }' said)"
(($(od -An -tu4 -j12 -N4 traces/*.slices) <= 4)) || fail "more than 4 slices"
call_trace_service start --timing=samples --slices=0 --trace-dir=none -- instrumented/sampled blocked
[[ -z $(find none -name '*.slices') ]] || fail "--slices=0 left slices"

echo '-- folded contexts'
rm -rf traces
call_trace_service start --timing=samples --node-limit=30 --trace-dir=traces -- instrumented/sampled all 2>said
grinder --mode=summary traces/*.bin >summary
[[ $(awk '$NF == "sampled" && $1 == 1 { print $9 }' summary) -gt 0 ]] || fail "nothing was folded"
check sums traces/*.bin "$(awk '$1 == "main" { print $2 }' said)"
grinder --mode=report --output-file=page.html traces/*.bin 2>said
check page page.html shallow reading
