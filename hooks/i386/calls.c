/* Between entry.S, which has arguments and results of one word, and the paths in C. */
#include "hooks/slow_paths.h"

#include "hooks/fast_paths.h"

#define FROM_REGISTERS FROM_ASSEMBLY __attribute__((fastcall))
#define OFF            5 /* from where a stub goes on that records nothing to its body */

FROM_REGISTERS uintptr_t umbra_hook_of_call(uintptr_t body);
FROM_REGISTERS uintptr_t umbra_entry_of_call(uintptr_t *slot, uintptr_t body);
FROM_REGISTERS void umbra_exit_of_call(struct record *record, uintptr_t *slot);

/* The hook that the call goes through. */
FROM_REGISTERS uintptr_t umbra_hook_of_call(uintptr_t body)
{
    return (uintptr_t)umbra_first_call(body);
}

/* Where the call goes on, with the program's eax and ecx on the stack: a thunk, or `off`. */
FROM_REGISTERS uintptr_t umbra_entry_of_call(uintptr_t *slot, uintptr_t body)
{
    struct destination destination;
    bool is_thunk;
    uintptr_t fast = fast_entry(slot, body, &is_thunk);

    if (fast)
        return fast - (is_thunk ? 0 : OFF);
    destination = umbra_slow_entry(slot, body);
    return (uintptr_t)destination.address - (destination.is_thunk ? 0 : OFF);
}

FROM_REGISTERS void umbra_exit_of_call(struct record *record, uintptr_t *slot)
{
    if (!fast_exit(record))
        umbra_slow_exit(record, slot);
}
