/* Which images are in the address space, and the numbers of their functions. */
#ifndef UMBRA_HOOKS_MODULES_H
#define UMBRA_HOOKS_MODULES_H

#include <stdbool.h>

#include "trace/image_manifest.h"

/* Numbers an image's functions and writes its module record. Under the guard. */
void module_register(struct image_header *image);

/* Writes a record for every file that is mapped for execution and has none yet. Under the guard. */
void modules_scan(void);

/* Whether an address is within a file that had a record when last seen. Needs no guard. */
bool modules_hold(uint64_t address);

/* The instrumented image that has an address, and has been called; or null. May be called in a signal
   handler. */
const struct image_header *module_image(uint64_t address);

/* Ascending by rva: function_count of them. */
static inline const struct manifest_function *
module_functions(const struct image_manifest *manifest)
{
    return (const struct manifest_function *)((const char *)manifest + manifest->functions);
}

static inline const struct image_manifest *module_manifest(const struct image_header *image)
{
    return (const struct image_manifest *)(uintptr_t)((uintptr_t)image - image->header_rva +
                                           image->manifest_rva);
}

/* Writes all records again, into a new session's trace. */
void modules_rewrite(void);

#endif
