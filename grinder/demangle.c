#include "grinder/demangle.h"

#include <stdlib.h>
#include <string.h>

#include <libiberty/demangle.h>

#include "grinder/memory.h"
#include "grinder/text.h"

/* A longer name is not demangled: back references let the result grow exponentially. */
#define MAX_MANGLED 4096u

char *demangle(const char *symbol)
{
    char *name = memory_copy_string(symbol);
    char *version = strchr(name, '@');
    char *readable = NULL;

    if (version && version > name)
        *version = 0;
    if (strlen(name) <= MAX_MANGLED && !strncmp(name, "_", 1))
        readable = cplus_demangle(name, DMGL_AUTO | DMGL_PARAMS | DMGL_ANSI);
    if (readable) {
        free(name);
        name = readable;
    }
    text_make_printable(name);
    return name;
}
