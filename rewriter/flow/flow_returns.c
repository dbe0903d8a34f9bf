#include "rewriter/flow/flow_returns.h"

#include <string.h>

#include "rewriter/code/decode_plain.h"
#include "rewriter/flow/flow_imports.h"
#include "support/sorted.h"

#define LARGEST 65536 /* bytes of a function that is looked at */

#define X86_HLT 0xf4

/* In source.returns, of a function that was looked at. */
enum {
    MAY_RETURN = 1,
    NEVER_RETURNS = 2,
};

bool flow_is_name_of_no_return(const char *name)
{
    /* of the C, C++ and threads libraries: ascending */
    static const char *const names[] = {
        "_Exit",
        "_Unwind_Resume",
        "_ZSt16__throw_bad_castv",
        "_ZSt17__throw_bad_allocv",
        "_ZSt19__throw_logic_errorPKc",
        "_ZSt20__throw_length_errorPKc",
        "_ZSt20__throw_out_of_rangePKc",
        "_ZSt20__throw_system_errori",
        "_ZSt24__throw_out_of_range_fmtPKcz",
        "_ZSt25__throw_bad_function_callv",
        "_ZSt9terminatev",
        "__assert_fail",
        "__assert_perror_fail",
        "__chk_fail",
        "__cxa_bad_cast",
        "__cxa_rethrow",
        "__cxa_throw",
        "__cxa_throw_bad_array_new_length",
        "__fortify_fail",
        "__longjmp_chk",
        "__stack_chk_fail",
        "_exit",
        "_longjmp",
        "abort",
        "err",
        "errx",
        "exit",
        "longjmp",
        "pthread_exit",
        "quick_exit",
        "siglongjmp",
        "thrd_exit",
        "verr",
        "verrx",
    };
    size_t count = sizeof(names) / sizeof(*names);
    size_t at = partition_point(i, count, strcmp(names[i], name) < 0);

    return at < count && strcmp(names[at], name) == 0;
}

/* By ret, by a jump out of it, or by one that may lead anywhere. */
static bool may_return_by(const struct function *function, const struct instruction *at,
                          const uint8_t *bytes)
{
    switch (at->flow) {
    case FLOW_END:
        return !(bytes[0] == X86_HLT || (bytes[0] == 0x0f && bytes[1] == 0x0b)); /* ud2 */
    case FLOW_JUMP:
    case FLOW_CONDITION:
    case FLOW_LOOP:
        return at->target - function->address >= function->end - function->address;
    case FLOW_INDIRECT_JUMP:
    case FLOW_UNKNOWN:
        return true;
    default:
        return false;
    }
}

static bool has_no_way_back(const struct flow_source *source, const struct function *function)
{
    struct instruction at = {.address = function->address};
    ZydisDecoder decoder;
    size_t room;
    const uint8_t *bytes = code_at(source->code, function->address, &room);

    if (!bytes || function->end <= function->address || function->end - function->address > room ||
        function->end - function->address > LARGEST)
        return false;
    decoder_init(&decoder, &processor_x86_64);
    for (; at.address < function->end; bytes += at.length, at.address += at.length) {
        uint64_t address = at.address;

        room = function->end - address;
        at.length = room >= PLAIN_ROOM ? (uint8_t)plain_length(bytes, 0) : 0;
        if (at.length)
            continue;
        if (!(room >= PLAIN_ROOM && plain_decode(address, bytes, &at)) &&
            !instruction_decode(&decoder, address, bytes, room, &at))
            return false;
        if (may_return_by(function, &at, bytes))
            return false;
    }
    return true;
}

bool flow_import_never_returns(const struct flow_source *source, uint64_t slot)
{
    const struct flow_import *import = flow_import_at(source, slot);

    return import && import->never_returns;
}

/* Each function is looked at once, however many call it. */
static bool look_once(const struct flow_source *source, const struct function *function)
{
    uint8_t now = 0, *known = &now;

    if (source->returns)
        known = &source->returns[function - source->functions->items];
    if (!*known)
        *known = has_no_way_back(source, function) ? NEVER_RETURNS : MAY_RETURN;
    return *known == NEVER_RETURNS;
}

bool flow_never_returns(const struct flow_source *source, uint64_t address)
{
    const struct function *function = function_list_at(source->functions, address);
    ZydisDecoder decoder;

    if (!function || function->reason != PATCH_PLT)
        return function && !function->is_import && function->unwind && look_once(source, function);
    decoder_init(&decoder, &processor_x86_64);
    return flow_import_never_returns(source, flow_stub_slot(source, &decoder, address));
}
