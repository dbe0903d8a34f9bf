#!/bin/sh
# The grinder's command line: grinder_test.sh GRINDER SAMPLE_TRACES
# Each check says what a user would see; the first that is not so ends the test.
set -eu
grinder=$(realpath "$1")
schema=$(realpath "$(dirname "$0")/formats")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$2" "$folder"
cd "$folder"

fail() {
    echo "FAILED: $*" >&2
    exit 1
}

# expect STATUS WORDS ARGUMENT…: the grinder ends with that status and says these words.
expect() {
    wanted=$1 words=$2
    shift 2
    status=0
    "$grinder" "$@" >output 2>errors || status=$?
    [ "$status" -eq "$wanted" ] || fail "$*: expected status $wanted, found $status: $(cat errors)"
    [ -z "$words" ] || cat output errors | grep -qF -- "$words" ||
        fail "$*: expected '$words', found: $(cat errors)"
}

# One line says what was expected, what was found and where.
expect 2 "expected --mode=profile, summary, report, diff, stack, coverage or top, found no --mode" whole.bin
expect 2 "--mode: expected profile, summary, report, diff, stack, coverage or top, found graph" --mode=graph whole.bin
expect 2 "expected a trace file, found none" --mode=summary
expect 2 "--split and --merged exclude each other" --mode=profile --split --merged whole.bin
expect 2 "--path-map: expected FROM=TO, found here" --mode=summary --path-map=here whole.bin
expect 2 "--again is for --mode=diff" --mode=summary --again=whole.bin whole.bin
expect 2 "--nonsense" --mode=summary --nonsense whole.bin
expect 0 "Usage: grinder" --help
expect 0 "grinder (umbra)" --version
expect 1 "nowhere.bin: cannot be opened: No such file" --mode=summary nowhere.bin
expect 1 "not a trace file" --mode=summary /bin/sh
expect 1 "version.bin: header: expected trace version 14, found 15" --mode=summary version.bin
[ "$(wc -l <errors)" -eq 1 ] || fail "expected one line for a trace of another version"
expect 1 "no-such-folder/x: cannot be written: No such file" \
    --mode=profile --output-file=no-such-folder/x whole.bin
expect 1 "cannot be written: No space left on device" \
    --mode=profile --output-file=/dev/full whole.bin

# A trace that is cut off, or does not balance, is shown, with status 1.
expect 1 "cut.bin: cut off: expected 1000 bytes more" --mode=summary cut.bin
grep -q "CUT OFF" output || fail "expected the summary to say that the trace is cut off"
expect 1 "thread 2: expected entries = exits + unwound + live" --mode=summary unbalanced.bin
grep -q "BROKEN" output || fail "expected the summary to mark the thread"
expect 1 "version.bin: header" --mode=profile --output-file=- whole.bin version.bin
grep -q "^totals: " output || fail "expected the other trace to be ground"

# Traces of killed processes and of those that never began are normal.
expect 0 "ended without exit()" --mode=summary killed.bin
grep -q "derived" output || fail "expected live to be marked as derived"
expect 0 "did not begin to record" --mode=summary prepared.bin
expect 0 "events: ns Calls" --mode=profile --output-file=- prepared.bin

# fib(30) calls fib 2,692,537 times; profile and summary agree, however threads are cut.
expect 0 "totals: 180000000 ns 5385076 calls" --mode=summary whole.bin
grep -q "^ *5385074 .*unknown!#2" output || fail "expected the calls of both threads"
expect 0 "" --mode=profile --merged --output-file=- whole.bin
grep -q "^totals: 180000000 5385076$" output || fail "expected merged totals as in the summary"
expect 0 "" --mode=profile --thread-parts --output-file=parts whole.bin
[ "$(grep -c "^totals: 90000000 2692538$" parts)" -eq 2 ] || fail "expected two parts"
grep -qx "desc: Trigger: worker" parts || fail "expected the worker's part by its name"
expect 0 "" --mode=profile --split --output-file=split whole.bin
[ -f split-01 ] && [ -f split-02 ] && [ ! -e split ] || fail "expected split-01 and split-02"
expect 0 "" --mode=profile whole.bin
[ -f callgrind.out.4242 ] || fail "expected callgrind.out.4242"
[ -z "$(find . -name '.*-??????')" ] || fail "expected no temporary files"

# Calls that copied bodies counted in links are calls like others, and taken for returned.
expect 0 "totals: 6152 calls 3 functions" --mode=summary links.bin
grep -qE "^ +1 +6152 +6152 +0 +0 .* holds +main$" output || fail "expected links to balance: $(cat output)"
grep -qE "^ +4620 .*unknown!#3$" output || fail "expected 4000, 600 and 20 calls of the leaf"
grep -qE "^ +1531 .*unknown!#2$" output || fail "expected 1 + 1000, 500 and 30 calls"
expect 0 "" --mode=profile --output-file=- links.bin
grep -qx "calls=1531 0" output || fail "expected the calls of both sites"
grep -qx "totals: 6152" output || fail "expected the totals of the summary"
expect 0 "6152 calls since the start" --mode=top links.bin
expect 0 "" --mode=diff --weight=calls whole.bin links.bin
grep -q "4620" output || fail "expected the leaf's calls in the difference: $(cat output)"

# Instructions that were counted are in every format, and none are where none were.
counted() {
    format=$1
    shift
    expect 0 "" --mode=profile --output-format="$format" --output-file=view "$@" counted.bin
}
has_line() {
    grep -qE "$1" view || fail "$format: expected $1, found $(cat view)"
}
expect 0 "totals: 4 calls 2 functions 145 instructions" --mode=summary counted.bin
grep -q "^functions by calls" output && grep -q "^functions by instructions" output || fail "$(cat output)"
expect 0 "             3               45   31.03" --mode=summary --sort=instructions counted.bin
! grep -q "^functions by calls" output || fail "expected one table: $(cat output)"
expect 2 "links.bin has no instructions to sort by: record with --count=instructions" \
    --mode=summary --sort=instructions links.bin
if command -v script >/dev/null; then
    format=summary # on a terminal
    TERM=dumb script -qec "stty cols 80; $grinder --mode=summary --no-pager counted.bin" /dev/null \
        </dev/null >view
    has_line '^  instr.  self%  incl%    calls    a call  function'
    has_line '^      45  31.0%  31.0%        3        15  counted!#1'
fi
counted callgrind
has_line '^event: Ir : Instructions executed$'
has_line '^events: Ir Calls$'
has_line '^totals: 145 4$'
counted callgrind --weight=instructions
counted tsv
has_line '	self_instructions	total_instructions	version$'
has_line '^4245	.*	3			.*	45	45	1$'
has_line '^4245	.*	1			.*	100	145	1$'
counted tsv-edges
has_line '	self_instructions	total_instructions	version$'
has_line 'counted!#0	.*counted!#1	.*	45	45	1$'
counted json
has_line '"calls":4,"ns":null,"instructions":145,$'
has_line '"calls":3,"self_ns":null,"total_ns":null,"self_instructions":45,"total_instructions":45\}'
counted folded
has_line ';main;[^;]*counted[^;]*;[^;]* 3$'
counted folded --weight=instructions
has_line ';main;[^;]*counted[^;]* 100$'
has_line ';main;[^;]*counted[^;]*;[^;]* 45$'
counted flamegraph --weight=instructions
has_line '<title>./counted by instructions</title>'
has_line '^145 instructions, 4 calls \(100.00%\)$'
has_line '^45 instructions, 3 calls \(31.03%\)$'
counted speedscope --weight=instructions
has_line '"unit":"none","startValue":0,"endValue":145,'
has_line '^"weights":\[100,$'
has_line '^45\]'
counted firefox --weight=instructions
has_line '"weight":\[100,45,0\]'
counted pprof
if command -v protoc >/dev/null; then
    zcat view | protoc --proto_path="$schema" --decode=umbra.pprof.Profile pprof.proto >decoded
    grep -q '^  value: 100$' decoded && grep -q '^  value: 45$' decoded || fail "pprof: $(cat decoded)"
fi
zcat view | grep -q instructions || fail "pprof: expected a type of instructions"
for format in callgrind tsv tsv-edges json flamegraph pprof; do
    expect 0 "" --mode=profile --output-format=$format --output-file=view links.bin
    [ $format = pprof ] && zcat view >plain || cp view plain
    ! grep -qiE '\<Ir\>|instructions' plain || fail "$format: expected no instructions: $(cat plain)"
done
expect 0 "" --mode=diff --weight=instructions counted.bin counted_again.bin
grep -qE '	45	46	1	45	46	1	counted!#0 > counted!#1	1$' output || fail "expected one instruction more: $(cat output)"
grep -qE '	100	100	0	145	146	1		$' output || fail "expected as many of main: $(cat output)"
expect 1 "" --mode=diff --weight=instructions --threshold=0 counted.bin counted_again.bin
expect 0 "" --mode=diff --weight=instructions --threshold=0 counted.bin counted.bin
expect 0 " 45 46" --mode=diff --weight=instructions --output-format=folded counted.bin counted_again.bin
none="links.bin has no instructions for --weight=instructions: record with --count=instructions"
expect 2 "$none, or choose --weight=calls" --mode=profile --weight=instructions links.bin
expect 2 "$none" --mode=diff --weight=instructions counted.bin links.bin
expect 2 "$none" --mode=diff --weight=instructions links.bin counted.bin
expect 0 ", 145 instr. and 4 calls since the start" --mode=top counted.bin
grep -qE '^ +self% .* instr\.% +instr\.  function$' output ||
    fail "expected columns of instructions: $(cat output)"
[ "$(awk 'NR > 2 { print $7, $5, $6 }' output | xargs)" = "counted!#0 68.97 100 counted!#1 31.03 45" ] ||
    fail "expected functions by instructions: $(cat output)"
expect 0 "" --mode=top links.bin
! grep -q instr output || fail "expected no columns of instructions: $(cat output)"
expect 2 "--weight=instructions is for --mode=profile, diff and top" --mode=summary --weight=instructions counted.bin

# Somebody else's reader agrees.
if command -v callgrind_annotate >/dev/null; then
    callgrind_annotate split-02 >annotated 2>&1
    grep -q "^ *90,000,000 .* 2,692,538 .*PROGRAM TOTALS" annotated || fail "$(cat annotated)"
    grep -q " 2,692,537 .*unknown!#2" annotated || fail "$(cat annotated)"
    ! grep -q WARNING annotated || fail "$(cat annotated)"
    callgrind_annotate --inclusive=yes split-02 >annotated 2>&1
    grep -q "^ *80,000,000 .*unknown!#2" annotated || fail "$(cat annotated)"
fi
