#!/bin/bash
# The report of a recording that notes blocks: lines that never ran are dimmed, and say so; shares are those of
# --mode=coverage. Without blocks the page has nothing of that.
# needs: chromium chromium-driver gcc python3
# seconds: 20
. "$(dirname "$0")/lib.sh"

if [[ ${UMBRA_TEST_HOW:-} == prologue ]]; then
    echo "blocks are counted in copies"
    exit 0
fi

export PYTHONDONTWRITEBYTECODE=1
check()
{
    python3 "$TESTS/report_coverage.py" "$@" || fail "report_coverage.py $*"
}

# Of each COMMAND PAGE ARGUMENT…; once all pages are there, as a browser takes long to begin.
pages=()
on_page()
{
    pages+=("$1" "file://$work/$2" "$work/profile" "${@:3}" --)
}

# ran ARGUMENT…: records covered
ran()
{
    run instrumented "$BUILD/service/call_trace_service" start --trace-dir="$work/traces" -- ./covered "$@"
}

# fresh OPTION…: instruments covered, and forgets what it recorded
fresh()
{
    rm -rf traces
    instrumented covered --overwrite "$@"
}

build covered covered.c -O0 -pthread

echo '-- one process, and it as a folder'
fresh --count=blocks --once
ran
grinder --mode=coverage --output-format=tsv --output-file=blocks.tsv traces
grinder --mode=coverage --output-format=lcov --output-file=lines.info traces
grinder --mode=report --source-root="$TESTS" --output-file=page.html traces
grinder --mode=report --source-root="$TESTS" --output-file=folder/ traces
for page in page.html folder; do
    check figures $page blocks.tsv lines.info
done
for page in page.html folder/index.html; do
    on_page lines $page 'in_thread,in_child,in_executed,in_killed,in_outliving'
done

echo '-- several add up; of one that is chosen it is its own'
ran thread
ran kill
grinder --mode=coverage --output-format=tsv --output-file=blocks.tsv traces
grinder --mode=coverage --output-format=lcov --output-file=lines.info traces
grinder --mode=report --merge --source-root="$TESTS" --output-file=merged.html traces
check figures merged.html blocks.tsv lines.info
on_page lines merged.html 'in_child,in_executed,in_outliving'
on_page narrow merged.html in_main

echo '-- source that is not there'
grinder --mode=report --merge --path-map="$TESTS=/nowhere" --output-file=bare.html traces
check figures bare.html blocks.tsv lines.info
on_page instructions bare.html

echo '-- how often'
fresh --count=blocks
ran
grinder --mode=coverage --output-format=lcov --output-file=often.info traces
grinder --mode=coverage --output-format=callgrind --output-file=instructions traces
grinder --mode=report --source-root="$TESTS" --output-file=often.html traces
on_page runs often.html often.info
on_page narrow often.html in_main
grinder --mode=report --path-map="$TESTS=/nowhere" --output-file=bare_often.html traces
instrument --list instrumented/covered >list
on_page instruction_runs bare_often.html instructions list

echo '-- no calls, no times'
fresh --count=blocks --once --no-calls
ran
run instrumented "$BUILD/service/call_trace_service" start --timing=none --trace-dir="$work/untimed" -- ./covered
for recording in traces untimed; do
    "$BUILD/grinder/grinder" --mode=report --output-file=none.html $recording 2>said && fail "a report of $recording"
    contains said "^grinder: $recording.* has n.* times, which --mode=report needs.*; .*see which lines ran with --mode=coverage$"
    equal 'lines said' "$(wc -l <said)" 1
    [[ ! -e none.html ]] || fail "a file for $recording"
done

umbra record -o recording --count=blocks --once --no-calls -- "$work/native/covered" 2>said
contains said 'to see it: umbra report --mode=coverage recording$'
"$BUILD/front/umbra" report recording 2>said && fail 'a report of what has no calls'
contains said '^umbra report: .*see which lines ran with --mode=coverage$'

echo '-- no blocks'
fresh
ran
grinder --mode=report --source-root="$TESTS" --output-file=plain.html traces
on_page without plain.html plain.html
"$BUILD/service/call_trace_service" start --timing=none --trace-dir="$work/plain" -- instrumented/covered >/dev/null
"$BUILD/grinder/grinder" --mode=report --output-file=none.html plain 2>said && fail 'a report without times'
contains said 'see its calls with --mode=summary'
check "${pages[@]}"
