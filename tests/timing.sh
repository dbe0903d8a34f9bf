#!/bin/bash
# Times are true: what functions that wait busily measure of themselves is what the trace says, with
# both ways of timing, also of a tail call, and of a call that is slow once in a million. Counts do not depend on timing.
# alone: what it times would wait for the others
. "$(dirname "$0")/lib.sh"

# timed TIMING NAME: records native/NAME that way
timed()
{
    rm -rf traces
    run instrumented "$BUILD/service/call_trace_service" start --timing="$1" \
        --trace-dir="$work/traces" -- "./$2"
    equal "status with $1 timing" "$(<instrumented.status)" 0
    balanced
    contains summary "^  timing    $1"
}

build spins spins.c
objdump -d native/spins --disassemble=jumper | grep -q "jmp.*<jumped_to>" ||
    fail "the compiler made no jump of the call from jumper"
in_prologues()
{
    timed "$1" spins
    while read -r name ns; do
        # rarely_slow: a million calls of a few nanoseconds, and a third of a second; what lies
        # between two ticks of a service that was kept waiting is not known
        near "$name, $1" "$(self_ns "$name")" "$ns" "$([[ $name == rarely_slow ]] && echo 30 || echo 10)"
    done <instrumented.stderr
    equal "calls of spin_1us" "$(calls_of spin_1us)" 100000
    equal "calls of rarely_slow" "$(calls_of rarely_slow)" 1000000
}
# Copies see no ends: of a call that is slow once in a million they know nothing, of jumps all.
in_copies()
{
    timed adaptive spins
    counted_in_copies traces/*.bin || fail "no call was counted in a copy"
    # What is taken out for measuring a call of 1 us, measured at the begin, is at times a tenth of it too much.
    while read -r name ns; do
        [[ $name == rarely_slow ]] ||
            near "$name, in copies" "$(self_ns "$name")" "$ns" "$([[ $name == spin_1us ]] && echo 15 || echo 10)"
    done <instrumented.stderr
}
instrumented spins --how=prologue
measured in_prologues exact
measured in_prologues adaptive
instrumented spins --overwrite --how=copy
measured in_copies
instrumented spins --overwrite --how=prologue
timed adaptive spins
# a million calls of one context: one of 64 is timed on average, of 128 once there were 1,024
gcc -O2 -D_GNU_SOURCE -I"$TESTS/.." -o rarity "$TESTS/campaigns/rarity.c" "$TESTS"/../trace/{trace_reader,link_sums}.c "$TESTS"/../support/{failure,regular_file}.c
read -r calls timed rarity < <(./rarity traces/*.bin)
awk -v rarity="$rarity" 'BEGIN { exit !(rarity > 100 && rarity < 140) }' ||
    fail "$timed of $calls calls of rarely_slow were timed, one of $rarity, should be one of 100 to 140"

build fib "$TESTS/../samples/fib.c"
instrumented fib
for timing in exact adaptive; do
    timed "$timing" fib
    equal "calls of fib, $timing" "$(calls_of fib)" 2692537
done

status=0
call_trace_service start --timing=rough 2>refusal || status=$?
equal "status for an unknown timing" "$status" 2
contains refusal 'expected adaptive, exact, samples or none'
