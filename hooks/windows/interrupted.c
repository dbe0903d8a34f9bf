/* Windows has no signals: exceptions are handled by what is called. */
#include "hooks/interrupted.h"

uint64_t umbra_handler_return = 1;

struct trace_node *interrupted_context(const struct thread *thread, const uint64_t *slot)
{
    (void)thread, (void)slot;
    return NULL;
}
