/* Functions that are left alone for what they are called. */
#include "rewriter/pe/pe_code.h"

#include <string.h>

/* setjmp records the frame it was called from, and comes back to it. */
static const char *const returns_twice[] = {
    "setjmp",    "_setjmp",   "_setjmpex",  "__intrinsic_setjmp", "__intrinsic_setjmpex",
    "sigsetjmp", "__setjmp3", "getcontext", "_setjmp3",           "__mingw_setjmp",
};

/* Compiler's own entry hooks: they work on their caller's return address. */
static const char *const callers_frame[] = {"__fentry__", "mcount", "_mcount", "_penter", "_pexit"};

/* libgcc's and LLVM's, linked into the image. */
static const char *const unwinder_prefixes[] = {"_Unwind_", "__unw_", "unw_"};

static bool is_one_of(const char *name, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

#define IS_ONE_OF(name, names) is_one_of(name, names, sizeof names / sizeof *names)

/* foo.cold, foo.cold.1 */
static bool is_cold_part(const char *name)
{
    const char *cold = strstr(name, ".cold");

    return cold && (cold[5] == 0 || cold[5] == '.');
}

enum patch_reason pe_name_reason(const char *name)
{
    if (is_cold_part(name))
        return PATCH_FRAGMENT;
    if (IS_ONE_OF(name, returns_twice))
        return PATCH_RETURNS_TWICE;
    if (IS_ONE_OF(name, callers_frame))
        return PATCH_RETURN_ADDRESS;
    for (size_t i = 0; i < sizeof unwinder_prefixes / sizeof *unwinder_prefixes; i++)
        if (strncmp(name, unwinder_prefixes[i], strlen(unwinder_prefixes[i])) == 0)
            return PATCH_UNWINDER;
    return PATCH_UNDECIDED;
}
