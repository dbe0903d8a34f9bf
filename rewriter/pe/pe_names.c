#include "rewriter/pe/pe_names.h"

#include <stddef.h>

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

/* The loader tells by the return address on whose behalf it acts; a walk begins with its caller. */
static const char *const import_looks_at_caller[] = {
    "GetProcAddress",
    "LdrGetProcedureAddressForCaller",
    "RtlGetCallersAddress",
    "RtlCaptureStackBackTrace",
    "CaptureStackBackTrace",
    "RtlCaptureContext",
    "RtlCaptureContext2",
    "RtlWalkFrameChain",
    NULL,
};

/* They unwind the stack that they run on, or are called by what does. */
static const char *const import_unwinder[] = {
    "RtlUnwind",
    "RtlUnwindEx",
    "RtlVirtualUnwind",
    "RtlRestoreContext",
    "RaiseException",
    "RtlRaiseException",
    "RtlRaiseStatus",
    "_CxxThrowException",
    "__C_specific_handler",
    "_local_unwind",
    "__CxxFrameHandler",
    "__CxxFrameHandler2",
    "__CxxFrameHandler3",
    "__CxxFrameHandler4",
    "__GSHandlerCheck",
    "_except_handler",
    "__gxx_personality_seh0",
    "_GCC_specific_handler",
    "__gcc_personality_seh0",
    NULL,
};

/* Called with other registers in use than by an ordinary call. */
static const char *const import_special[] = {"__chkstk", "_chkstk", "___chkstk_ms", NULL};

enum patch_reason pe_import_reason(const char *name)
{
    if (name_is_one_of(name, import_special))
        return PATCH_IMPORT_SPECIAL;
    if (name_is_one_of(name, import_looks_at_caller))
        return PATCH_RETURN_ADDRESS;
    if (name_is_one_of(name, import_unwinder))
        return PATCH_UNWINDER;
    return pe_name_reason(name);
}
