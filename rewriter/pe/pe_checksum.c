#include "rewriter/pe/pe_checksum.h"

#include <string.h>

uint32_t pe_checksum(const uint8_t *bytes, size_t size, size_t field)
{
    uint64_t sum = 0;
    uint16_t word;

    for (size_t at = 0; at + 2 <= size; at += 2) {
        memcpy(&word, bytes + at, sizeof(word));
        if (at != field && at != field + 2)
            sum += word;
    }
    if (size % 2)
        sum += bytes[size - 1];
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    return (uint32_t)(sum + size);
}
