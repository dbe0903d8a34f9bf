#include "hooks/interrupted.h"

#include <ucontext.h>

#include "hooks/executed.h"
#include "hooks/hooks_code.h"
#include "thunkstash/pages.h"

#define SIGNAL_RETURN 0x0f0000000fc0c748ull /* mov rax, 15; and the first byte of syscall */
#define MOST_FLAGS    16                    /* of uc_flags: the kernel sets the lowest bits */

uint64_t umbra_handler_return = 1;

/* What the kernel puts there begins so; where it does not, the address need not be looked at. */
static bool may_be_context(const struct thread *thread, const ucontext_t *context)
{
    return (uintptr_t)(context + 1) - thread->own_low < thread->own_size &&
           context->uc_flags < MOST_FLAGS && !context->uc_link;
}

/* Whether handlers return there. Where they do is kept, and the last address that is something
   else, too: reading code takes a system call. */
static bool learn_signal_return(uint64_t address)
{
    static uint64_t other;
    uint64_t code;

    if (address == umbra_handler_return)
        return true;
    if (address == other)
        return false;
    if (!pages_read_own(address, &code) || code != SIGNAL_RETURN) {
        other = address;
        return false;
    }
    umbra_handler_return = address;
    return true;
}

struct trace_node *interrupted_context(const struct thread *thread, const uintptr_t *slot)
{
    const ucontext_t *context = (const ucontext_t *)(slot + 1);
    uint64_t instruction, pointer;

    if (!may_be_context(thread, context) || !learn_signal_return(*slot))
        return NULL;
    instruction = (uint64_t)context->uc_mcontext.gregs[REG_RIP];
    pointer = (uint64_t)context->uc_mcontext.gregs[REG_RSP];
    if (pointer - thread->own_low >= thread->own_size || hooks_code_has(instruction))
        return NULL;
    return executed_context(thread, instruction, pointer);
}
