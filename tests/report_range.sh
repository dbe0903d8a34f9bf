#!/bin/bash
# The report of a recording whose samples have their times: which lines of code took the time, and a range of the
# time line that is chosen holds for all views. Without such samples the page is as it was; damaged ones do no harm.
# needs: chromium chromium-driver gcc python3
# seconds: 30
. "$(dirname "$0")/lib.sh"

export PYTHONDONTWRITEBYTECODE=1
check()
{
    python3 "$TESTS/report_range.py" "$@" || fail "report_range.py $*"
}

build two_phases two_phases.c -fno-optimize-sibling-calls

echo '-- hooks with exact times: no samples, so no ranges'
instrumented two_phases
run instrumented "$BUILD/service/call_trace_service" start --timing=exact --trace-dir="$work/hooked" -- \
    ./two_phases 50
equal "status" "$(<instrumented.status)" 0
grinder --mode=report --source-root="$TESTS" --output-file=hooked.html hooked
check without "file://$work/hooked.html" "$work/profile"

echo '-- hooks with times by samples'
run instrumented "$BUILD/service/call_trace_service" start --timing=samples --slices=100 --trace-dir="$work/sampled" -- \
    ./two_phases 500
equal "status" "$(<instrumented.status)" 0
grinder --mode=report --source-root="$TESTS" --output-file=sampled.html sampled
check columns sampled.html two_phases
check lines "file://$work/sampled.html" "$work/profile"
check hooked_range sampled.html "file://$work/sampled.html" "$work/profile"
python3 "$TESTS/report_widths.py" narrow "file://$work/sampled.html#@100000-600000" "$work/profile" inlining
grinder --mode=report --source-root="$TESTS" --function=hot --output-file=selected.html sampled
check without "file://$work/selected.html" "$work/profile"

if ! call_trace_service start --mode=samples --trace-dir=probe -- true 2>err; then
    contains err 'whole stacks cannot be sampled here: perf_event_open'
    echo "skipped: perf_event_open is not allowed here"
    exit 0
fi

echo '-- whole stacks'
call_trace_service start --mode=samples --trace-dir=traces -- native/two_phases 700
grinder --mode=report --source-root="$TESTS" --output-file=page.html traces
grinder --mode=report --output-file=bare.html --path-map="$TESTS=/nowhere" traces
grinder --mode=report --source-root="$TESTS" --output-file=folder/ traces
check columns page.html two_phases
check lines "file://$work/page.html" "$work/profile"
check instructions "file://$work/bare.html" "$work/profile"
check chosen_range page.html "file://$work/page.html" "$work/profile"
check chosen_range folder/data.js "file://$work/folder/index.html" "$work/profile"
for place in '' '#@100000-1000000'; do
    python3 "$TESTS/report_widths.py" narrow "file://$work/page.html$place" "$work/profile" inlining
done

echo '-- a thread each, and all of them'
build stacked stacked.c
call_trace_service start --mode=samples --trace-dir=threads -- native/stacked threads
grinder --mode=report --output-file=threads.html threads
check columns threads.html stacked
check threads threads.html "file://$work/threads.html" "$work/profile"
grinder --mode=report --merge --output-file=merged.html threads
check columns merged.html stacked

echo '-- none'
call_trace_service start --mode=samples --trace-dir=none -- native/two_phases 0
grinder --mode=report --output-file=none.html none
check loads "file://$work/none.html" "$work/profile"

echo '-- damaged'
seed=${SEED:-$RANDOM}
cp -r traces damaged
for ((round = 0; round < 15; round++)); do
    for whole in traces/*.stacks; do
        python3 "$TESTS/report_range.py" damage "$whole" "damaged/$(basename "$whole")" "$seed $round"
    done
    status=0
    grinder --mode=report --output-file=damaged.html damaged >/dev/null 2>problems || status=$?
    ((status <= 1)) || fail "status $status for round $round of seed $seed: $(<problems)"
    ((status)) || check columns damaged.html
done
if [[ -e damaged.html ]]; then
    check loads "file://$work/damaged.html" "$work/profile"
fi
