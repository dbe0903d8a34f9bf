#!/bin/bash
# Programs that wait for signals, look at them, install handlers, change stacks, or trace others print and
# end as natively while their threads take samples by a signal: by timers, and by perf where the kernel
# allows it.
# seconds: 20
. "$(dirname "$0")/lib.sh"

build shy signal_shy.c -pthread -Wno-deprecated-declarations
cases=(waiting told pending in_handler by_descriptor asking installing small_stack masked_waits a_thread counted
    children traced)

sampled()
{
    local status=0
    rm -rf traces
    timeout -k 5 60 "$BUILD/service/call_trace_service" start --quiet --timing=samples --samples="$source" \
        --trace-dir="$work/traces" -- "./instrumented/shy" "$1" >printed 2>said || status=$?
    echo "status $status" >>printed
}

for name in "${cases[@]}"; do
    status=0
    native/shy "$name" >"native.$name" || status=$?
    echo "status $status" >>"native.$name"
done

failures=0
for how in "${hows[@]}"; do
    instrumented shy --overwrite --how=$how
    for source in timer 5000; do
        for name in "${cases[@]}"; do
            sampled "$name"
            if [[ $source != timer ]] && grep -q 'sampled by their timers' said; then
                echo "skipped: $(<said)"
                break
            fi
            if ! cmp -s "native.$name" printed; then
                echo "$name, $how, $source: $(diff "native.$name" printed | head -n 3 | tr '\n' ' ')"
                failures=$((failures + 1))
            fi
        done
    done
done
((failures == 0)) || fail "$failures runs were not as natively"

echo '-- what has let all signals through again is sampled'
sampled waiting
grinder --mode=summary traces/*.bin >summary
contains summary '^  samples   +[1-9][0-9]+'
