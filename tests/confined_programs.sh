#!/bin/bash
# Programs that lock themselves in, and services that are stopped, or have lost their directory:
# what the program does is the same, it does not wait, and what is lost is counted.
# alone: it looks at how long programs wait
. "$(dirname "$0")/lib.sh"

build endure endure.c
instrumented endure

# Calls that were passed through and counted, in threads and outside of any.
lost()
{
    local outside
    outside=$(sed -n 's|^ *skipped  *\([0-9]*\) calls in threads.*|\1|p' summary)
    echo $(($(summed skipped) + $(summed dropped) + ${outside:-0}))
}

# 6 threads of fib(15) to fib(20), twice; calls of fib(n): 2 F(n + 1) - 1
whole=$((2 * (2 * (987 + 1597 + 2584 + 4181 + 6765 + 10946) - 6) + 12))
for how in nothing chroot user seccomp memory descriptors handlers; do
    recorded endure $how
    recorded=$(($(calls_of fib) + $(calls_of work)))
    echo "$how: $recorded of $whole calls recorded, $(lost) lost"
    equal "$how: calls recorded and lost" $((recorded + $(lost))) "$whole"
done

# The service's side. Its process is asked for its pid by its lock.
begin_service()
{
    rm -rf traces service.log
    "$BUILD/service/call_trace_service" start --trace-dir=traces 2>service.log &
    service=$!
    started=("$service")
    for ((i = 0; i < 100; i++)); do
        grep -qs ready service.log && return
        sleep 0.1
    done
    fail "the service does not begin"
}

end_service()
{
    kill -CONT "$service"
    kill "$service"
    wait "$service" || true
    started=()
}

# unharmed WHAT: with UMBRA_INSTANCE_ID unset, as in this script, programs speak to the service.
unharmed()
{
    run instrumented ./endure nothing
    compare_runs "$1"
}

run native ./endure nothing

begin_service
kill -STOP "$service"
unharmed "a stopped service"
kill -CONT "$service"
unharmed "a service that goes on"
end_service
equal "traces of a service that was stopped for a while" "$(traces_left)" 1
balanced

begin_service
rm -r traces
unharmed "a directory that vanished"
for ((i = 0; i < 100; i++)); do
    grep -q 'cannot write the trace' service.log && break
    sleep 0.1
done
contains service.log 'cannot write the trace: No such file or directory; it is in '
unharmed "a directory that vanished, again"
end_service

if ((EUID == 0)); then # only root can make a disk
    rm -rf traces
    mkdir traces
    mount -t tmpfs -o size=10m tmpfs traces
    "$BUILD/service/call_trace_service" spawn --trace-dir=traces
    mount -o remount,ro traces
    unharmed "a read-only directory"
    call_trace_service stop
    mount -o remount,rw traces
    umount traces
fi

begin_service
ulimit -n 64
for ((i = 0; i < 40; i++)); do
    (cd instrumented && exec ./endure nothing) >"out.$i" 2>&1 &
    running[i]=$!
done
for ((i = 0; i < 40; i++)); do
    wait "${running[i]}"
    cmp "out.$i" native.stdout
done
end_service
balanced
