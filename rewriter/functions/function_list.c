#include "rewriter/functions/function_list.h"

#include <stdlib.h>

#include "support/memory.h"
#include "support/sorted.h"

static void drop_index(struct function_list *list)
{
    free(list->below);
    list->below = NULL;
    list->steps = 0;
}

void function_list_add(struct function_list *list, struct function function)
{
    if (list->steps)
        drop_index(list);
    list->items = memory_grow(list->items, list->count, &list->room, sizeof(function));
    list->items[list->count++] = function;
}

/* The better name of two finds at one address comes first: a global symbol's is no worse. */
static int by_address(const void *left, const void *right)
{
    const struct function *a = left, *b = right;

    if (a->address != b->address)
        return a->address < b->address ? -1 : 1;
    return !a->name - !b->name;
}

static void merge(struct function *into, const struct function *from)
{
    if (!into->name)
        into->name = from->name;
    if (from->unwind) {
        into->unwind = from->unwind;
        into->end = from->end;
    } else if (!into->unwind && from->end > into->end) {
        into->end = from->end;
    }
    into->is_import |= from->is_import;
    if (from->is_guarded) {
        into->is_guarded = true;
        into->prologue = from->prologue;
    }
    into->evidence |= from->evidence;
    if (into->reason == PATCH_UNDECIDED)
        into->reason = from->reason;
}

/* So that nobody has to walk back over thousands of entries in the middle of one function. */
static void note_owners(struct function_list *list)
{
    uint32_t owner = 0;

    for (size_t i = 0; i < list->count; i++) {
        struct function *function = &list->items[i];

        if (function->reason == PATCH_INSIDE_FUNCTION)
            function->owner = owner;
        else
            owner = (uint32_t)i + 1;
    }
}

/* Steps are as long as a function is on average, or shorter. */
static void make_index(struct function_list *list)
{
    uint64_t first = list->items[0].address;
    uint64_t range = list->items[list->count - 1].address - first;
    size_t item = 0;

    for (list->shift = 0; range >> list->shift >= list->count; list->shift++)
        ;
    list->steps = (size_t)(range >> list->shift) + 1;
    list->below = memory_zeroed(list->steps + 1, sizeof(*list->below));
    for (size_t step = 0; step < list->steps; step++) {
        while (item < list->count && (list->items[item].address - first) >> list->shift < step)
            item++;
        list->below[step] = (uint32_t)item;
    }
    list->below[list->steps] = (uint32_t)list->count;
}

void function_list_settle(struct function_list *list)
{
    size_t kept = 0;

    drop_index(list);
    if (list->count == 0)
        return;
    qsort(list->items, list->count, sizeof(*list->items), by_address);
    for (size_t i = 1; i < list->count; i++) {
        if (list->items[i].address == list->items[kept].address)
            merge(&list->items[kept], &list->items[i]);
        else
            list->items[++kept] = list->items[i];
    }
    list->count = kept + 1;
    note_owners(list);
    for (size_t i = 0; i + 1 < list->count; i++) {
        struct function *function = &list->items[i], *next = function + 1;

        if (!(function->evidence & EVIDENCE_EXTENT) && function->end > next->address)
            function->end = next->address;
    }
    make_index(list);
}

struct function *function_list_below(const struct function_list *list, uint64_t address)
{
    size_t first = 0, behind = list->count;

    if (list->steps) {
        uint64_t step;

        if (address < list->items[0].address)
            return NULL;
        step = (address - list->items[0].address) >> list->shift;
        if (step < list->steps) {
            first = list->below[step];
            behind = list->below[step + 1];
        } else {
            first = list->count;
        }
    }
    behind = first + partition_point(i, behind - first, list->items[first + i].address <= address);
    return behind ? &list->items[behind - 1] : NULL;
}

struct function *function_list_at(const struct function_list *list, uint64_t address)
{
    struct function *function = function_list_below(list, address);

    return function && function->address == address ? function : NULL;
}

struct function *function_list_owner(const struct function_list *list, uint64_t address)
{
    struct function *function = function_list_below(list, address);

    if (!function || function->reason != PATCH_INSIDE_FUNCTION)
        return function;
    return function->owner ? &list->items[function->owner - 1] : NULL;
}

void function_list_free(struct function_list *list)
{
    free(list->items);
    free(list->below);
    *list = (struct function_list){0};
}
