#include "hooks/notes.h"

#include "hooks/session.h"

void note_keep(struct record *record)
{
    const struct frame_words *words = frame_words();

    record->below = words ? (struct record *)words->note : 0;
}

/* The words of another thread may be gone. */
void note_restore(const struct thread *thread, const struct record *record)
{
    if (session.is_adaptive && thread->frames && thread == thread_current())
        thread->frames->note = (uint64_t)record->below;
}
