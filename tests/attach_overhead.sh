#!/bin/bash
# call_trace_service attach --overhead: hooks of functions that are called all the time go, and come back; what is
# shown of their calls says so. Those of others stay.
# needs: gcc
# seconds: 20
. "$(dirname "$0")/lib.sh"
. "$TESTS/attached.sh"

cat >hot.c <<'END'
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static volatile sig_atomic_t stop;
static volatile unsigned long rounds;

__attribute__((noipa)) static long fib(long n)
{
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

__attribute__((noipa)) static void seldom(void)
{
    rounds++;
}

static void end(int signal)
{
    (void)signal;
    stop = 1;
}

int main(void)
{
    signal(SIGTERM, end);
    printf("%d\n", getpid());
    fflush(stdout);
    while (!stop) {
        fib(28);
        seldom();
    }
    return 0;
}
END
gcc -O1 -g hot.c -o hot
runs ./hot
attached --overhead=5 -v
for ((try = 0; try < 6000; try++)); do
    grep 'are back' attach.log >found && break
    kill -0 "$attaching" || { cat attach.log >&2; fail "attach has ended"; }
    sleep 0.01
done
contains attach.log 'hooks cost [0-9.]+%; those of 1 function are taken out'
contains attach.log 'hooks cost [0-9.]+%; those of 1 function are back'
"$service" detach "$pid" >detached
wait "$attaching"
kill -TERM "$job"
wait "$job"
"$BUILD/grinder/grinder" --mode=summary traces/*.bin >summary
contains summary 'UNHOOKED +1 function for a while, since hooks cost more than 5%'
contains summary ' >[0-9]+ .* fib$'
contains summary 'timing +samples: '
contains summary 'samples +[1-9][0-9]*, by '
"$BUILD/grinder/grinder" --mode=profile --output-format=tsv --output-file=functions traces/*.bin
awk -F '\t' 'NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
    { print $column["function"], $column["calls_are_at_least"] }' functions | sort >least
contains least '^fib 1$'
contains least '^seldom 0$'
equal "functions with more calls" "$(grep -c ' 1$' least)" 1
# A call of seldom has 832,040 of fib; hooked all the time, fib would have that many.
awk -F '\t' 'NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
    { calls[$column["function"]] += $column["calls"] }
    END { exit !(calls["seldom"] > 0 && calls["fib"] > 0 && calls["fib"] < calls["seldom"] * 400000) }' functions ||
    fail "fib was hooked most of the time: $(grep -E '	(fib|seldom)	' functions)"
"$BUILD/grinder/grinder" --mode=profile --output-format=json --output-file=profile.json traces/*.bin
equal "in JSON" "$(grep -c calls_are_at_least profile.json)" 1

echo '-- a list that is none, or of another recording'
list=$(echo traces/*.unhooked)
printf '\377' | dd of="$list" bs=1 seek=16 conv=notrunc status=none # when the recording was made
for damage in another none; do
    "$BUILD/grinder/grinder" --mode=summary traces/*.bin >summary 2>problems
    contains problems 'expected the functions of .* that were not hooked all the time, found something else'
    ! grep UNHOOKED summary || fail "a list that is $damage was taken"
    echo 'no list' >"$list"
done
! "$service" start --overhead=5 -- true 2>problems || fail "start takes --overhead"
contains problems 'overhead: start does not take it'
