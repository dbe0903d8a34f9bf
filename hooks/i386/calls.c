/* Between entry.S, which has arguments and results of one word, and the paths in C. */
#include "hooks/slow_paths.h"

#include "hooks/fast_paths.h"

/* By these names, whatever prefixes and suffixes the platform has for others. */
#define FROM_REGISTERS FROM_ASSEMBLY __attribute__((fastcall))
#define OFF            5 /* from where a stub goes on that records nothing to its body */

FROM_REGISTERS uintptr_t umbra_hook_of_call(uintptr_t body) __asm__("umbra_hook_of_call");
FROM_REGISTERS uintptr_t umbra_entry_exact(uintptr_t *slot,
                                           uintptr_t body) __asm__("umbra_entry_exact");
FROM_REGISTERS uintptr_t umbra_entry_adaptive(uintptr_t *slot,
                                              uintptr_t body) __asm__("umbra_entry_adaptive");
FROM_REGISTERS uintptr_t umbra_entry_slow(uintptr_t *slot,
                                          uintptr_t body) __asm__("umbra_entry_slow");
FROM_REGISTERS void umbra_end_exact(struct record *record,
                                    uintptr_t *slot) __asm__("umbra_end_exact");
FROM_REGISTERS void umbra_end_adaptive(struct record *record,
                                       uintptr_t *slot) __asm__("umbra_end_adaptive");
FROM_REGISTERS void umbra_end_slow(struct record *record,
                                   uintptr_t *slot) __asm__("umbra_end_slow");

/* The hook that the call goes through. */
FROM_REGISTERS uintptr_t umbra_hook_of_call(uintptr_t body)
{
    return (uintptr_t)umbra_first_call(body);
}

/* Where the call goes on, with the program's eax and ecx on the stack: a thunk, or `off`. */
FROM_REGISTERS uintptr_t umbra_entry_slow(uintptr_t *slot, uintptr_t body)
{
    struct destination destination = umbra_slow_entry(slot, body);

    return (uintptr_t)destination.address - (destination.is_thunk ? 0 : OFF);
}

static inline uintptr_t enter(uintptr_t *slot, uintptr_t body, bool is_adaptive)
{
    bool is_thunk;
    uintptr_t fast = fast_entry(slot, body, is_adaptive, &is_thunk);

    return fast ? fast - (is_thunk ? 0 : OFF) : umbra_entry_slow(slot, body);
}

FROM_REGISTERS uintptr_t umbra_entry_exact(uintptr_t *slot, uintptr_t body)
{
    return enter(slot, body, false);
}

FROM_REGISTERS uintptr_t umbra_entry_adaptive(uintptr_t *slot, uintptr_t body)
{
    return enter(slot, body, true);
}

FROM_REGISTERS void umbra_end_slow(struct record *record, uintptr_t *slot)
{
    umbra_slow_exit(record, slot);
}

FROM_REGISTERS void umbra_end_exact(struct record *record, uintptr_t *slot)
{
    if (!fast_exit(record, false))
        umbra_slow_exit(record, slot);
}

FROM_REGISTERS void umbra_end_adaptive(struct record *record, uintptr_t *slot)
{
    if (!fast_exit(record, true))
        umbra_slow_exit(record, slot);
}

_Static_assert(offsetof(struct image_header, entry_hook) == 8, "i386/calibration.inc");
