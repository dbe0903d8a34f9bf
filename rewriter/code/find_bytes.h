/* Finding a few bytes in many: as memmem, which goes through a hundred megabytes of code byte by byte. */
#ifndef UMBRA_REWRITER_FIND_BYTES_H
#define UMBRA_REWRITER_FIND_BYTES_H

#include <stddef.h>
#include <stdint.h>

/* The first place of `wanted`, whose size is at least 1, that lies before `end` as a whole; null: there is none. */
const uint8_t *find_bytes(const uint8_t *at, const uint8_t *end, const uint8_t *wanted, size_t size);

#endif
