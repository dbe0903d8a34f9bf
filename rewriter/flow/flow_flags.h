/* Whether a program's flags matter where a call returns. */
#ifndef UMBRA_REWRITER_FLOW_FLAGS_H
#define UMBRA_REWRITER_FLOW_FLAGS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Whether arithmetic flags may be read at, or behind, an offset before they are written. The
 * bytes are a function's; what is called, returned or jumped to out of it reads none.
 */
bool flow_flags_alive(const uint8_t *bytes, uint32_t size, uint32_t offset);

#endif
