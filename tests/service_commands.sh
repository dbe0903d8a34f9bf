#!/bin/bash
# What people ask a running service: status, list, pause and resume, its log file and signals, how
# programs ended, being started by its socket.
# needs: gcc systemd bsdutils python3 strace
. "$(dirname "$0")/lib.sh"

client=$BUILD/service/service_test_client

# wait_for COMMAND…: until it succeeds
wait_for()
{
    for ((i = 0; i < 500; i++)); do
        if "$@" >/dev/null 2>&1; then return; fi
        sleep 0.02
    done
    fail "waited in vain for: $*"
}

# hang: a program that records until it is killed; its pid is in $program
hang()
{
    "$client" hang 2 >ready &
    program=$!
    started+=("$program")
    wait_for grep -q ready ready
}

# header FILE: what the trace's header has, one NAME=VALUE a line
header()
{
    "$client" show "$1" | tr ' ' '\n'
}

# state NUMBER: of that session, as list has it
state()
{
    call_trace_service list | awk -F'\t' -v n="$1" '$1 == n { print $5 }'
}

is_state()
{
    [[ $(state "$1") == "$2" ]]
}

json()
{
    python3 -c "import json, sys; v = json.load(sys.stdin); print($1)"
}

service_pid()
{
    call_trace_service status --json | json 'v["pid"]'
}

echo '-- status and list'
mkdir 'odd "dir'
call_trace_service spawn --trace-dir='odd "dir/tr\ace'
"$client" record 5
hang
wait_for is_state 1 'exit 0'
call_trace_service status >status
contains status '^sessions: 1 running, 1 ended, 0 refused, 0 lost$'
contains status '^memory: [0-9]+ bytes resident$'
contains status '^descriptors: [0-9]+ in use, of [0-9]+$'
call_trace_service status --json >status.json
equal "running, ended" "$(json 'v["running"], v["ended"]' <status.json)" '1 1'
equal "directory" "$(json 'v["trace_dir"]' <status.json)" "$work/odd \"dir/tr\\ace"
pid=$(service_pid)
descriptors=$(find "/proc/$pid/fd" -mindepth 1 | wc -l)
(($(json 'v["descriptors"]' <status.json) <= descriptors + 2)) || fail "descriptors: $(<status.json)"
((1024 * $(awk '/^VmRSS/ { print $2 }' "/proc/$pid/status") < 2 * $(json 'v["resident_bytes"]' <status.json))) ||
    fail "memory: $(<status.json)"
call_trace_service list >list
equal "columns" "$(head -n 1 list)" $'session\tpid\tname\tbegan\tstate\tbytes\ttrace'
equal "second" "$(sed -n 3p list | cut -f 1,2,3,5,6)" $'2\t'"$program"$'\tservice_test_client\trunning\t12288'
[[ -e $(sed -n 2p list | cut -f 7) ]] || fail "no such trace: $(sed -n 2p list)"
call_trace_service list --json >list.json
equal "JSON" "$(json '[(s["session"], s["state"], s["bytes"]) for s in v]' <list.json)" \
    "[(1, 'exit 0', 24576), (2, 'running', 12288)]"
script -qc "'$BUILD/service/call_trace_service' list" /dev/null </dev/null | tr -d '\r' >columns
equal "widths" "$(awk '{ print index($0, "service_test") }' columns | sed 1d | sort -u | wc -l)" 1
if grep -q $'\t' columns; then fail "tabs on a terminal"; fi

echo '-- pause and resume'
trace=$(echo odd*/*/*-2.bin)
# live NUMBER: the header of a session that runs
live()
{
    call_trace_service snapshot --session="$1" --output=live.bin >/dev/null
    header live.bin
}
call_trace_service pause >said
equal "said" "$(<said)" 'paused: 1 session'
equal "state" "$(state 2)" paused
contains <(live 2) '^paused=1$'
call_trace_service pause --pid="$program" >said
contains <(live 2) '^pauses=1$'
"$client" record 1
contains <(header odd*/*/*-3.bin) '^paused=1$'
call_trace_service resume --session=2 >said
contains <(live 2) '^paused=0$'
call_trace_service pause --session=2 >said
contains <(live 2) '^pauses=2$'
if call_trace_service resume --session=77 >said 2>problems; then fail 'resumed what is not there'; fi
contains problems '^call_trace_service: --session=77: expected a running session, found none'
call_trace_service resume >said
"$client" record 1
contains <(header odd*/*/*-4.bin) '^pauses=0$'

echo '-- how programs end'
kill -SEGV "$program"
wait_for is_state 2 'signal 11'
contains <(header "$trace") '^end_code=11$'
call_trace_service stop >said
contains said '^traces completed: 4, '
contains said "^instance default: stopped, pid $pid\$"
build busy busy.c
instrumented busy
# ends HOW COMMAND…: what the summary says of it
ends()
{
    local how=$1
    shift
    rm -rf ended
    call_trace_service start --trace-dir=ended -- "$@" </dev/null >out 2>&1 || true
    grinder --mode=summary ended >summary
    contains summary "^  state +$how\$"
}
ends 'ended through exit\(\)' instrumented/busy
ends 'ended without exit\(\), exit status 3' instrumented/busy 3
ends 'ended without exit\(\), exit status 0' instrumented/busy 0
mkfifo gate
cat >kill_it <<'END'
exec 3<>gate
: >seen
instrumented/busy <gate >seen &
until grep -q busy seen; do sleep 0.02; done
kill -"$1" $!
wait $! # collects it at once: the service may come too late for /proc
END
ends 'killed by signal 9, SIGKILL' sh kill_it KILL
ends 'killed by signal 15, SIGTERM' sh kill_it TERM
ends 'killed by signal 34' bash kill_it 34

echo '-- the log file, SIGHUP'
call_trace_service spawn --log-file=log --verbose
stamp='^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}\.[0-9]{3}Z call_trace_service\[[0-9]+\]: '
contains log "${stamp}instance default is ready"
equal "mode" "$(stat -c %a log)" 600
mv log log.1
kill -HUP "$(service_pid)"
wait_for test -e log
"$client" record 1
wait_for grep -q 'session 1: .* ended' log
call_trace_service stop >said
call_trace_service spawn --log-file=quiet --quiet
call_trace_service stop >said
call_trace_service start --quiet 2>>quiet &
started+=($!)
wait_for call_trace_service status
if call_trace_service start --quiet 2>problems; then fail 'two serve one instance'; fi
contains problems 'already served'
call_trace_service stop >said
equal "what a quiet service says" "$(<quiet)" ""
ln -s log.1 link
if call_trace_service start --log-file=link 2>problems; then fail 'a link was followed'; fi
contains problems 'link: cannot open the log file: expected a regular file'
call_trace_service spawn # no log: SIGHUP changes nothing
kill -HUP "$(service_pid)"
call_trace_service status >status
call_trace_service stop >said

echo '-- stop waits for the disk'
call_trace_service spawn
"$client" record 1
wait_for is_state 1 'exit 0'
strace -f -e trace=fsync,syncfs -o calls -p "$(service_pid)" 2>problems &
tracer=$!
wait_for grep -qi attach problems
if grep -q attached problems; then # where one process may trace another
    call_trace_service stop >said
    wait "$tracer" || true
    equal "files and folder" "$(grep -c 'fsync(.*= 0' calls)" 2
else
    call_trace_service stop >said
fi

echo '-- by its socket'
mkdir -m 700 -p run/umbra
systemd-socket-activate --seqpacket --listen="$XDG_RUNTIME_DIR/umbra/default.socket" \
    -E XDG_RUNTIME_DIR="$XDG_RUNTIME_DIR" "$BUILD/service/call_trace_service" start \
    --trace-dir="$work/activated" 2>problems &
started+=($!)
wait_for test -S run/umbra/default.socket
"$client" record 3
wait_for is_state 1 'exit 0'
call_trace_service stop >said
contains said '^traces completed: 1, '
[[ -S run/umbra/default.socket ]] || fail "the socket was removed: it is systemd's"
rm run/umbra/default.socket
systemd-socket-activate --listen="$work/run/stream" -E XDG_RUNTIME_DIR="$XDG_RUNTIME_DIR" \
    "$BUILD/service/call_trace_service" start 2>problems &
started+=($!)
wait_for test -S run/stream
python3 -c 'import socket, sys; socket.socket(socket.AF_UNIX).connect(sys.argv[1])' run/stream
wait_for grep -q 'LISTEN_FDS: expected one listening SOCK_SEQPACKET' problems

echo '-- wrong things that can be said'
call_trace_service spawn --trace-dir=wrong
for what in descriptor; do
    "$client" wrong $what >said
    contains said '^kind 2, descriptor [0-9]+$'
done
for what in 'short command' 'unknown command' 'old command'; do
    "$client" wrong "$what" >said
    equal "$what" "$(<said)" 'refused by version 2'
done
descriptors=$(call_trace_service status --json | json 'v["descriptors"]')
for ((i = 0; i < 50; i++)); do "$client" wrong descriptor >said; done
wait_for is_state 51 'exit 0'
(($(call_trace_service status --json | json 'v["descriptors"]') <= descriptors + 2)) ||
    fail "descriptors that came with packets are kept"
"$client" path
call_trace_service stop >said
equal "traces outside of their folder" "$(find "$work" -name '*evil*' | wc -l)" 0
