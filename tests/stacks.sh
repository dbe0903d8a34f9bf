#!/bin/bash
# Whole stacks of programs that are not instrumented: where their time goes, who called whom, to the start of
# each thread; processes, programs executed, and what is refused.
# needs: gcc python3
. "$(dirname "$0")/lib.sh"

build stacked stacked.c
strip -o native/stripped native/stacked

# recorded NAME COMMAND…: into traces.NAME; its status must be $STATUS, or 0
recorded()
{
    local name=$1 status=0
    shift
    call_trace_service start --mode=samples --trace-dir="traces.$name" -- "$@" >out 2>err || status=$?
    equal "status of $*" "$status" "${STATUS:-0}"
    [[ ! -s err ]] || fail "$*: $(<err)"
}

if ! call_trace_service start --mode=samples --trace-dir=probe -- true 2>err; then
    contains err 'whole stacks cannot be sampled here: perf_event_open'
    [[ ! -e probe || -z $(ls probe) ]] || fail "a trace was left"
    echo "perf_event_open is not allowed here: that it is refused was all there is to see"
    exit 0
fi

# shares NAME FUNCTION…: in percent, self, of all samples of a recording as tsv
grinding()
{
    grinder --mode=profile --output-format=tsv --merge --output-file="$1.tsv" "traces.$1" 2>problems
    [[ ! -s problems ]] || fail "$1: $(<problems)"
}

cat >shares.py <<'END'
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1]), delimiter="\t"))
all = sum(int(row["self_ns"]) for row in rows)
assert all and not any(row["calls"] for row in rows), "there are no samples, or there are calls"
of = lambda name, what: 100 * sum(int(row[what]) for row in rows if row["function"] == name) / all
often, seldom, outer = of("often", "self_ns"), of("seldom", "self_ns"), of("outer", "total_ns")
assert 70 < often < 80 and 20 < seldom < 30, f"often {often}%, seldom {seldom}%"
assert outer > 98, f"outer {outer}%"
END

for mode in threads fork exec deep; do
    echo "-- $mode"
    STATUS=$([[ $mode != fork ]] || echo 7) recorded "$mode" native/stacked "$mode"
    grinding "$mode"
    python3 shares.py "$mode.tsv"
    grinder --mode=summary "traces.$mode" >"$mode.summary"
    awk -v least="$([[ $mode == deep ]] && echo 0 || echo 0.95)" '
        /with all callers/ { taken += $2; whole += $2 * $7 / 100 }
        END { exit !(taken > 300 && whole >= least * taken) }' "$mode.summary" ||
        { cat "$mode.summary"; fail "$mode: too few samples, or too few with all callers"; }
    awk '/by the threads. clocks/ && $8 + 0 < 90 { exit 1 }' "$mode.summary" ||
        { grep processor "$mode.summary"; fail "$mode: time that is in no sample"; }
done
contains threads.summary '^  timing    samples of whole stacks: nothing was instrumented, calls were not counted$'
equal "threads" "$(grep -cE '^ +[0-9]+ +[23][0-9]{2} +[0-9]+  stacked$' threads.summary)" 2
contains fork.summary 'ended, exit status 7'
contains fork.summary '^  fork of '
contains deep.summary ' [0-4]\.[0-9]% of them with all callers' # as it begins
contains exec.summary 'process [0-9]+  native/stacked threads$'

echo '-- stripped, as umbra records it'
umbra record -q --how=samples -o data -- native/stripped
umbra report --text data >text
contains text 'with all callers'
contains text 'samples +self ns'
grep -q 'stripped!0x' text || fail "no function of the stripped program: $(<text)"
umbra report data >said
[[ -s data/report.html ]] || fail "no page"
for format in callgrind pprof flamegraph folded speedscope firefox json; do
    umbra report --output-format=$format -o "profile.$format" data
    [[ -s profile.$format ]] || fail "nothing in $format"
done
contains profile.callgrind '^events: ns Wait Samples$'

echo '-- what the program sees'
sees='umask; ls /proc/self/fd; env | grep -v "^_=" | sort; ulimit -a'
(umask 027; umbra record -q --how=samples -o seen -- bash -c "$sees") >seen.out
(umask 027; bash -c "$sees") >native.out
diff native.out seen.out || fail "the program sees another mask, descriptors, limits or environment"
STATUS=139 recorded killed bash -c 'kill -SEGV $$'
contains <(grinder --mode=summary traces.killed) 'killed by signal 11, SIGSEGV'

echo '-- one that runs already'
gcc -O2 -pthread -o native/runs "$TESTS/programs/stacked_runs.c"
native/runs &
process=$!
started+=("$process")
"$BUILD/front/umbra" record -q -p "$process" -o running &
recorder=$!
sleep 1.5
kill "$recorder" # as ^C, which jobs of a script do not get
wait "$recorder" || fail "the recorder's status is $?"
kill -0 "$process" || fail "what was sampled has ended"
umbra report --text running >text
contains text "^process $process  native/runs$"
contains text '^  state     running, or its end was not seen$'
awk '/with all callers/ { exit !($2 > 100 && $7 + 0 > 95) }' text || fail "few samples: $(grep samples text)"
awk '$NF == "busy" && $2 + 0 > 0 { found = 1 } END { exit !found }' text || fail "its function is not there"
(($(grep -cE '^ +[0-9]+ +[0-9]+ +[0-9]+  runs$' text) >= 3)) || fail "threads that began later are missing"
"$BUILD/front/umbra" record -q -p "$process" -o ending &
recorder=$!
sleep 0.5
kill "$process"
wait "$recorder" || fail "the recorder's status is $?, of a process that ended"
contains <(umbra report --text ending) '^  state     ended$'
if umbra record -p "$process" -o nobody 2>err; then fail "a process that is gone was sampled"; fi
contains err 'there is no such process'
[[ ! -e nobody ]] || fail "a recording of nothing was left"

echo '-- files that are damaged'
stacks=$(ls traces.deep/*.stacks)
trace=${stacks%.stacks}.bin
size=$(stat -c %s "$stacks")
for cut in 40 64 100 1000 $((size / 2)) $((size - 8)); do
    mkdir -p cut
    cp "$trace" cut/a.bin
    head -c "$cut" "$stacks" >cut/a.stacks
    grinder --mode=summary cut/a.bin >out 2>err || fail "cut to $cut: $(<err)"
done
cp "$trace" cut/a.bin
rm cut/a.stacks
grinder --mode=summary cut/a.bin >out 2>err
contains err 'a.stacks: .*has no samples without it$'
other=$(ls traces.threads/*.stacks)
cp "$other" cut/a.stacks
grinder --mode=summary cut/a.bin >out 2>err
contains err 'found those of another recording'

echo '-- what is refused'
refused()
{
    local status=0
    "${@:2}" >out 2>err || status=$?
    equal "status of ${*:2}" "$status" 2
    contains err "$1"
}
refused '^call_trace_service: --node-limit: does nothing with --mode=samples$' \
    call_trace_service start --mode=samples --node-limit=5 -- true
refused 'expected start, and -- and a command' call_trace_service spawn --mode=samples
refused '--samples=timer: expected samples a second' \
    call_trace_service start --mode=samples --samples=timer -- true
refused '^umbra: record: --exclude=x: does nothing with --how=samples: leave it out$' \
    umbra record --how=samples --exclude=x -- true
refused '-p x: expected the number of a process' umbra record -p x
refused '--pid: what runs already can only be sampled' call_trace_service start --pid=5
refused 'expected no program beside it, found true' umbra record -p 5 -- true
refused '--timing=exact: does nothing with --how=samples' umbra record --how=samples --timing=exact -- true
