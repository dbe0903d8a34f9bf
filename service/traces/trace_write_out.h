/* Writes a trace out of memory (Linux). */
#ifndef UMBRA_SERVICE_TRACE_WRITE_OUT_H
#define UMBRA_SERVICE_TRACE_WRITE_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "service/traces/trace_dir.h"

/*
 * Writes the first `used` bytes of a trace to the file of that name: in the directory, or in a
 * rescue folder with a link to it from there, which a message says and elsewhere holds. first: the
 * file_identity of the first snapshot, a header alone, which is completed if it is still there; 0:
 * it is not. Returns false, errno set as the directory has it: the last snapshot remains.
 */
bool trace_write_out(int trace, const char *name, const struct trace_dir *directory, uint64_t first,
                     uint64_t used, char *elsewhere, size_t size);

#endif
