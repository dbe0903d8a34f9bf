/*
 * Imports that are left alone for what they are called: beside those that elf_names.c knows of any
 * function, the ones whose calls are not like a call of a function, or that look at their caller.
 */
#include <string.h>

#include "rewriter/elf/code/elf_code.h"
#include "rewriter/elf/code/elf_imports.h"

/*
 * The dynamic linker tells by the return address on whose behalf it acts: RTLD_NEXT, the search
 * path, the namespace. A walk along the stack should begin with its caller.
 */
static const char *const looks_at_caller[] = {
    "dlopen", "dlmopen", "dlsym", "dlvsym", "__libc_dlopen_mode", "__libc_dlsym", "backtrace",
};

/* Called with other registers in use than by an ordinary call; or the program itself. */
static const char *const special[] = {
    "__tls_get_addr",
    "___tls_get_addr",
    "__libc_start_main",
};

static bool is_one_of(const char *name, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

enum patch_reason elf_import_reason(const char *name)
{
    if (is_one_of(name, special, sizeof(special) / sizeof(*special)))
        return PATCH_IMPORT_SPECIAL;
    if (is_one_of(name, looks_at_caller, sizeof(looks_at_caller) / sizeof(*looks_at_caller)) ||
        strncmp(name, "_dl_", 4) == 0)
        return PATCH_RETURN_ADDRESS;
    return elf_name_reason(name);
}
