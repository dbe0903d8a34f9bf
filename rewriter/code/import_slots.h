/* Slots that a loader binds to functions of other images: what calls to imports go through. */
#ifndef UMBRA_REWRITER_IMPORT_SLOTS_H
#define UMBRA_REWRITER_IMPORT_SLOTS_H

#include "rewriter/code/code.h"

#define IMPORT_SLOT_SIZE 8

struct import_slot {
    uint64_t address;
    const char *name; /* borrowed */
};

/* {0} is an empty one; free(items) ends it. */
struct import_slots {
    struct import_slot *items; /* ascending by address, once settled */
    size_t count, room;
};

void import_slots_add(struct import_slots *slots, uint64_t address, const char *name);
void import_slots_settle(struct import_slots *slots);
/* Null if none is there. */
const struct import_slot *import_slots_find(const struct import_slots *slots, uint64_t address);

/* Adds each slot that the swept code has a site of to the functions, which it settles; reason_of
   says why an import of that name is left alone, or PATCH_UNDECIDED. */
void import_slots_list(const struct import_slots *slots, const struct code_map *map,
                       struct function_list *functions,
                       enum patch_reason (*reason_of)(const char *name));

#endif
