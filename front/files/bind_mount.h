/*
 * One file in the place of another, for the processes of one recording alone.
 *
 *      the system's mounts         the recording's (CLONE_NEWNS, nothing is propagated)
 *      /usr/bin/perl               /usr/bin/perl <- ~/.cache/umbra/images/KEY, read-only
 *      /usr/lib/libm.so.6          /usr/lib/libm.so.6 <- …
 *
 * An ordinary user needs a user namespace for that (CLONE_NEWUSER), with the own user and group and
 * no others. There, files of other users seem to belong to `nobody`, and set-uid programs run
 * without their owner's rights.
 */
#ifndef UMBRA_FRONT_BIND_MOUNT_H
#define UMBRA_FRONT_BIND_MOUNT_H

#include <stdbool.h>
#include <sys/types.h>

/* This process gets mounts of its own. Null, or why it cannot; it may have become a process of a
   user namespace all the same. */
const char *mounts_enter(void);

/* This process, of one thread, joins the namespaces of that one. Returns false with errno. */
bool mounts_join(pid_t pid);

/* What `file` stands for takes the place of what `target` stands for, both descriptors opened with
   O_PATH. Returns false with errno. */
bool mounts_bind(int file, int target);

/* Moves it from what `bound`, opened with O_PATH, stands for to `target`, opened so, too: whoever
   runs it has that path then. Returns false with errno. */
bool mounts_move(int bound, int target);

/* Takes it away from what `bound`, opened with O_PATH, stands for: what lies below is there again.
   Whoever has it open or mapped keeps it. */
bool mounts_unbind(int bound);

#endif
