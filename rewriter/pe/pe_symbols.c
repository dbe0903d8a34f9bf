/* Names: the COFF symbol table, which mingw leaves in an image, and the exports. */
#include "rewriter/pe/pe_symbols.h"

#include <string.h>

#include "rewriter/pe/pe_labels.h"
#include "rewriter/pe/pe_names.h"
#include "support/memory.h"

#define SHORT_NAME 9 /* with its zero */

static const char *symbol_name(const struct pe_code *pe, const struct pe_symbol *symbol,
                               struct pe_table strings, size_t index)
{
    char *name = pe->short_names + index * SHORT_NAME;
    uint32_t zero, offset;

    memcpy(&zero, symbol->name, sizeof(zero));
    memcpy(&offset, symbol->name + sizeof(zero), sizeof(offset));
    if (zero) {
        memcpy(name, symbol->name, sizeof(symbol->name));
        return name;
    }
    if (offset >= strings.count || !memchr(strings.bytes + offset, 0, strings.count - offset))
        return NULL;
    return (const char *)strings.bytes + offset;
}

/* Symbols of i386 have an underscore in front of what the source calls them. */
static const char *source_name(const struct pe_image *image, const char *name)
{
    return pe_is_32(image) && name && *name == '_' ? name + 1 : name;
}

/* A section's own symbol has details behind it. */
static bool is_label(const struct pe_symbol *symbol)
{
    return symbol->type == 0 && symbol->auxiliaries == 0 &&
           (symbol->storage == PE_SYMBOL_EXTERNAL || symbol->storage == PE_SYMBOL_STATIC ||
            symbol->storage == PE_SYMBOL_LABEL);
}

/* What gcc splits off a function is a function to it; .pdata, which tells it, is not in PE32. */
static bool is_cold_part(const struct pe_image *image, const char *name)
{
    return pe_is_32(image) && strstr(name, ".cold");
}

static void take_symbol(struct pe_code *pe, const struct pe_symbol *symbol, uint64_t address,
                        const char *name)
{
    struct function function = {.evidence = EVIDENCE_SYMBOL, .name = name};

    if (symbol->type == PE_SYMBOL_FUNCTION) {
        if (name)
            function.reason =
                (uint8_t)(is_cold_part(pe->image, name) ? PATCH_FRAGMENT : pe_name_reason(name));
        pe_code_add(pe, address, 0, function);
    } else if (name && *name != '.' && code_range_at(&pe->code, address)) {
        pe_labels_note(pe, (struct pe_label){address, name, symbol->storage == PE_SYMBOL_EXTERNAL});
    }
}

static void add_symbols(struct pe_code *pe)
{
    const struct pe_image *image = pe->image;
    struct pe_table symbols = pe_symbols(image), strings = pe_symbol_strings(image);
    struct pe_symbol symbol;

    pe->short_names = memory_zeroed(symbols.count + 1, SHORT_NAME);
    for (size_t i = 0; symbols.bytes && i < symbols.count; i += 1u + symbol.auxiliaries) {
        memcpy(&symbol, symbols.bytes + i * sizeof(symbol), sizeof(symbol));
        if ((symbol.type != PE_SYMBOL_FUNCTION && !is_label(&symbol)) || symbol.section < 1 ||
            (size_t)symbol.section > image->section_count)
            continue;
        take_symbol(pe, &symbol,
                    image->base + image->sections[symbol.section - 1].rva + symbol.value,
                    source_name(image, symbol_name(pe, &symbol, strings, i)));
    }
}

/* An export's name, or null: `names` and `ordinals` are parallel. */
static void add_export_names(struct pe_code *pe, const struct pe_exports *exports)
{
    const struct pe_image *image = pe->image;
    const struct pe_directory *own = &image->directory[PE_EXPORTS];
    const uint8_t *names = pe_at_rva(image, exports->names, (uint64_t)exports->name_count * 4);
    const uint8_t *ordinals =
        pe_at_rva(image, exports->ordinals, (uint64_t)exports->name_count * 2);

    for (size_t i = 0; names && ordinals && i < exports->name_count; i++) {
        struct function function = {.evidence = EVIDENCE_SYMBOL};
        const uint8_t *address;
        uint32_t name, rva;
        uint16_t ordinal;

        memcpy(&name, names + i * 4, sizeof(name));
        memcpy(&ordinal, ordinals + i * 2, sizeof(ordinal));
        address = ordinal < exports->address_count
                      ? pe_at_rva(image, exports->addresses + ordinal * 4u, 4)
                      : NULL;
        if (!address)
            continue;
        memcpy(&rva, address, sizeof(rva));
        if (rva - own->rva < own->size)
            continue; /* forwarded */
        function.name = pe_string(image, name);
        if (function.name)
            function.reason = (uint8_t)pe_name_reason(function.name);
        pe_code_add(pe, image->base + rva, 0, function);
    }
}

static void add_exports(struct pe_code *pe)
{
    const struct pe_image *image = pe->image;
    const struct pe_directory *own = &image->directory[PE_EXPORTS];
    struct pe_table directory = pe_directory_table(image, PE_EXPORTS, sizeof(struct pe_exports));
    struct pe_exports exports;
    const uint8_t *addresses;
    uint32_t rva;

    if (directory.count == 0)
        return;
    memcpy(&exports, directory.bytes, sizeof(exports));
    addresses = pe_at_rva(image, exports.addresses, (uint64_t)exports.address_count * 4);
    for (size_t i = 0; addresses && i < exports.address_count; i++) {
        memcpy(&rva, addresses + i * 4, sizeof(rva));
        if (rva && rva - own->rva >= own->size)
            pe_code_add(pe, image->base + rva, 0, (struct function){.evidence = EVIDENCE_SYMBOL});
    }
    add_export_names(pe, &exports);
}

void pe_symbols_add(struct pe_code *pe)
{
    add_symbols(pe);
    add_exports(pe);
}
