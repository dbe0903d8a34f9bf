#include "rewriter/progress.h"

#include <stdbool.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define CALLS_PER_LOOK 1024 /* a power of two */

static bool is_shown;

/* Seconds since the first look. */
static double elapsed(void)
{
    static struct timespec begin;
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    if (!begin.tv_sec)
        begin = now;
    return (double)(now.tv_sec - begin.tv_sec) + (double)(now.tv_nsec - begin.tv_nsec) / 1e9;
}

void progress(const char *what, size_t done, size_t all)
{
    static double shown_at;
    double now;

    if (done & (CALLS_PER_LOOK - 1) || !isatty(STDERR_FILENO))
        return;
    now = elapsed();
    if (now - shown_at < 1)
        return;
    shown_at = now;
    is_shown = true;
    fprintf(stderr, "\rinstrument: %zu%% of the %s\033[K", done * 100 / all, what);
}

void progress_end(void)
{
    if (is_shown)
        fputs("\r\033[K", stderr);
    is_shown = false;
}
