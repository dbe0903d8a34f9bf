/* The code of a PE image and the functions in it; pe_discover.h says how they are found. */
#ifndef UMBRA_REWRITER_PE_CODE_H
#define UMBRA_REWRITER_PE_CODE_H

#include "rewriter/code/code.h"
#include "rewriter/pe/pe_image.h"
#include "rewriter/pe/pe_unwind_info.h"

struct pe_span {
    uint32_t rva, size;
};

/* A symbol of code that has no type. */
struct pe_label {
    uint64_t address;
    const char *name;
    bool is_external;
};

struct pe_code {
    struct code code;
    const struct pe_image *image;
    struct function_list functions;
    struct code_map map;
    char *short_names; /* of eight letters, which end without a zero in the file */
    char **made_names; /* of imports that have but a number */
    size_t made_count, made_room;
    struct pe_label *labels;
    size_t label_count, label_room;
    struct pe_runtime_function *entries; /* of .pdata; ascending, none overlaps another */
    size_t entry_count;
    uint32_t *relocated; /* of PE32, RVAs of the words that the loader relocates, in the file's order */
    size_t relocated_count, relocated_room;
    bool has_odd_relocations; /* of other kinds than of words */
    struct pe_span generated; /* V8's builtins; empty if there are none */
    /* The function swept: */
    uint64_t swept, steady; /* where it begins; up to where the stack pointer stays the same */
    bool has_info;
    struct unwind_info info;
};

void pe_code_free(struct pe_code *pe);

/* The entry of .pdata that has an RVA, or null. */
const struct pe_runtime_function *pe_entry_at(const struct pe_code *pe, uint32_t rva);

/* Adds a function, if there is code at that address; size may be 0. */
void pe_code_add(struct pe_code *pe, uint64_t address, uint64_t size, struct function function);
#endif
