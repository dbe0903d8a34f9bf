#include "rewriter/elf/elf_sources.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHILD_SECONDS 60
#define CHILD_MEMORY  (4ull << 30)

static void limit(int resource, rlim_t value)
{
    struct rlimit limits = {value, value};

    setrlimit(resource, &limits);
}

static void child_begin(void)
{
    int null = open("/dev/null", O_RDWR);

    for (int number = 0; null >= 0 && number <= 2; number++)
        dup2(null, number);
    for (int number = 1; number < NSIG; number++)
        signal(number, SIG_DFL);
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_AS, CHILD_MEMORY);
    limit(RLIMIT_CPU, CHILD_SECONDS);
    alarm(2 * CHILD_SECONDS);
}

static void take(struct filter *filter, const struct function_list *functions,
                 const uint32_t *shared, size_t *rules)
{
    const uint32_t *matched = shared + functions->count;

    for (size_t i = 0; i < functions->count; i++)
        if (shared[i] > rules[i] && shared[i] <= filter->count)
            rules[i] = shared[i];
    for (size_t i = 0; i < filter->count; i++)
        if (matched[i])
            filter->rules[i].has_matched = true;
}

void elf_sources_match(struct filter *filter, const char *path,
                       const struct function_list *functions, size_t *rules)
{
    size_t size = (functions->count + filter->count) * sizeof(uint32_t);
    uint32_t *shared = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t pid;

    if (shared == MAP_FAILED)
        return;
    fflush(NULL);
    pid = fork();
    if (pid == 0) {
        for (size_t i = 0; i < filter->count; i++)
            filter->rules[i].has_matched = false;
        child_begin();
        elf_sources_read(filter, path, functions, shared);
        for (size_t i = 0; i < filter->count; i++)
            shared[functions->count + i] = filter->rules[i].has_matched;
        _exit(0);
    }
    while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
    take(filter, functions, shared, rules);
    munmap(shared, size);
}
