#include "hooks/thread_slot.h"

#include "hooks/thread.h"
#include "hooks/windows/thread_slot.h"
#include "support/windows/ntdll.h"
#include "thunkstash/windows/teb.h"

uintptr_t umbra_thread_slot; /* its offset in the thread's environment block; entry.S reads it */

static void (*notice_end)(struct thread *thread, uint64_t stack_pointer);

bool thread_slot_prepare(void)
{
    DWORD slot = TlsAlloc();

    if (slot >= TEB_TLS_SLOT_COUNT)
        return false;
    umbra_thread_slot = TEB_TLS_SLOTS + sizeof(void *) * (uintptr_t)slot;
    return true;
}

struct thread *thread_current(void)
{
    return (struct thread *)teb_read(umbra_thread_slot);
}

void thread_set_current(struct thread *thread)
{
    teb_write(umbra_thread_slot, (uintptr_t)thread);
}

void thread_ends_prepare(void (*notice)(struct thread *, uint64_t))
{
    notice_end = notice;
}

void thread_slot_release(const struct thread *thread)
{
    (void)thread; /* it went with the thread */
}

void thread_end_watch(struct thread *thread)
{
    (void)thread;
}

void lane_ends_prepare(void (*notice)(void))
{
    (void)notice;
}

void lane_end_watch(void)
{
}

/* ExitThread does not unwind: whatever is still on the stack will never return. */
void thread_slot_detach(void)
{
    struct thread *thread = thread_current();

    if (!thread || !notice_end)
        return;
    notice_end(thread, UINT64_MAX);
    thread_leave(thread);
}

/* PE images are not copied. */
struct frame_words *frame_words(void)
{
    return NULL;
}

struct frame_counts *frame_counts(void)
{
    return NULL;
}

uint64_t frame_words_offset(void)
{
    return 0;
}
