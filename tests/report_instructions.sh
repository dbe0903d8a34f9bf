#!/bin/bash
# The report of a recording with counted instructions: each function's are those of the table of tsv, in the page's
# data and in what it shows; a page without has no table of them.
# needs: chromium chromium-driver gcc python3
# seconds: 10
. "$(dirname "$0")/lib.sh"

if ! by_copies; then
    echo "instructions are counted in copies"
    exit 0
fi

export PYTHONDONTWRITEBYTECODE=1

build covered covered.c -O2 -pthread
instrumented covered --overwrite --count=instructions
run instrumented "$BUILD/service/call_trace_service" start --trace-dir="$work/traces" -- ./covered
grinder --mode=profile --merge --output-format=tsv --output-file=functions.tsv traces/*.bin
grinder --mode=report --merge --output-file=page.html traces
python3 "$TESTS/report_instructions.py" counted page.html functions.tsv
python3 "$TESTS/report_instructions.py" shown "file://$work/page.html" "$work/profile" functions.tsv

instrumented covered --overwrite
run instrumented "$BUILD/service/call_trace_service" start --trace-dir="$work/plain" -- ./covered
grinder --mode=report --output-file=plain.html plain
python3 "$TESTS/report_instructions.py" without "file://$work/plain.html" "$work/profile"
