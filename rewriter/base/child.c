#include "rewriter/base/child.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "support/confinement.h"

/* A lower limit that is there stays, for root, too. */
static void limit(int resource, uint64_t value)
{
    struct rlimit limits;

    if (getrlimit(resource, &limits) == 0 && limits.rlim_max < value)
        value = limits.rlim_max;
    limits = (struct rlimit){value, value};
    setrlimit(resource, &limits);
}

/* Bytes of address space in use: a sanitizer alone takes terabytes. */
static unsigned long long address_space(void)
{
    unsigned long long pages = 0;
    FILE *statm = fopen("/proc/self/statm", "re");

    if (statm && fscanf(statm, "%llu", &pages) != 1)
        pages = 0;
    if (statm)
        fclose(statm);
    return pages * (unsigned long long)sysconf(_SC_PAGESIZE);
}

void child_begin(uint64_t memory, uint64_t seconds)
{
    int null = open("/dev/null", O_RDWR);

    for (int number = 0; null >= 0 && number <= 2; number++)
        dup2(null, number);
    for (int number = 1; number < NSIG; number++)
        signal(number, SIG_DFL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_AS, address_space() + memory);
    limit(RLIMIT_CPU, seconds);
    alarm((unsigned)(2 * seconds));
    confine_reader();
}
