/* Patterns against a symbol's name: as it is, and as a person would write it. */
#include "rewriter/functions/filter_symbol.h"

#include <libiberty/demangle.h>
#include <stdlib.h>
#include <string.h>

/* A longer name is not demangled: back references let the result grow exponentially. */
#define MAX_MANGLED 4096u

static size_t match_demangled(struct filter *filter, const char *symbol, int options)
{
    char *name = cplus_demangle(symbol, DMGL_AUTO | DMGL_ANSI | options);
    size_t rule = name ? filter_match(filter, FILTER_FUNCTION, name) : 0;

    free(name);
    return rule;
}

size_t filter_match_symbol(struct filter *filter, const char *symbol)
{
    size_t last = filter_match(filter, FILTER_FUNCTION, symbol), rule;

    if (*symbol != '_' || strlen(symbol) > MAX_MANGLED)
        return last;
    rule = match_demangled(filter, symbol, DMGL_PARAMS);
    last = rule > last ? rule : last;
    rule = match_demangled(filter, symbol, DMGL_NO_OPTS);
    return rule > last ? rule : last;
}
