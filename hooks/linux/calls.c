#include "hooks/thread.h"

#include <dlfcn.h>

#pragma weak dlsym
#pragma weak dlerror

/* calls.inc: the C library's function of that name; or null. */
void *umbra_next_function(const char *name) __attribute__((visibility("hidden")));

/* A row for each of them. */
struct next_function {
    const char *name;
    void **place;
};

extern const struct next_function umbra_next_begin[] __attribute__((visibility("hidden")));
extern const struct next_function umbra_next_end[] __attribute__((visibility("hidden")));

void *umbra_next_function(const char *name)
{
    return dlsym ? dlsym(RTLD_NEXT, name) : NULL;
}

__attribute__((constructor)) static void find_all(void)
{
    struct thread *thread = thread_pass_calls();

    for (const struct next_function *each = umbra_next_begin; each < umbra_next_end; each++)
        if (!*each->place)
            *each->place = umbra_next_function(each->name);
    if (dlerror)
        dlerror(); /* of those that this C library has not got, the program is told nothing */
    thread_set_current(thread);
}
