#include "rewriter/pe/pe_kind.h"

#include "image/manifest.h"
#include "image/pe_wide.h"
#include "rewriter/pe/pe_image.h"

enum image_kind pe_kind(uint8_t *bytes, size_t size)
{
    struct bounded_file file = bounded_file_of(bytes, size);
    enum image_kind kind = IMAGE_KIND_ORIGINAL;
    uint16_t machine = pe_machine(bytes, size);
    struct pe_image image;
    struct failure ignored;

    if (!machine)
        return IMAGE_KIND_OTHER;
    if (!pe_machine_is_known(machine) || pe_has_clr_header(bytes, size))
        return IMAGE_KIND_MACHINE;
    if (!pe_image_read(&image, "", bytes, size, &ignored))
        return IMAGE_KIND_MALFORMED;
    if (manifest_is_in(&file))
        kind = IMAGE_KIND_INSTRUMENTED;
    else if (pe_image_is_agent(&image))
        kind = IMAGE_KIND_AGENT;
    else if (pe_image_is_go(&image))
        kind = IMAGE_KIND_GO;
    pe_image_free(&image);
    return kind;
}
