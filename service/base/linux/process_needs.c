#include "service/base/process.h"

#include <dirent.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

/* "SIZE RESIDENT …" in pages, proc(5). */
static uint64_t resident_bytes(void)
{
    FILE *statm = fopen("/proc/self/statm", "re");
    unsigned long long pages = 0;

    if (!statm)
        return 0;
    if (fscanf(statm, "%*u %llu", &pages) != 1)
        pages = 0;
    fclose(statm);
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Less ".", ".." and the one that reading takes. */
static unsigned descriptors(void)
{
    DIR *directory = opendir("/proc/self/fd");
    unsigned count = 0;

    if (!directory)
        return 0;
    while (readdir(directory))
        count++;
    closedir(directory);
    return count > 3 ? count - 3 : 0;
}

void process_read_needs(struct process_needs *needs)
{
    struct rlimit limit = {0};

    getrlimit(RLIMIT_NOFILE, &limit);
    *needs = (struct process_needs){
        .resident_bytes = resident_bytes(),
        .descriptors = descriptors(),
        .descriptor_limit = limit.rlim_cur == RLIM_INFINITY ? 0 : limit.rlim_cur,
    };
}
