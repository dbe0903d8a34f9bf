/* For tests: a PE image as instrument would have left it, as far as the grinder looks. */
#ifndef UMBRA_GRINDER_PE_SAMPLE_H
#define UMBRA_GRINDER_PE_SAMPLE_H

#include <stddef.h>
#include <stdint.h>

struct pe_sample {
    uint8_t *bytes; /* to be freed */
    size_t size;
    uint64_t original_hash; /* of the file it was made from */
};

#define PE_SAMPLE_IMPORT "Sleep"

/* The file at path with a manifest of count functions at these RVAs, the last one of which is the
   slot of the import PE_SAMPLE_IMPORT. original_path is what the manifest says. Ends the test where
   it cannot be done. */
struct pe_sample pe_sample_make(const char *path, const char *original_path, const uint32_t *rvas,
                                size_t count);

/* The whole file, to be freed. */
uint8_t *pe_sample_read(const char *path, size_t *size);
void pe_sample_write(const char *path, const void *bytes, size_t size);

#endif
