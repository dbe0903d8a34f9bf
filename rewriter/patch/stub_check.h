/* Whether a stub is what trace/image_manifest.h draws. */
#ifndef UMBRA_REWRITER_STUB_CHECK_H
#define UMBRA_REWRITER_STUB_CHECK_H

#include <stdbool.h>
#include <stdint.h>

#include "rewriter/patch/stub.h"

/* Looks at the STUB_FRAME_SIZE bytes of a stub at `address`. */
bool stub_is_frame(const uint8_t *stub, uint64_t address, const struct stub_targets *targets,
                   uint32_t index);

/* Whether `size` bytes at `address` are a jump to `stub` and int3 behind it. */
bool stub_is_jump(const uint8_t *patch, uint64_t address, uint64_t size, uint64_t stub);

#endif
