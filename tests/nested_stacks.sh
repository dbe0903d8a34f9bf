#!/bin/bash
# Stacks within the thread's own stack: a coroutine's, or one for signal handlers, in an array of a
# function. No return goes astray, and each call is counted once, in each mode.
. "$(dirname "$0")/lib.sh"

kinds=(turns deeper inner left abandoned handler disarmed handler_left thread)

# check OPTION…: records with them, and compares the calls with what the program counted
check()
{
    local name runs
    for kind in "${kinds[@]}" "left handler turns" "handler abandoned inner"; do
        # shellcheck disable=SC2086
        run native ./nested_stacks $kind
        rm -rf traces
        # shellcheck disable=SC2086
        run instrumented "$BUILD/service/call_trace_service" start "$@" \
            --trace-dir="$work/traces" -- ./nested_stacks $kind
        compare_runs "nested_stacks $kind, $*"
        balanced
        while read -r name runs; do
            [[ $name == sum ]] ||
                equal "calls of $name, $kind, $*" "$(calls_of "$name")" "$runs"
        done <native.stdout
    done
}

for CC in gcc clang; do
    build nested_stacks nested_stacks.c $([[ $CC == clang ]] || echo -O0)
    instrumented nested_stacks
    same nested_stacks "${kinds[@]}"
    for options in --timing=exact --timing=adaptive --mode=calltrace; do
        check $options
    done
done
