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

# ns FIELD FUNCTION
ns()
{
    awk -F '\t' -v field="$1" -v name="$2" '
        NR == 1 { for (i = 1; i <= NF; i++) { if ($i == field) at = i; if ($i == "function") f = i } next }
        $f == name { print $at }' functions
}

# near WHAT FOUND EXPECTED: within 15% and three samples of 4 ms
near()
{
    awk -v a="$2" -v b="$3" 'BEGIN { exit !(a > b * 0.85 - 12e6 && a < b * 1.15 + 12e6) }' ||
        fail "$1: $2 ns, should be about $3"
}

for how in prologue copy; do
    # what else either does, timing_perf.sh tells
    source=timer
    [[ $how = prologue ]] || source=1000
    instrumented sampled --overwrite --how=$how
    sampled all
    if [[ $how = copy ]]; then
        counted_in_copies traces/*.bin || fail "no call was counted in a copy"
    fi
    contains summary '^  timing    samples'
    while read -r name expected; do
        near "$name, $how" "$(ns total_ns "$name")" "$expected"
    done <instrumented.stderr
    near "shallow itself, $how" "$(ns self_ns shallow)" "$(awk '/^shallow/ { print $2 }' instrumented.stderr)"
    near "thread, $how" "$(ns total_ns thread)" 400000000
    near "masked, $how" "$(ns total_ns masked)" 400000000
    # what is sampled is never more than what was spent
    awk -F '\t' 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "self_ns") at = i; next } { sum += $at }
        END { exit !(sum < 4e9) }' functions || fail "the sum of the times is too large"

    sampled urgent
    sampled reset
    sampled blocked
    same sampled urgent
done

echo '-- no samples where the program may not return from handlers'
run instrumented "$BUILD/service/call_trace_service" start --timing=samples --samples=0 -- true
equal "status" "$(<instrumented.status)" 2
contains instrumented.stderr 'with --timing=samples all times are samples'
