#include "service/sampling/sample_table.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_ROOM 256

void sample_table_close(struct sample_table *table)
{
    free(table->slots);
    *table = (struct sample_table){0};
}

static uint64_t mixed(uint64_t key)
{
    key *= 0x9e3779b97f4a7c15; /* 2^64 over the golden ratio */
    return key ^ key >> 32;
}

/* The slot of that place, or the empty one where it belongs. */
static struct sample *find_slot(const struct sample_table *table, uint32_t tid, uint64_t address,
                                uint64_t caller)
{
    size_t at = mixed(mixed(mixed(address) + caller) + tid);

    for (;; at++) {
        struct sample *slot = &table->slots[at & (table->room - 1)];
        if (!slot->count ||
            (slot->address == address && slot->caller == caller && slot->tid == tid))
            return slot;
    }
}

static bool grow(struct sample_table *table)
{
    struct sample_table larger = *table;

    larger.room = table->room ? 2 * table->room : FIRST_ROOM;
    larger.slots = calloc(larger.room, sizeof(*larger.slots));
    if (!larger.slots)
        return false;
    for (size_t i = 0; i < table->room; i++) {
        const struct sample *old = &table->slots[i];
        if (old->count)
            *find_slot(&larger, old->tid, old->address, old->caller) = *old;
    }
    free(table->slots);
    *table = larger;
    return true;
}

bool sample_table_add(struct sample_table *table, uint32_t tid, uint64_t address, uint64_t caller)
{
    struct sample *slot;

    if (table->count * 2 >= table->room && table->count < SAMPLE_TABLE_LIMIT && !grow(table))
        return false;
    slot = find_slot(table, tid, address, caller);
    if (slot->count == UINT32_MAX || (!slot->count && table->count == SAMPLE_TABLE_LIMIT))
        return false;
    if (!slot->count) {
        *slot = (struct sample){.address = address, .caller = caller, .tid = tid};
        table->count++;
    }
    slot->count++;
    table->taken++;
    return true;
}

static int compare(const void *left, const void *right)
{
    const struct sample *a = left, *b = right;

    if (a->tid != b->tid)
        return a->tid < b->tid ? -1 : 1;
    if (a->address != b->address)
        return a->address < b->address ? -1 : 1;
    return (a->caller > b->caller) - (a->caller < b->caller);
}

unsigned char *sample_table_code(struct sample_table *table, struct samples_header *header,
                                 size_t *size)
{
    size_t entries_size = table->count * sizeof(*table->slots);
    unsigned char *bytes = malloc(sizeof(*header) + entries_size);
    struct sample *entries = bytes ? (struct sample *)(bytes + sizeof(*header)) : NULL;
    size_t count = 0;

    for (size_t i = 0; entries && i < table->room; i++) {
        if (table->slots[i].count)
            entries[count++] = table->slots[i];
    }
    if (count)
        qsort(entries, count, sizeof(*entries), compare);
    memcpy(header->magic, SAMPLES_MAGIC, sizeof(header->magic));
    header->version = SAMPLES_VERSION;
    header->entry_count = (uint32_t)count;
    header->taken = table->taken;
    if (bytes)
        memcpy(bytes, header, sizeof(*header));
    *size = sizeof(*header) + entries_size;
    return bytes;
}
