#!/bin/bash
# Programs whose service is gone. What is paused when it stops, or is killed, is recorded again. The
# next service of the instance goes on with them: list, pause, resume, snapshot. Where there is none,
# their traces are complete when they end all the same.
. "$(dirname "$0")/lib.sh"

build busy busy.c
instrumented busy

# until COMMAND…: it succeeds in the end
until_so()
{
    for ((i = 0; i < 600; i++)); do
        "$@" && return
        sleep 0.05
    done
    fail "waited in vain for: $*"
}

state_in_list()
{
    call_trace_service list | awk -F '\t' -v pid="$program" '$2 == pid { print $5 }'
}

is_listed() { [[ $(state_in_list) == "$1" ]]; }

is_complete()
{
    grinder --mode=summary traces/busy-"$program"-*.bin >summary 2>/dev/null &&
        grep -q "^ *state *ended without exit(), exit status 3" summary
}

spawn() { call_trace_service spawn --trace-dir="$work/traces" "$@"; }

entries_now()
{
    rm -f now.bin
    call_trace_service snapshot --pid="$program" --output=now.bin >/dev/null
    grinder --mode=summary now.bin >summary
    summed entries
}

kill_service()
{
    local lock=$XDG_RUNTIME_DIR/umbra/default.lock service
    service=$(<"$lock")
    kill -9 "$service"
    until_so flock -n "$lock" true
}

echo '-- paused, and its service stops: the pause is over'
spawn
begin_busy
call_trace_service pause >/dev/null
call_trace_service stop >stopped
contains stopped 'processes still running: 1, recording goes on'
spawn
until_so is_listed running
before=$(entries_now)
sleep 0.2
(($(entries_now) > before)) || fail "it is not recorded after its pause"
end_busy "stopped while paused"
call_trace_service stop >stopped
contains stopped 'traces completed: 1,'
is_complete || fail "stopped while paused: the trace is not complete"

echo '-- its service is killed, and nobody comes: the trace is complete at the end'
spawn
begin_busy
kill_service
end_busy "killed"
until_so is_complete

echo '-- it is killed while it is paused: the pause is over'
spawn
begin_busy
call_trace_service pause >/dev/null
kill_service
sleep 0.3
end_busy "killed while paused"
until_so is_complete
[[ $(summed entries) -gt 100000 ]] || fail "killed while paused: $(summed entries) entries"

echo '-- a killed one has a successor, and that one too'
spawn
begin_busy
kill_service
spawn --verbose 2>log
is_listed running || fail "not adopted: $(call_trace_service list)"
contains log "session 1: pid $program goes on: "
call_trace_service pause --pid="$program" >said.too.many
contains said.too.many 'paused: 1 session'
before=$(entries_now)
sleep 0.2
after=$(entries_now)
((after - before < 50)) || fail "paused, and $((after - before)) entries more" # calls under way
call_trace_service resume --pid="$program" >/dev/null
sleep 0.2
(($(entries_now) > after + 50)) || fail "resumed, and not recorded"
kill_service
spawn --trace-dir=other # its own traces go elsewhere
is_listed running || fail "not adopted by the third"
call_trace_service top --once >top
contains top '^1 program'
end_busy "adopted"
until_so is_listed 'exit 3'
call_trace_service list >listed
contains listed "$work/traces/busy-$program-1.bin"
call_trace_service stop >/dev/null
is_complete || fail "adopted twice: the trace is not complete"

echo '-- events of one whose service was killed are in its ring'
spawn --mode=calltrace
begin_busy
sleep 0.2
kill_service
spawn --mode=calltrace
is_listed running || fail "not adopted, in call-trace mode"
end_busy "call-trace mode"
call_trace_service stop >/dev/null
is_complete || fail "in call-trace mode the trace is not complete"

echo '-- SIGTERM has a keeper write what it has, and end'
spawn
begin_busy
kill_service
keepers=()
for process in /proc/[0-9]*; do
    [[ $(cat "$process/comm" 2>/dev/null) == umbra-keeper ]] &&
        grep -qz "^XDG_RUNTIME_DIR=$XDG_RUNTIME_DIR\$" "$process/environ" && keepers+=("${process#/proc/}")
done
equal "keepers" "${#keepers[@]}" 1
kill "${keepers[0]}"
until_so eval "! kill -0 ${keepers[0]} 2>/dev/null"
grinder --mode=summary traces/busy-"$program"-*.bin >summary
contains summary 'running when this snapshot was taken'
(($(summed entries) > 1000)) || fail "SIGTERM: few entries"
end_busy "its keeper is gone"
equal "left in the folders" "$(find traces other -name '.*' -type f | wc -l)" 0
