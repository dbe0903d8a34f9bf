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

# Of each COMMAND PAGE ARGUMENT…; once all pages are there, as a browser takes long to begin.
pages=()
on_page()
{
    pages+=("$1" "file://$work/$2" "$work/profile" "${@:3}" --)
}

build two_phases two_phases.c -fno-optimize-sibling-calls

echo '-- hooks with exact times: no samples, so no ranges'
instrumented two_phases
run instrumented "$BUILD/service/call_trace_service" start --timing=exact --trace-dir="$work/hooked" -- \
    ./two_phases 50
equal "status" "$(<instrumented.status)" 0
grinder --mode=report --source-root="$TESTS" --output-file=hooked.html hooked
on_page without hooked.html

echo '-- hooks with times by samples'
run instrumented "$BUILD/service/call_trace_service" start --timing=samples --slices=100 --trace-dir="$work/sampled" -- \
    ./two_phases 500
equal "status" "$(<instrumented.status)" 0
grinder --mode=report --source-root="$TESTS" --output-file=sampled.html sampled
check columns sampled.html two_phases
on_page lines sampled.html
on_page hooked_range sampled.html sampled.html
on_page narrow sampled.html#@100000-600000 inlining
grinder --mode=report --source-root="$TESTS" --function=hot --output-file=selected.html sampled
on_page without selected.html

if ! call_trace_service start --mode=samples --trace-dir=probe -- true 2>err; then
    contains err 'whole stacks cannot be sampled here: perf_event_open'
    check "${pages[@]}"
    echo "skipped: perf_event_open is not allowed here"
    exit 0
fi

echo '-- whole stacks'
call_trace_service start --mode=samples --trace-dir=traces -- native/two_phases 700
grinder --mode=report --source-root="$TESTS" --output-file=page.html traces
grinder --mode=report --output-file=bare.html --path-map="$TESTS=/nowhere" traces
grinder --mode=report --source-root="$TESTS" --output-file=folder/ traces
check columns page.html two_phases
on_page lines page.html
on_page instructions bare.html
on_page chosen_range page.html page.html
on_page chosen_range folder/index.html folder/data.js
for place in '' '#@100000-1000000'; do
    on_page narrow "page.html$place" inlining
done

echo '-- a thread each, and all of them'
build stacked stacked.c
call_trace_service start --mode=samples --trace-dir=threads -- native/stacked threads
grinder --mode=report --output-file=threads.html threads
check columns threads.html stacked
on_page threads threads.html threads.html
grinder --mode=report --merge --output-file=merged.html threads
check columns merged.html stacked

echo '-- none'
call_trace_service start --mode=samples --trace-dir=none -- native/two_phases 0
grinder --mode=report --output-file=none.html none
on_page loads none.html

echo '-- damaged'
seed=${SEED:-$RANDOM}
cp -r traces damaged
for whole in damaged/*.stacks; do
    check damage "$whole" "$seed" 15
done
for ((round = 0; round < 15; round++)); do
    for whole in damaged/*.stacks; do
        mv "$whole.$round" "$whole"
    done
    status=0
    grinder --mode=report --output-file="damaged.$round.html" damaged >/dev/null 2>problems || status=$?
    ((status <= 1)) || fail "status $status for round $round of seed $seed: $(<problems)"
    ((status)) || { pages+=(columns "damaged.$round.html" --); last=damaged.$round.html; }
done
[[ ! ${last:-} ]] || on_page loads "$last"
check "${pages[@]}"
