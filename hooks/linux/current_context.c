#include "hooks/linux/current_context.h"

#include "hooks/executed.h"
#include "hooks/slow_paths.h"

struct trace_node *current_context(struct thread *thread, uint64_t instruction,
                                   uint64_t stack_pointer)
{
    return slow_path_on_own_stack(thread, (const uintptr_t *)(uintptr_t)stack_pointer) &&
                   thread->own.ordered
               ? executed_context(thread, instruction, stack_pointer)
               : slow_path_context_elsewhere(thread, stack_pointer);
}
