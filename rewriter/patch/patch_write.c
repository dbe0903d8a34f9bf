#include "rewriter/patch/patch_write.h"

#include <string.h>

uint8_t *code_bytes(const struct code *code, uint64_t address, size_t size)
{
    const struct code_range *range = code_range_at(code, address);

    if (!range || size > range->size - (address - range->address))
        return NULL;
    return range->bytes + (address - range->address);
}

bool patch_note(struct change_list *changes, const struct code *code,
                const struct patched_file *file, uint64_t address, size_t size,
                struct failure *failure)
{
    const uint8_t *bytes = code_bytes(code, address, size);

    if (bytes && change_list_add(changes, (uint64_t)(bytes - file->bytes), bytes, size))
        return true;
    return fail(failure, file->path,
                "expected its code in the first 4 GB of the file, found %#llx elsewhere",
                (unsigned long long)address);
}

bool patch_note_all(struct change_list *changes, const struct patch_plan *plan,
                    const struct patched_file *file, struct failure *failure)
{
    for (size_t i = 0; i < plan->retarget_count; i++)
        if (!patch_note(changes, plan->code, file, plan->retargets[i].field,
                        plan->retargets[i].hole ? sizeof(uint8_t) : sizeof(uint32_t), failure))
            return false;
    for (size_t i = 0; i < plan->hole_count; i++)
        if (!patch_note(changes, plan->code, file, plan->holes[i], PATCH_JUMP_SIZE, failure))
            return false;
    return true;
}

bool patch_stubs_append(struct stub_segment *stubs, const struct patch_plan *plan, const char *path,
                        struct stub_moves *moves, struct failure *failure)
{
    stubs->processor = plan->code->processor;
    stubs->image = plan->code;
    for (size_t i = 0; i < plan->functions->count; i++) {
        struct function *function = &plan->functions->items[i];
        size_t size;

        if (!patch_reason_is_hooked(function->reason))
            continue;
        if (function->is_import)
            stub_append_import(stubs, function, (uint32_t)i);
        else if (!stub_append(stubs, function, code_at(plan->code, function->address, &size),
                              (uint32_t)i, &moves[i]))
            return fail(failure, path, "cannot move the prologue at %#llx",
                        (unsigned long long)function->address);
    }
    if (stubs->code.size == 0) /* the user's filter left none, and no segment is empty */
        buffer_append(&stubs->code, "\xcc", 1);
    return true;
}

static void store_relative(uint8_t *to, uint64_t next, uint64_t target)
{
    uint32_t distance = (uint32_t)(target - next);

    memcpy(to, &distance, sizeof(distance));
}

static void store_jump(const struct patch_plan *plan, uint64_t address, uint64_t target)
{
    uint8_t *bytes = code_bytes(plan->code, address, PATCH_JUMP_SIZE);

    bytes[0] = 0xe9;
    store_relative(bytes + 1, address + PATCH_JUMP_SIZE, target);
}

static void patch_function(const struct patch_plan *plan, const struct function *function,
                           uint64_t stub)
{
    uint64_t start = function->address + function->patch_offset;
    uint8_t *bytes = code_bytes(plan->code, start, function->patch_size);

    if (function->hole) {
        bytes[0] = 0xeb;
        bytes[1] = (uint8_t)(function->hole - (start + PATCH_SHORT_JUMP_SIZE));
        store_jump(plan, function->hole, stub);
        return;
    }
    memset(bytes, 0xcc, function->patch_size);
    store_jump(plan, start, stub);
}

void patch_write(const struct patch_plan *plan, struct stub_segment *stubs,
                 const struct stub_targets *targets)
{
    const struct function *functions = plan->functions->items;

    for (size_t i = 0; i < plan->functions->count; i++) {
        if (!patch_reason_is_hooked(functions[i].reason))
            continue;
        stub_bind(stubs, &functions[i], targets);
        if (!functions[i].is_import && functions[i].reason != PATCH_REDIRECTED)
            patch_function(plan, &functions[i], stubs->address + functions[i].stub);
    }
    for (size_t i = 0; i < plan->retarget_count; i++) {
        const struct retarget *retarget = &plan->retargets[i];

        uint64_t body = stubs->address + functions[retarget->function].body;

        if (retarget->hole) {
            *code_bytes(plan->code, retarget->field, 1) =
                (uint8_t)(retarget->hole - (retarget->field + 1));
            store_jump(plan, retarget->hole, body);
        } else {
            store_relative(code_bytes(plan->code, retarget->field, 4), retarget->field + 4, body);
        }
    }
}
