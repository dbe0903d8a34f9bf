#include "rewriter/copy/copy_writer.h"

#include <stdlib.h>
#include <string.h>

#include "support/memory.h"
#include "trace/trace_format.h"

void copy_fields_free(struct copy_fields *fields)
{
    free(fields->operands);
    free(fields->headers);
    free(fields->branches);
    *fields = (struct copy_fields){0};
}

static void put_word(struct copy_writer *writer, uint64_t value)
{
    uint32_t low = (uint32_t)value;

    copy_put(writer, &low, sizeof(low));
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
                                   sizeof(*fields->branches));
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

    set->sites = memory_grow(set->sites, set->site_count, &set->site_room, sizeof(*set->sites));
    set->sites[set->site_count++] = (struct copy_site){copy_here(writer), original};
}

void copy_fields_bind(const struct copy_fields *fields, struct stub_segment *stubs,
                      const struct stub_targets *targets)
{
    for (size_t i = 0; i < fields->operand_count; i++) {
        const struct copy_operand *at = &fields->operands[i];
        uint64_t page = targets->hook - offsetof(struct trace_header, hook);
        uint64_t origin = at->is_absolute ? 0 : stubs->address + at->field + sizeof(uint32_t);
        uint32_t distance = (uint32_t)(page + at->word - origin);

        memcpy(stubs->code.bytes + at->field, &distance, sizeof(distance));
    }
    for (size_t i = 0; i < fields->header_count; i++) {
        uint64_t key = stubs->address + fields->headers[i];
        uint32_t distance = (uint32_t)(targets->header - key);

        memcpy(stubs->code.bytes + fields->headers[i], &distance, sizeof(distance));
    }
}

static void put_operand(struct copy_writer *writer, const void *opcode, size_t size,
                        struct copy_operand operand)
{
    struct copy_fields *fields = &writer->fields;

    copy_put(writer, opcode, size);
    fields->operands = memory_grow(fields->operands, fields->operand_count, &fields->operand_room,
                                   sizeof(*fields->operands));
    operand.field = (uint32_t)writer->stubs->code.size;
    fields->operands[fields->operand_count++] = operand;
    put_word(writer, 0);
}

void copy_put_with_word(struct copy_writer *writer, const void *opcode, size_t size, size_t word)
{
    put_operand(writer, opcode, size, (struct copy_operand){.word = (uint32_t)word});
}

void copy_put_with_absolute_word(struct copy_writer *writer, const void *opcode, size_t size,
                                 size_t word)
{
    put_operand(writer, opcode, size,
                (struct copy_operand){.word = (uint32_t)word, .is_absolute = true});
}

void copy_put_header_distance(struct copy_writer *writer)
{
    struct copy_fields *fields = &writer->fields;

    fields->headers = memory_grow(fields->headers, fields->header_count, &fields->header_room,
                                  sizeof(*fields->headers));
    fields->headers[fields->header_count++] = (uint32_t)writer->stubs->code.size;
    put_word(writer, 0);
}
