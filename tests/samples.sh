#!/bin/bash
# The service samples the programs it records: where their time goes is known beforehand, and it is
# found there, in each thread and in the right process; libc's with the function that called it.
# Where the kernel does not let it, programs are recorded all the same, and status says why.
# needs: gcc python3
# alone: what it times would wait for the others
. "$(dirname "$0")/lib.sh"

build samples samples.c
build without_perf without_perf.c
instrumented samples

# samples_of FILE: "tid address caller count", a line a sample; its header is checked against the
# trace beside it.
samples_of()
{
    python3 - "$1" "${1%.samples}.bin" <<'END'
import struct
import sys

data = open(sys.argv[1], "rb").read()
trace = open(sys.argv[2], "rb").read(4096)
magic, version, count, created, pid, period, taken, lost = struct.unpack_from("<8sIIQIIQQ", data)
entries = [struct.unpack_from("<QQII", data, 64 + 24 * i) for i in range(count)]
assert magic == b"UMBRASMP" and version == 1, (magic, version)
assert len(data) == 64 + 24 * count, (len(data), count)
assert (pid,) == struct.unpack_from("<I", trace, 40), pid
assert (created,) == struct.unpack_from("<Q", trace, 48), created
assert period == 500000, period
assert taken == sum(entry[3] for entry in entries) > 0, taken
order = [(tid, address, caller) for address, caller, tid, _ in entries]
assert order == sorted(set(order)), "not ascending"
print(f"{sys.argv[1]}: {taken} samples in {count} places, {lost} lost", file=sys.stderr)
for address, caller, tid, found in entries:
    print(tid, address, caller, found)
END
}

# where: "tid FUNCTION CALLER count" of the lines of samples_of; what is in no function that the
# program named is "-". A function that is copied has two symbols, its copy's one with the same name.
where()
{
    { nm -S native/samples; echo; nm -S instrumented/samples; echo; cat instrumented.stdout; echo; cat; } |
        python3 -c '
import sys

native, symbols, told, samples = sys.stdin.read().split("\n\n")
begin = {line.split()[1]: int(line.split()[2], 16) for line in told.splitlines() if line.startswith("at ")}
moved = {begin[line.split()[-1]] - int(line.split()[0], 16) for line in native.splitlines()
         if line.split()[-1] in begin}
assert len(moved) == 1, moved
distance = moved.pop()
ranges = [(int(start, 16) + distance, int(size, 16), function)
          for start, size, _, function in (line.split() for line in symbols.splitlines() if len(line.split()) == 4)
          if function in begin]

def name(address):
    return next((f for start, size, f in ranges if start <= address < start + size), "-")

for line in samples.splitlines():
    tid, address, caller, found = map(int, line.split())
    print(tid, name(address), name(caller), found)'
}

# count TID FUNCTION CALLER: in the file places; a dot is any
count()
{
    awk -v tid="$1" -v function_="$2" -v caller="$3" '
        (tid == "." || $1 == tid) && (function_ == "." || $2 == function_) && (caller == "." || $3 == caller) {
            sum += $4
        }
        END { print sum + 0 }' places
}

told()
{
    awk -v key="$1" '$1 == key { print $2 }' instrumented.stdout
}

# sampled OPTION… -- COMMAND…: recorded; the traces balance
sampled()
{
    local timing=--timing=adaptive
    [[ $* == *--mode=calltrace* ]] && timing=
    rm -rf traces
    # shellcheck disable=SC2086
    run instrumented "$BUILD/service/call_trace_service" start $timing --trace-dir="$work/traces" "$@"
    equal "status of $*" "$(<instrumented.status)" 0
    balanced
}

no_samples()
{
    [[ -z $(find traces -name '*.samples') ]] || fail "$*, and there are samples"
}

# status_says PATTERN, of a service that was spawned by COMMAND…
status_says()
{
    local pattern=$1
    shift
    "$@" spawn --timing=adaptive --trace-dir=traces
    call_trace_service status >status
    call_trace_service status --json >status.json
    call_trace_service stop >/dev/null
    contains status "^samples: $pattern"
    python3 -m json.tool status.json >/dev/null || fail "status --json is no JSON"
}

echo '-- where it is forbidden'
run instrumented "$work/native/without_perf" "$BUILD/service/call_trace_service" start --timing=adaptive --verbose \
    --trace-dir="$work/traces" -- ./samples
balanced
no_samples "perf_event_open is forbidden"
contains instrumented.stderr 'not sampled: perf_event_open: Operation not permitted'
status_says 'none: perf_event_open: ' "$work/native/without_perf" "$BUILD/service/call_trace_service"
contains status.json '"samples_per_second":0.*"why_no_samples":"perf_event_open: '

echo '-- where it is not wanted'
sampled --samples=0 -- ./samples
no_samples --samples=0
sampled --mode=calltrace -- ./samples
no_samples --mode=calltrace

call_trace_service spawn --timing=adaptive --trace-dir=traces
call_trace_service status >status
call_trace_service stop >/dev/null
if grep -q '^samples: none' status; then
    echo "not permitted here ($(grep '^samples:' status)): no samples are looked at"
    sampled -- ./samples
    no_samples "they are not permitted"
    exit 0
fi
status_says '1000 a second' call_trace_service
contains status.json '"samples_per_second":1000,"sampled":0,"why_no_samples":null'

echo '-- where the time goes'
sampled --samples=2000 -- ./samples
process=$(told process) child=$(told child) thread=$(told thread)
samples_of "traces/samples-$process-1.samples" | where >places
longer=$(count "$process" longer .) shorter=$(count "$process" shorter .)
echo "longer $longer, shorter $shorter"
awk -v a="$longer" -v b="$shorter" 'BEGIN {
    # 0.75 of them, within five standard deviations and 2% for the neighbours of this machine
    n = a + b; off = a / n - 0.75
    exit !(n > 100 && off * off < (5 * sqrt(0.75 * 0.25 / n) + 0.02) ^ 2)
}' || fail "of longer's and shorter's samples, 75% should be longer's"
for function in longer shorter in_thread; do
    equal "callers of $function" "$(count . "$function" -)" "$(count . "$function" .)"
done

echo '-- what the grinder makes of them'
# of the process and its child
equal "traces with samples in the summary" "$(grep -c '^  samples   [0-9]*: [0-9.]*% in functions' summary)" 2
mkdir other
cp "traces/samples-$process-1.bin" other/other.bin
grinder --mode=summary other/other.bin >alone
! grep '^  samples ' alone || fail "no samples lie beside other.bin"
cp "traces/samples-$child-2.samples" other/other.samples
grinder --mode=summary other/other.bin >alone 2>problems
contains problems 'expected the samples of other/other.bin, found those of another recording'

echo '-- in libc, on behalf of whom'
filling=$(count "$process" - filling) sorting=$(count "$process" - sorting)
alone=$(count "$process" - -)
echo "filling $filling, sorting $sorting, nobody or the agent $alone"
((filling > 30 && sorting > 30)) || fail "libc's samples should have callers"

echo '-- in which thread, and which process'
in_thread=$(count "$thread" in_thread .)
((in_thread > 50)) || fail "the thread was sampled $in_thread times in in_thread"
equal "samples of in_thread in other threads" "$(count . in_thread .)" "$in_thread"
equal "samples of in_child in its parent" "$(count . in_child .)" 0
equal "samples of the child in its parent" "$(count "$child" . .)" 0
samples_of "traces/samples-$child-2.samples" | where >places
in_child=$(count "$child" in_child .)
echo "in_thread $in_thread, in_child $in_child"
((in_child > 50)) || fail "the child was sampled $in_child times in in_child"
equal "samples of others in the child" "$(count . . .)" "$(count "$child" . .)"

echo '-- not while it is paused'
sampled --paused -- ./samples
no_samples "recording is paused"
