#!/bin/bash
# A million calls that are jumps take no stack and are counted; a return behind them goes where the
# first of them came from.
. "$(dirname "$0")/lib.sh"

build tail_calls tail_calls.c -foptimize-sibling-calls
for pair in "even odd" "rotate rotate_back" "jump_once_more jump_then_cut"; do
    objdump -d native/tail_calls --disassemble="${pair% *}" | grep -Eq "jmp.*<${pair#* }>" ||
        fail "the compiler made no jump of the call from ${pair% *}"
done
instrumented tail_calls
# even(1000000), and even(100) once, and odd(1) … odd(100)
even=$((500001 + 51)) odd=$((500000 + 50))
for ((n = 1; n <= 100; n++)); do
    odd=$((odd + n / 2 + 1)) even=$((even + (n + 1) / 2))
done
same tail_calls
for timing in adaptive exact; do
    rm -rf traces
    run instrumented "$BUILD/service/call_trace_service" start --timing=$timing \
        --trace-dir="$work/traces" -- ./tail_calls
    compare_runs "tail_calls, $timing"
    balanced
    equal "calls of even, $timing" "$(calls_of even)" $even
    equal "calls of odd, $timing" "$(calls_of odd)" $odd
    equal "calls of rotate, $timing" "$(calls_of rotate)" 100001
    equal "calls of rotate_back, $timing" "$(calls_of rotate_back)" 100000
    equal "calls of jump_once_more, $timing" "$(calls_of jump_once_more)" 4950
    equal "calls of jump_then_cut, $timing" "$(calls_of jump_then_cut)" 5050
done
