/* What the image itself says of its functions, beside .pdata, symbols and exports. */
#include "rewriter/pe/pe_entries.h"

#include <stddef.h>
#include <string.h>

#include "image/pe_wide.h"
#include "support/memory.h"

static void add_entry(struct pe_code *pe, uint64_t address)
{
    pe_code_add(pe, address, 0, (struct function){.evidence = EVIDENCE_ENTRY});
}

static void add_tls_callbacks(struct pe_code *pe)
{
    size_t size = pe_is_32(pe->image) ? sizeof(struct pe_tls_32) : sizeof(struct pe_tls);
    struct pe_table directory = pe_directory_table(pe->image, PE_TLS, size);
    uint8_t word = pe->image->processor->pointer_size;
    struct pe_tls_32 narrow;
    const uint8_t *bytes;
    struct pe_tls tls;

    if (directory.count == 0)
        return;
    memcpy(size == sizeof(narrow) ? (void *)&narrow : &tls, directory.bytes, size);
    if (size == sizeof(narrow))
        tls = pe_tls_widen(&narrow);
    for (; (bytes = pe_at(pe->image, tls.callbacks, word)); tls.callbacks += word) {
        uint64_t callback = pe_word(pe->image, bytes);

        if (!callback)
            return;
        add_entry(pe, callback);
    }
}

/* As many bytes as the image's says, and the structure has; zeros where the image's is shorter. */
static bool read_load_config_bytes(const struct pe_image *image, void *config, size_t room)
{
    uint32_t rva = image->directory[PE_LOAD_CONFIG].rva, said;
    const uint8_t *bytes = rva ? pe_at_rva(image, rva, sizeof(said)) : NULL;
    uint64_t size;

    memset(config, 0, room);
    if (!bytes)
        return false;
    memcpy(&said, bytes, sizeof(said));
    size = said < room ? said : room;
    bytes = pe_at_rva(image, rva, size);
    if (bytes)
        memcpy(config, bytes, size);
    return bytes;
}

static bool read_load_config(const struct pe_image *image, struct pe_load_config *config)
{
    struct pe_load_config_32 narrow;

    if (!pe_is_32(image))
        return read_load_config_bytes(image, config, sizeof(*config));
    if (!read_load_config_bytes(image, &narrow, sizeof(narrow)))
        return false;
    *config = pe_load_config_widen(&narrow);
    return true;
}

/* Calls `take` with each address of a table of RVAs with so many bytes behind each. */
static void walk_table(struct pe_code *pe, uint64_t address, uint64_t count, uint32_t flags,
                       void (*take)(struct pe_code *pe, uint64_t address))
{
    uint64_t stride = 4 + (flags >> PE_GUARD_ENTRY_SHIFT);
    const uint8_t *bytes =
        count && count <= UINT32_MAX ? pe_at(pe->image, address, count * stride) : NULL;
    uint32_t rva;

    for (uint64_t i = 0; bytes && i < count; i++) {
        memcpy(&rva, bytes + i * stride, sizeof(rva));
        take(pe, pe->image->base + rva);
    }
}

static void add_jump_target(struct pe_code *pe, uint64_t address)
{
    address_set_add(&pe->map.jumps, address);
}

static void add_guarded(struct pe_code *pe)
{
    struct pe_load_config config;

    if (!read_load_config(pe->image, &config))
        return;
    walk_table(pe, config.guard_functions, config.guard_function_count, config.guard_flags,
               add_entry);
    walk_table(pe, config.guard_long_jumps, config.guard_long_jump_count, config.guard_flags,
               add_jump_target);
    walk_table(pe, config.guard_continuations, config.guard_continuation_count, config.guard_flags,
               add_jump_target);
}

/* The system calls them: they are a part of its unwinder. */
static void add_handler(struct pe_code *pe, uint64_t address)
{
    pe_code_add(pe, address, 0,
                (struct function){.evidence = EVIDENCE_ENTRY, .reason = PATCH_UNWINDER});
}

static void add_handlers(struct pe_code *pe)
{
    struct pe_load_config_32 config;

    if (pe_is_32(pe->image) && read_load_config_bytes(pe->image, &config, sizeof(config)))
        walk_table(pe, config.handlers, config.handler_count, 0, add_handler);
}

void pe_entries_add(struct pe_code *pe)
{
    if (pe->image->header.entry)
        add_entry(pe, pe->image->base + pe->image->header.entry);
    add_tls_callbacks(pe);
    add_guarded(pe);
    add_handlers(pe);
}

static void note_relocated(struct pe_code *pe, uint32_t rva)
{
    pe->relocated =
        memory_grow(pe->relocated, pe->relocated_count, &pe->relocated_room, sizeof(rva));
    pe->relocated[pe->relocated_count++] = rva;
}

/* The place that is relocated, and what it refers to. */
static void add_relocation(struct pe_code *pe, uint64_t place)
{
    uint64_t size = pe->image->processor->pointer_size;
    const uint8_t *bytes = pe_at(pe->image, place, size);

    if (!bytes)
        return;
    address_set_add(&pe->map.pointers, pe_word(pe->image, bytes));
    if (pe_is_32(pe->image)) {
        note_relocated(pe, (uint32_t)(place - pe->image->base));
        code_map_add_relocated(&pe->map, &pe->code, place);
        return;
    }
    /* An address within an instruction must stay where the loader finds it. */
    for (uint64_t i = 0; i < size && code_range_at(&pe->code, place + i); i++)
        address_set_add(&pe->map.jumps, place + i);
}

static void take_relocation(struct pe_code *pe, uint32_t page, uint16_t entry)
{
    unsigned type = entry >> 12;

    if (type == (pe_is_32(pe->image) ? PE_RELOCATION_32 : PE_RELOCATION_64))
        add_relocation(pe, pe->image->base + page + (entry & 0xfff));
    else if (type != PE_RELOCATION_ABSOLUTE)
        pe->has_odd_relocations = true;
}

/*
 * Blocks: RVA of a page, size of the block, then entries of 16 bits: type : 4, offset : 12 in the
 * page.
 */
void pe_pointers_add(struct pe_code *pe)
{
    struct pe_table table = pe_directory_table(pe->image, PE_RELOCATIONS, 1);
    uint32_t head[2];
    uint16_t entry;

    for (size_t at = 0; at + sizeof(head) <= table.count; at += head[1]) {
        memcpy(head, table.bytes + at, sizeof(head));
        if (head[1] < sizeof(head) || head[1] > table.count - at)
            return;
        for (size_t i = sizeof(head); i + 2 <= head[1]; i += 2) {
            memcpy(&entry, table.bytes + at + i, sizeof(entry));
            take_relocation(pe, head[0], entry);
        }
    }
}
