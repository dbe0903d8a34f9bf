/* What the image itself says of its functions, beside .pdata, symbols and exports. */
#include "rewriter/pe/pe_entries.h"

#include <stddef.h>
#include <string.h>

static void add_entry(struct pe_code *pe, uint64_t address)
{
    pe_code_add(pe, address, 0, (struct function){.evidence = EVIDENCE_ENTRY});
}

static void add_tls_callbacks(struct pe_code *pe)
{
    struct pe_table directory = pe_directory_table(pe->image, PE_TLS, sizeof(struct pe_tls));
    const uint8_t *bytes;
    struct pe_tls tls;
    uint64_t callback;

    if (directory.count == 0)
        return;
    memcpy(&tls, directory.bytes, sizeof(tls));
    for (; (bytes = pe_at(pe->image, tls.callbacks, sizeof(callback))); tls.callbacks += 8) {
        memcpy(&callback, bytes, sizeof(callback));
        if (!callback)
            return;
        add_entry(pe, callback);
    }
}

/* Zeros where the image's is shorter. */
static bool read_load_config(const struct pe_image *image, struct pe_load_config *config)
{
    uint32_t rva = image->directory[PE_LOAD_CONFIG].rva;
    const uint8_t *bytes = rva ? pe_at_rva(image, rva, sizeof(config->size)) : NULL;
    uint64_t size;

    *config = (struct pe_load_config){0};
    if (!bytes)
        return false;
    memcpy(&config->size, bytes, sizeof(config->size));
    size = config->size < sizeof(*config) ? config->size : sizeof(*config);
    bytes = pe_at_rva(image, rva, size);
    if (bytes)
        memcpy(config, bytes, size);
    return bytes;
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

void pe_entries_add(struct pe_code *pe)
{
    if (pe->image->header.entry)
        add_entry(pe, pe->image->base + pe->image->header.entry);
    add_tls_callbacks(pe);
    add_guarded(pe);
}

/* The place that is relocated, and what it refers to. */
static void add_relocation(struct pe_code *pe, uint64_t place)
{
    const uint8_t *bytes = pe_at(pe->image, place, 8);
    uint64_t target;

    if (!bytes)
        return;
    memcpy(&target, bytes, sizeof(target));
    address_set_add(&pe->map.pointers, target);
    /* An address within an instruction must stay where the loader finds it. */
    for (uint64_t i = 0; i < 8 && code_range_at(&pe->code, place + i); i++)
        address_set_add(&pe->map.jumps, place + i);
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
            if (entry >> 12 == PE_RELOCATION_64)
                add_relocation(pe, pe->image->base + head[0] + (entry & 0xfff));
        }
    }
}
