#!/bin/bash
# Functions whose first bytes are hard to move do what they did; each is listed as hooked or with
# the reason why not, and those that are hooked are counted.
. "$(dirname "$0")/lib.sh"

build prologues prologues.c prologues_amd64.S
instrumented prologues
recorded prologues

hooked=0
for function in $(awk '/^ *function [a-z]/ { print $2 }' "$TESTS/programs/prologues_amd64.S"); do
    state=$(state_of "$function" prologues)
    case $state in
        hooked*)
            [[ $(calls_of "$function") -ge 10 ]] || fail "$function is hooked and was not counted"
            hooked=$((hooked + 1)) ;;
        skipped\ ?*) ;;
        *) fail "$function is listed as '$state'" ;;
    esac
done
equal "calls of helper" "$(calls_of helper)" 50
# Only two bytes of them are free, or a short branch makes the loop: still each call counts once.
for function in loop_to_entry branch_into_start; do
    equal "calls of $function" "$(calls_of $function)" 10
done
[[ $(state_of reads_return_address prologues) == skipped* ]] ||
    fail "a function that reads its return address is hooked"
for function in rip_relative_load rip_relative_address rip_relative_compare call_first \
    call_indirect_first jump_first jump_indirect_first branch_short branch_long endbr_first \
    return_padded push_first loop_to_entry branch_into_start; do
    [[ $(state_of $function prologues) == hooked* ]] || fail "$function is not hooked"
done
