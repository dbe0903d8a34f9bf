/*
 * Instruments what lies at a path, and puts the copy in its place (front/files/bind_mount.h); takes
 * it away again. Files are named by descriptors opened with O_PATH, which stay the caller's.
 */
#ifndef UMBRA_FRONT_PLACING_H
#define UMBRA_FRONT_PLACING_H

#include <stdatomic.h>
#include <stdbool.h>

#include "front/base/words.h"
#include "front/cache/cache.h"
#include "front/calls/notifications.h"
#include "front/files/image_kind.h"
#include "front/recording/recording.h"
#include "front/supervisor/known_files.h"

/* Used by several threads. */
struct placing {
    const struct recording *recording;
    struct cache *cache;
    const struct words *leave; /* patterns: front/files/leave.h */
    struct known_files files;
    atomic_bool has_met_confined;
};

/* Instruments what name stands for, if it is an ELF file and not done yet. Of a script, *look has
   the interpreter. The notification is of the call that waits for it. */
void placing_take(struct placing *placing, struct notification *notification, int name,
                  struct image_look *look);

/* Notes, once a recording, that a process which has confined itself (front/calls/rights.h), and
   runs that program, executes something. */
void placing_note_confined(struct placing *placing, const char *program);

/* Notes that name stays as it is: a debugger compares what runs with the file that it reads. */
void placing_leave_to_debugger(const struct placing *placing, int name);

/* Takes the copy away from what name stands for. is_run: some process executes it. */
void placing_undo(const struct placing *placing, int name, const struct known_file *copy,
                  bool is_run);

#endif
