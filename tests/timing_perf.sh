#!/bin/bash
# With --timing=samples, threads are sampled by perf where the kernel allows it, and else by their own
# timers: as root and as an ordinary user, before and after a fork, in threads, in what a program
# executes, and in one that has closed all descriptors. Who waits for signals gets none of them. Time in
# the kernel is its caller's.
# alone: what it times would wait for the others
# needs: util-linux
. "$(dirname "$0")/lib.sh"

build family sampled_family.c -pthread
build faults sampled_kernel.c
cp "$BUILD/service/call_trace_service" "$AGENT" .
AGENT=$work/libhooks.so
for name in family faults; do
    instrument native/$name -o instrumented/$name
done
chmod 0711 "$work"

# may_perf [COMMAND-PREFIX…]: whether the kernel lets this user
may_perf()
{
    mkdir -m 0700 probe
    chown "$owner" probe
    "$@" ./call_trace_service start --timing=samples --samples=perf --trace-dir=probe -- \
        instrumented/faults 20 >/dev/null 2>said || fail "a probe failed: $(<said)"
    rm -rf probe
    ! grep -q 'sampled by their timers' said
}

# sampled SOURCE PROGRAM ARGUMENT…: in traces/, `summary` and `functions`
sampled()
{
    local source=$1 status=0
    shift
    rm -rf traces told
    mkdir -m 0700 traces told
    chown "$owner" traces told
    "${as[@]}" ./call_trace_service start --timing=samples --samples="$source" --trace-dir=traces -- \
        "$work/instrumented/$1" "${@:2}" >told.out 2>told.err || status=$?
    equal "status of $* by $source: $(<told.err)" $status 0
    grinder --mode=summary traces/*.bin >summary
    ! grep -q BROKEN summary || fail "unbalanced: $(<summary)"
    grinder --mode=profile --merge --output-format=tsv --output-file=- traces/*.bin >functions
}

# family SOURCE SLACK_MS: what each function took, in whichever process and thread
family()
{
    local name expected
    sampled "$1" family told/times
    equal 'functions that told their times' "$(sort -u told/times | wc -l)" 5
    equal 'traces' "$(ls traces/*.bin | wc -l)" 3
    while read -r name expected; do
        near "$name by $1" "$(cell total_ns "$name")" "$expected" 10 "$2"
    done <told/times
    # the one that has blocked SIGURG
    contains summary '^  UNSAMPLED thread 3: no times of what it did$'
}

# in_kernel SOURCE SLACK_MS: system calls and page faults, which the kernel takes most of the time for. With
# perf, which sees user mode alone, page faults are told from system calls by their number, roughly.
in_kernel()
{
    local name expected
    sampled "$1" faults 300
    while read -r name expected; do
        near "$name by $1" "$(cell total_ns "$name")" "$expected" 10 "$2"
    done <told.out
}

# Processes that have ended when the service looks at them: nothing is amiss.
short_lives()
{
    rm -rf traces
    mkdir -m 0700 traces
    chown "$owner" traces
    "${as[@]}" ./call_trace_service start --timing=samples --samples=perf --trace-dir=traces -- \
        sh -c "for i in $(seq -s ' ' 30); do instrumented/faults 0; done" >told.out 2>told.err
    equal 'of short lives it is said' "$(<told.err)" ''
    equal 'short lives' "$(traces_left)" 30
}

check()
{
    measured family timer 15
    contains summary ', by timers: '
    ! grep -q 'by perf' summary || fail 'perf, which was not asked for'
    measured in_kernel timer 90
    if ! may_perf "${as[@]}"; then
        echo "skipped: $(<said)"
        return
    fi
    measured family 1000 6
    equal 'processes that perf has sampled' "$(grep -c '^  samples .*, by perf' summary)" 3
    measured family 4000 6
    # 600 ms; timers alone would give 150 to 600
    awk '/^  samples/ { sum += $2 } END { exit !(sum > 1000) }' summary ||
        fail "too few samples: $(grep '^  samples' summary)"
    measured in_kernel 1000 200
    contains summary ', by perf'
    short_lives
}

owner=$(id -u):$(id -g) as=()
check
if ((EUID == 0)); then
    user=$((20000 + $$ % 20000))
    owner=$user:$user as=(setpriv --reuid=$user --regid=$user --clear-groups)
    mkdir -m 0700 run-of-user
    chown "$owner" run-of-user
    XDG_RUNTIME_DIR=$work/run-of-user
    check
else
    echo 'skipped: only root can be an ordinary user as well'
fi
