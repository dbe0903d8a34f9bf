/* Windows has no signals: exceptions are handled by what is called. On i386 a handler is called by
   what it has interrupted, as far as that has a record. */
#include "hooks/interrupted.h"

uint64_t umbra_handler_return = 1;

struct trace_node *interrupted_context(const struct thread *thread, const uintptr_t *slot)
{
    (void)thread, (void)slot;
    return NULL;
}
