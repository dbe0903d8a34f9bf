#include "rewriter/patch/import_sites.h"

#include <string.h>

const struct function *import_site_function(const struct function_list *functions,
                                            const struct slot_use *use)
{
    const struct function *import = function_list_at(functions, use->slot);

    return import && import->is_import && patch_reason_is_hooked(import->reason) ? import : NULL;
}

/* The hooked function with whose prologue an instruction is displaced, or null. */
static const struct function *displacer_of(const struct function_list *functions,
                                           uint64_t instruction)
{
    const struct function *function = function_list_below(functions, instruction);

    if (!function || !patch_reason_is_hooked(function->reason) ||
        instruction - function->address - function->patch_offset >= function->displaced)
        return NULL;
    return function;
}

bool import_sites_note(struct change_list *changes, const struct function_list *functions,
                       const struct code *code, const struct code_map *map,
                       const struct patched_file *file, struct failure *failure)
{
    for (size_t i = 0; i < map->slot_use_count; i++) {
        const struct slot_use *use = &map->slot_uses[i];

        if (!import_site_function(functions, use) || displacer_of(functions, use->instruction))
            continue;
        if (!patch_note(changes, code, file, use->opcode, IMPORT_SITE_SIZE, failure))
            return false;
    }
    return true;
}

/* `bytes` will be at `address`. */
static void put_branch(uint8_t *bytes, uint64_t address, bool is_call, uint64_t target)
{
    uint32_t distance = (uint32_t)(target - (address + IMPORT_SITE_SIZE));

    bytes[0] = 0x67;
    bytes[1] = is_call ? 0xe8 : 0xe9;
    memcpy(bytes + 2, &distance, sizeof(distance));
}

/* Both forms leave a stub by `jmp [rip + slot]`: see stub.h on displaced calls. */
static void redirect_displaced(struct stub_segment *stubs, const struct slot_use *use,
                               const struct function *displacer, const struct stub_moves *moves,
                               uint64_t target)
{
    uint64_t start = displacer->address + displacer->patch_offset;
    size_t at = displacer->body + moves->to[use->instruction - start] +
                (use->opcode - use->instruction) +
                (use->is_call ? stub_kind_of(stubs->processor)->call_leaving : 0);

    if (memcmp(stubs->code.bytes + at, "\xff\x25", 2) != 0)
        return; /* decoded there from another byte on */
    put_branch(stubs->code.bytes + at, stubs->address + at, false, target);
}

void import_sites_redirect(const struct function_list *functions, const struct code *code,
                           const struct code_map *map, struct stub_segment *stubs,
                           const struct stub_moves *moves)
{
    for (size_t i = 0; i < map->slot_use_count; i++) {
        const struct slot_use *use = &map->slot_uses[i];
        const struct function *import = import_site_function(functions, use);
        const struct function *displacer = displacer_of(functions, use->instruction);

        if (!import)
            continue;
        if (displacer && moves[displacer - functions->items].is_copied)
            continue;
        if (displacer)
            redirect_displaced(stubs, use, displacer, &moves[displacer - functions->items],
                               stubs->address + import->stub);
        else
            put_branch(code_bytes(code, use->opcode, IMPORT_SITE_SIZE), use->opcode, use->is_call,
                       stubs->address + import->stub);
    }
}
