#!/bin/bash
# A child that has become another user and has not yet called a hooked function finds no memory that
# decides what its parent executes: not while the parent records, and not while it is paused.
. "$(dirname "$0")/lib.sh"

((EUID == 0)) || { echo 'skipped: only root can become another user'; exit 0; }
user=$((20000 + $$ % 20000))

build takes_over takes_over.c -I"$TESTS/programs" -I"$TESTS/.."
# In a static program fork() itself is hooked, and of copies main goes to the agent: the child may have a
# trace, which is its own.
child_begins()
{
    normalise()
    {
        sed -i 's/, [01] written$//' "$1"
    }
}
by_copies && child_begins
instrumented takes_over --exclude=stolen --exclude=take_over
for how in fork clone; do
    recorded takes_over "$how" "$user"
    by_copies || contains instrumented.stdout '^55, 0 written$'
    equal "$how: calls of fib" "$(calls_of fib)" 354
done

child_begins
build static takes_over.c -I"$TESTS/programs" -I"$TESTS/.." -static
instrumented static --exclude=stolen --exclude=take_over
for how in fork clone; do recorded static "$how" "$user"; done

# By copies, and with each call as an event.
instrumented takes_over --how=auto --exclude=stolen --exclude=take_over
recorded takes_over fork "$user"
for options in --mode=calltrace --paused --timing=exact; do
    for how in fork clone; do
        run native ./takes_over "$how" "$user"
        rm -rf traces
        run instrumented "$BUILD/service/call_trace_service" start --trace-dir="$work/traces" \
            "$options" -- ./takes_over "$how" "$user"
        compare_runs "$options, $how"
    done
done
