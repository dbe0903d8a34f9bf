/* Windows programs take no samples. */
#include "service/sampling/cpu_signals.h"

#include <errno.h>
#include <stddef.h>

struct cpu_signals *cpu_signals_begin(pid_t pid, int watch, const uint64_t *willing,
                                      uint32_t period_ns)
{
    (void)pid, (void)watch, (void)willing, (void)period_ns;
    errno = ENOSYS;
    return NULL;
}

bool cpu_signals_follow(struct cpu_signals *signals)
{
    (void)signals;
    return true;
}

void cpu_signals_end(struct cpu_signals *signals)
{
    (void)signals;
}
