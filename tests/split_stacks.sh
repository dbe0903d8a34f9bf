#!/bin/bash
# Programs with split stacks do the same as natively: what a function calls where its stack ends goes
# on one byte behind where it would return to.
. "$(dirname "$0")/lib.sh"

cat >split.c <<'SOURCE'
#include <pthread.h>
#include <stdio.h>

__attribute__((noipa)) static long deep(long n)
{
    volatile char room[300];

    room[n % 300] = (char)n;
    return n ? deep(n - 1) + room[n % 300] : 1;
}

static void *work(void *depth)
{
    printf("%ld\n", deep((long)depth));
    return NULL;
}

int main(void)
{
    pthread_attr_t small;
    pthread_t thread;

    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 65536);
    pthread_create(&thread, &small, work, (void *)20000);
    pthread_join(thread, NULL);
    work((void *)100);
}
SOURCE
build split "$work/split.c" -fsplit-stack
for how in "${hows[@]}"; do
    instrumented split --how=$how
    run native ./split
    run instrumented ./split
    compare_runs "split, $how"
    for timing in adaptive exact; do
        rm -rf traces
        run instrumented "$BUILD/service/call_trace_service" start --timing=$timing --samples=0 \
            --slices=0 --trace-dir="$work/traces" -- ./split
        compare_runs "split, $how, $timing"
        balanced
    done
done
