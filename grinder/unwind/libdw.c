#include "grinder/unwind/libdw.h"

#include <dlfcn.h>

#define SONAME "libdw.so.1"

bool libdw_load(struct libdw *libdw, struct failure *failure)
{
    void *library = dlopen(SONAME, RTLD_NOW | RTLD_LOCAL);

    if (!library)
        return fail_because(failure, SONAME ", which follows stacks, is not installed");
#define LOAD(name)                                                                                 \
    libdw->name = (__typeof__(libdw->name))dlsym(library, #name);                                  \
    if (!libdw->name)                                                                              \
        return fail_because(failure,                                                               \
                            SONAME " is too old to follow stacks: expected elfutils 0.188");
    LIBDW_FUNCTIONS(LOAD)
#undef LOAD
    return true;
}
