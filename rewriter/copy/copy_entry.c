#include "rewriter/copy/copy_entry.h"

#include "support/memory.h"
#include "trace/image_manifest.h"

#include <stdlib.h>
#include <string.h>

void copy_fields_free(struct copy_fields *fields)
{
    free(fields->operands);
    free(fields->headers);
    free(fields->branches);
    *fields = (struct copy_fields){0};
}

uint64_t copy_here(const struct copy_writer *writer)
{
    return writer->stubs->address + writer->stubs->code.size;
}

void copy_put(struct copy_writer *writer, const void *bytes, size_t size)
{
    buffer_append(&writer->stubs->code, bytes, size);
}

static void put_word(struct copy_writer *writer, uint64_t value)
{
    uint32_t low = (uint32_t)value;

    copy_put(writer, &low, sizeof low);
}

void copy_put_relative(struct copy_writer *writer, const void *opcode, size_t size, uint64_t target)
{
    copy_put(writer, opcode, size);
    put_word(writer, target - (copy_here(writer) + 4));
}

static void put_branch(struct copy_writer *writer, struct copy_branch branch)
{
    struct copy_fields *fields = &writer->fields;

    branch.field = (uint32_t)writer->stubs->code.size;
    fields->branches = memory_grow(fields->branches, fields->branch_count, &fields->branch_room,
                                   sizeof *fields->branches);
    fields->branches[fields->branch_count++] = branch;
    put_word(writer, 0);
}

void copy_put_branch(struct copy_writer *writer, const void *opcode, size_t size, uint64_t target)
{
    copy_put(writer, opcode, size);
    put_branch(writer, (struct copy_branch){.target = target});
}

void copy_put_entry_branch(struct copy_writer *writer, uint8_t opcode, uint64_t function)
{
    copy_put(writer, &opcode, 1);
    put_branch(writer, (struct copy_branch){.is_entry = true, .target = function});
}

void copy_note_site(struct copy_writer *writer, uint64_t original)
{
    struct copy_set *set = writer->set;

    set->sites = memory_grow(set->sites, set->site_count, &set->site_room, sizeof *set->sites);
    set->sites[set->site_count++] = (struct copy_site){copy_here(writer), original};
}

void copy_fields_bind(const struct copy_fields *fields, struct stub_segment *stubs,
                      const struct stub_targets *targets)
{
    for (size_t i = 0; i < fields->operand_count; i++) {
        const struct copy_operand *at = &fields->operands[i];
        uint64_t word = targets->hook - offsetof(struct trace_header, hook) + at->word;
        uint32_t distance =
            (uint32_t)(word - (stubs->address + at->field + sizeof distance + at->behind));

        memcpy(stubs->code.bytes + at->field, &distance, sizeof distance);
    }
    for (size_t i = 0; i < fields->header_count; i++) {
        uint64_t id = stubs->address + fields->headers[i] - COPY_HEADER;
        uint32_t distance = (uint32_t)(targets->header - id);

        memcpy(stubs->code.bytes + fields->headers[i], &distance, sizeof distance);
    }
}

/* An instruction whose operand is a word of the hook word's page, and `behind` zeros. */
static void put_with_word(struct copy_writer *writer, const void *opcode, size_t size, size_t word,
                          size_t behind)
{
    struct copy_fields *fields = &writer->fields;

    copy_put(writer, opcode, size);
    fields->operands = memory_grow(fields->operands, fields->operand_count, &fields->operand_room,
                                   sizeof *fields->operands);
    fields->operands[fields->operand_count++] =
        (struct copy_operand){(uint32_t)writer->stubs->code.size, (uint16_t)word, (uint16_t)behind};
    copy_put(writer, "\0\0\0\0\0", sizeof(uint32_t) + behind);
}

#define WORD(name) offsetof(struct trace_header, name)

static void put_hook_call(struct copy_writer *writer, size_t word)
{
    put_with_word(writer, "\xff\x15", 2, word, 0);
}

static void pad(struct copy_writer *writer, size_t size)
{
    while (size-- > 0)
        copy_put(writer, "\xcc", 1);
}

/* cmp qword [on_entry], 0; jne entry; mov [rsp - 24], rcx; jmp behind that in the stub */
static void put_outer_entry(struct copy_writer *writer, uint64_t stub)
{
    put_with_word(writer, "\x48\x83\x3d", 3, WORD(copies.on_entry), 1);
    copy_put(writer, "\x75\x16\x48\x89\x4c\x24\xe8", 7);
    copy_put_relative(writer, "\xe9", 1, stub + PATCH_JUMP_SIZE);
    pad(writer, 12);
}

static void put_header_distance(struct copy_writer *writer)
{
    struct copy_fields *fields = &writer->fields;

    fields->headers = memory_grow(fields->headers, fields->header_count, &fields->header_room,
                                  sizeof *fields->headers);
    fields->headers[fields->header_count++] = (uint32_t)writer->stubs->code.size;
    put_word(writer, 0);
}

/* entry: cmp qword [hook word], 0; je id; mov [rsp - 16], rax; lea rax, [id]; jmp [on_entry];
   padding; .long header - id; .long index; .long body - id; id: */
static void put_inner_entry(struct copy_writer *writer, uint64_t body, uint32_t index)
{
    uint64_t id = copy_here(writer) + COPY_ENTRY_SIZE;
    bool is_leaf = index & STUB_LEAF;

    put_with_word(writer, "\x48\x83\x3d", 3, WORD(hook), 1);
    copy_put(writer, "\x74\x26\x48\x89\x44\x24\xf0", 7);
    copy_put_relative(writer, "\x48\x8d\x05", 3, id);
    put_with_word(writer, "\xff\x25", 2, is_leaf ? WORD(copies.on_leaf) : WORD(copies.on_entry), 0);
    pad(writer, 8);
    put_header_distance(writer);
    put_word(writer, index);
    put_word(writer, body - id);
}

void copy_put_entry(struct copy_writer *writer, const struct function *function, uint32_t index)
{
    put_outer_entry(writer, writer->stubs->address + function->stub);
    put_inner_entry(writer, writer->stubs->address + function->body,
                    function->is_leaf ? index | STUB_LEAF : index);
}

void copy_put_exit(struct copy_writer *writer)
{
    put_with_word(writer, "\xff\x25", 2, WORD(copies.on_exit), 0);
}

void copy_put_leaving(struct copy_writer *writer, bool to_copy)
{
    put_hook_call(writer, to_copy ? WORD(copies.on_jump) : WORD(copies.on_leave));
}
