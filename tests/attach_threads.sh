#!/bin/bash
# call_trace_service attach: threads that end while nothing tells of it. What they were in has no time of the threads'
# that came after, or of nobody's.
# needs: gcc
. "$(dirname "$0")/lib.sh"
. "$TESTS/attached.sh"

# Threads of 5 ms of work, one after the other, and 15 ms of none.
cat >threads.c <<'END'
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t stop;

static void end(int signal)
{
    (void)signal;
    stop = 1;
}

__attribute__((noipa)) static void work(void)
{
    struct timespec used;

    do
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    while (used.tv_nsec < 5000000);
}

static void *thread_of(void *unused)
{
    work();
    return unused;
}

int main(void)
{
    pthread_t thread;

    signal(SIGTERM, end);
    printf("%d\n", getpid());
    fflush(stdout);
    while (!stop) {
        if (pthread_create(&thread, NULL, thread_of, NULL) || pthread_join(thread, NULL))
            return 1;
        usleep(15000);
    }
    return 0;
}
END
gcc -O1 -g threads.c -o threads
runs ./threads
attached --timing=exact
sleep 1
detached
kill -TERM "$job"
wait "$job"
grinder --mode=profile --output-format=tsv --output-file=functions traces/*.bin
awk -F '\t' 'NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
    {
        self[$column["function"]] += $column["self_ns"]
        total[$column["function"]] += $column["total_ns"]
        calls[$column["function"]] += $column["calls"]
    }
    END {
        for (name in calls)
            if (name ~ /start_thread/)
                around += self[name]
        print calls["work"], around, total["work"]
        exit !(calls["work"] > 5 && around < total["work"] / 2)
    }' functions >times || fail "calls of work, what start_thread took itself, what work did: $(<times)"
