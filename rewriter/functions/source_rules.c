#include "rewriter/functions/source_rules.h"

#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rewriter/base/child.h"
#include "rewriter/functions/source_lines.h"

#define CHILD_SECONDS 60
#define CHILD_MEMORY  (4ull << 30)

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

void source_rules_match(struct filter *filter, const char *path,
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
        child_begin(CHILD_MEMORY, CHILD_SECONDS);
        source_lines_match(filter, path, functions, shared);
        for (size_t i = 0; i < filter->count; i++)
            shared[functions->count + i] = filter->rules[i].has_matched;
        _exit(0);
    }
    while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
    take(filter, functions, shared, rules);
    munmap(shared, size);
}
