#!/bin/bash
# System calls that the supervisor of umbra record answers are nobody's wait: they are counted apart, whatever the
# program's environment. Where nobody answers they are waits like others; and so is one by syscall(), whose
# number nobody knows.
# alone: what it counts are waits, which get shorter while a thread waits for a processor
. "$(dirname "$0")/lib.sh"
export XDG_CACHE_HOME=$work/cache

build answers answers.c -pthread
mkfifo fifo

# record NAME OPTION… -- COMMAND…: the summary, and the table of functions
record()
{
    umbra record --quiet --how=copy --timing=samples --output="$@" >out || fail "status $?"
    equal "what it prints" "$(<out)" done
    umbra report --text "$1" >summary 2>problems || { cat problems >&2; fail "$1 cannot be reported"; }
    ! grep -q BROKEN summary || fail "a thread is out of balance"
    umbra report --merge --output-format=tsv --output-file=functions "$1" >/dev/null 2>problems
}

# most WHAT COUNT: of 200 calls, but for those in which the thread waited for a processor instead; and a few of the other
# thread, which then opens first
most()
{
    (($2 >= 150)) || fail "$1: $2, should be 150 at least, of 200"
}

answers()
{
    awk '$1 == "answers" { sum += $5 } END { print sum + 0 }' summary
}

for command in ./native/answers 'env -i ./native/answers'; do
    # shellcheck disable=SC2086
    record supervised -- $command fifo
    echo "-- $command: $(grep -E '^  (waiting|answers)' summary)"
    contains summary "^  answers   [0-9]+\.[0-9]{6} s in [0-9]+ system calls? that umbra record answered; nobody's\$"
    most "answers, $command" "$(answers)"
    equal "waits of open, $command" "$(cell waits open)" 0
    equal "what opens waited, $command" "$(cell total_wait_ns opens)" 0
    most "waits of syscall, $command" "$(cell waits syscall)"
    (($(cell total_wait_ns sleeps) >= 40000000)) || fail "sleeps waited $(cell total_wait_ns sleeps) ns, of 50000000"
done

record alone --in-place=no -- ./native/answers fifo
grep '^  waiting' summary
! grep '^  answers' summary || fail "nobody has answered, and that is counted"
most "opens' waits where nobody answers" "$(cell waits open)"
(($(cell total_wait_ns opens) > 100000000)) || fail "opens waited $(cell total_wait_ns opens) ns, of 200000000"
