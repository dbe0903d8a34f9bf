/*
 * Imports that are left alone for what they are called: beside those that pe_names.c knows of any
 * function, the ones whose calls are not like a call of a function, or that look at their caller.
 */
#include <string.h>

#include "rewriter/pe/pe_imports.h"
#include "rewriter/pe/pe_names.h"

/* The loader tells by the return address on whose behalf it acts; a walk begins with its caller. */
static const char *const looks_at_caller[] = {
    "GetProcAddress",        "LdrGetProcedureAddressForCaller",
    "RtlGetCallersAddress",  "RtlCaptureStackBackTrace",
    "CaptureStackBackTrace", "RtlCaptureContext",
    "RtlCaptureContext2",    "RtlWalkFrameChain",
};

/* They unwind the stack that they run on, or are called by what does. */
static const char *const unwinder[] = {
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
};

/* Called with other registers in use than by an ordinary call. */
static const char *const special[] = {"__chkstk", "_chkstk", "___chkstk_ms"};

static bool is_one_of(const char *name, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

#define IS_ONE_OF(name, names) is_one_of(name, names, sizeof(names) / sizeof(*names))

enum patch_reason pe_import_reason(const char *name)
{
    if (IS_ONE_OF(name, special))
        return PATCH_IMPORT_SPECIAL;
    if (IS_ONE_OF(name, looks_at_caller))
        return PATCH_RETURN_ADDRESS;
    if (IS_ONE_OF(name, unwinder))
        return PATCH_UNWINDER;
    return pe_name_reason(name);
}
