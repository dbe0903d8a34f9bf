#!/bin/bash
# What threads wait in system calls of copies is told apart from what they compute: asleep, behind a
# mutex, a condition, a pipe, a child; not what they do in the kernel. Waits that are cancelled,
# interrupted, begun again and left by longjmp end as natively.
# alone: what it times would wait for the others
. "$(dirname "$0")/lib.sh"
export XDG_CACHE_HOME=$work/cache

build waits waits.c -pthread
run native ./waits

wait_of()
{
    awk -v name="$1" '$1 == name { print $2 }' program.err
}

# told_apart SOURCE
told_apart()
{
    local source=$1 name pid found expected
    rm -rf "$source"
    umbra record --how=copy --timing=samples --samples=$source --output=$source -- ./native/waits >program.out 2>program.err ||
        fail "status $?"
    equal "what it prints, $source" "$(<program.out)" "$(<native.stdout)"
    umbra report --text "$source" >summary 2>problems || fail "it cannot be reported"
    ! grep -q BROKEN summary || fail "a thread is out of balance"
    pid=$(wait_of pid) # its child by fork is another process
    umbra report --merge --process="$pid" --output-format=tsv --output-file=functions "$source" >/dev/null 2>problems
    for name in sleeps sleeps_shortly polls waits_for_mutex waits_for_condition reads forks; do
        near "$name, $source" "$(cell total_wait_ns $name)" "$(wait_of $name)" 10 6
    done
    # what others took of the processor while it spun is no wait
    found=$(cell total_wait_ns sleeps_and_spins) expected=$(wait_of sleeps_and_spins)
    ((found >= 100000000 && found < expected + expected / 10 + 6000000)) ||
        fail "sleeps_and_spins, $source: $found ns, should be 100 ms at least, and no more than $expected"
    expected=$(($(wait_of reaps) + $(wait_of forks)))
    near "reaps, $source" "$(cell total_wait_ns reaps)" "$expected" 10 6
    (($(cell waits clock_nanosleep) >= 300)) || fail "of 300 short sleeps and more, $(cell waits clock_nanosleep) were noted"
    near "spins, $source" "$(cell total_ns spins)" 100000000 15 12
    near "fills, $source" "$(cell total_wait_ns fills)" 0 0 20
    contains summary '^  waiting   [0-9.]+ s in system calls'
    umbra report --process="$pid" --output-file=page.html "$source" >/dev/null 2>problems
    grep -Eq '"waits":\{"id":\[[0-9]+,.*"longest":\[' page.html || fail 'the page has no waits'
    umbra report --merge --output-format=callgrind --output-file=callgrind "$source" >/dev/null 2>problems
    contains callgrind '^events: ns Wait Calls$'
}

measured told_apart timer
measured told_apart 1000
