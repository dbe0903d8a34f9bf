/* The note that copies leave of who calls (frames.h), and records keep. */
#ifndef UMBRA_HOOKS_NOTES_H
#define UMBRA_HOOKS_NOTES_H

#include "hooks/thread.h"
#include "trace/frame_format.h"

#define NO_NOTE UINT64_MAX

/* A record of the own stack begins: it keeps the note, and there is none until what it called
   leaves one. So one of a place above the newest record's says that this is over. When the record
   ends, the note is again what it was. */
void note_keep(struct record *record);
void note_restore(const struct thread *thread, const struct record *record);
/* Restores the note of a record that is seen to be over without a return: unless a copy has left
   another note since, that of a frame above it, or of the call that is entered at the slot
   `entered`, if not 0. */
void note_unwind(const struct thread *thread, const struct record *record, uint64_t entered);

#endif
