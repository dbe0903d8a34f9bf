#!/bin/bash
# Each view of recordings by samples, of several programs and threads: their sums are the summary's, times
# are called those of the processor, nothing is said to be taken out, and what no sample met has its calls.
# needs: gawk jq libxml2-utils gzip protobuf-compiler golang-github-google-pprof-dev
. "$(dirname "$0")/lib.sh"

pprof_schema=/usr/share/gocode/src/github.com/google/pprof/proto

build sampled sampled.c -pthread
export XDG_CACHE_HOME=$work/cache

# grind FORMAT OPTION…: to standard output
grind()
{
    local format=$1
    shift
    grinder --mode=profile --merge --output-format="$format" --output-file=- "$@" "${traces[@]}"
}

# column NAME FILE: added up
column()
{
    gawk -F '\t' -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) at = i; next }
        { sum += $at } END { if (!at) exit 1; printf "%d\n", sum }' "$2"
}

sum_of_lines()
{
    gawk '{ sum += $NF } END { printf "%d\n", sum }'
}

views()
{
    grinder --mode=summary "${traces[@]}" >summary
    contains summary '^  timing    samples'
    contains summary ' CPU ns        waited ns  balance'
    contains summary '^hottest functions by self time \(CPU\)$'
    contains summary '^ +calls +self ns +self% +inclusive ns +incl%  function$'
    ! grep -E 'meas%|measuring|taken out' summary || fail "the summary says what measuring cost"
    read -r ns calls < <(sed -n 's/^totals: \([0-9]*\) ns \([0-9]*\) calls [0-9]* functions$/\1 \2/p' summary)
    ((ns > 0 && calls > 0))

    equal folded "$(grind folded | sum_of_lines)" "$ns"
    equal "folded by calls" "$(grind folded --weight=calls | sum_of_lines)" "$calls"
    grind callgrind >callgrind
    contains callgrind '^event: ns : CPU nanoseconds$'
    contains callgrind "^totals: $ns 0 $calls\$" # nobody waited
    grind flamegraph >flamegraph
    contains flamegraph ' by CPU time</title>'
    xmllint --noout flamegraph
    contains flamegraph "^$ns ns, $calls calls"
    grind pprof | zcat |
        protoc --proto_path=$pprof_schema --decode=perftools.profiles.Profile profile.proto >pprof
    equal pprof "$(gawk '/^sample \{/ { place = 0 } /^  value:/ { sum[place++] += $2 }
        END { printf "%d %d\n", sum[1], sum[0] }' pprof)" "$ns $calls"
    contains pprof '^string_table: "cpu"$'
    equal speedscope "$(grind speedscope | jq '[.profiles[].weights[]] | add')" "$ns"
    grind firefox >firefox
    contains firefox '"weightType":"tracing-ms"'
    grind tsv >tsv
    equal tsv "$(column self_ns tsv) $(column calls tsv)" "$ns $calls"
    # In tsv as in the summary: 0, not nothing.
    gawk -F '\t' '$8 > 0 { found += $9 == "0" } END { exit !found }' tsv ||
        fail "tsv: what no sample met has no 0"
    # Ranges hold the time; where there is no sample they begin with 0.
    gawk -F '\t' 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        { self = $at["self_ns"] + 0; low = $at["self_low_ns"] + 0; high = $at["self_high_ns"] + 0; n = $at["samples"] + 0 }
        low > self || high < self || (n ? low <= 0 : low || !high) { print; bad = 1 }
        { samples += n } END { exit bad || !samples }' tsv || fail "tsv: a range is wrong"
    grind tsv-edges >edges
    equal tsv-edges "$(column calls edges)" "$calls"
    grind json >json
    equal json "$(jq '[.parts[].functions[].self_ns] | add' json) $(jq '[.parts[].functions[].calls] | add' json)" \
        "$ns $calls"
    equal "samples in json" "$(jq '[.parts[].functions[].samples] | add' json)" "$(column samples tsv)"
    equal "ranges in json" "$(jq '[.parts[].functions[], .parts[].edges[] |
        select(.self_range_ns[0] > .self_ns or .self_range_ns[1] < .self_ns or
            .total_range_ns[0] > .total_ns or .total_range_ns[1] < .total_ns)] | length' json)" 0
    equal "timing in json" "$(jq -r '.processes[].timing' json | sort -u)" samples
    equal "edges in json" "$(jq '[.parts[].edges[].calls] | add' json)" "$calls"

    grinder --mode=report --output-file=page.html "${traces[@]}" 2>said
    contains page.html '"sampled":true'
    grinder --mode=top --once "${traces[@]}" >top
    contains top "^${#traces[@]} programs?, [0-9]+ functions, $(gawk -v ns="$ns" 'BEGIN { printf "%.3f", ns / 1e6 }' \
        ) ms of CPU and $calls calls since the start\$"
    contains top '^ +0\.00 +0\.000 +- +[1-9][0-9]*  '
    grinder --mode=stack --output-file=- "${traces[@]}" >stack
    contains stack '^[0-9]+.*calls'
    grinder --mode=diff --output-format=table "${traces[0]}" "${traces[0]}" >diff
    contains diff ' of CPU  function$'
    contains diff '\+0\.00%  \(all\)$'
    for format in chrome perfetto; do
        grinder --mode=profile --output-format=$format --output-file=- "${traces[@]}" >printed 2>said &&
            fail "$format of a profile" || true
        contains said 'needs a call-trace recording'
    done
}

echo '-- an instrumented program with a thread, a snapshot of it, and top, while it runs'
instrumented sampled
call_trace_service spawn --timing=samples --instance-id=views --trace-dir=running >/dev/null
call_trace_service status --instance-id=views >status
contains status '^timing: samples$'
UMBRA_INSTANCE_ID=views instrumented/sampled all 2>said &
program=$!
started+=("$program")
for ((try = 0; try < 200; try++)); do
    [[ $(wc -l <said) -lt 2 ]] || break
    sleep 0.05
done
call_trace_service snapshot --instance-id=views --output="$work/snapshot.bin" >/dev/null
call_trace_service top --instance-id=views --once >top
contains top ' ms of CPU and [0-9]+ calls since the start$'
contains top '^ +[1-9][0-9.]+ +[0-9.]+ +- +[0-9]+  turn$'
wait "$program"
call_trace_service stop --instance-id=views >/dev/null
traces=(snapshot.bin)
views
traces=(running/*.bin)
views

echo '-- umbra record, of several processes'
umbra record --timing=samples -o several -- sh -c 'native/sampled all; native/sampled reset; true' 2>said
traces=(several/traces/*.bin)
grinder --mode=summary "${traces[@]}" >summary
contains summary '^  timing    samples'
umbra report --text several >text
contains text '^hottest functions by self time \(CPU\)$'
contains text '^  +[0-9.]+ +[0-9.]+ +[0-9]+ +[0-9]+\* +native/sampled all$'
umbra report several >/dev/null 2>&1
contains several/report.html '"sampled":true'
umbra record --timing=samples --slices=0 --samples=500 -q -o other -- native/sampled reset
umbra diff several other >diff
contains diff '^turn'
umbra top several 2>said && fail "top of what does not run" || true
contains said 'none of its programs runs any more'

echo '-- beside times of the clock'
umbra record --timing=exact -q -o exact -- native/sampled reset
umbra diff other exact >diff 2>said
contains said 'times of the processor \(--timing=samples\), .* has times of the clock.*: their calls compare'
grinder --mode=diff --weight=calls other/traces exact/traces >diff 2>said
! grep 'times of' said || fail "a diff of calls says something of times"
grinder --mode=summary exact/traces/*.bin >summary
contains summary '^  measuring '
contains summary ' meas%  function$'
