/* What `instrument --list` prints: a table, tab-separated under a header line. */
#ifndef UMBRA_REWRITER_LIST_H
#define UMBRA_REWRITER_LIST_H

#include <stdbool.h>
#include <stdint.h>

void list_header(void);
/* name may be null. */
void list_function(uint64_t address, uint64_t size, uint8_t reason, const char *name,
                   bool is_import);

#endif
