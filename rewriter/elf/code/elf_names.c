/* Functions that are left alone for what they are called. */
#include <string.h>

#include "rewriter/elf/code/elf_code.h"
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
    "_Unwind_", "__register_frame", "__deregister_frame", "__unw_",
    "unw_",     "_ULx86_64_",       "_Ux86_64_",          NULL};

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
