/*
 * What the rest has to know of the processor that an image is made for. Each has a folder, of the same file
 * names as the others': rewriter/code/x86_64, rewriter/code/i386, and likewise in rewriter/patch, where
 * stub_kind.h says what its stubs are.
 */
#ifndef UMBRA_REWRITER_PROCESSOR_H
#define UMBRA_REWRITER_PROCESSOR_H

#include <Zydis/Zydis.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct instruction;

struct processor {
    const char *name; /* "x86-64" */
    ZydisMachineMode machine_mode;
    ZydisStackWidth stack_width;
    uint8_t pointer_size;    /* bytes; a return address has as many, and an entry of a table of addresses */
    uint8_t stub_frame_size; /* from a stub to its body: trace/image_manifest.h */
    /* Whether code is a function that gives its caller its return address in a register, and nothing else:
       PIC code calls it to learn where it is. Null: there are none. */
    bool (*is_pc_thunk)(const uint8_t *bytes, size_t size);
    /* Whether an indirect jump goes through a slot at a fixed distance, as those of the linkage table do. */
    bool (*is_slot_jump)(const struct instruction *at);
    /* As the functions of decode_plain.h, which are those of x86-64. */
    size_t (*plain_length)(const uint8_t *bytes, unsigned minds);
    bool (*plain_is_at_slot)(const uint8_t *bytes, bool is_rbp, int64_t offset);
    bool (*plain_decode)(uint64_t address, const uint8_t *bytes, struct instruction *instruction);
};

extern const struct processor processor_x86_64, processor_i386;

#endif
