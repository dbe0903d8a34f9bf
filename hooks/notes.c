#include "hooks/notes.h"

#include "hooks/session.h"

void note_keep(struct record *record)
{
    struct frame_words *words = frame_words();

    record->below = words ? (struct record *)(uintptr_t)words->note : NULL;
    if (words)
        words->note = NO_NOTE;
}

/* Bridges, which the stash puts in place of parked records, have a record there. */
static uint64_t note_of(const struct thread *thread, const struct record *record)
{
    uint64_t kept = (uintptr_t)record->below;

    return kept - thread->own_low <= thread->own_size ? kept : NO_NOTE;
}

/* The words of another thread may be gone. */
void note_restore(const struct thread *thread, const struct record *record)
{
    if (session.is_adaptive && thread->frames && thread == thread_current())
        thread->frames->note = note_of(thread, record);
}

void note_unwind(const struct thread *thread, const struct record *record, uint64_t entered)
{
    uint64_t *note = thread->frames ? &thread->frames->note : NULL, noted;

    if (!session.is_adaptive || !note || thread != thread_current())
        return;
    noted = *note - sizeof(*note);
    if (*note == NO_NOTE || (noted <= record_slot(record) && (!entered || noted != entered)))
        *note = note_of(thread, record);
}
