#include "grinder/symbols/demangle.h"

#include <libiberty/demangle.h>
#include <stdlib.h>
#include <string.h>

#include "grinder/symbols/undecorate.h"
#include "support/memory.h"
#include "support/utf8.h"

/* A longer name is not demangled: back references let the result grow exponentially. */
#define MAX_MANGLED 4096u

/* Null if there is no readable form. parameters: 0 or DMGL_PARAMS. */
static char *readable_form(const char *name, int parameters)
{
    if (strlen(name) > MAX_MANGLED)
        return NULL;
    if (*name == '_')
        return cplus_demangle(name, DMGL_AUTO | DMGL_ANSI | parameters);
    return *name == '?' ? undecorate(name) : NULL;
}

static char *readable(const char *symbol, int parameters)
{
    char *name = memory_copy_string(symbol);
    char *version = *name == '?' ? NULL : strchr(name, '@');
    char *form;

    if (version && version > name)
        *version = 0;
    form = readable_form(name, parameters);
    if (form) {
        free(name);
        name = form;
    }
    utf8_sanitise(name);
    return name;
}

char *demangle(const char *symbol)
{
    return readable(symbol, DMGL_PARAMS);
}

char *demangle_bare(const char *symbol)
{
    return readable(symbol, 0);
}
