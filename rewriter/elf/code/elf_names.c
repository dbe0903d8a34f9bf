#include "rewriter/elf/code/elf_names.h"

#include <string.h>

#include "rewriter/functions/name_rules.h"

static const char *const returns_twice[] = {"setjmp",
                                            "_setjmp",
                                            "__setjmp",
                                            "sigsetjmp",
                                            "__sigsetjmp",
                                            "__sigsetjmp_chk",
                                            "vfork",
                                            "__vfork",
                                            "__libc_vfork",
                                            "getcontext",
                                            "__getcontext",
                                            "swapcontext",
                                            "__swapcontext",
                                            "savectx",
                                            "setcontext",
                                            "__setcontext",
                                            "makecontext",
                                            "__start_context",
                                            NULL};

static const char *const unwinder_prefixes[] = {
    "_Unwind_", "__register_frame", "__deregister_frame", "__unw_", "unw_", "_ULx86_", "_Ux86_",
    NULL};

/* Compiler's own entry hooks and stack switches: they work on their caller's return address. */
static const char *const callers_frame[] = {
    "__fentry__", "mcount", "_mcount", "__morestack", "__morestack_non_split", NULL};

/* V8's regular expressions pass the address of their call's return address, which it may change. */
static bool is_given_its_return(const char *name)
{
    return strncmp(name, "_ZN2v88internal", 15) == 0 &&
           strstr(name, "RegExpMacroAssembler") != NULL && strstr(name, "20CheckStackGuardState");
}

static const struct name_rules rules = {returns_twice, callers_frame, unwinder_prefixes};

enum patch_reason elf_name_reason(const char *name)
{
    if (is_given_its_return(name))
        return PATCH_RETURN_ADDRESS;
    return name_reason(&rules, name);
}

/*
 * The dynamic linker tells by the return address on whose behalf it acts: RTLD_NEXT, the search
 * path, the namespace. A walk along the stack should begin with its caller.
 */
static const char *const import_looks_at_caller[] = {
    "dlopen", "dlmopen", "dlsym", "dlvsym", "__libc_dlopen_mode", "__libc_dlsym", "backtrace", NULL,
};

/* Called with other registers in use than by an ordinary call; or the program itself. */
static const char *const import_special[] = {
    "__tls_get_addr",
    "___tls_get_addr",
    "__libc_start_main",
    NULL,
};

enum patch_reason elf_import_reason(const char *name)
{
    if (name_is_one_of(name, import_special))
        return PATCH_IMPORT_SPECIAL;
    if (name_is_one_of(name, import_looks_at_caller) || strncmp(name, "_dl_", 4) == 0)
        return PATCH_RETURN_ADDRESS;
    return elf_name_reason(name);
}
