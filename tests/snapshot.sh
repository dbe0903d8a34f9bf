#!/bin/bash
# Snapshots and top of a program that is busy: it calls, returns, jumps out of calls, reaches new
# contexts and starts threads while its trace is copied. SNAPSHOTS (100; 20 in the short form).
# needs: gcc python3
. "$(dirname "$0")/lib.sh"

: "${SNAPSHOTS:=20}"
build busy busy.c
instrumented busy
call_trace_service spawn
mkfifo gate
exec 3<>gate

# begin NAME: starts it, with its pid in $program
begin()
{
    (cd instrumented && exec ./busy 3) <gate >"$1" 3>&- &
    program=$!
    started+=("$program")
    for ((i = 0; i < 600; i++)); do
        [[ -s $1 ]] && return
        sleep 0.05
    done
    fail "busy does not begin"
}

# calls_of_threads: "ORDINAL ENTRIES EXITS UNWOUND" for each thread of the summary
calls_of_threads()
{
    awk '/^ +thread +entries/ { on = 1; next } /^$/ { on = 0 } on { print $1, $2, $3, $4 }' summary
}

# Each context by itself: no more ends than calls, callers that are there. The grinder looks at sums.
# For every tenth snapshot: it is slow.
cat >contexts.py <<'END'
import struct, sys

data = open(sys.argv[1], "rb").read()
nodes = {}
for at in range(4096, len(data), 4096):
    kind, _, used = struct.unpack_from("<3I", data, at)
    for unit in range({1: 3, 2: 1}.get(kind, used), used):
        place = at + 64 * unit
        site, parent, function, calls, ends, ticks, probes, longest, shortest, context = \
            struct.unpack_from("<QIIQQQQQII", data, place)
        if context:
            nodes[place // 64] = parent, context, calls, ends
for place, (parent, context, calls, ends) in nodes.items():
    assert ends <= calls, f"context {place}: {ends} ends of {calls} calls"
    assert parent == 0 or parent in nodes, f"context {place}: caller {parent} is missing"
    assert context in nodes, f"context {place}: {context} is missing"
print(len(nodes))
END

begin first
for ((n = 1; n <= SNAPSHOTS; n++)); do
    call_trace_service snapshot --pid="$program" --output=copy.bin >said
    equal "said" "$(<said)" copy.bin
    # whole, balanced and without contexts whose callers are missing: else the status is 1
    grinder --mode=summary copy.bin >summary 2>problems || fail "snapshot $n: $(<problems)"
    [[ ! -s problems ]] || fail "snapshot $n: $(<problems)"
    ((n % 10 != 1)) || python3 contexts.py copy.bin >contexts 2>problems || fail "snapshot $n: $(tail -n 1 problems)"
    calls_of_threads >now
    (($(wc -l <now) >= 5)) || fail "snapshot $n has few threads: $(<now)"
    awk -v n="$n" '
        $2 < $3 + $4 { print "snapshot " n ": thread " $1 ": more ends than calls"; exit 1 }
        NR == FNR { for (i = 2; i <= 4; i++) before[$1, i] = $i; seen[$1]; next }
        { for (i = 2; i <= 4; i++) if ($i < before[$1, i]) { print "lower: " $0; exit 1 } delete seen[$1] }
        END { for (t in seen) { print "snapshot " n ": thread " t " is gone"; exit 1 } }' \
        before now 2>awk.problems >lower || [[ $n == 1 ]] || fail "snapshot $n: $(cat lower awk.problems)"
    mv now before
done
contains summary '^  state +running when this snapshot was taken$'
equal "mode" "$(stat -c %a copy.bin)" 600
equal "left" "$(find . -name 'copy.bin?*' | wc -l)" 0
awk '{ calls += $2; live += $2 - $3 - $4 } END {
    printf "%d snapshots: %d contexts in one, %d calls in the last, %.2f%% of them live\n", '"$SNAPSHOTS"', '"$(<contexts)"', calls, 100 * live / calls }' before
grinder --mode=profile --output-file=- copy.bin | grep -c '^fn=' >functions
(($(<functions) >= 8)) || fail "a profile of a snapshot has $(<functions) functions"

echo '-- which one'
begin second
if call_trace_service snapshot 2>problems; then fail "chose one of two"; fi
contains problems 'expected one running session, found 2: choose one with --session=N or --pid=PID'
if call_trace_service snapshot --session=9 2>problems; then fail "chose none"; fi
contains problems '--session=9: expected one running session, found 0'
call_trace_service snapshot --session=2 >said
contains said '^busy-[0-9]+-2-snapshot\.bin$'
if call_trace_service snapshot --session=2 --output=no/such/copy 2>problems; then fail "no folder"; fi
contains problems 'snapshot: no/such/copy: No such file'

echo '-- top'
call_trace_service top --once >top
contains top '^2 programs, [0-9]+ functions, [0-9.]+ ms of CPU and [0-9]+ calls since the start$'
contains top '^ +[0-9.]+ +[0-9.]+ +- +[0-9]+  leaf$'
call_trace_service top --count=2 --interval=0.3 >top
equal "tables" "$(grep -c 'self%' top)" 2
tail -n +"$(grep -n 'calls in ' top | cut -d : -f 1)" top >last
contains last '^ +[0-9.]+ +[0-9.]+ +[1-9][0-9]* +[0-9]+  leaf$'
awk 'NR > 2 { sum += $1 } END { exit !(sum > 99 && sum < 101) }' last || fail "not 100%: $(<last)"
# on a terminal of 60 columns and 10 lines, until q
cat >on_terminal.py <<'END'
import fcntl, os, pty, select, struct, sys, termios, time

pid, terminal = pty.fork()
if pid == 0:
    time.sleep(0.3) # until the size is set
    os.execv(sys.argv[1], sys.argv[1:])
fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 10, 60, 0, 0))
shown = b""
pressed = False
while True:
    try:
        shown += os.read(terminal, 65536)
    except OSError:
        break
    if shown.count(b"\x1b[H") >= 3 and not pressed:
        pressed = os.write(terminal, b"cq") == 2
ended = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
pages = shown.decode().split("\x1b[H")[1:]
lines = [line.split("\x1b")[0] for line in pages[-1].split("\x1b[J")[0].split("\r\n")]
assert ended == 0, ended
assert len(pages) >= 3, shown
assert len(lines) <= 10 and all(len(line) <= 60 for line in lines), lines
assert shown.endswith(b"\x1b[?25h\x1b[?1049l"), shown[-40:]
print("\n".join(lines))
END
python3 on_terminal.py "$BUILD/service/call_trace_service" top --interval=0.2 >screen
contains screen 'self% +self ms +calls/s'
exec 3>&-
wait || true
if call_trace_service top 2>problems; then fail "top of nothing"; fi
contains problems 'top: expected a running session, found none'
call_trace_service stop >said
grinder --mode=summary traces >summary
equal "ends" "$(grep -c 'ended without exit(), exit status 3' summary)" 2
