/* What only Linux has, or needs. */
#ifndef UMBRA_THUNKSTASH_LINUX_LINUX_PAGES_H
#define UMBRA_THUNKSTASH_LINUX_LINUX_PAGES_H

#include "thunkstash/pages.h"

/* Maps part of a file, read and execute, shared; null if that fails. pages_map_block maps it
   again, without a file. */
void *pages_map_file(const char *path, uint64_t offset, uint64_t size);

/* Maps the front of a file, shared; nothing of it can be used before pages_commit. Null if that
   fails. */
void *pages_reserve_shared(long file, uint64_t size);

/* Maps the front of a file, shared, to be read alone: if the descriptor is for reading alone, nothing
   can make it writable later. Null if that fails. */
const void *pages_map_readable(long file, uint64_t size);

/* A child made by fork does not get these. What it finds there may be anything. */
void pages_keep_from_children(void *pages, uint64_t size);

/* Takes that back. */
void pages_keep_for_children(void *pages, uint64_t size);
/* For that child: they are not this process's any more. */
void pages_forget(const void *pages, uint64_t size);

/* Maps what is mapped shared once more, without its file; null if that fails. */
void *pages_map_again(const void *shared, uint64_t size);

/* Moves `fresh` over what is mapped at `at`. Who reads there finds the one or the other. False:
   all there is as it was, `fresh` is given back. */
bool pages_replace(void *at, void *fresh, uint64_t size);

/* Makes the kernel write to each page, so that a full disk or a cut file shows here and not as a
   fatal signal later. False: at least one page cannot be written. 8 bytes at the offset `at` of
   each page do not keep their content, and are 0 in the end. */
bool pages_touch(void *pages, uint64_t size, uint32_t at);

/* Makes the kernel write to all pages by one call, and their content stays. False: at least one
   cannot be written, or the kernel knows no such call (Linux 5.14 does). */
bool pages_populate(void *pages, uint64_t size);

/* Copies what is at an address, as pages_read does. */
bool pages_copy(uint64_t address, void *copy, uint64_t size);

/* The program is about to have all future mappings locked. From now on those of the agent are not.
 */
void pages_keep_unlocked(void);
void pages_unlock(void *pages, uint64_t size);
bool pages_are_locked(const void *page);

#endif
