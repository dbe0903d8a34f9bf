#include "rewriter/copy/copy_resolve.h"

#include <string.h>

#define X86_JUMP 0xe9

uint64_t copy_address(const struct copy_set *set, const struct function_list *functions,
                      uint64_t original)
{
    const struct function *function = function_list_owner(functions, original);
    const struct copy *copy =
        function ? copy_set_of(set, (uint32_t)(function - functions->items)) : NULL;

    if (!copy || original >= function->end)
        return 0;
    if (original == function->address)
        return copy->address + copy->body;
    return copy->address + copy_set_moved(set, copy, (uint32_t)(original - function->address));
}

/* Where a branch of the copy `from` leads, as an address: most often to its own instructions. 0 if
   it leads to no copy. */
static uint64_t branch_address(const struct copy_set *set, const struct function_list *functions,
                               const struct copy *from, uint64_t original)
{
    const struct function *function = &functions->items[from->function];

    if (original > function->address && original < function->end)
        return from->address + copy_set_moved(set, from, (uint32_t)(original - function->address));
    return copy_address(set, functions, original);
}

static void resolve_branches(struct copy_writer *writer, const struct function_list *functions)
{
    const struct copy_fields *fields = &writer->fields;
    const struct copy_set *set = writer->set;
    const struct copy *copy = set->items;

    for (size_t i = 0; i < fields->branch_count; i++) {
        const struct copy_branch *branch = &fields->branches[i];
        uint64_t next = writer->stubs->address + branch->field + sizeof(uint32_t), target;
        uint32_t distance;

        while (!branch->is_entry && next > copy->address + copy->size)
            copy++;
        target = branch->is_entry ? copy_address(set, functions, branch->target)
                                  : branch_address(set, functions, copy, branch->target);
        distance = (uint32_t)((target ? target : branch->target) - next);
        memcpy(writer->stubs->code.bytes + branch->field, &distance, sizeof(distance));
    }
}

static void put_jump_at(struct stub_segment *stubs, size_t offset, uint64_t target)
{
    uint32_t distance = (uint32_t)(target - (stubs->address + offset + PATCH_JUMP_SIZE));

    stubs->code.bytes[offset] = X86_JUMP;
    memcpy(stubs->code.bytes + offset + 1, &distance, sizeof(distance));
}

/* The body of the stub of what is copied leads to the copy's first instruction. */
static void bind_stubs(struct copy_writer *writer, const struct function_list *functions)
{
    for (size_t i = 0; i < writer->set->count; i++) {
        const struct copy *copy = &writer->set->items[i];
        const struct function *function = &functions->items[copy->function];

        if (function->reason != PATCH_FRAGMENT)
            put_jump_at(writer->stubs, function->body + STUB_COPY_JUMP, copy->address + copy->body);
    }
}

void copies_resolve(struct copy_writer *writer, const struct function_list *functions)
{
    resolve_branches(writer, functions);
    bind_stubs(writer, functions);
}
