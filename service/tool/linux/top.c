#include "service/tool/top.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "service/base/message.h"
#include "service/tool/linux/top_feed.h"
#include "support/neighbour.h"

#define MOST_OPTIONS 7
#define OPTION_SIZE  32

/* Beside this executable or, as in a build directory, in a folder beside its own. */
static void run_neighbour(char **arguments)
{
    static const char *const places[] = {"grinder", "../grinder/grinder", NULL};
    char folder[PATH_MAX], path[PATH_MAX];

    if (neighbour_folder(folder) && neighbour_find(folder, places, X_OK, path))
        execv(path, arguments);
}

int top_run(const struct options *options, char *const *traces, uint32_t last)
{
    char interval[OPTION_SIZE], times[OPTION_SIZE], feed[OPTION_SIZE];
    int feeding = top_feed_start(options, last);
    size_t count = 0, handed_on = 0, at = 0;
    char **arguments;

    while (traces[count])
        count++;
    while (options->command && options->command[handed_on])
        handed_on++;
    arguments = calloc(count + handed_on + MOST_OPTIONS + 1, sizeof(*arguments));
    if (!arguments) {
        message("top: %s", strerror(errno));
        return 1;
    }
    snprintf(interval, sizeof(interval), "--interval=%.3f", options->interval_ms / 1000.0);
    snprintf(times, sizeof(times), "--count=%u", options->times);
    snprintf(feed, sizeof(feed), "--feed=%d", feeding);
    arguments[at++] = "grinder";
    arguments[at++] = "--mode=top";
    arguments[at++] = interval;
    if (options->times)
        arguments[at++] = times;
    if (options->is_once)
        arguments[at++] = "--once";
    if (feeding >= 0)
        arguments[at++] = feed;
    for (size_t i = 0; i < handed_on; i++)
        arguments[at++] = options->command[i];
    arguments[at++] = "--";
    memcpy(arguments + at, traces, count * sizeof(*traces));
    run_neighbour(arguments);
    execvp("grinder", arguments);
    message("top: expected the grinder beside call_trace_service or in PATH, found: %s",
            strerror(errno));
    free(arguments);
    return 1;
}
