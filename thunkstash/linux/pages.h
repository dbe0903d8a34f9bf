/* Memory, page by page, without the C library. Sizes and addresses are multiples of 4096. */
#ifndef UMBRA_THUNKSTASH_LINUX_PAGES_H
#define UMBRA_THUNKSTASH_LINUX_PAGES_H

#include <stdbool.h>
#include <stdint.h>

/* Maps part of a file, read and execute, shared; null if that fails. */
void *pages_map_file(const char *path, uint64_t offset, uint64_t size);

/* Maps what pages_map_file mapped a further time, in place of what is at `at`. Needs no file. */
bool pages_map_again(void *source, void *at, uint64_t size);

/* Private zeroed memory in place of what is at `at`. */
bool pages_make_writable(void *at, uint64_t size);

/* Private zeroed memory; null if there is none. */
void *pages_take(uint64_t size);
void pages_give_back(void *pages, uint64_t size);

/* The same, but a child made by fork finds it zeroed. Null too where the kernel (before 4.14)
   cannot do that. */
void *pages_take_wiped_on_fork(uint64_t size);

/* Makes the kernel write to each page, so that a full disk or a cut file shows here and not as a
   fatal signal later. False: at least one page cannot be written. 8 bytes at the offset `at` of
   each page do not keep their content, and are 0 in the end: readers must pass over them, since
   the process may be killed in between. */
bool pages_touch(void *pages, uint64_t size, uint32_t at);

#endif
