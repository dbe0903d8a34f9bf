/*
 * The import directory of an instrumented image:
 *
 *      pe_import   agent       the first, so that it is initialized before all others
 *      pe_import   ...         the original's, with their own lookup tables and slots
 *      pe_import   zeros
 *      address [2]             lookup table of the agent: RVA of hint and name; 0
 *      u16, name               umbra_enter_13
 *      name                    of the agent
 *
 * The agent's slot is image_header.entry_hook. In PE32 it is the lower 4 bytes of that. The loader
 * walks the lookup table and binds as many slots as that has entries; no zero is needed behind the
 * slot.
 */
#include <stddef.h>
#include <string.h>

#include "rewriter/pe/pe_layout.h"
#include "trace/image_manifest.h"

#define IMPORT_LIMIT 4096

static bool append_originals(struct pe_layout *layout, struct failure *failure)
{
    const struct pe_image *image = layout->image;
    uint32_t rva = image->directory[PE_IMPORTS].rva;
    struct pe_import import;

    for (size_t i = 0; rva && i < IMPORT_LIMIT; i++, rva += sizeof(import)) {
        const uint8_t *bytes = pe_at_rva(image, rva, sizeof(import));

        if (!bytes)
            return fail(failure, image->path,
                        "malformed: its import directory at RVA %#x has no end",
                        image->directory[PE_IMPORTS].rva);
        memcpy(&import, bytes, sizeof(import));
        if (!import.name || !import.slots)
            return true;
        /* Without a lookup table the slots of a bound image cannot be bound anew. */
        if (import.lookup) {
            import.timestamp = 0;
            import.forwarder = 0;
        }
        buffer_append(&layout->tables, &import, sizeof(import));
    }
    return !rva || fail(failure, image->path, "expected at most %d imported libraries, found more",
                        IMPORT_LIMIT);
}

bool pe_imports_build(struct pe_layout *layout, const char *agent, struct failure *failure)
{
    struct buffer *tables = &layout->tables;
    struct pe_import import = {0};
    size_t word = layout->image->processor->pointer_size, lookup_at;
    uint64_t name;

    layout->imports.offset = buffer_append_zeros(tables, sizeof(import));
    if (!append_originals(layout, failure))
        return false;
    buffer_append_zeros(tables, sizeof(import));
    layout->imports.size = tables->size - layout->imports.offset;
    buffer_align(tables, word, 0);
    lookup_at = buffer_append_zeros(tables, 2 * word);
    import.lookup = layout->tables_rva + (uint32_t)lookup_at;
    name = layout->tables_rva + buffer_append_zeros(tables, sizeof(uint16_t));
    buffer_append_string(tables, IMAGE_HOOK_SYMBOL);
    import.name = layout->tables_rva + (uint32_t)buffer_append_string(tables, agent);
    memcpy(tables->bytes + lookup_at, &name, word);
    memcpy(tables->bytes + layout->imports.offset, &import, sizeof(import));
    return true;
}

void pe_imports_bind(struct pe_layout *layout)
{
    uint32_t slot = layout->header_rva + (uint32_t)offsetof(struct image_header, entry_hook);

    memcpy(layout->tables.bytes + layout->imports.offset + offsetof(struct pe_import, slots), &slot,
           sizeof(slot));
}
