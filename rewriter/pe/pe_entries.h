/* Functions, and pointers to code, that headers and directories tell of. */
#ifndef UMBRA_REWRITER_PE_ENTRIES_H
#define UMBRA_REWRITER_PE_ENTRIES_H

#include "rewriter/pe/pe_code.h"

/* Adds what the header, TLS and load configuration say; and .reloc, of addresses in data. */
void pe_entries_add(struct pe_code *pe);
void pe_pointers_add(struct pe_code *pe);

#endif
