#!/bin/bash
# call_trace_service attach: a program with seccomp filters is attached to if these allow all that the agent and the
# service do in it, and whoever attaches may read them. Else it is refused by the name of the call that would end it,
# and goes on.
# needs: gcc util-linux
# seconds: 20
. "$(dirname "$0")/lib.sh"
. "$TESTS/attached.sh"

# Where any user finds them.
chmod 755 .
mkdir -p tools/{service,hooks,rewriter}
cp "$BUILD/service/call_trace_service" tools/service
cp "$BUILD/hooks/libattach.so" tools/hooks
cp "$BUILD/rewriter/instrument" tools/rewriter
service=$work/tools/service/call_trace_service
# The same table that the agent and the service have.
gcc -O1 -g -pthread -D_GNU_SOURCE -I"$TESTS/.." "$TESTS/programs/filtered.c" "$TESTS"/../support/{agent_calls,filter_program}.c \
    -o filtered

# runs COMMAND…: in the background, its number in $pid
runs()
{
    : >said
    "${as[@]}" "$@" >said &
    pid=$!
    started+=($!)
    for ((try = 0; try < 500; try++)); do
        grep -q begun said && return
        sleep 0.01
    done
    fail "$* did not begin"
}

ends()
{
    local status=0
    kill -TERM "$pid"
    wait "$pid" || status=$?
    equal "status of the program" "$status" 0
}

# open_traces: made anew, for any user
open_traces()
{
    rm -rf traces
    mkdir -m 777 traces
}

# counted TURNS: both threads' calls of fib(10), which are 177
counted()
{
    "$BUILD/grinder/grinder" --mode=profile --output-format=tsv --output-file=functions traces/*.bin
    equal "calls of fib" "$(awk -F '\t' '$4 == "fib" { sum += $8 } END { print sum + 0 }' functions)" $((2 * 177 * $1))
}

# attaches OPTION…: to the program that `runs`
attaches()
{
    open_traces
    attached "$@"
    turn
    turn
    detached
    nothing_left
    turn
    [[ $* == *calltrace* ]] || counted 2
    ends
}

# refused WHAT: and goes on
refused()
{
    local status=0
    mkdir -p -m 777 none
    "${as[@]}" "$service" attach "$pid" --trace-dir=none >refused.log 2>&1 || status=$?
    ((status)) || fail "not refused"
    contains refused.log "process $pid .*$1"
    turn
    awk '$6 ~ /libattach|images-/' "/proc/$pid/maps" >left
    [[ ! -s left ]] || fail "left in the process: $(<left)"
    ends
}

echo '-- who may not read the filters is refused'
if ((EUID == 0)); then
    other=$((20000 + $$ % 20000))
    as=(setpriv "--reuid=$other" "--regid=$other" --clear-groups env -u XDG_RUNTIME_DIR)
fi
for where in all thread; do
    runs ./filtered getpriority errno $where
    refused 'has seccomp filters.* setpriv --reuid='
done
runs ./filtered strict
refused 'thread [0-9]*: strict mode'
((EUID == 0)) || { echo 'skipped: only root may read filters'; exit 0; }
as=()
runs ./filtered connect kill
"$service" attach "$pid" --trace-dir=none >refused.log 2>&1 || true
if grep -q 'CAP_SYS_ADMIN\|does not show' refused.log; then
    echo "skipped: $(<refused.log)"
    exit 0
fi
ends

echo '-- who may, though he is not root'
as=(setpriv "--reuid=$other" "--regid=$other" --clear-groups --inh-caps=+sys_admin --ambient-caps=+sys_admin
    env -u XDG_RUNTIME_DIR)
runs setpriv --inh-caps=-all --ambient-caps=-all ./filtered getpriority errno
attaches
rm -rf "/tmp/umbra-$other"
as=()

echo '-- what the agent does not need may be forbidden'
for where in all thread; do
    runs ./filtered getpriority errno $where
    attaches
done
runs ./filtered connect log
attaches

echo '-- all that neither needs may be forbidden'
for option in --timing=adaptive --timing=exact --timing=none --overhead=50 --mode=calltrace; do
    runs ./filtered rest kill
    attaches "$option"
done

echo '-- what it needs may not'
while read -r effect says; do
    for where in all thread; do
        runs ./filtered connect "$effect" $where
        refused "forbidden itself connect [(]seccomp, thread [0-9]*: ${says}[)]"
    done
done <<'END'
kill kills the process
end ends the thread
trap sends SIGSYS
errno Operation not permitted
trace asks a tracer
notify asks a supervisor
END
for effect in kill errno; do
    runs ./filtered openat $effect
    refused 'forbidden itself openat'
    runs ./filtered mmap $effect thread
    refused 'forbidden itself mmap'
done
runs ./filtered restart_syscall kill
refused 'forbidden itself restart_syscall'
runs ./filtered strict
refused 'thread [0-9]*: strict mode'

echo '-- memory files are for programs that see other files'
runs ./filtered memfd_create kill
attaches
runs unshare --mount ./filtered memfd_create kill
refused 'forbidden itself memfd_create'
runs unshare --mount ./filtered rest kill
refused 'forbidden itself memfd_create'

echo '-- filters that come while it is attached to'
runs ./filtered getpriority errno later
open_traces
attached
turn
kill -USR2 "$pid"
turn
detached
nothing_left
counted 2
turn
attaches
