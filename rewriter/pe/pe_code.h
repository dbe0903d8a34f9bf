/*
 * Where functions may begin in a PE image:
 *
 *      .pdata               primary entries; fragments are known by chained unwind information, or
 *                           by codes that all count from the first byte on
 *      exports              not forwarders, not data
 *      COFF symbols         of the type function
 *      entry point, TLS callbacks
 *      guard CF table       functions whose address is taken
 *      guard EH table       where exceptions and longjmp go on: not functions, but targets of jumps
 *      direct calls         frameless leaves have no entry in .pdata
 */
#ifndef UMBRA_REWRITER_PE_CODE_H
#define UMBRA_REWRITER_PE_CODE_H

#include "rewriter/code.h"
#include "rewriter/pe/pe_image.h"
#include "rewriter/pe/pe_unwind_info.h"

struct pe_code {
    struct code code;
    const struct pe_image *image;
    struct function_list functions;
    struct code_map map;
    size_t range_room, data_room;
    char *short_names; /* of eight letters, which end without a zero in the file */
    char **made_names; /* of imports that have but a number */
    size_t made_count, made_room;
    struct pe_runtime_function *entries; /* of .pdata; ascending, none overlaps another */
    size_t entry_count;
    /* The function swept: */
    uint64_t swept, steady; /* where it begins; up to where the stack pointer stays the same */
    bool has_info;
    struct unwind_info info;
};

struct pe_code_options {
    bool instrument_imports;
};

/* Finds all functions; pe_code_free frees them. Keeps the image. */
void pe_code_read(struct pe_code *pe, const struct pe_image *image,
                  const struct pe_code_options *options);
/* Finds only those that have names. */
void pe_names_read(struct pe_code *pe, const struct pe_image *image);
/* Likewise, but one entry for each name, in any order. */
void pe_aliases_read(struct pe_code *pe, const struct pe_image *image);
void pe_code_free(struct pe_code *pe);

/* The entry of .pdata that has an RVA, or null. */
const struct pe_runtime_function *pe_entry_at(const struct pe_code *pe, uint32_t rva);

/* Adds a function, if there is code at that address; size may be 0. */
void pe_code_add(struct pe_code *pe, uint64_t address, uint64_t size, struct function function);
/* Adds what symbols and exports say. */
void pe_symbols_add(struct pe_code *pe);
/* Adds what the header, TLS and load configuration say; and .reloc, of addresses in data. */
void pe_entries_add(struct pe_code *pe);
void pe_pointers_add(struct pe_code *pe);

/* Why a function of that name is left alone, or PATCH_UNDECIDED. */
enum patch_reason pe_name_reason(const char *name);

#endif
