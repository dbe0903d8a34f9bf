/*
 * Attaches to a process and lets go of it again, that often. A service of the instance has to
 * accept connections at the socket. Says the longest time that the process stood still, and how
 * often its memory stayed, which is a failure.
 *
 *      attach_cycles PID CYCLES SOCKET INSTANCE FOLDER SEED
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "service/attach/attach.h"

#define MOST_MS 20 /* between in and out */

static void wait_for_a_while(unsigned *seed)
{
    long ns = (long)(rand_r(seed) % (MOST_MS * 1000)) * 1000;

    nanosleep(&(struct timespec){.tv_nsec = ns}, NULL);
}

/* False: after a message. */
static bool cycle(struct attached *attached, unsigned number, unsigned *seed)
{
    struct failure failure;
    enum attach_ended ended;

    wait_for_a_while(seed);
    ended = attach_end(attached, &failure);
    if (ended != ATTACH_GONE)
        printf("cycle %u: %s: %s\n", number, ended == ATTACH_HOOKED ? "hooked" : "memory stays",
               failure.text);
    return ended == ATTACH_GONE;
}

int main(int argc, char **argv)
{
    struct attach_settings settings = {.filters = NULL, .is_sampled = true, .is_quiet = true};
    struct attach_counts counts;
    struct failure failure;
    struct attached *attached;
    double longest = 0;
    unsigned cycles, seed;
    bool is_right;

    if (argc != 7)
        return 2;
    settings.pid = atoi(argv[1]);
    cycles = (unsigned)atoi(argv[2]);
    settings.socket_path = argv[3];
    settings.instance = argv[4];
    settings.folder = argv[5];
    seed = (unsigned)atoi(argv[6]);
    attached = attach_begin(&settings, &counts, &failure);
    is_right = attached != NULL;
    for (unsigned i = 1; is_right; i++) {
        is_right = cycle(attached, i, &seed);
        if (i == cycles || !is_right)
            break;
        is_right = attach_again(attached, &settings, &counts, &failure);
        if (!is_right)
            printf("cycle %u: %s\n", i + 1, failure.text);
        longest = counts.stopped_ms > longest ? counts.stopped_ms : longest;
    }
    if (attached)
        attached_free(attached);
    else
        printf("%s\n", failure.text);
    printf("%u cycles of %lu functions, stood still for %.1f ms at most\n", cycles,
           counts.functions, longest);
    return is_right ? 0 : 1;
}
