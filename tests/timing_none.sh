#!/bin/bash
# --timing=none: the calls in each context are those that exact timing counts, no clock is read for them,
# also past 2^31 calls of a context, and no view shows a time. Times that are asked for are refused.
# needs: g++
. "$(dirname "$0")/lib.sh"

# recorded_with TRACES TIMING COMMAND…
recorded_with()
{
    local traces=$1 timing=$2
    shift 2
    rm -rf "$traces"
    run instrumented "$BUILD/service/call_trace_service" start --timing=$timing --samples=0 --slices=0 \
        --trace-dir="$work/$traces" -- "$@"
}

# same_counts COMMAND…
same_counts()
{
    run native "$@"
    recorded_with exact exact "$@"
    compare_runs "$*, exact"
    recorded_with none none "$@"
    compare_runs "$*, none"
    rm -rf traces
    ln -sfn none traces
    balanced
    "$BUILD/tests/campaigns/tree_compare" "${compared[@]}" exact none >differences ||
        { cat differences >&2; fail "$*: contexts differ from those of exact timing"; }
    untimed none/*.bin
    echo "$*: $(tail -n 1 differences)"
}

# untimed TRACE…
untimed()
{
    local trace
    for trace; do
        ./untimed "$trace" >figures
        contains figures '^[1-9][0-9]* contexts, [1-9][0-9]* calls, 0 timed, 0 with times, 0 past '
    done
}

# refused WHAT PATTERN COMMAND…: with status 2, a message, and nothing else
refused()
{
    local what=$1 pattern=$2 status=0
    shift 2
    "$@" >printed 2>refusal || status=$?
    equal "$what: status" "$status" 2
    equal "$what: lines of the refusal" "$(wc -l <refusal)" 1
    contains refusal "$pattern"
    [[ ! -s printed ]] || fail "$what: printed something: $(head -n 3 printed)"
}

gcc -O2 -D_GNU_SOURCE -I"$TESTS/.." -o untimed "$TESTS/campaigns/untimed.c"
build clockless clockless.c
for name in callbacks chains leaving forks carried tail_calls deep; do
    build $name $name.c -w
done
build thrown thrown.cpp -w

# Of its two rounds.
clockless_counts()
{
    local name calls
    while read -r name calls; do
        equal "calls of $name, $1" "$(awk -v name=$name '$NF == name { print $1; exit }' summary)" $calls
    done <<<'leaf 8006
        caller 4000
        jumper 2000
        down 6000
        leaver 200
        handle 2'
}

# held_trace SERVICE: the one that it holds, of a program that runs
held_trace()
{
    local file
    for file in /proc/"$1"/fd/*; do
        [[ $(readlink "$file") != /memfd:*.bin* ]] || echo "$file"
    done
}

# Who reads the clock amid the calls dies; with exact timing recording ends before. In between, each context
# is as after 2^31 calls.
without_clock()
{
    local try program
    recorded_with exact exact ./clockless
    if [[ $(<instrumented.status) == 99 ]]; then
        echo "skipped: the processor's clock cannot be forbidden here"
        return
    fi
    equal "$1: status with exact timing and no clock" "$(<instrumented.status)" 0
    rm -rf traces
    ln -sfn exact traces
    balanced
    equal "$1: calls of leaf with exact timing and no clock" "$(calls_of leaf)" 0
    rm -rf traces gate said
    mkfifo gate
    exec 3<>gate
    (cd instrumented && exec "$BUILD/service/call_trace_service" start --timing=none \
        --trace-dir="$work/traces" -- ./clockless) <gate >said 2>said.too 3>&- &
    program=$!
    started+=("$program")
    for ((try = 0; try < 600; try++)); do
        [[ ! -s said ]] || break
        sleep 0.05
    done
    ./untimed --hasten "$(held_trace $program)" >figures
    contains figures ' 0 past their turn, 0 far from it$'
    echo >&3
    wait "$program" || fail "$1: status $?: $(cat said said.too)"
    exec 3>&-
    contains said '^round 1: '
    ./untimed traces/*.bin >figures
    contains figures ' 0 timed, 0 with times, 0 past their turn, [1-9][0-9]* far from it$'
    echo "$1: $(<figures)"
    balanced
    clockless_counts "$1"
}

for how in prologue copy; do
    instrumented clockless --how=$how
    without_clock "$how"
    names=(callbacks chains forks carried tail_calls thrown) compared=()
    # Copies do not see ends, nor amid which function a handler comes (docs/copies.md), and have fewer contexts:
    # what deep has at the limit of contexts is another's.
    if [[ $how == prologue ]]; then names+=(leaving deep); else compared=(--ignore-ends --by-callee); fi
    for name in "${names[@]}"; do
        instrumented $name --how=$how
        same_counts ./$name
    done
done

# Samples and slices are times: there are none. Threads, and calls under way at the end.
rm -rf traces timed
build traces "$TESTS/../samples/fib.c"
instrumented traces
recorded_with traces none ./traces
call_trace_service start --timing=exact --trace-dir=timed -- instrumented/traces >/dev/null
call_trace_service start --timing=none --trace-dir=default -- instrumented/traces >/dev/null
equal "files of a recording" "$(find default -type f ! -name '*.bin' | wc -l)" 0
trace=$(echo traces/*.bin)

# No view shows a time. The duration of the process is one, but not of calls.
grinder --mode=summary "$trace" | grep -v '^  duration' >summary
contains summary '^  timing    none: counts are exact, there are no times$'
contains summary '^ +2692537 +100\.00  fib$'
contains summary '^totals: 2692544 calls 8 functions$'
! grep -E '\<ns\>|meas|self|inclusive' summary || fail "the summary shows times"

grinder --mode=profile --output-file=callgrind "$trace"
equal "events" "$(grep '^event' callgrind)" $'event: Calls : Calls\nevents: Calls'
contains callgrind '^summary: 2692544$'
contains callgrind '^totals: 2692544$'
equal "the largest number on a line of costs" "$(awk '/^[0-9]/ { print NF }' callgrind | sort -u)" 2
equal "self calls of all" "$(awk '/^calls=/ { getline; next } /^[0-9]/ { sum += $2 } END { print sum }' \
    callgrind)" 2692544
! grep -i nanoseconds callgrind || fail "the callgrind file has times"

# profile FORMAT
profile()
{
    grinder --mode=profile --merge --output-format="$1" --output-file=- "$trace"
}
profile folded >folded
equal "calls of the stacks" "$(awk '{ sum += $NF } END { print sum }' folded)" 2692544
profile flamegraph >flamegraph
contains flamegraph '<title>\./traces by calls</title>'
contains flamegraph '^2692544 calls \(100\.00%\)'
! grep -E '\<ns\>' flamegraph || fail "the flame graph shows times"
profile speedscope >speedscope
contains speedscope '"unit":"none".*"endValue":2692544'
profile firefox >firefox
contains firefox '"weightType":"samples"'
! grep -q tracing-ms firefox || fail "Firefox's profile has times"
for format in tsv tsv-edges; do
    profile $format >$format
    equal "columns of $format that are times" \
        "$(awk -F '\t' 'NR == 1 { for (i = 1; i <= NF; i++) if ($i ~ /_ns$/) times[i] = 1; next }
            { for (i in times) print $i }' $format | sort -u)" ""
done
equal "calls in tsv" "$(awk -F '\t' 'NR > 1 { sum += $8 } END { print sum }' tsv)" 2692544
profile json >json
equal "times in json" "$(grep -Eo '"(self_|total_)?ns":[^,}]*' json | sort -u)" \
    $'"ns":null\n"self_ns":null\n"total_ns":null'
profile pprof | zcat >pprof
! grep -a -q nanoseconds pprof || fail "pprof's profile has times"
grinder --mode=top --once "$trace" >top
contains top '^1 program, 8 functions, no times \(--timing=none\) and 2692544 calls since the start$'
contains top '^ +- +- +- +2692537  fib$'
grinder --mode=stack --output-file=stack "$trace"
[[ -s stack ]] || fail "no depth of the stack"

# Diffs are of calls, also with a recording that has times, if that is said.
grinder --mode=diff --output-format=table traces default >diff
contains diff '^ +calls +after +change +of calls +function$'
contains diff '^ +2\.69 M +2\.69 M +same +\+0\.00%  \(all\)$'
grinder --mode=diff --output-format=table --weight=calls timed traces >diff
contains diff '^ +2\.69 M +2\.69 M +same +\+0\.00%  \(all\)$'
! grep -E '\<ns\>' diff || fail "the diff shows times"
grinder --mode=diff --output-format=tsv --weight=calls timed traces >diff
equal "columns of the diff that are times" \
    "$(awk -F '\t' 'NR > 1 { for (i = 6; i <= NF; i++) print $i }' diff | sort -u)" ""
grinder --mode=profile --merge --weight=calls --output-file=callgrind timed traces
contains callgrind '^totals: 5385088$'

refused "a page" 'traces/.*\.bin has no times.*--timing=adaptive' grinder --mode=report "$trace"
refused "ns" 'has no times for --weight=ns' grinder --mode=profile --weight=ns "$trace"
refused "both kinds in a profile" 'expected recordings of one kind' \
    grinder --mode=profile --merge --output-file=- timed traces
refused "both kinds in a summary" 'expected recordings of one kind' grinder --mode=summary timed traces
refused "a diff of both kinds" 'expected recordings of one kind' grinder --mode=diff timed traces
refused "a time line" 'needs a call-trace recording' \
    grinder --mode=profile --output-format=chrome --output-file=- "$trace"
for option in --mode=calltrace --samples=100 --slices=10; do
    refused "start $option" 'timing=none' call_trace_service start --timing=none $option -- true
done

# The service says it, and umbra hands it on.
call_trace_service spawn --timing=none --instance-id=none --trace-dir=spawned
call_trace_service status --instance-id=none >status
call_trace_service stop --instance-id=none >/dev/null
contains status '^timing: none$'
contains status '^samples: none: --timing=none$'
XDG_CACHE_HOME=$work/cache umbra record --timing=none -o recording -- native/traces >/dev/null 2>said
contains said 'to see it: umbra report --text recording$'
umbra report --text recording >summary
contains summary '^ +2692537 +[0-9.]+  fib$'
