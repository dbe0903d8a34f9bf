#!/bin/bash
# umbra record --twice: exact calls of one run with the times of another, which has no hooks. What a call takes is
# what the program itself finds that it takes.
# alone: a busy machine makes short functions longer
# needs: gcc python3
. "$(dirname "$0")/lib.sh"

build costs costs.c
if ! call_trace_service start --mode=samples --trace-dir=probe -- true 2>err; then
    contains err 'whole stacks cannot be sampled here: perf_event_open'
    echo "perf_event_open is not allowed here"
    exit 0
fi

cat >compare.py <<'END'
import csv, sys
rows = {row["function"]: row for row in csv.DictReader(open("functions.tsv"), delimiter="\t")}
for line in open("own"):
    name, calls, ns = line.split()
    row = rows[name]
    found = int(row["self_ns"]) / int(row["calls"])
    low, high = (int(row[key]) / int(row["calls"]) for key in ("self_low_ns", "self_high_ns"))
    print(f"{name}: {ns} ns a call by itself, {found:.2f} found ({low:.2f} to {high:.2f})")
    assert row["calls"] == calls, f"{row['calls']} calls"
    # the loop around it is the caller's, and the range is that of 19 cases in 20
    assert float(ns) * 0.6 < found < float(ns) * 1.2, "another time"
END
takes_as_long()
{
    rm -rf data
    umbra record -q --twice -o data -- native/costs >out
    equal "runs" "$(wc -l <out)" 6
    tail -n 3 out >own # of the run without hooks
    umbra report --output-format=tsv --merge -o functions.tsv data
    python3 compare.py
}
measured takes_as_long
umbra report --text data >text
contains text '^times from .*/data/times: [0-9]+ samples, (99|100)\.[0-9]% of them below functions that were counted$'
! grep -q 'DOES NOT FIT' text || fail "what does not fit: $(grep FIT text)"
umbra report data >said
[[ -s data/report.html ]] || fail "no page"

echo '-- of two recordings'
umbra record -q --timing=none -o counts -- native/costs >out
umbra record -q --how=samples -o stacks -- native/costs >out
for format in callgrind tsv-edges json; do
    umbra report --output-format=$format --times-from=stacks -o "x.$format" counts
done
contains x.callgrind '^events: ns Wait Calls$'
contains x.callgrind '\([0-9]+\) little$'

echo '-- what a program reads it reads again'
printf 'a\nb\n' >input
umbra record -q --twice -o reads -- cat <input >out
equal "read" "$(paste -sd' ' out)" "a b a b"

echo '-- another time it does something else'
umbra record -q --twice -o differs -- native/costs "$PWD/made" >out
umbra report --text differs >text
contains text '^DOES NOT FIT: (9[0-9]|100)\.[0-9]% of them are in functions without calls here, most in some$'

echo '-- what is refused'
refused()
{
    local status=0
    "${@:2}" >out 2>err || status=$?
    [[ $status != 0 ]] || fail "${*:2}: taken"
    contains err "$1"
}
refused '^umbra: record: --timing: does nothing with --twice' umbra record --twice --timing=exact -- true
refused '^umbra: record: --how=samples: does nothing with --twice' umbra record --twice --how=samples -- true
refused 'expected whole stacks of the same program, .*, found another recording' \
    umbra report --text --times-from=counts counts
refused '--output-format=pprof needs times of calling contexts' \
    umbra report --output-format=pprof --times-from=stacks counts
refused 'found none$' umbra report --text --times-from=nowhere counts
