#include "rewriter/copy/copy_entry.h"

#include "rewriter/copy/copy_code.h"
#include "support/memory.h"
#include "trace/copy_offsets.h"
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

void copy_put_entry(struct copy_writer *writer, const void *opcode, size_t size, uint64_t function)
{
    copy_put(writer, opcode, size);
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
        uint64_t page = targets->hook - offsetof(struct trace_header, hook);
        uint64_t word = (at->is_of_header ? targets->header : page) + at->word;
        uint32_t distance =
            (uint32_t)(word - (stubs->address + at->field + sizeof distance + at->behind));

        memcpy(stubs->code.bytes + at->field, &distance, sizeof distance);
    }
    for (size_t i = 0; i < fields->header_count; i++) {
        uint64_t key = stubs->address + fields->headers[i] - COPY_HEADER;
        uint32_t distance = (uint32_t)(targets->header - key);

        memcpy(stubs->code.bytes + fields->headers[i], &distance, sizeof distance);
    }
}

void copy_put_with_word(struct copy_writer *writer, const void *opcode, size_t size, size_t word,
                        size_t behind)
{
    struct copy_fields *fields = &writer->fields;

    copy_put(writer, opcode, size);
    fields->operands = memory_grow(fields->operands, fields->operand_count, &fields->operand_room,
                                   sizeof *fields->operands);
    fields->operands[fields->operand_count++] = (struct copy_operand){
        (uint32_t)writer->stubs->code.size, (uint16_t)word, (uint8_t)behind, false};
    copy_put(writer, "\0\0\0\0\0", sizeof(uint32_t) + behind);
}

#define WORD(name) offsetof(struct trace_header, name)

static void put_hook_call(struct copy_writer *writer, size_t word)
{
    copy_put_with_word(writer, "\xff\x15", 2, word, 0);
}

static void put_word_operand(struct copy_writer *writer, const struct copy_hole *hole,
                             uint32_t field)
{
    struct copy_fields *fields = &writer->fields;

    fields->operands = memory_grow(fields->operands, fields->operand_count, &fields->operand_room,
                                   sizeof *fields->operands);
    fields->operands[fields->operand_count++] =
        (struct copy_operand){field, hole->value, (uint8_t)hole->behind, hole->kind == HOLE_IMAGE};
}

static void note_header_distance(struct copy_writer *writer, uint32_t field)
{
    struct copy_fields *fields = &writer->fields;

    fields->headers = memory_grow(fields->headers, fields->header_count, &fields->header_room,
                                  sizeof *fields->headers);
    fields->headers[fields->header_count++] = field;
}

void copy_put_header_distance(struct copy_writer *writer)
{
    note_header_distance(writer, (uint32_t)writer->stubs->code.size);
    put_word(writer, 0);
}

/* What the holes of a function's code are filled in with. */
struct filling {
    uint64_t stub, body, key; /* addresses */
    uint32_t index;
};

static void fill_hole(struct copy_writer *writer, const struct copy_hole *hole, uint32_t field,
                      const struct filling *with)
{
    uint64_t next = writer->stubs->address + field + sizeof(uint32_t);
    uint32_t value = 0;

    switch (hole->kind) {
    case HOLE_WORD:
    case HOLE_IMAGE:
        put_word_operand(writer, hole, field);
        return;
    case HOLE_HEADER:
        note_header_distance(writer, field);
        return;
    case HOLE_STUB:
        value = (uint32_t)(with->stub + PATCH_JUMP_SIZE - next);
        break;
    case HOLE_INDEX:
        value = with->index;
        break;
    case HOLE_BODY:
        value = (uint32_t)(with->body - with->key);
        break;
    case HOLE_SHARED:
        value = (uint32_t)(writer->set->shared + hole->value - next);
        break;
    }
    memcpy(writer->stubs->code.bytes + field, &value, sizeof value);
}

static void put_code(struct copy_writer *writer, const struct copy_code *code,
                     const struct filling *with)
{
    uint32_t start = (uint32_t)writer->stubs->code.size;

    copy_put(writer, code->bytes, code->size);
    for (size_t i = 0; i < code->hole_count; i++)
        fill_hole(writer, &code->holes[i], start + code->holes[i].at, with);
}

static const struct copy_code *front_of(const struct function *function)
{
    return function->is_leaf ? &copy_front_of_leaf : &copy_front;
}

void copy_put_front(struct copy_writer *writer, const struct function *function, uint32_t index)
{
    const struct copy_code *front = front_of(function);
    uint64_t here = copy_here(writer);

    put_code(writer, front,
             &(struct filling){
                 .stub = writer->stubs->address + function->stub,
                 .body = writer->stubs->address + function->body,
                 .key = here + front->key,
                 .index = function->is_leaf ? index | STUB_LEAF : index,
             });
}

uint64_t copy_entry_distance(const struct function *function)
{
    const struct copy_code *front = front_of(function);

    return (uint64_t)front->size - front->entry;
}

void copy_put_exit(struct copy_writer *writer)
{
    put_code(writer, &copy_exit, &(struct filling){0});
}

void copy_put_shared(struct copy_writer *writer)
{
    writer->set->shared = copy_here(writer);
    put_code(writer, &copy_shared, &(struct filling){0});
}

void copy_put_mark(struct copy_writer *writer, uint32_t distance)
{
    uint32_t opcode = MARK_NOP;

    copy_put(writer, &opcode, MARK_NOP_SIZE - sizeof distance);
    put_word(writer, distance);
}

void copy_put_leaving(struct copy_writer *writer, bool to_copy)
{
    put_hook_call(writer, to_copy ? WORD(copies.on_jump) : WORD(copies.on_leave));
}

_Static_assert(WORD(hook) == PAGE_HOOK, "hook");
_Static_assert(WORD(tick) == PAGE_TICK, "tick");
_Static_assert(WORD(copies.on_entry) == PAGE_ON_ENTRY, "on_entry");
_Static_assert(WORD(copies.on_leaf) == PAGE_ON_LEAF, "on_leaf");
_Static_assert(WORD(copies.on_exit) == PAGE_ON_EXIT, "on_exit");
_Static_assert(WORD(copies.on_leave) == PAGE_ON_LEAVE, "on_leave");
_Static_assert(WORD(copies.on_jump) == PAGE_ON_JUMP, "on_jump");
_Static_assert(WORD(copies.thread) == PAGE_THREAD, "thread");
