/* The checksum of PE images: the ones' complement sum of their 16-bit words, plus the size. */
#ifndef UMBRA_REWRITER_PE_CHECKSUM_H
#define UMBRA_REWRITER_PE_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

/* `field` is the checksum's own offset, an even number; its four bytes count as zero. */
uint32_t pe_checksum(const uint8_t *bytes, size_t size, size_t field);

#endif
