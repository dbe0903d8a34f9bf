#!/bin/bash
# call_trace_service unhook and hook: functions of a program that was attached to are recorded no more, and again, while
# it runs; what is shown of their calls says so.
# needs: gcc
. "$(dirname "$0")/lib.sh"
. "$TESTS/attached.sh"

# Calls each of two functions once for each line of its input, and answers it.
cat >lines.c <<'END'
#include <stdio.h>
#include <unistd.h>

static volatile unsigned long rounds;

__attribute__((noipa)) void red(void)
{
    rounds++;
}

__attribute__((noipa)) void blue(void)
{
    rounds++;
}

int main(void)
{
    char line[10];

    setvbuf(stdout, NULL, _IONBF, 0);
    printf("%d\n", getpid());
    while (fgets(line, sizeof(line), stdin)) {
        red();
        blue();
        printf("%s", line);
    }
    return 0;
}
END
gcc -O1 -g lines.c -o lines
talks ./lines

# changes VERB FUNCTIONS PATTERN…
changes()
{
    "$service" "$1" "$pid" "${@:3}" >changed
    contains changed "process $pid: $2"
}

! "$service" unhook "$pid" red 2>problems || fail "unhook of a program that nobody attached to"
contains problems 'expected `attach` to have hooked it, found no such service'
attached --timing=none --include='module:lines'
rounds 10
changes unhook '1 function not hooked any more' red
rounds 7
changes unhook '2 functions not hooked any more' red bl*
rounds 5
changes hook '1 function hooked' red
rounds 3
! "$service" hook "$pid" 'gr?en' >changed 2>problems || fail "a function that is not there"
contains problems 'expected functions that match, found none'
! "$service" hook "$pid" puts >changed 2>problems || fail "a function that attach has left out"
contains problems 'expected functions that `attach` has made hooks for, found none among'
detached
rounds 2
exec 5>&-
wait "$job"

grinder --mode=profile --output-format=tsv --output-file=functions traces/*.bin
awk -F '\t' 'NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
    { print $column["function"], $column["calls"], $column["calls_are_at_least"] }' functions |
    grep -E '^(red|blue) ' | sort >counts
equal 'calls, and whether there were more' "$(xargs <counts)" 'blue 17 1 red 13 1'
grinder --mode=summary traces/*.bin >summary
contains summary 'UNHOOKED +2 functions for a while, by `unhook`: calls are at least what is shown \(>\)'
contains summary ' >13 .* red$'

echo '-- a service that has not attached to anything'
"$service" spawn --instance-id=plain --trace-dir=plain
sleep 1000 &
started+=($!)
! "$service" unhook $! sleep nanosleep --instance-id=plain 2>problems || fail "unhook by a service that starts programs"
contains problems 'expected `attach` to serve it, found another service'
"$service" stop --instance-id=plain >stopped
