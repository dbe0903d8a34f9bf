#include "grinder/symbols/demangle.h"

#include <stdlib.h>
#include <string.h>

#include <libiberty/demangle.h>

#include "grinder/symbols/undecorate.h"
#include "support/memory.h"
#include "support/utf8.h"

/* A longer name is not demangled: back references let the result grow exponentially. */
#define MAX_MANGLED 4096u

/* Null if there is no readable form. */
static char *readable_form(const char *name)
{
    if (strlen(name) > MAX_MANGLED)
        return NULL;
    if (*name == '_')
        return cplus_demangle(name, DMGL_AUTO | DMGL_PARAMS | DMGL_ANSI);
    return *name == '?' ? undecorate(name) : NULL;
}

char *demangle(const char *symbol)
{
    char *name = memory_copy_string(symbol);
    char *version = *name == '?' ? NULL : strchr(name, '@');
    char *readable;

    if (version && version > name)
        *version = 0;
    readable = readable_form(name);
    if (readable) {
        free(name);
        name = readable;
    }
    utf8_sanitise(name);
    return name;
}
