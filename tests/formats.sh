#!/bin/bash
# Every format the grinder writes holds the calls and the time that its summary shows, as read by
# readers that are not ours.
# needs: g++ valgrind jq libxml2-utils gawk gzip protobuf-compiler golang-github-google-pprof-dev
# needs: python3-jsonschema
# seconds: 20
. "$(dirname "$0")/lib.sh"

pprof_schema=/usr/share/gocode/src/github.com/google/pprof/proto

# trace FOLDER OPTION… -- ARGUMENT…: traces of instrumented/formats
trace()
{
    local folder=$1
    shift
    rm -rf "$folder"
    # times of each call, which most formats were made for; sampled_views.sh has the other kind
    [[ $* == *--mode=calltrace* ]] || set -- --timing=adaptive "$@"
    (cd instrumented && call_trace_service start --trace-dir="$work/$folder" "$@")
}

# The column of a file of tab-separated values, by its heading, added up. Doubles hold 2^53.
column()
{
    gawk -F '\t' -v name="$1" '
        NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) column = i; next }
        { sum += $column }
        END { if (!column) exit 1; printf "%d\n", sum }' "$2"
}

# grind FORMAT OPTION…: profile/FORMAT from the traces in $traces
grind()
{
    local format=$1
    shift
    mkdir -p profile
    grinder --mode=profile --output-format="$format" --output-file="profile/$format" "$@" "$traces"
}

flame_all()
{
    xmllint --xpath 'string(//*[local-name()="g"]/*[local-name()="g"][1]/*[local-name()="title"])' \
        profile/flamegraph | sed -n '2s/ (.*//p'
}

# The sums of the values of each sample.
pprof_values()
{
    zcat profile/pprof |
        protoc --proto_path="$pprof_schema" --decode=perftools.profiles.Profile profile.proto |
        gawk '/^sample \{/ { place = 0; inside = 1 }
              /^}/ { inside = 0 }
              inside && /^  value:/ { sum[place++] += $2 }
              END { printf "%d ns, %d calls\n", sum[1], sum[0] }'
}

# The weights of all samples, of which the last one of each thread is its end.
firefox_total()
{
    /usr/bin/python3 - "$1" <<'END'
import json, sys
total = 0
for thread in json.load(open("profile/firefox"), parse_float=lambda text: int(text.replace(".", "")))["threads"]:
    samples, at = thread["samples"], 0
    assert samples["weightType"] == sys.argv[1], samples["weightType"]
    for stack, time, weight in zip(samples["stack"], samples["time"], samples["weight"], strict=True):
        assert time == at and (weight == 0 or stack is not None)
        at += weight
    assert samples["stack"][-1] is None
    total += at
print(total)
END
}

# As many as there are threads.
pprof_tids()
{
    zcat profile/pprof |
        protoc --proto_path="$pprof_schema" --decode=perftools.profiles.Profile profile.proto |
        gawk '/^    num:/ { tid[$2] } END { print length(tid) }'
}

# all_equal OPTION…: each format's totals are the summary's
all_equal()
{
    local what="${traces##*/} $*" ns calls
    grinder --mode=summary "$@" "$traces" >summary
    read -r ns calls < <(sed -n 's/^totals: \([0-9]*\) ns \([0-9]*\) calls .*/\1 \2/p' summary)
    ((calls > 0))

    grind callgrind "$@"
    equal "$what: callgrind" "$(gawk '/^totals:/ { ns += $2; calls += $3 }
        END { printf "%d %d\n", ns, calls }' profile/callgrind)" "$ns $calls"

    [[ $* == *--merge* ]] || grind callgrind --thread-parts "$@"
    equal "$what: callgrind, by thread" "$(gawk '/^totals:/ { ns += $2; calls += $3 }
        END { printf "%d %d\n", ns, calls }' profile/callgrind)" "$ns $calls"

    grind folded "$@"
    equal "$what: folded" "$(gawk '{ sum += $NF } END { printf "%d\n", sum }' profile/folded)" "$ns"
    grind folded --weight=calls "$@"
    equal "$what: folded calls" \
        "$(gawk '{ sum += $NF } END { printf "%d\n", sum }' profile/folded)" "$calls"

    grind flamegraph "$@"
    xmllint --noout profile/flamegraph
    equal "$what: flamegraph" "$(flame_all)" "$ns ns, $calls calls"

    grind pprof "$@"
    equal "$what: pprof" "$(pprof_values)" "$ns ns, $calls calls"

    grind speedscope "$@"
    equal "$what: speedscope" "$(jq '[.profiles[].weights[]] | add' profile/speedscope)" "$ns"
    equal "$what: speedscope's ends" "$(jq '[.profiles[].endValue] | add' profile/speedscope)" "$ns"
    jq -e '(.shared.frames | length) as $count | [.profiles[] |
        (.samples | length) == (.weights | length) and all(.samples[][]; . < $count)] | all' \
        profile/speedscope >/dev/null || fail "$what: speedscope: a sample is malformed"
    cp profile/speedscope "speedscopes/$((++speedscopes)).json"
    grind speedscope --weight=calls "$@"
    equal "$what: speedscope calls" "$(jq '[.profiles[].weights[]] | add' profile/speedscope)" \
        "$calls"

    grind firefox "$@"
    equal "$what: firefox" "$(firefox_total tracing-ms)" "$ns"
    grind firefox --weight=calls "$@"
    equal "$what: firefox calls" "$(firefox_total samples)" "$calls"

    grind tsv "$@"
    equal "$what: tsv" "$(column self_ns profile/tsv) $(column calls profile/tsv)" "$ns $calls"
    grind tsv-edges "$@"
    equal "$what: tsv-edges" "$(column calls profile/tsv-edges)" "$calls"
    grind json "$@"
    equal "$what: json" "$(jq -r '[[.parts[].functions[]] | (map(.self_ns) | add),
        (map(.calls) | add)] | join(" ")' profile/json)" "$ns $calls"
    equal "$what: json's edges" "$(jq '[.parts[].edges[].calls] | add' profile/json)" "$calls"
}

# All of speedscope's files that all_equal has looked at, as python takes longer to begin than to check one.
jsonschema_check()
{
    /usr/bin/python3 - "$schema" speedscopes/*.json <<'EOF'
import json, sys, jsonschema
schema, *profiles = (json.load(open(path)) for path in sys.argv[1:])
for profile in profiles:
    jsonschema.validate(profile, schema)
EOF
}
mkdir speedscopes
speedscopes=0

# The schema that speedscope publishes, where there is npm and its registry can be reached.
schema=$work/schema.json
(cd "$work" && npm pack --silent speedscope@1 >npm.log 2>&1 &&
    tar -xzOf speedscope-*.tgz package/dist/release/file-format-schema.json >"$schema") ||
    echo "speedscope's schema cannot be fetched: its files are checked without it"

build formats formats.cpp -O1
instrumented formats
trace whole -- ./formats 300 30
trace folded --node-limit=16 -- ./formats 300 30
trace deep -- ./formats 10 3000

for traces in "$work/whole" "$work/folded" "$work/deep"; do
    all_equal
    all_equal --merge
done
traces=$work/whole
grind folded --merge
contains profile/folded '^main;space::dive\(int\);space::dive\(int\);space::leaf\(int\) [0-9]+$'
traces=$work/folded
grind folded
contains profile/folded ';\[cut\];'
traces=$work/deep
grind folded
contains profile/folded ';\[cut\] [0-9]+$'
grind firefox
jq -e '[.threads[].stringArray[]] | contains(["[cut]"])' profile/firefox >/dev/null ||
    fail "firefox has no [cut]"
equal "frames at most" "$(gawk -F ';' '{ if (NF > most) most = NF } END { print most }' \
    profile/folded)" 1003

# Somebody else's sums of callgrind's parts, each in a file of its own.
traces=$work/whole
grind callgrind --split
read -r ns < <(grinder --mode=summary "$traces" | sed -n 's/^totals: \([0-9]*\) ns .*/\1/p')
annotated=0
for part in profile/callgrind-*; do
    callgrind_annotate --auto=no "$part" >annotated 2>&1
    ! grep -q WARNING annotated || fail "$(<annotated)"
    annotated=$((annotated + $(sed -n 's/^ *\([0-9,]*\) .*PROGRAM TOTALS.*/\1/p' annotated | tr -d ,)))
done
equal "callgrind_annotate's sum" "$annotated" "$ns"

# Selections: fewer, and the same in every format.
grind json
parent=$(jq -r '.processes[] | select(.fork_of_pid == 0) | .pid' profile/json)
child=$(jq -r '.processes[] | select(.fork_of_pid != 0) | .pid' profile/json)
for option in --process="$parent" --process="$child" --process=formats --process='*/form*' \
    --thread=2 --thread="$parent" --function='space::parse' --function='*leaf*'; do
    all_equal "$option"
    all_equal "$option" --merge
done
[[ ! -s $schema ]] || jsonschema_check
# of the thread of lambda, of the child, of main
equal "calls of parse" "$(grinder --mode=profile --output-format=tsv --output-file=- "$traces" |
    gawk -F '\t' '$4 ~ /^space::parse/ { printf "%s ", $8 }')" "1 1 1 "
grinder --mode=profile --merge --weight=calls --output-format=folded --output-file=- \
    --function='space::leaf*' --thread=2 "$traces" >selected
equal "calls of leaf below thread 2" "$(sed 's/.* //' selected)" 600
contains selected 'space::parse\(int\);space::leaf\(int\) 600$'
equal "a process by pid" "$(grinder --mode=profile --output-format=json --output-file=- \
    --process="$child" "$traces" | jq -c '[.processes[].pid]')" "[$child]"
status=0
grinder --mode=summary --function=nosuch --thread=nosuch "$traces" >summary 2>problems || status=$?
equal "status of patterns that match nothing" "$status" 1
contains problems '--function=nosuch: expected a function of that name, found none'
contains problems '--thread=nosuch: expected a thread'

# Threads of one name are told apart.
grind pprof
equal "tids in pprof" "$(pprof_tids)" "$(jq '.threads | length' <(grinder --mode=profile \
    --output-format=firefox --output-file=- "$traces"))"

# Parts say where their process came from.
grind callgrind --thread-parts
contains profile/callgrind "^desc: Trigger: formats $child \(fork of $parent\): formats"
grind folded
contains profile/folded "^formats $child \(fork of $parent\);formats;.*space::parse"

# What a profile cannot be.
for format in chrome perfetto; do
    status=0
    grinder --mode=profile --output-format=$format --output-file=none "$traces" 2>problems ||
        status=$?
    equal "status of $format" "$status" 2
    contains problems "--output-format=$format needs a call-trace recording .*whole is a profile"
    [[ ! -e none ]]
done
status=0
grinder --mode=profile --output-format=firefox --from=1 --output-file=none "$traces" 2>problems ||
    status=$?
equal "status of a range of time" "$status" 2
contains problems "--from or --to of firefox needs a call-trace recording .*whole is a profile"
status=0
grinder --mode=profile --output-format=nosuch "$traces" 2>problems || status=$?
equal "status of an unknown format" "$status" 2
contains problems 'does not have nosuch'

# Whole or not at all.
rm -rf limited && mkdir limited
status=0
(ulimit -f 1; trap '' XFSZ
    grinder --mode=profile --output-format=json --output-file=limited/json "$traces") 2>problems ||
    status=$?
equal "status of a write that fails" "$status" 1
equal "what it left" "$(ls -A limited)" ""

# Any number of traces add up, in the memory of one.
trace large --node-limit=1000000 -- ./formats 10 60000
large=$(find large -size +1M)
mkdir many
for ((i = 0; i < 50; i++)); do
    ln "$large" "many/$i.bin"
done

# peak TRACE…: the most memory that grinding them takes, in KB
peak()
{
    /usr/bin/python3 - "$BUILD/grinder/grinder" --mode=profile --merge \
        --output-format=tsv --output-file=merged "$@" <<'EOF'
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
EOF
}
one=$(peak "$large")
all=$(peak many)
((all < 2 * one)) || fail "50 traces take $all KB, one takes $one KB"
calls=$(grinder --mode=summary "$large" | sed -n 's/^totals: .* ns \([0-9]*\) calls.*/\1/p')
equal "calls of 50 traces" "$(column calls merged)" $((50 * calls))
