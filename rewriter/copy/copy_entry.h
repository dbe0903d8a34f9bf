/* What stands in a copy besides the original's instructions: docs/copies.md draws it. */
#ifndef UMBRA_REWRITER_COPY_ENTRY_H
#define UMBRA_REWRITER_COPY_ENTRY_H

#include "rewriter/copy/copy_set.h"
#include "rewriter/patch/stub.h"

#include <stdbool.h>

/* Distances in the stub segment that are filled in once what they lead to has its address. */
struct copy_fields {
    /* Operands that are words of the hook word's page, or of the image header. */
    struct copy_operand {
        uint32_t field;
        uint16_t word;   /* offset in the page, or in the header */
        uint8_t behind;  /* bytes of the instruction behind the field */
        bool is_of_header;
    } * operands;
    size_t operand_count, operand_room;
    uint32_t *headers; /* distances of the image header from a key, its first word: offsets */
    size_t header_count, header_room;
    /* Of branches in copies, at the instruction's end, and the instructions they lead to, of the
       original. */
    struct copy_branch {
        uint32_t field;
        bool is_entry; /* it goes to what stands in front of a function's first instruction */
        uint64_t target;
    } * branches;
    size_t branch_count, branch_room;
};

void copy_fields_free(struct copy_fields *fields);

/* Sets them, and the distances, once what they lead to has its address. */
void copy_fields_bind(const struct copy_fields *fields, struct stub_segment *stubs,
                      const struct stub_targets *targets);

/* What a copy is put together with. */
struct copy_writer {
    struct stub_segment *stubs;
    struct copy_set *set;
    struct copy_fields fields;
};

/* Address of the next byte. */
uint64_t copy_here(const struct copy_writer *writer);
void copy_put(struct copy_writer *writer, const void *bytes, size_t size);
/* `opcode`, then a distance: to an address, or to the copy of an instruction of the original. */
void copy_put_relative(struct copy_writer *writer, const void *opcode, size_t size,
                       uint64_t target);
void copy_put_branch(struct copy_writer *writer, const void *opcode, size_t size, uint64_t target);
/* Likewise, to where the copy of a function is entered. */
void copy_put_entry(struct copy_writer *writer, const void *opcode, size_t size, uint64_t function);
/* An instruction whose operand is a word of the hook word's page, and `behind` zeros. */
void copy_put_with_word(struct copy_writer *writer, const void *opcode, size_t size, size_t word,
                        size_t behind);
/* The distance of the image header from here. */
void copy_put_header_distance(struct copy_writer *writer);
/* That the next byte is a return address, which stands for one of the original. */
void copy_note_site(struct copy_writer *writer, uint64_t original);

/* What all copies share, once, before any of them. */
void copy_put_shared(struct copy_writer *writer);

/* What stands in front of a function's first instruction: first what its stub leads to. */
void copy_put_front(struct copy_writer *writer, const struct function *function, uint32_t index);
/* How far in front of the first instruction that stands which calls in copies lead to. */
uint64_t copy_entry_distance(const struct function *function);

/* In place of `ret`. */
void copy_put_exit(struct copy_writer *writer);

/* Behind a call: how far above its slot the function's own is. */
void copy_put_mark(struct copy_writer *writer, uint32_t distance);

/* In front of a jump that leaves a function: to_copy: for one that is copied. */
void copy_put_leaving(struct copy_writer *writer, bool to_copy);

#endif
