#include "rewriter/functions/name_rules.h"

#include <string.h>

bool name_is_one_of(const char *name, const char *const *names)
{
    for (; *names; names++)
        if (strcmp(name, *names) == 0)
            return true;
    return false;
}

static bool has_prefix(const char *name, const char *const *prefixes)
{
    for (; *prefixes; prefixes++)
        if (strncmp(name, *prefixes, strlen(*prefixes)) == 0)
            return true;
    return false;
}

/* foo.cold, foo.cold.1 */
static bool is_cold_part(const char *name)
{
    static const char suffix[] = ".cold";

    while ((name = strstr(name, suffix))) {
        name += sizeof(suffix) - 1;
        if (*name == 0 || *name == '.')
            return true;
    }
    return false;
}

enum patch_reason name_reason(const struct name_rules *rules, const char *name)
{
    if (is_cold_part(name))
        return PATCH_FRAGMENT;
    if (name_is_one_of(name, rules->returns_twice))
        return PATCH_RETURNS_TWICE;
    if (name_is_one_of(name, rules->callers_frame))
        return PATCH_RETURN_ADDRESS;
    if (has_prefix(name, rules->unwinder_prefixes))
        return PATCH_UNWINDER;
    return PATCH_UNDECIDED;
}
