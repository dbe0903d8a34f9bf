#!/bin/bash
# Times from samples are what functions that compute for a known time have seen themselves: their own,
# with what they call, in recursion, behind the C library, in the kernel, in another thread; what sleeps
# has none, and no wait is interrupted. What does not want the signal is left alone.
# alone: what it times would wait for the others
. "$(dirname "$0")/lib.sh"

build sampled sampled.c -pthread

sampled()
{
    rm -rf traces
    run instrumented "$BUILD/service/call_trace_service" start --timing=samples --samples="$source" \
        --trace-dir="$work/traces" -- ./sampled "$@"
    equal "status of sampled $*" "$(<instrumented.status)" 0
    balanced
    grinder --mode=profile --merge --output-format=tsv --output-file=- traces/*.bin >functions
}

# took FUNCTION: what it has seen itself
took()
{
    awk -v name="$1" '$1 == name { print $2 }' instrumented.stderr
}

# computed: by `how` and `source`
computed()
{
    sampled all
    if [[ $how = copy ]]; then
        counted_in_copies traces/*.bin || fail "no call was counted in a copy"
    fi
    contains summary '^  timing    samples'
    while read -r name expected; do
        near "$name, $how" "$(cell total_ns "$name")" "$expected" 15 12
    done <instrumented.stderr
    near "shallow itself, $how" "$(cell self_ns shallow)" "$(took shallow)" 15 12
    near "probed itself, $how" "$(cell self_ns probed)" "$(took probed)" 15 12
    # what is sampled is never more than what was spent, but for what a signal of 4 ms stands for
    spent=$(($(took main) + $(took thread) + $(took masked) + 12000000))
    awk -F '\t' -v spent=$spent 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "self_ns") at = i; next }
        { sum += $at } END { exit !(sum < spent) }' functions || fail "the sum of the times is more than $spent ns"
}

for how in "${hows[@]}"; do
    # what else either does, timing_perf.sh tells
    source=timer
    [[ $how = prologue ]] || source=1000
    instrumented sampled --overwrite --how=$how
    measured computed

    sampled urgent
    contains summary "^  SAMPLES STOPPED in thread 1: "
    sampled reset
    sampled blocked
    sampled forbidden
    same sampled urgent
done

echo '-- a short run has all of its time, whatever its samples met'
build short_run short_run.c
instrumented short_run --overwrite --how=copy
whole()
{
    rm -rf traces
    run instrumented "$BUILD/service/call_trace_service" start --timing=samples --samples="$1" \
        --trace-dir="$work/traces" -- ./short_run
    balanced
    share=$(awk '$1 == "processor" { sub("%", "", $8); print $8 }' summary)
    awk -v share="$share" 'BEGIN { exit !(share >= 98 && share <= 102) }' ||
        fail "expected samples of all of the processor's time, found $share%"
}
for source in timer 1000; do
    for i in 1 2 3 4 5; do
        measured whole $source
    done
done

echo '-- times without samples'
run instrumented "$BUILD/service/call_trace_service" start --timing=samples --samples=0 -- true
equal "status" "$(<instrumented.status)" 2
contains instrumented.stderr 'with --timing=samples all times are samples'
