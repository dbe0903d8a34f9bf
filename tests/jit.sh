#!/bin/bash
# Callers in code made at run time appear by name: from a perf map in /tmp, if it is the recorded
# process's, from a jitdump that the program mapped, with lines, and from --jit-map. Totals stay.
. "$(dirname "$0")/lib.sh"
SERVICE_OPTIONS=--timing=adaptive # a time for each function that is called

# calls CALLER CALLEE: how many the edges file says
calls()
{
    awk -F '\t' -v caller="$1" -v callee="$2" \
        '$4 == caller && $6 == callee { sum += $10 } END { print sum + 0 }' edges
}

# ground OPTION…: edges, and whether the whole is that of the summary
ground()
{
    grinder --mode=profile --merge --output-format=tsv-edges --output-file=edges "$@" \
        traces/*.bin 2>problems
    grinder --mode=profile --merge --output-file=callgrind "$@" traces/*.bin 2>/dev/null
    grinder --mode=summary "$@" traces/*.bin >summary 2>/dev/null
    # The same calls; the same time, but for how fractions of a nanosecond are rounded. (With
    # other callers known it is another time: less than nothing is left of none.)
    awk '/^totals:/ { print $2, $(FNR == NR ? 3 : 4) }' callgrind summary |
        awk 'NR == 1 { ns = $1; calls = $2 } NR == 2 { exit !($2 == calls && (ns - $1) ^ 2 <= 100) }' ||
        fail "totals: $(grep '^totals:' callgrind summary)"
}

named()
{
    equal "calls first makes" "$(calls 'made: first' callee)" 1010
    equal "calls second makes" "$(calls 'made: second' nest)" 10
    equal "of first by main" "$(calls main 'made: first')" 1000
    equal "of first by nest" "$(calls nest 'made: first')" 10
    equal "of second" "$(calls main 'made: second')" 10
    equal "by main of callee" "$(calls main callee)" 0
}

unnamed()
{
    equal "calls first makes" "$(calls 'made: first' callee)" 0
    equal "by main of callee" "$(calls main callee)" 1000
}

build jit jit.c
instrumented jit

recorded jit dump
ground
named
equal "line of a call" \
    "$(awk -F '\t' '$4 == "made: second" && $6 == "nest" { print $8 ":" $9 }' edges)" made.js:22
contains callgrind '^calls=1000 10$'
contains callgrind '^calls=10 20$'
# A trace names the jitdump, and may name anybody's.
dump=instrumented/jit-$(basename traces/*.bin | cut -d- -f2).dump
if ((EUID == 0)); then
    chown 54321 "$dump"
    ground
    unnamed
    contains problems "jit-[0-9]+.dump: belongs to another user than the trace, so it is left out"
    chown 54321 traces/*.bin
    ground
    named
    chown 0 "$dump" # root's is anybody's
    ground
    named
    chown 0 traces/*.bin
fi
mv "$dump" moved
ln -s ../moved "$dump"
ground
unnamed
contains problems "jit-[0-9]+.dump: is not a regular file, so it is left out"
ground --jit-map="$dump"
named
rm "$dump"
ground
unnamed

record jit map
map=/tmp/perf-$(sed -n 's/^process \([0-9]*\) .*/\1/p' summary).map
trap 'status=$?; rm -f "$map"; set +e; (exit $status); end_of_script' EXIT
ground
named

# Time lines say the caller with the call, and firefox has it in the stack; calls are the same ones.
rm -rf lines
(cd instrumented && "$BUILD/service/call_trace_service" start --mode=calltrace \
    --trace-dir="$work/lines" -- ./jit map) >lines.out
line_map=perf-$(basename lines/*.bin | cut -d- -f2).map
mv "/tmp/$line_map" .

# line FORMAT OPTION…: line from lines/
line()
{
    grinder --mode=profile --output-file=line --jit-map="$line_map" --output-format="$@" lines
}
line chrome
jq -r '.traceEvents[] | select(.ph == "B" and (.name == "callee" or .name == "nest")) |
    "\(.name) by \(.args.caller)"' line | sort | uniq -c | sed 's/^ *//' >said
printf '%s\n' '1010 callee by made: first' '10 nest by made: second' | diff said - >problems ||
    fail "callers in chrome: $(<problems)"
line perfetto
equal "callers in perfetto" "$(grep -aoE 'made: (first|second)' line | sort | uniq -c | tr -s ' \n' ' ')" \
    " 1010 made: first 10 made: second "
line firefox
jq -r '.threads[0] | . as $thread | [range(.stackTable.length)] | map(
        $thread.stackTable.prefix[.] as $prefix |
        [if $prefix == null then "-" else $thread.stringArray[$thread.stackTable.frame[$prefix]] end,
            $thread.stringArray[$thread.stackTable.frame[.]]] | join(" > ")) | .[]' line |
    grep -E 'made: |callee' | sort -u >said
printf '%s\n' 'made: first > callee' 'made: second > nest' 'main > made: first' \
    'main > made: second' 'nest > made: first' | diff said - >problems ||
    fail "stacks in firefox: $(<problems)"
line chrome --function='made: first'
equal "calls by first" "$(grep -c '"ph":"B"' line)" 1010
line folded --function='made: first' --weight=calls
equal "calls by first, of the profile" "$(awk '{ sum += $NF } END { print sum }' line)" 1010

# A process of that number that ran at another time.
cp -p "$map" kept.map
for when in '1 hour ago' '1 hour'; do
    touch -d "$when" "$map"
    ground
    unnamed
    contains problems "^grinder: $map: .*--jit-map=$map takes it all the same"
done
ground --jit-map=kept.map
named
cp kept.map perf-1.map
ground --jit-map=perf-1.map
unnamed
rm "$map"
mkfifo "$map"
ground
unnamed
contains problems "is not a regular file"
rm "$map"
ground
unnamed
equal "problems" "$(<problems)" ""
status=0
grinder --mode=profile --output-file=/dev/null --jit-map=none traces/*.bin 2>problems || status=$?
contains problems "^grinder: none: No such file or directory; callers in code made at run time"
