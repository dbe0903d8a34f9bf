/* The note that copies leave of who calls (frames.h), and records keep. */
#ifndef UMBRA_HOOKS_NOTES_H
#define UMBRA_HOOKS_NOTES_H

#include "hooks/thread.h"
#include "trace/frame_format.h"

#define NO_NOTE UINT64_MAX

/* A record of the own stack begins: it keeps the note. When it ends, the note is that again. */
void note_keep(struct record *record);
void note_restore(const struct thread *thread, const struct record *record);

#endif
