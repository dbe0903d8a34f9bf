#include "hooks/linux/copy_words.h"

#include "hooks/thread_slot.h"
#include "trace/frame_format.h"

extern void umbra_site(void) __attribute__((visibility("hidden")));
extern void umbra_site_by_stub(void) __attribute__((visibility("hidden")));
extern void umbra_wait_is_over(void) __attribute__((visibility("hidden")));

/* Words that say that nothing is to be counted in copies. */
static uint64_t idle_words_offset(void)
{
    return frame_words_offset() + sizeof(struct frame_words);
}

/* A site that is under way, as in what a signal handler of a child has interrupted, goes on with
   `words`, and what times a system call with `on_wait`: they are never 0 any more. */
void copy_words_set(struct trace_header *header, bool counts, bool is_recorded)
{
    header->on_site = (uintptr_t)(counts ? umbra_site : umbra_site_by_stub);
    header->on_wait = (uintptr_t)umbra_wait_is_over;
    header->words = counts ? frame_words_offset() : idle_words_offset();
    header->frames = is_recorded ? header->words : 0;
}
