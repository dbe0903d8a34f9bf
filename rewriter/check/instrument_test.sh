#!/bin/sh
# What `instrument` does on the command line: instrument_test.sh INSTRUMENT AGENT PROGRAM
set -u
instrument=$(realpath "$1") agent=$(realpath "$2") program=$(realpath "$3")
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
failures=0

fail()
{
    echo "FAILED: $*"
    failures=$((failures + 1))
}

# succeeds COMMAND...
succeeds()
{
    "$@" >out 2>err || fail "$* ($(cat err))"
}

# refused STATUS WORDS COMMAND...: one line on standard error, and nothing left behind
refused()
{
    status=$1 words=$2
    shift 2
    "$@" >out 2>err
    [ $? -eq "$status" ] || fail "$*: expected status $status"
    [ "$(wc -l <err)" -eq 1 ] || fail "$*: expected one line, found: $(cat err)"
    grep -q -- "$words" err || fail "$*: expected '$words', found: $(cat err)"
    [ ! -e no ] || fail "$*: left a file behind"
    [ -z "$(find . -name '.no.*')" ] || fail "$*: left a temporary file behind"
}

# A program runs as before, found at every instruction by the unwinder.
succeeds "$instrument" --agent="$agent" "$program" -o run
grep -q 'functions found, .* hooked, .* left alone' out || fail "expected a summary, found: $(cat out)"
"$program" >before || fail "the original program"
./run >after || fail "the instrumented program: $(cat after)"
cmp -s before after || fail "output changed"
[ "$(stat -c %a run)" = "$(stat -c %a "$program")" ] || fail "permissions changed"

# Also where bodies are copied, and the originals overwritten.
succeeds "$instrument" --agent="$agent" --how=copy --poison "$program" -o copied
./copied >after || fail "the copied bodies: $(cat after)"
cmp -s before after || fail "output of the copied bodies changed"

# The list is the same before and after, but for why bodies are not copied, and counts what the summary
# counted.
succeeds "$instrument" --list "$program"
[ "$(head -1 out)" = "$(printf 'address\tsize\tstate\thow\tname\tnot copied')" ] || fail "header of the list"
cut -f -5 out >list
succeeds "$instrument" --list run
cmp -s list out || fail "lists differ: $(diff list out | head -3)"
succeeds "$instrument" --list --how=prologue "$program"
[ "$(head -1 out)" = "$(head -1 list)" ] || fail "header of the list of prologues"
grep -q "$(printf 'hooked\t[a-z]*\tmain$')" list || fail "main is not hooked"
grep -q "$(printf 'skipped\tno-return-address\t_start$')" list || fail "_start is not skipped"

# With a copy of the agent beside it, it can be moved.
mkdir here
succeeds "$instrument" --agent="$agent" --bundle "$program" -o here/run
mv here there
succeeds there/run

# What is there stays there.
refused 1 'overwrite' "$instrument" --agent="$agent" "$program" -o run
succeeds "$instrument" --agent="$agent" --overwrite "$program" -o run
refused 1 'already instrumented' "$instrument" --agent="$agent" run -o no

# What cannot be done is said.
echo 'int main;' >text
head -c 3000 "$program" >cut
printf '\267' | cat - /dev/null >machine
{ head -c 18 "$program"; cat machine; tail -c +20 "$program"; } >foreign
refused 1 'another kind of file' "$instrument" --agent="$agent" text -o no
refused 1 'truncated' "$instrument" --agent="$agent" cut -o no
refused 1 'aarch64' "$instrument" --agent="$agent" foreign -o no
refused 1 'No such file' "$instrument" --agent="$agent" missing -o no
refused 1 'No such file' "$instrument" --agent="$agent" "$program" -o missing/no
refused 1 'No such file' "$instrument" --agent=missing "$program" -o no
refused 1 'without umbra_enter_13' "$instrument" --agent="$program" "$program" -o no
refused 1 'directory' "$instrument" --agent="$agent" . -o no
refused 2 'expected -o' "$instrument" "$program"
refused 2 'no FILE' "$instrument" -o no
refused 2 'unknown option' "$instrument" --bogus
(
    ulimit -f 8
    "$instrument" --agent="$agent" "$program" -o no 2>err
)
[ $? -eq 1 ] && grep -q 'too large' err && [ ! -e no ] || fail "limit on file size: $(cat err)"

[ "$failures" -eq 0 ] && echo "all passed"
[ "$failures" -eq 0 ]
