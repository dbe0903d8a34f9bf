/* Functions that are left alone for what they are called. */
#include "rewriter/elf/elf_code.h"

#include <string.h>

static const char *const returns_twice[] = {
    "setjmp",        "_setjmp", "__setjmp",     "sigsetjmp",    "__sigsetjmp",  "__sigsetjmp_chk",
    "vfork",         "__vfork", "__libc_vfork", "getcontext",   "__getcontext", "swapcontext",
    "__swapcontext", "savectx", "setcontext",   "__setcontext", "makecontext",  "__start_context",
};

static const char *const unwinder_prefixes[] = {
    "_Unwind_", "__register_frame", "__deregister_frame", "__unw_",
    "unw_",     "_ULx86_64_",       "_Ux86_64_",
};

/* Compiler's own entry hooks and stack switches: they work on their caller's return address. */
static const char *const callers_frame[] = {
    "__fentry__", "mcount", "_mcount", "__morestack", "__morestack_non_split",
};

/* V8's regular expressions pass the address of their call's return address, which it may change. */
static bool is_given_its_return(const char *name)
{
    return strncmp(name, "_ZN2v88internal", 15) == 0 &&
           strstr(name, "RegExpMacroAssembler") != NULL && strstr(name, "20CheckStackGuardState");
}

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

enum patch_reason elf_name_reason(const char *name)
{
    if (is_cold_part(name))
        return PATCH_FRAGMENT;
    if (IS_ONE_OF(name, returns_twice))
        return PATCH_RETURNS_TWICE;
    if (IS_ONE_OF(name, callers_frame) || is_given_its_return(name))
        return PATCH_RETURN_ADDRESS;
    for (size_t i = 0; i < sizeof unwinder_prefixes / sizeof *unwinder_prefixes; i++)
        if (strncmp(name, unwinder_prefixes[i], strlen(unwinder_prefixes[i])) == 0)
            return PATCH_UNWINDER;
    return PATCH_UNDECIDED;
}
