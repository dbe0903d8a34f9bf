/* What an image must be to be instrumented, beyond being well-formed. */
#include "rewriter/elf/elf_manifest.h"

bool elf_image_is_static(const struct elf_image *image)
{
    if (!elf_segment(image, PT_DYNAMIC))
        return true;
    /* A static PIE relocates itself: dynamic section, but no interpreter and no libraries. */
    return !elf_segment(image, PT_INTERP) && !elf_dynamic(image, DT_NEEDED) &&
           elf_dynamic_value(image, DT_FLAGS_1, 0) & DF_1_PIE;
}

bool elf_image_require_dynamic(const struct elf_image *image, struct failure *failure)
{
    uint64_t strings_size = elf_dynamic_value(image, DT_STRSZ, 0);

    if (elf_is_instrumented(image))
        return fail(failure, image->path,
                    "expected an original image, found one that is already instrumented");
    if (elf_image_is_static(image))
        return fail(failure, image->path,
                    "expected a dynamically linked image, found a static%s executable, which is "
                    "not supported yet; link it dynamically",
                    elf_segment(image, PT_DYNAMIC) ? " PIE" : "");
    if (image->symbol_count == 0 ||
        !elf_at(image, elf_dynamic_value(image, DT_STRTAB, 0), strings_size) || !strings_size ||
        !elf_dynamic_symbols(image).bytes)
        return fail(failure, image->path,
                    "expected a dynamic symbol table with its strings, found none");
    return true;
}
