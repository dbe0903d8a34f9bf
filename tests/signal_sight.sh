#!/bin/bash
# A program that looks at its signals closely finds none of the sampler's: pending, as an interruption, as a
# stop that a tracer sees, as a handler, on an alternate stack. signal_times.sh gives its CASES_OF_SIGHT.
# seconds: 25
. "$(dirname "$0")/lib.sh"

build signal_sight signal_sight.c
cp "$BUILD/service/call_trace_service" "$AGENT" .
read -ra cases <<<"${CASES_OF_SIGHT:-waits descriptors late_handler questions handlers masks in_handlers threads traced \
children executes interrupted_calls}"

# sampled SOURCE ARGUMENT…
sampled()
{
    rm -rf traces
    run instrumented "$BUILD/service/call_trace_service" start --timing=samples --samples="$1" \
        --trace-dir="$work/traces" -- ./signal_sight "${@:2}"
}

# sampled_for FUNCTION MS: that it was
sampled_for()
{
    grinder --mode=profile --merge --output-format=tsv --output-file=- traces/*.bin >functions
    near "$1, $how, $source" "$(cell total_ns "$1")" $(($2 * 1000000)) 20 30
}

# as_natively CASE: by `how` and `source`
as_natively()
{
    local case=$1
    sampled "$source" "$case"
    cp "native.$case.stdout" native.stdout
    echo 0 >native.status
    compare_runs "$case, $how, $source"
    balanced
    case $case in
        stacks) sampled_for compute 660 ;;
        full_masks) sampled_for in_full_mask 400 ;;
        times)
            sampled_for blocked 100
            sampled_for by_turns 400
            sampled_for jumps 405
            ;;
    esac
}

for case in "${cases[@]}"; do
    run native ./signal_sight "$case"
    equal "status of $case" "$(<native.status)" 0
    cp native.stdout "native.$case.stdout"
done

for how in "${hows[@]}"; do
    instrumented signal_sight --how=$how
    sources=(timer)
    sampled 5000 computes
    equal 'status of a probe' "$(<instrumented.status)" 0
    if grep -q 'sampled by their timers' instrumented.stderr; then
        echo "skipped: perf: $(<instrumented.stderr)"
    elif [[ $how == copy ]]; then # perf's signals are the same by either way
        sources+=(5000)
    fi
    chosen=()
    for case in "${cases[@]}"; do
        # by prologues, what the agent watches is the same
        [[ $how == prologue && ! $case =~ ^(stacks|masks|threads|times|full_masks)$ ]] || chosen+=("$case")
    done
    for source in "${sources[@]}"; do
        for case in ${ONLY:-"${chosen[@]}"}; do
            case $case in
                stacks | full_masks | times) measured as_natively "$case" ;;
                *) as_natively "$case" ;;
            esac
        done
    done
done
