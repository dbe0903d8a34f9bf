#!/bin/bash
# --time: of functions that match, each call is timed; what half of them, and all but one in a thousand, took is
# what the program has seen itself, within a sixteenth.
# alone: what it times would wait for the others
. "$(dirname "$0")/lib.sh"

build timed_calls timed_calls.c -pthread
timed=(--time=serves --time=function:jumps --time=thrown --time='aga*')

# record HOW SERVICE-OPTION…
record()
{
    instrumented timed_calls --overwrite --how="$1" "${timed[@]}"
    rm -rf traces
    run instrumented "$BUILD/service/call_trace_service" start "${@:2}" --trace-dir="$work/traces" -- \
        ./timed_calls
    equal "status" "$(<instrumented.status)" 0
    balanced
    grinder --mode=profile --merge --output-format=tsv --output-file=- traces/*.bin >functions
}

# seen HOW TIMING
seen()
{
    local how=$1 timing=$2
    echo "-- $how, timing $timing"
    record $how --timing=$timing
    while read -r name calls p50 p90 p99 p999 longest; do
        equal "timed calls of $name" "$(cell timed_calls "$name")" "$calls"
        near "$name p50" "$(cell p50_ns "$name")" "$p50" 6.25 0.001
        near "$name p90" "$(cell p90_ns "$name")" "$p90" 6.25 0.001
        # its setjmp is in what the program sees, and each interruption of that
        [[ $name == thrown ]] && continue
        near "$name p99" "$(cell p99_ns "$name")" "$p99" 6.25 0.001
        near "$name p99.9" "$(cell p999_ns "$name")" "$p999" 6.25 0.001
        near "longest $name" "$(cell longest_call_ns "$name")" "$longest" 1 0.001
    done <instrumented.stderr
    equal 'calls of a recursion in two threads' "$(cell timed_calls again)" 1111
    equal 'calls of what is not timed' "$(cell timed_calls spin)" ''
}

for how in prologue auto; do
    measured seen $how samples
    measured seen $how none
done

echo '-- views'
contains summary '^times of calls, of functions whose calls were timed each$'
awk '$NF == "serves" && NF == 9 && $1 == 2000 && $8 > 0.02 { found = 1 } END { exit !found }' summary ||
    fail "no times of serves: $(grep serves summary)"
grinder --mode=profile --merge --output-format=json --output-file=- traces/*.bin >profile.json
python3 - <<'PYTHON'
import json
profile = json.load(open('profile.json'))
timed = {profile['functions'][f['function']]['name']: f for p in profile['parts'] for f in p['functions']
         if 'timed_calls' in f}
assert sorted(timed) == ['again', 'jumps', 'serves', 'thrown'], sorted(timed)
f = timed['serves']
assert f['p50_ns'] <= f['p90_ns'] <= f['p99_ns'] <= f['p999_ns'] <= f['longest_call_ns']
PYTHON

echo '-- what is not copied, and what matches nothing'
instrument --list --how=auto "${timed[@]}" native/timed_calls >list
awk -F '\t' '$5 ~ /^(serves|jumps|thrown|again)$/ { n += $6 == "timed" } END { exit n != 4 }' list ||
    fail "not all four are listed as timed: $(grep timed list)"
instrument --time=nobody native/timed_calls -o unmatched 2>said
contains said 'warning: --time=nobody matches nothing'

echo '-- umbra record'
export XDG_CACHE_HOME=$work/cache
umbra record --time=serves --time=nobody -o data -- native/timed_calls >/dev/null 2>said
contains said '--time=nobody matches nothing in what was recorded'
umbra report --text data >text
awk '$NF == "serves" && $1 == 2000 && NF == 9 { found = 1 } END { exit !found }' text ||
    fail "no times of serves: $(grep serves text)"
for other in --timing=exact --timing=adaptive --mode=calltrace --samples=0; do
    status=0
    umbra record --time=serves $other -o refused -- native/timed_calls 2>said || status=$?
    equal "status with $other" $status 2
    contains said "--time is for recordings with --timing=samples or none: leave $other out"
done

echo '-- by how slow they are'
umbra record -q --time=serves --time=jumps --time=again -o slow -- native/timed_calls >/dev/null
umbra report --text --sort=p99 slow >text
awk '/^times of calls/ { on = 1; next } on && NF > 8 && $1 ~ /^[0-9]+$/ { print $5, $2, $3, $7 }' text >slowest
(($(wc -l <slowest) == 3)) || fail "expected three functions: $(<text)"
sort -c -s -k1,1nr slowest || fail "not by p99: $(<slowest)"
awk '$2 < 1 || $2 > $4 { exit 1 }' slowest || fail "a mean that is no mean: $(<slowest)"
! grep -q 'hottest functions' text || fail "other tables"
umbra record -q -o none -- native/timed_calls >/dev/null
if umbra report --text --sort=p99 none 2>said; then fail "sorted by what is not there"; fi
contains said 'has no times of each call to sort by: umbra record --time=PATTERN'

echo '-- what was instrumented so is verified, and undone'
instrumented timed_calls --overwrite "${timed[@]}"
INSTRUMENT_OPTIONS= instrument --verify instrumented/timed_calls >/dev/null
INSTRUMENT_OPTIONS= instrument --undo instrumented/timed_calls -o undone
cmp undone native/timed_calls || fail '--undo: the original differs'
