#include <dlfcn.h>

#pragma weak dlsym

/* calls.inc: the C library's function of that name; or null. */
void *umbra_next_function(const char *name) __attribute__((visibility("hidden")));

void *umbra_next_function(const char *name)
{
    return dlsym ? dlsym(RTLD_NEXT, name) : 0;
}
