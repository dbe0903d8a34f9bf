#!/bin/bash
# The report's times of calls, of functions that --time names: the figures are the summary's, in the overview's
# table and at the function; its picture has each call, and the longest one stands on the time line where it
# ended. Times that are made of samples have their range, and are below one where no sample was.
# needs: chromium chromium-driver python3
# alone: what it times would wait for the others
. "$(dirname "$0")/lib.sh"

export PYTHONDONTWRITEBYTECODE=1

build timed_calls timed_calls.c -pthread
instrumented timed_calls --overwrite --time=serves --time=jumps --time='aga*'
run instrumented "$BUILD/service/call_trace_service" start --timing=samples --slices=100 \
    --trace-dir="$work/traces" -- ./timed_calls
equal "status" "$(<instrumented.status)" 0
grinder --mode=profile --merge --output-format=json --output-file=- traces/*.bin >merged.json
grinder --mode=profile --output-format=json --output-file=- traces/*.bin >threads.json
grinder --mode=report --source-root="$TESTS" --output-file=page.html traces
grinder --mode=report --output-file=folder/ traces
python3 "$TESTS/report_times.py" timed "file://$work/page.html" "$work/profile" merged.json threads.json -- \
    timed "file://$work/folder/index.html" "$work/profile" merged.json threads.json

echo '-- a page without such times, and without samples'
instrumented timed_calls --overwrite
run instrumented "$BUILD/service/call_trace_service" start --timing=exact --trace-dir="$work/exact" -- ./timed_calls
grinder --mode=report --output-file=exact.html exact
python3 "$TESTS/report_times.py" untimed "file://$work/exact.html" "$work/profile"
