/*
 * An image made by hand, for tests of copies: 512 bytes of code, of which copied_add makes
 * functions, and 64 of data. Its addresses are such that a test may put it there, and run it.
 */
#ifndef UMBRA_REWRITER_COPY_SAMPLE_H
#define UMBRA_REWRITER_COPY_SAMPLE_H

#include <stddef.h>

#include "rewriter/copy/copy_emit.h"
#include "rewriter/patch/patch_write.h"
#include "trace/trace_format.h"

#define BASE  0x20001000u
#define SIZE  512u
#define TABLE 0x20008000u
#define STUBS 0x20100000u
#define IMAGE 0x201ff000u /* its header */
#define HOOK  0x20200000u

/* The address of a word in the page of the hook word. */
#define WORD(name)                                                                                 \
    (HOOK - offsetof(struct trace_header, hook) + offsetof(struct trace_header, name))

struct copied {
    uint8_t bytes[SIZE];
    uint8_t data[64];
    struct code_range range, data_range;
    struct code code;
    struct code_map map;
    struct function_list functions;
    struct patch_plan patches;
    struct copy_plan plan;
    struct copy_source source;
    struct return_slot slot;
    struct stub_segment stubs;
    struct copy_set set;
    struct copy_writer writer;
};

/* Code that is hlt, and functions whose return address is on top of the stack throughout. */
void copied_begin(struct copied *copied);
void copied_end(struct copied *copied);

/* A function at an offset of the code. */
void copied_add(struct copied *copied, uint64_t offset, const char *bytes, size_t size);
#define ADD(copied, offset, text) copied_add(copied, offset, text, sizeof(text) - 1)

/* sub rsp, 8; call 0x40; add rsp, 8; ret, at 0. */
void add_caller(struct copied *copied);

/* Four entries of a table at TABLE: distances of places in the code, `step` bytes apart. */
void add_table(struct copied *copied, uint64_t first, uint64_t step);

/* Finds what is copied. */
void copied_plan(struct copied *copied);
/* Once that is done: emits stubs and copies; copied_store also fills in what waits for addresses.
 */
void copied_emit(struct copied *copied);
void copied_store(struct copied *copied);

/* Where an instruction of the code, by its offset, is in its copy. */
uint64_t copy_at(const struct copied *copied, uint64_t offset);

/* What was emitted at an address. */
const uint8_t *bytes_at(const struct copied *copied, uint64_t address);
int32_t word_at(const struct copied *copied, uint64_t address);

/* Where a branch that ends with its distance at `address` + size leads. */
uint64_t lead(const struct copied *copied, uint64_t address, uint64_t size);

/* Why a function is not copied, or FLOW_CERTAIN. */
void assert_doubt(const struct copied *copied, size_t function, enum flow_doubt doubt);

/* Whether a return address in a copy stands for the one at that offset of the code. */
bool has_site(const struct copied *copied, uint64_t copy, uint64_t original);

/* The branch of 5 bytes behind which the instruction at `next` of the original is in its copy. */
void assert_branch_before(const struct copied *copied, uint64_t next, uint8_t opcode, uint64_t target);

#endif
