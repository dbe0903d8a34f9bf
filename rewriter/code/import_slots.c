#include "rewriter/code/import_slots.h"

#include <stdlib.h>

#include "support/memory.h"

void import_slots_add(struct import_slots *slots, uint64_t address, const char *name)
{
    slots->items = memory_grow(slots->items, slots->count, &slots->room, sizeof(*slots->items));
    slots->items[slots->count++] = (struct import_slot){address, name};
}

static int by_address(const void *left, const void *right)
{
    const struct import_slot *a = left, *b = right;

    return a->address < b->address ? -1 : a->address > b->address;
}

void import_slots_settle(struct import_slots *slots)
{
    if (slots->count)
        qsort(slots->items, slots->count, sizeof(*slots->items), by_address);
}

const struct import_slot *import_slots_find(const struct import_slots *slots, uint64_t address)
{
    struct import_slot key = {.address = address};

    if (slots->count == 0)
        return NULL;
    return bsearch(&key, slots->items, slots->count, sizeof(key), by_address);
}

static void list(const struct import_slot *slot, struct function_list *functions,
                 enum patch_reason reason)
{
    function_list_add(functions, (struct function){.address = slot->address,
                                                   .end = slot->address + IMPORT_SLOT_SIZE,
                                                   .name = slot->name,
                                                   .evidence = EVIDENCE_EXTENT,
                                                   .is_import = true,
                                                   .is_swept = true,
                                                   .reason = (uint8_t)reason});
}

void import_slots_list(const struct import_slots *slots, const struct code_map *map,
                       struct function_list *functions,
                       enum patch_reason (*reason_of)(const char *name))
{
    bool *is_listed = memory_zeroed(slots->count, sizeof(*is_listed));

    for (size_t i = 0; i < map->slot_use_count; i++) {
        const struct import_slot *slot = import_slots_find(slots, map->slot_uses[i].slot);

        if (!slot || is_listed[slot - slots->items])
            continue;
        is_listed[slot - slots->items] = true;
        list(slot, functions, reason_of(slot->name));
    }
    function_list_settle(functions);
    free(is_listed);
}
