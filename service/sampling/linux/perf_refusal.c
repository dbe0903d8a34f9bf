#include "service/sampling/linux/perf_refusal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static int read_paranoid(void)
{
    FILE *file = fopen("/proc/sys/kernel/perf_event_paranoid", "re");
    int paranoid = 0;

    if (!file || fscanf(file, "%d", &paranoid) != 1)
        paranoid = 0;
    if (file)
        fclose(file);
    return paranoid;
}

void perf_refusal_write(struct failure *failure, const char *what, const char *besides)
{
    int error = errno, paranoid = read_paranoid();

    fail_because(failure, "%s: %s", what, strerror(error));
    if ((error == EACCES || error == EPERM) && paranoid > 2)
        fail_because(failure, "%s: %s: kernel.perf_event_paranoid is %d, 2 would do%s", what,
                     strerror(error), paranoid, besides);
}
