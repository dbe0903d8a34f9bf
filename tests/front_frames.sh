#!/bin/bash
# umbra record --how=copy: callers of copies count, and each context has the calls that it has with
# hooks in prologues: by name, through pointers, from the C library, in threads, after longjmp and fork.
# The cache keeps what is instrumented in one way apart from the other.
# needs: gcc
. "$(dirname "$0")/lib.sh"

export XDG_CACHE_HOME=$work/cache
cat >calls.c <<'END_OF_SOURCE'
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define HIDDEN __attribute__((noinline, noipa))

static jmp_buf place;
static int (*volatile chosen)(int);

HIDDEN int leaf(int n) { return n * 3 + 1; }
HIDDEN int other(int n) { return leaf(n) - leaf(1); }
HIDDEN int third(int n) { return n < 100 ? other(n) : leaf(n); }
HIDDEN int fib(int n) { return n < 2 ? leaf(n) : fib(n - 1) + fib(n - 2); }
HIDDEN int tail(int n) { return n > 3 ? third(n + 1) : other(n + 1); }
HIDDEN int compare(const void *a, const void *b) { return other(*(const int *)a) - other(*(const int *)b); }
HIDDEN int sorted(int n)
{
    int values[16];

    for (int i = 0; i < 16; i++)
        values[i] = (i * 7 + n) % 16;
    qsort(values, 16, sizeof *values, compare);
    return values[3];
}
HIDDEN int pointers(int n)
{
    static int (*const all[])(int) = {leaf, other, third, tail, fib};
    int sum = 0;

    for (int i = 0; i < n; i++) {
        chosen = all[i % 5];
        sum += chosen(i % 7);
    }
    return sum;
}
HIDDEN int jumps(int n)
{
    if (n == 0)
        longjmp(place, 1);
    return jumps(n - 1) + leaf(n);
}
HIDDEN int lands(int n)
{
    return setjmp(place) ? other(n) : jumps(n);
}
HIDDEN void *in_thread(void *n)
{
    return (void *)(long)(fib(12) + sorted(*(int *)n));
}

int main(void)
{
    int sum = fib(15) + pointers(200), number = 5;
    pthread_t thread;
    pid_t child;

    for (int i = 0; i < 20; i++)
        sum += sorted(i) + lands(i) + tail(i);
    pthread_create(&thread, NULL, in_thread, &number);
    pthread_join(thread, NULL);
    fflush(NULL);
    child = fork();
    if (child == 0)
        _exit(fib(10) + sorted(3) > 0 ? 0 : 1);
    waitpid(child, &number, 0);
    printf("%d %d\n", sum, number);
    return 7;
}
END_OF_SOURCE
gcc -O2 -g calls.c -o calls -pthread

# recorded_by HOW TIMING: in HOW.data; in HOW.contexts the calls of each context. In the child, what main
# calls is below main only if callers count.
recorded_by()
{
    local status=0
    rm -rf "$1.data"
    umbra record --how="$1" --timing="$2" --leave='*' --leave='!*/calls' -o "$1.data" -- ./calls \
        >"$1.out" 2>said || status=$?
    equal "$1, $2: status: $(<said)" "$status" 7
    cmp "$1.out" native.out || fail "$1, $2: it printed something else"
    umbra report "$1.data" --merge --output-format=folded --weight=calls --output-file="$1.folded" \
        >said
    awk '{ calls = $NF; sub(/ [0-9]*$/, ""); sub(/^main;/, ""); sums[$0] += calls }
         END { for (stack in sums) print stack, sums[stack] }' "$1.folded" | sort >"$1.contexts"
}

# as_with_prologues TIMING
as_with_prologues()
{
    recorded_by copy "$1"
    [[ $1 == exact ]] || counted_in_copies copy.data/traces/*.bin || fail "$1: no call was counted in a copy"
    diff prologue.contexts copy.contexts >differences ||
        fail "$1: contexts differ: $(<differences)"
}

./calls >native.out || true
recorded_by prologue none
contains prologue.contexts '^sorted;compare;other;leaf [0-9]'
for timing in none adaptive exact; do
    echo "-- $timing"
    as_with_prologues "$timing"
done

echo '-- the cache keeps it apart'
umbra cache >said
contains said ': 2 files,'
recorded_by prologue none
umbra cache >said
contains said ': 2 files,'

echo '-- what is no way is refused, by name'
umbra record --how=copies -o none.data -- ./calls 2>said && fail 'it is not refused'
equal 'it is refused' "$(<said)" 'umbra: --how=copies: expected prologue, copy, auto or samples'
instrument --how=copies calls -o none 2>said && fail 'instrument does not refuse it'
contains said 'copies: expected --how=copy, prologue or auto'
