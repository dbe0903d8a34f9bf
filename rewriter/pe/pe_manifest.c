#include "rewriter/pe/pe_manifest.h"

#include <string.h>

bool pe_manifest_find(struct manifest_place *place, const struct pe_image *image)
{
    for (size_t i = image->section_count; i-- > 0;) {
        const struct pe_section *section = &image->sections[i];
        const uint8_t *bytes = pe_at_rva(image, section->rva, sizeof place->header);

        if (!bytes || !(section->flags & PE_SECTION_WRITE))
            continue;
        memcpy(&place->header, bytes, sizeof place->header);
        if (place->header.magic != IMAGE_MAGIC || place->header.header_rva != section->rva)
            continue;
        place->room = pe_available(image, place->header.manifest_rva);
        place->bytes = pe_at_rva(image, place->header.manifest_rva, sizeof(struct image_manifest));
        return place->bytes;
    }
    return false;
}

bool pe_manifest_read(struct manifest *manifest, const struct pe_image *image)
{
    struct manifest_place place;

    return pe_manifest_find(&place, image) && manifest_read(manifest, place.bytes, place.room);
}

bool pe_is_instrumented(const struct pe_image *image)
{
    struct manifest_place place;

    return pe_manifest_find(&place, image);
}
