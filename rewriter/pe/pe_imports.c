#include "rewriter/pe/pe_imports.h"

#include "rewriter/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SLOT_SIZE     8
#define LIBRARY_LIMIT 4096
#define DELAY_BY_RVA  1
#define ORDINAL_ROOM  8 /* "#65535" */

struct slot {
    uint64_t address;
    const char *name;
};

struct slot_list {
    struct pe_code *pe;
    struct slot *items;
    size_t count, room;
};

/* "LIBRARY#7", kept until pe_code_free. */
static const char *ordinal_name(struct pe_code *pe, const char *library, unsigned ordinal)
{
    size_t size = strlen(library) + ORDINAL_ROOM;
    char *name = memory_zeroed(size, 1);

    snprintf(name, size, "%s#%u", library, ordinal);
    pe->made_names = memory_grow(pe->made_names, pe->made_count, &pe->made_room, sizeof name);
    pe->made_names[pe->made_count++] = name;
    return name;
}

static void add_library(struct slot_list *slots, uint32_t lookup, uint32_t first,
                        const char *library)
{
    const struct pe_image *image = slots->pe->image;
    const uint8_t *bytes;
    uint64_t entry;

    for (uint32_t at = 0; (bytes = pe_at_rva(image, lookup + at, sizeof entry)); at += SLOT_SIZE) {
        struct slot slot = {.address = image->base + first + at};

        memcpy(&entry, bytes, sizeof entry);
        if (!entry || !pe_section_at(image, first + at))
            return;
        if (entry & PE_IMPORT_BY_ORDINAL)
            slot.name = ordinal_name(slots->pe, library, entry & UINT16_MAX);
        else
            slot.name = pe_string(image, (uint32_t)entry + sizeof(uint16_t));
        if (!slot.name || !*slot.name)
            continue;
        slots->items = memory_grow(slots->items, slots->count, &slots->room, sizeof slot);
        slots->items[slots->count++] = slot;
    }
}

static void add_imports(struct slot_list *slots)
{
    const struct pe_image *image = slots->pe->image;
    uint32_t rva = image->directory[PE_IMPORTS].rva;
    struct pe_import import;
    const uint8_t *bytes;

    for (size_t i = 0; rva && i < LIBRARY_LIMIT; i++, rva += sizeof import) {
        const char *library;

        if (!(bytes = pe_at_rva(image, rva, sizeof import)))
            return;
        memcpy(&import, bytes, sizeof import);
        library = pe_string(image, import.name);
        if (!import.name || !import.slots || !library)
            return;
        add_library(slots, import.lookup ? import.lookup : import.slots, import.slots, library);
    }
}

static void add_delay_imports(struct slot_list *slots)
{
    struct pe_table table =
        pe_directory_table(slots->pe->image, PE_DELAY_IMPORTS, sizeof(struct pe_delay_import));
    struct pe_delay_import import;

    for (size_t i = 0; i < table.count && i < LIBRARY_LIMIT; i++) {
        const char *library;

        memcpy(&import, table.bytes + i * sizeof import, sizeof import);
        library = pe_string(slots->pe->image, import.name);
        if (!import.name || !(import.attributes & DELAY_BY_RVA) || !library)
            return;
        add_library(slots, import.lookup, import.slots, library);
    }
}

static int by_address(const void *left, const void *right)
{
    const struct slot *a = left, *b = right;

    return a->address < b->address ? -1 : a->address > b->address;
}

/* All slots, ascending; free(items) ends the list. */
static struct slot_list slots_read(struct pe_code *pe)
{
    struct slot_list slots = {.pe = pe};

    add_imports(&slots);
    add_delay_imports(&slots);
    if (slots.count)
        qsort(slots.items, slots.count, sizeof *slots.items, by_address);
    return slots;
}

static const struct slot *slot_find(const struct slot_list *slots, uint64_t address)
{
    struct slot key = {.address = address};

    if (slots->count == 0)
        return NULL;
    return bsearch(&key, slots->items, slots->count, sizeof key, by_address);
}

void pe_imports_add(struct pe_code *pe)
{
    struct slot_list slots = slots_read(pe);
    bool *is_added = memory_zeroed(slots.count, sizeof *is_added);

    for (size_t i = 0; i < pe->map.slot_use_count; i++) {
        const struct slot *slot = slot_find(&slots, pe->map.slot_uses[i].slot);

        if (!slot || is_added[slot - slots.items])
            continue;
        is_added[slot - slots.items] = true;
        function_list_add(&pe->functions,
                          (struct function){.address = slot->address,
                                            .end = slot->address + SLOT_SIZE,
                                            .name = slot->name,
                                            .evidence = EVIDENCE_EXTENT,
                                            .is_import = true,
                                            .is_swept = true,
                                            .reason = (uint8_t)pe_import_reason(slot->name)});
    }
    function_list_settle(&pe->functions);
    free(is_added);
    free(slots.items);
}

void pe_thunks_mark(struct pe_code *pe)
{
    struct slot_list slots = slots_read(pe);
    struct instruction at;
    ZydisDecoder decoder;

    decoder_init(&decoder);
    for (size_t i = 0; i < pe->functions.count; i++) {
        struct function *function = &pe->functions.items[i];
        size_t size;
        const uint8_t *bytes = code_at(&pe->code, function->address, &size);

        if (!bytes || !instruction_decode(&decoder, function->address, bytes, size, &at))
            continue;
        if (at.flow == FLOW_INDIRECT_JUMP && at.is_rip_based && slot_find(&slots, at.operand))
            function->reason = PATCH_PLT;
    }
    free(slots.items);
}
