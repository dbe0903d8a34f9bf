#!/bin/bash
# Peaks of stacks and the chains that reached them: programs whose frames are known, killed ones, and
# one that is looked at while it runs.
# needs: gcc python3
. "$(dirname "$0")/lib.sh"

build stack stack.c -fno-omit-frame-pointer -fno-optimize-sibling-calls
instrumented stack

# began HOW: leaves peaks, what the grinder says of the trace
began()
{
    rm -rf traces
    run instrumented "$BUILD/service/call_trace_service" start --trace-dir="$work/traces" -- \
        ./stack "$1"
    equal "status of $1" "$(<instrumented.status)" 0
    balanced
    grinder --mode=stack traces/*.bin >peaks
}

# said WHAT: the bytes that the program saw itself
said()
{
    awk -v what="$1" '$1 == what { print $2 }' instrumented.stderr
}

# chain [THREAD]: "FUNCTION CALLS BYTES" of each row of a thread, the first or the second
chain()
{
    awk -F '\t' -v wanted="${1:-1}" 'NR > 1 {
        if ($2 != last) { last = $2; thread++ }
        if (thread == wanted) print ($7 ? $7 : "(" $6 ")"), $11 + 0, $13
    }' peaks
}

# bytes_from FUNCTION [THREAD]: from the first call of it to the deepest call
bytes_from()
{
    chain "${2:-1}" | awk -v first="$1" '$1 == first { on = 1 } on { sum += $3 } END { print sum }'
}

functions()
{
    chain "${1:-1}" | awk '{ printf "%s%s %d", (NR > 1 ? ", " : ""), $1, $2 }'
}

sums()
{
    awk -F '\t' 'NR > 1 { sum[$2] += $13; peak[$2] = $4 }
        END { for (t in sum) if (sum[t] != peak[t]) { print t, sum[t], peak[t]; exit 1 } }' peaks ||
        fail "the bytes of a chain do not add up to its peak"
}

echo '-- frames of known size, in two threads'
began levels
sums
equal "main" "$(functions)" "(before) 0, main 1, levels 1, more 30, thousand 2, bottom 1"
equal "bytes" "$(bytes_from levels)" "$(said levels)"
equal "worker" "$(functions 2)" "(before) 0, worker 1, thousand 50, bottom 1"
equal "bytes in the worker" "$(bytes_from worker 2)" "$(said worker)"
# 1,000 bytes in each, a return address, what the ABI and the compiler add
chain 2 | awk '$1 == "thousand" { exit !($3 >= 50 * 1008 && $3 <= 50 * 1080) }' ||
    fail "50 frames of 1,000 bytes: $(chain 2)"
awk -F '\t' '$3 == "stack" { print $5 }' peaks | sort -u >sizes
((($(tail -n 1 sizes) >> 10) >= 1000)) || fail "sizes of stacks: $(<sizes)"

echo '-- as a table, as JSON, and parts of it'
grinder --mode=stack --output-format=table traces/*.bin >table
contains table '^  +thread +peak +stack +used +calls  name$'
contains table '^ +[0-9]+ +[0-9]+ +30  more  .*/stack\.c:[0-9]+$'
contains table '^ +- +- +1  bottom  .*/stack\.c:[0-9]+$'
grinder --mode=stack --output-format=json traces/*.bin >json
python3 - <<'END'
import json
process, = json.load(open("json"))["processes"]
for thread in process["threads"]:
    assert sum(row["bytes"] for row in thread["chain"]) == thread["peak"], thread
    assert sum(row["calls"] or 0 for row in thread["chain"]) == thread["calls"], thread
    assert thread["peak"] < thread["stack"], thread
assert [len(t["chain"]) for t in process["threads"]] == [6, 4], process
END
grinder --mode=stack --thread=2 traces/*.bin | awk -F '\t' 'NR > 1 { print $2 }' | sort -u >tids
equal "threads" "$(wc -l <tids)" 1
grinder --mode=stack --function=more traces/*.bin >peaks
equal "below more" "$(functions)" "(before) 0, (callers) 2, more 30, thousand 2, bottom 1"
equal "threads with more" "$(cut -f 2 peaks | tail -n +2 | sort -u | wc -l)" 1
sums

echo '-- jumps, signals'
began jump
sums
equal "after a jump" "$(functions)" "(before) 0, main 1, after_jump 1, thousand 20, bottom 1"
equal "bytes" "$(bytes_from after_jump)" "$(said jump)"
began signals
sums
equal "a handler" "$(functions)" "(before) 0, main 1, signals 1, handle 1, thousand 20, bottom 1"
equal "bytes" "$(bytes_from signals)" "$(said signals)"

echo '-- 100,000 frames'
began deep
sums
grinder --mode=stack --output-format=json traces/*.bin >json
python3 - <<'END'
import json
process, = json.load(open("json"))["processes"]
thread = process["threads"][1]
rows = [(row["kind"], row["function"], row["calls"]) for row in thread["chain"]]
assert thread["calls"] == 100001, thread["calls"]
assert sum(calls or 0 for _, _, calls in rows) == 100001, rows
assert [row[:2] for row in rows[1:]] == [("calls", "deep"), ("calls", "descend"),
                                         ("unknown", None), ("calls", "descend")], rows
assert rows[2][2] == 49151 and rows[4][2] == 16383, rows
END

# whole TRACE: one way or the other, never both, and adding up; leaves its peak in $peak
whole()
{
    grinder --mode=stack "$1" >peaks 2>problems || fail "$1: $(<problems)"
    sums
    local ways
    ways=$(chain | awk '$1 == "left" || $1 == "right" { print $1 }' | sort -u | wc -l)
    ((ways <= 1)) || fail "a chain of both ways: $(functions)"
    peak=$(awk -F '\t' 'NR == 2 { print $4 }' peaks)
}

# grow: starts it, its pid in $program
grow()
{
    rm -f traces/* grows
    (cd instrumented && exec ./stack grow) >grows &
    program=$!
    started+=("$program")
    for ((i = 0; i < 600; i++)); do
        [[ -s grows ]] && return
        sleep 0.05
    done
    fail "it does not begin"
}

echo '-- killed'
call_trace_service spawn --trace-dir="$work/traces"
for ((n = 0; n < 10; n++)); do
    grow
    sleep "0.0$((RANDOM % 10))"
    kill -KILL "$program"
    wait "$program" 2>/dev/null || true
    completed traces
    whole traces/*.bin
    ((peak > 1000)) || fail "a peak of $peak bytes"
done

echo '-- while it runs'
grow
before=0
for ((n = 0; n < 10; n++)); do
    call_trace_service snapshot --pid="$program" --output=copy.bin >/dev/null
    whole copy.bin
    ((peak >= before)) || fail "a peak of $peak bytes after one of $before"
    before=$peak
done
kill -KILL "$program"
wait "$program" 2>/dev/null || true
call_trace_service stop >/dev/null
