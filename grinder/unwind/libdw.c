#include "grinder/unwind/libdw.h"

#include <dlfcn.h>

#define SONAME "libdw.so.1"

bool libdw_load(struct libdw *libdw, const char **why)
{
    void *library = dlopen(SONAME, RTLD_NOW | RTLD_LOCAL);

    *why = SONAME ", which follows stacks, is not installed";
    if (!library)
        return false;
    *why = SONAME " is too old to follow stacks: expected elfutils 0.188";
#define LOAD(name)                                                                                 \
    libdw->name = (__typeof__(libdw->name))dlsym(library, #name);                                  \
    if (!libdw->name)                                                                              \
        return false;
    LIBDW_FUNCTIONS(LOAD)
#undef LOAD
    return true;
}
