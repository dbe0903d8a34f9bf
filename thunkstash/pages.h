/* Memory, page by page, without the C library. Sizes and addresses are multiples of 4096. */
#ifndef UMBRA_THUNKSTASH_PAGES_H
#define UMBRA_THUNKSTASH_PAGES_H

#include <stdbool.h>
#include <stdint.h>

/* Private zeroed memory; null if there is none. */
void *pages_take(uint64_t size);
void pages_give_back(void *pages, uint64_t size);

/* Address space that costs nothing until its front is committed: zeroed, too. pages_give_back takes
   all of it. Committing again what is committed changes nothing. */
void *pages_reserve(uint64_t size);
bool pages_commit(void *pages, uint64_t size);

/* A child made by fork finds them zeroed. False: the kernel (Linux before 4.14) cannot do that. */
bool pages_wipe_on_fork(void *pages, uint64_t size);

/* Private zeroed memory that a child made by fork finds zeroed; null if there is none, or where the
   kernel (Linux before 4.14) cannot do that. */
void *pages_take_wiped_on_fork(uint64_t size);

/* Makes a block of the stash's range usable (layout.h): the thunks' code, and behind it zeroed
   records. code: what they are mapped from, as the platform has it. False: there is no room. */
bool pages_map_block(char *block, void *code);

/* The word of the processor's at this address, which may be none. False: nothing is mapped there, or the kernel does
   not let us look. */
bool pages_read(uint64_t address, uint64_t *value);

/* What is at an address of memory that no other thread takes away meanwhile, as the calling
   thread's stack: cheaper than pages_read, and by a system call that no filter forbids. */
bool pages_read_own(uint64_t address, uint64_t *value);

#endif
