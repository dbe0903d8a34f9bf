#include "support/progress.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "support/utf8.h"

#define INTERVAL       100000000 /* ns */
#define SHARE_INTERVAL (10 * (uint64_t)INTERVAL)
#define CALLS_PER_LOOK 1024 /* at the clock; a power of two */
#define NAME_SIZE      50   /* bytes of a name that are shown */

static bool is_shown, is_disabled;

static uint64_t now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* Shows as much of it as fits on a line. */
static void show_name(const char *name)
{
    char start[NAME_SIZE + 1];

    snprintf(start, sizeof(start), "%s", name);
    utf8_write_plain(stderr, start);
}

void progress_show(size_t done, size_t all, const char *what)
{
    static int is_terminal = -1;
    static uint64_t last;

    if (is_terminal < 0)
        is_terminal = isatty(STDERR_FILENO);
    if (is_disabled || !is_terminal || now() - last < INTERVAL)
        return;
    last = now();
    is_shown = true;
    fprintf(stderr, "\r\033[Kfile %zu of %zu  ", done, all);
    show_name(what);
}

void progress_share(size_t done, size_t all, const char *what)
{
    static uint64_t last;

    if (done & (CALLS_PER_LOOK - 1) || is_disabled || !isatty(STDERR_FILENO))
        return;
    if (done == 0)
        last = now();
    if (now() - last < SHARE_INTERVAL)
        return;
    last = now();
    is_shown = true;
    fprintf(stderr, "\r\033[K%zu%% of ", done * 100 / all);
    show_name(what);
}

void progress_disable(void)
{
    is_disabled = true;
}

void progress_clear(void)
{
    if (is_shown)
        fputs("\r\033[K", stderr);
    is_shown = false;
}
