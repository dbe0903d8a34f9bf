/*
 * Where functions may begin in a PE image:
 *
 *      .pdata               primary entries; fragments are known by chained unwind information, or
 *                           by unwind codes that all hold from the first byte on
 *      exports              not forwarders, not data
 *      COFF symbols         of the type function
 *      entry point, TLS callbacks
 *      guard CF table       functions whose address is taken
 *      guard EH table       where exceptions and longjmp go on: not functions, but targets of jumps
 *      direct calls         frameless leaves have no entry in .pdata
 */
#ifndef UMBRA_REWRITER_PE_DISCOVER_H
#define UMBRA_REWRITER_PE_DISCOVER_H

#include "rewriter/pe/pe_code.h"

struct pe_code_options {
    bool instrument_imports;
};

/* Finds all functions; pe_code_free frees them. Keeps the image. */
void pe_code_read(struct pe_code *pe, const struct pe_image *image,
                  const struct pe_code_options *options);
/* Finds only those that have names. */
void pe_names_read(struct pe_code *pe, const struct pe_image *image);
/* Finds one entry for each name, in any order. */
void pe_aliases_read(struct pe_code *pe, const struct pe_image *image);

#endif
