/* Of threads that have thread-local storage of the agent's. */
#include <stddef.h>

#include "hooks/thread_slot.h"
#include "processor.h"
#include "trace/embedded_agent.h"

extern _Thread_local struct thread_words umbra_thread
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

struct frame_words *frame_words(void)
{
    return &umbra_thread.frames;
}

struct frame_counts *frame_counts(void)
{
    return (struct frame_counts *)(thread_pointer() + FRAME_COUNTS_AT);
}

/* Before a static program has its thread-local storage, too. */
uint64_t frame_words_offset(void)
{
    uint64_t offset;

    __asm__("mov umbra_thread@gottpoff(%%rip), %0" : "=r"(offset));
    return offset + offsetof(struct thread_words, frames);
}
