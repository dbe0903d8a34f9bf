/* Functions that are left alone for what they are called. */
#include "rewriter/pe/pe_names.h"

#include <string.h>

#include "rewriter/functions/name_rules.h"

/* setjmp records the frame it was called from, and comes back to it. */
static const char *const returns_twice[] = {
    "setjmp",    "_setjmp",   "_setjmpex",  "__intrinsic_setjmp", "__intrinsic_setjmpex",
    "sigsetjmp", "__setjmp3", "getcontext", "_setjmp3",           "__mingw_setjmp",
    NULL};

/* Compiler's own entry hooks: they work on their caller's return address. */
static const char *const callers_frame[] = {"__fentry__", "mcount", "_mcount",
                                            "_penter",    "_pexit", NULL};

/* libgcc's and LLVM's, linked into the image. */
static const char *const unwinder_prefixes[] = {"_Unwind_", "__unw_", "unw_", NULL};

static const struct name_rules rules = {returns_twice, callers_frame, unwinder_prefixes};

enum patch_reason pe_name_reason(const char *name)
{
    return name_reason(&rules, name);
}
