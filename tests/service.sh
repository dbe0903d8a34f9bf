#!/bin/bash
# call_trace_service from the outside, with service_test_client in the agent's place.
# BUILD is the build directory. Exit status 0: all is well; otherwise it says what was not.

set -u
service=$BUILD/service/call_trace_service
client=$BUILD/service/service_test_client
place=$(mktemp -d /tmp/umbra-service-XXXXXX)
failed=0
running=()
unset UMBRA_INSTANCE_ID

cleanup() {
    "$service" stop >stop.log 2>&1
    for pid in "${running[@]}"; do kill -KILL "$pid" 2>/dev/null; done
    wait
    cd / && rm -rf "$place"
}

# Each test has a folder and a socket directory of its own.
begin() {
    test=$1
    mkdir "$place/$test" && cd "$place/$test" || exit 1
    mkdir -m 700 run
    export XDG_RUNTIME_DIR=$PWD/run
}

complain() {
    echo "service.sh: $test: $*"
    failed=1
}

# expect STATUS COMMAND…: what it says is in ./out and ./err
expect() {
    local wanted=$1 status
    shift
    "$@" >out 2>err
    status=$?
    [ $status -eq "$wanted" ] ||
        complain "$*: expected status $wanted, found $status; $(cat out err)"
}

# says FILE PATTERN
says() {
    grep -q -- "$2" "$1" || complain "expected \"$2\" in $1, found: $(cat "$1")"
}

# header FILE PATTERN: what the trace's header has
header() {
    "$client" show "$1" >shown 2>&1
    says shown "$2"
}

wait_for() {
    for _ in $(seq 200); do
        if eval "$1"; then return; fi
        sleep 0.02
    done
    complain "waited in vain for: $1"
}

nothing_left() {
    [ -z "$(ls run/umbra)" ] || complain "left behind: $(ls run/umbra)"
}

# hang: starts a program that records until it is killed; its pid is in $program
hang() {
    "$client" hang "$1" >ready &
    program=$!
    running+=($program)
    wait_for 'grep -q ready ready'
}

reap() {
    kill -KILL "$1"
    wait "$1" 2>/dev/null
}

trap cleanup EXIT
client_exe=$(readlink -f "$client")

begin a_trace_is_completed
    expect 0 "$service" spawn --node-limit=77 --max-trace-size=1M
    expect 0 "$client" record 5
    wait_for '"$service" status | grep -q "0 running, 1 ended"'
    expect 0 "$service" stop
    says out 'traces completed: 1, with 24576 bytes'
    trace=$(echo traces/service_test_client-*-1.bin)
    header "$trace" 'magic=UMBRATRC version=14 .* session=1 node_limit=77$'
    header "$trace" "ppid=$$ "
    header "$trace" 'capacity=1048576 used=24576 length=24576 mode=600$'
    header "$trace" 'state=2 end=1 end_seen=1 ticks_per_second=[1-9]'
    header "$trace" "^exe=$client_exe\$"
    header "$trace" '^command=.*service_test_client record 5$'
    [ "$(stat -c %a traces run/umbra 2>/dev/null | sort -u)" = 700 ] || complain 'not mode 0700'
    nothing_left

begin spawn_lets_go_of_its_caller
    caught=$(timeout 5 "$service" spawn 2>&1) || complain "does not return: $caught"
    expect 0 "$service" stop
    "$service" spawn <&- >&- 2>&- || complain 'needs standard descriptors'
    expect 0 "$client" record 1
    expect 0 "$service" stop
    (cd run && "$service" spawn --trace-dir=../later)
    expect 0 "$client" record 1
    expect 0 "$service" stop
    [ "$(ls later/*.bin | wc -l)" -eq 1 ] || complain 'a relative trace directory is lost'

begin a_killed_program_keeps_its_trace
    expect 0 "$service" spawn
    hang 3
    "$service" status >out
    says out '1 running'
    says out 'bytes: 16384 in traces of running'
    reap $program
    wait_for '"$service" status | grep -q "0 running, 1 ended"'
    header "$(echo traces/*-1.bin)" 'capacity=1073741824 used=16384 length=16384'
    header "$(echo traces/*-1.bin)" 'state=1 end=1 '
    expect 0 "$service" stop

begin exec_fork_and_a_second_agent
    expect 0 "$service" start -- "$client" exec 2
    header "$(echo traces/*-1.bin)" 'state=1 end=2 '
    header "$(echo traces/*-1.bin)" 'length=12288'
    header "$(echo traces/*-2.bin)" 'state=2 end=1 '
    rm traces/*
    expect 0 "$service" start -- "$client" fork 2
    header "$(echo traces/*-1.bin)" 'length=12288'
    header "$(echo traces/*-2.bin)" 'length=8192'
    rm traces/*
    expect 0 "$service" start -- "$client" twice
    header "$(echo traces/*-1.bin)" 'length=12288'
    header "$(echo traces/*-1.bin)" 'end=1 '
    nothing_left

begin use_out_of_bounds_is_reported
    expect 0 "$service" start --max-trace-size=64K -- "$client" used 0x7fffffffffffffff
    says err 'expected bytes in use .* found 9223372036854775807: taken as 65536'
    expect 0 "$service" start --max-trace-size=64K -- "$client" used 1
    says err 'found 1: taken as 4096'

begin wrong_messages_are_refused
    expect 0 "$service" spawn
    for what in magic version kind short tiny long command; do
        expect 0 "$client" wrong $what
        says out 'refused by version 2'
    done
    expect 0 "$client" wrong empty
    says out closed
    expect 0 "$client" wrong silent
    says out closed
    if [ "$(id -u)" -eq 0 ]; then
        expect 0 "$client" stranger
        says out closed
    fi
    expect 0 "$client" record 1
    "$service" status >out
    says out 'instance default: running'
    expect 0 "$service" stop
    [ "$(ls traces/*.bin | wc -l)" -eq 1 ] || complain "traces for wrong messages: $(ls traces)"

begin crowds_and_no_descriptors
    expect 0 "$service" spawn
    expect 0 "$client" flood 600
    expect 0 "$client" record 1
    expect 0 "$service" stop
    (ulimit -n 18 && exec "$service" spawn) || complain 'does not start with 18 descriptors'
    expect 0 "$client" flood 40
    expect 0 "$client" record 1
    expect 0 "$service" stop
    says out 'traces completed: 1,'

begin one_service_an_instance
    expect 0 "$service" spawn
    for verb in start spawn; do
        expect 1 "$service" $verb
        says err 'instance default: already served by pid [0-9]*: use that one'
    done
    expect 0 "$service" spawn --instance-id=other --trace-dir=other
    UMBRA_INSTANCE_ID=other expect 0 "$client" record 1
    expect 0 "$service" stop --instance-id=other
    UMBRA_INSTANCE_ID=other expect 1 "$service" status
    says out 'instance other: not running'
    [ "$(ls other/*.bin | wc -l)" -eq 1 ] || complain "expected a trace in other"
    expect 0 "$service" status
    expect 0 "$service" stop
    expect 1 "$service" stop
    nothing_left

begin a_dead_service_is_replaced
    expect 0 "$service" spawn
    hang 1
    kill -KILL "$("$service" status | sed -n 's/.* pid \([0-9]*\),.*/\1/p')"
    wait_for '! "$service" status >out'
    expect 1 "$service" stop
    expect 0 "$service" spawn
    expect 0 "$client" record 1
    expect 0 "$service" stop
    kill -0 $program || complain 'the program of the dead service did not live on'
    reap $program

begin stop_leaves_running_programs_alone
    expect 0 "$service" spawn
    hang 4
    expect 0 "$service" stop
    says out 'processes still running: 1,'
    sleep 0.1
    kill -0 $program || complain 'the program did not live on'
    header "$(echo traces/*-1.bin)" 'end=3 .*'
    reap $program
    wait_for 'ls -l traces/*-1.bin | grep -q " 20480 "'
    header "$(echo traces/*-1.bin)" 'used=20480 length=20480'
    header "$(echo traces/*-1.bin)" 'end_how=2 end_code=9'

begin exit_status_of_the_command
    expect 7 "$service" start -- sh -c 'exit 7'
    says err 'sh: expected a program to record, found none'
    expect 0 "$service" start -- true
    expect 143 "$service" start -- sh -c 'kill -TERM $$'
    expect 137 "$service" start -- sh -c 'kill -KILL $$'
    expect 127 "$service" start -- ./no-such-command
    says err 'no-such-command: cannot run the command: No such file'
    expect 126 "$service" start -- /etc
    [ "$("$service" start -- sh -c 'ulimit -Sn' 2>err)" = "$(ulimit -Sn)" ] ||
        complain 'the command does not have the limits it would have had'
    expect 141 "$service" start -- sh -c 'kill -PIPE $$'
    nothing_left

begin commands_at_once
    for i in 1 2 3 4; do
        "$service" start -- sh -c "'$client' record $i; sleep 0.2; '$client' record $i" &
        commands[i]=$!
    done 2>err
    for i in 1 2 3 4; do
        wait ${commands[i]} || complain "command $i failed: $(cat err)"
    done
    [ "$(ls traces/*.bin | wc -l)" -eq 8 ] || complain "expected 8 traces: $(ls traces)"
    nothing_left

begin signals
    for signal in INT TERM HUP; do
        env --default-signal=INT "$service" start 2>err &
        pid=$!
        running+=($pid)
        wait_for '"$service" status >out'
        kill -$signal $pid
        wait $pid || complain "SIG$signal: expected status 0, found $?"
        nothing_left
    done
    "$service" start -- sh -c 'trap "exit 3" TERM; echo ready; while :; do sleep 0.02; done' \
        >ready 2>err &
    pid=$!
    wait_for 'grep -q ready ready'
    kill -TERM $pid
    wait $pid
    [ $? -eq 3 ] || complain 'SIGTERM did not reach the command'
    "$service" start --instance-id=default -- sleep 100 2>err &
    pid=$!
    running+=($pid)
    wait_for '"$service" status >out'
    expect 0 "$service" stop
    wait $pid
    [ $? -eq 143 ] || complain 'stop did not reach the command'
    nothing_left
    # also of the C library's own two, 32 and 33
    grep -E 'Sig(Blk|Ign)' /proc/self/status >native
    expect 0 "$service" start -- grep -E 'Sig(Blk|Ign)' /proc/self/status
    diff native out || complain 'the command begins with other signals blocked or ignored'
    (trap '' USR1 PIPE IO && exec grep -E 'Sig(Blk|Ign)' /proc/self/status) >native
    (trap '' USR1 PIPE IO && exec "$service" start -- grep -E 'Sig(Blk|Ign)' /proc/self/status) >out 2>err
    diff native out || complain 'the command ignores other signals than the service was begun with'

begin limits_and_lost_directories
    (ulimit -f 1024 && exec "$service" start -- "$client" record 1) 2>err ||
        complain "cannot record under a file size limit: $(cat err)"
    header "$(echo traces/*-1.bin)" 'capacity=1048576 '
    expect 0 "$service" spawn --trace-dir=here
    rm -r here
    expect 0 "$client" record 1
    wait_for '"$service" list | grep -q "exit 0"'
    expect 0 "$service" list
    says out "8192.$PWD/run/umbra/rescued/service_test_client-[0-9]*-1.bin"
    [ "$(stat -c %s run/umbra/rescued/*-1.bin)" -eq 8192 ] || complain 'the trace is not where list says'
    expect 0 "$service" stop
    XDG_RUNTIME_DIR=relative expect 1 "$service" start -- true
    says err 'expected XDG_RUNTIME_DIR to be an absolute path'
    XDG_RUNTIME_DIR=relative expect 1 "$service" status
    touch file
    expect 1 "$service" start --trace-dir=file -- true
    says err 'file: cannot open the trace directory: Not a directory'
    expect 1 "$service" spawn --trace-dir=no/where
    says err 'no/where: cannot make the trace directory: No such file'
    chmod 755 run/umbra
    expect 1 "$service" start -- true
    says err 'expected a directory of user .* with mode 0700'

begin usage
    expect 2 "$service"
    expect 2 "$service" begin
    expect 2 "$service" start lua
    says err 'put -- before a command'
    expect 2 "$service" start --no-such-option
    says err 'no-such-option'
    expect 0 "$service" --help
    [ "$(wc -l <out)" -le 45 ] || complain 'help does not fit a screen'
    expect 0 "$service" -h
    says out '^call_trace_service VERB'
    expect 2 "$service" status -q
    says err '--quiet: status does not take it'
    expect 2 "$service" start -qv -- true
    says err '--verbose and --quiet exclude each other'

exit $failed
