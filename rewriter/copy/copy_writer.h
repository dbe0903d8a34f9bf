/* Putting bytes, and distances of what has no address yet, into copies. */
#ifndef UMBRA_REWRITER_COPY_WRITER_H
#define UMBRA_REWRITER_COPY_WRITER_H

#include <stdbool.h>

#include "rewriter/copy/copy_set.h"
#include "rewriter/patch/stub.h"

/* Distances in the stub segment that are filled in once what they lead to has its address. */
struct copy_fields {
    /* Operands that are words of the hook word's page, at the instruction's end. */
    struct copy_operand {
        uint32_t field;
        uint32_t word;    /* offset in the page */
        bool is_absolute; /* the operand has the word's address, and no distance */
    } * operands;
    size_t operand_count, operand_room;
    uint32_t *headers; /* distances of the image header from a key, its first word: offsets */
    size_t header_count, header_room;
    /* Branches in copies: the field at the instruction's end, and the instruction of the original
       that it leads to. */
    struct copy_branch {
        uint32_t field;
        bool is_entry; /* a function is called */
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
static inline uint64_t copy_here(const struct copy_writer *writer)
{
    return writer->stubs->address + writer->stubs->code.size;
}

static inline void copy_put(struct copy_writer *writer, const void *bytes, size_t size)
{
    buffer_append(&writer->stubs->code, bytes, size);
}

/* `opcode`, then a distance: to an address, or to the copy of an instruction of the original. */
void copy_put_relative(struct copy_writer *writer, const void *opcode, size_t size,
                       uint64_t target);
void copy_put_branch(struct copy_writer *writer, const void *opcode, size_t size, uint64_t target);
/* `opcode`, then the distance to the first instruction of the copy of a function, to call it. */
void copy_put_entry(struct copy_writer *writer, const void *opcode, size_t size, uint64_t function);
/* An instruction whose operand is a word of the hook word's page. */
void copy_put_with_word(struct copy_writer *writer, const void *opcode, size_t size, size_t word);
/* The same, whose operand is the word's address, in an image that is linked to a fixed one. */
void copy_put_with_absolute_word(struct copy_writer *writer, const void *opcode, size_t size,
                                 size_t word);
/* The distance of the image header from here. */
void copy_put_header_distance(struct copy_writer *writer);
/* That the next byte is a return address, which stands for one of the original. */
void copy_note_site(struct copy_writer *writer, uint64_t original);

#endif
