/*
 * The hook word of each image: what its stubs jump to, 0 to pass (trace/image_manifest.h).
 *
 *      loaded          umbra_enter_13, as the dynamic linker bound it
 *         | first call
 *         +-- no session: 0, for good
 *         +-- session: from now on it is trace_header.hook, whose page is mapped over it
 *         |              | fork: the child's is the parent's, until its first hook is called. Then
 *         |              |   it is that of the child's own trace; without a service, 0
 *         |              + exit: stays, since children may go by it. The hooks pass all later
 *         |                  calls: thread.h
 *         +-- no room in the address space: the hook that looks at `paused` each time
 *
 * Who can write the word decides what the process executes. A child made by fork may become another
 * user before its first hook is called. So it gets no memory that it could write to and its parent
 * jumps by:
 *
 *                              process             a child, until its first hook
 *      the trace               read and write      not there (MADV_DONTFORK), but for cover (cover.h)
 *      its first page, at      read; cannot        read; cannot be made writable
 *      the images' words       be made writable
 *
 * The page is mapped by a descriptor that is for reading alone. The agent maps it once more,
 * without a file, and moves the new mapping over the image's page. The kernel replaces one by the
 * other at once, also for threads that are reading there. If it cannot, nothing has changed.
 *
 * On Windows the word is the image's own, and the hooks look at `paused`.
 */
#ifndef UMBRA_HOOKS_HOOK_WORD_H
#define UMBRA_HOOKS_HOOK_WORD_H

#include "trace/image_manifest.h"

/* The trace's page that came with the welcome takes its place: where that of the parent is, if
   there is one, so that who reads there reads the one or the other. Returns where it is. */
const void *hook_word_place(const void *page);

/* A session begins: has its trace say what to jump to, entry while it is not paused. */
void hook_words_begin(void *entry);

/* First call into an image, under the guard: binds its word. hook: the session's, 0: there is
   none. */
void hook_word_bind(struct image_header *image, void *hook);

/* In a fork's child, under the guard: the words that were bound to the parent's trace are bound to
   that of the child's own session, or 0. */
void hook_words_begin_in_child(void);

#endif
