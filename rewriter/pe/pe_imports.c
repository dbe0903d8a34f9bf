#include "rewriter/pe/pe_imports.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rewriter/code/decode.h"
#include "rewriter/code/import_slots.h"
#include "rewriter/pe/pe_names.h"
#include "support/memory.h"

#define LIBRARY_LIMIT 4096
#define ORDINAL_ROOM  8 /* "#65535" */

/* "LIBRARY#7", kept until pe_code_free. */
static const char *ordinal_name(struct pe_code *pe, const char *library, unsigned ordinal)
{
    size_t size = strlen(library) + ORDINAL_ROOM;
    char *name = memory_zeroed(size, 1);

    snprintf(name, size, "%s#%u", library, ordinal);
    pe->made_names = memory_grow(pe->made_names, pe->made_count, &pe->made_room, sizeof(name));
    pe->made_names[pe->made_count++] = name;
    return name;
}

static void add_library(struct import_slots *slots, struct pe_code *pe, uint32_t lookup,
                        uint32_t first, const char *library)
{
    const struct pe_image *image = pe->image;
    uint32_t size = image->processor->pointer_size;
    const uint8_t *bytes;

    for (uint32_t at = 0; (bytes = pe_at_rva(image, lookup + at, size)); at += size) {
        uint64_t entry = pe_word(image, bytes);
        const char *name;

        if (!entry || !pe_section_at(image, first + at))
            return;
        if (entry & pe_import_by_ordinal(image))
            name = ordinal_name(pe, library, entry & UINT16_MAX);
        else
            name = pe_string(image, (uint32_t)entry + sizeof(uint16_t));
        if (name && *name)
            import_slots_add(slots, image->base + first + at, name);
    }
}

static void add_imports(struct import_slots *slots, struct pe_code *pe)
{
    const struct pe_image *image = pe->image;
    uint32_t rva = image->directory[PE_IMPORTS].rva;
    struct pe_import import;
    const uint8_t *bytes;

    for (size_t i = 0; rva && i < LIBRARY_LIMIT; i++, rva += sizeof(import)) {
        const char *library;

        if (!(bytes = pe_at_rva(image, rva, sizeof(import))))
            return;
        memcpy(&import, bytes, sizeof(import));
        library = pe_string(image, import.name);
        if (!import.name || !import.slots || !library)
            return;
        add_library(slots, pe, import.lookup ? import.lookup : import.slots, import.slots, library);
    }
}

static void add_delay_imports(struct import_slots *slots, struct pe_code *pe)
{
    struct pe_table table =
        pe_directory_table(pe->image, PE_DELAY_IMPORTS, sizeof(struct pe_delay_import));
    struct pe_delay_import import;

    for (size_t i = 0; i < table.count && i < LIBRARY_LIMIT; i++) {
        const char *library;

        memcpy(&import, table.bytes + i * sizeof(import), sizeof(import));
        library = pe_string(pe->image, import.name);
        if (!import.name || !(import.attributes & PE_DELAY_BY_RVA) || !library)
            return;
        add_library(slots, pe, import.lookup, import.slots, library);
    }
}

/* All slots, settled; free(items) ends the list. */
static struct import_slots slots_read(struct pe_code *pe)
{
    struct import_slots slots = {0};

    add_imports(&slots, pe);
    add_delay_imports(&slots, pe);
    import_slots_settle(&slots);
    return slots;
}

void pe_imports_add(struct pe_code *pe)
{
    struct import_slots slots = slots_read(pe);

    import_slots_list(&slots, &pe->map, &pe->functions, pe_import_reason);
    free(slots.items);
}

/* The slot that an instruction jumps through, at a place that it names itself; 0 if there is none.
 */
static uint64_t jump_slot(const struct pe_image *image, const struct instruction *at)
{
    if (at->flow != FLOW_INDIRECT_JUMP)
        return 0;
    if (at->is_rip_based)
        return at->operand;
    return pe_is_32(image) && processor_i386.is_slot_jump(at)
               ? (uint64_t)at->zydis.raw.disp.value & UINT32_MAX
               : 0;
}

void pe_thunks_mark(struct pe_code *pe)
{
    struct import_slots slots = slots_read(pe);
    struct instruction at;
    ZydisDecoder decoder;

    decoder_init(&decoder, pe->code.processor);
    for (size_t i = 0; i < pe->functions.count; i++) {
        struct function *function = &pe->functions.items[i];
        size_t size;
        const uint8_t *bytes = code_at(&pe->code, function->address, &size);

        if (!bytes || !instruction_decode(&decoder, function->address, bytes, size, &at))
            continue;
        if (import_slots_find(&slots, jump_slot(pe->image, &at)))
            function->reason = PATCH_PLT;
    }
    free(slots.items);
}
