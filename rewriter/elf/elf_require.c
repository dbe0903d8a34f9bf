/* What an image must be to be instrumented, beyond being well-formed. */
#include "image/manifest.h"
#include "rewriter/elf/elf_image.h"

bool elf_image_is_static(const struct elf_image *image)
{
    if (!elf_segment(image, PT_DYNAMIC))
        return true;
    /* A static PIE relocates itself: dynamic section, but no interpreter and no libraries. */
    return !elf_segment(image, PT_INTERP) && !elf_dynamic(image, DT_NEEDED) &&
           elf_dynamic_value(image, DT_FLAGS_1, 0) & DF_1_PIE;
}

/* Any of these says that Go's linker made it; strip leaves the note and the table. */
bool elf_image_is_go(const struct elf_image *image)
{
    static const char *const marks[] = {".note.go.buildid", ".gopclntab", ".go.buildinfo"};

    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (elf_section(image, marks[i]))
            return true;
    return elf_has_note(image, "Go");
}

bool elf_image_require_supported(const struct elf_image *image, struct failure *failure)
{
    uint64_t strings_size = elf_dynamic_value(image, DT_STRSZ, 0);
    struct bounded_file file = bounded_file_of(image->bytes, image->size);

    if (manifest_is_in(&file))
        return fail(failure, image->path,
                    "expected an original image, found one that is already instrumented");
    if (elf_image_is_go(image))
        return fail(failure, image->path,
                    "expected code that returns to where it was called from, found a Go program, "
                    "which moves its stacks and reads return addresses; use Go's own profiler");
    if (elf_image_is_static(image))
        return true;
    if (image->symbol_count == 0 ||
        !elf_at(image, elf_dynamic_value(image, DT_STRTAB, 0), strings_size) || !strings_size ||
        !elf_dynamic_symbols(image).bytes)
        return fail(failure, image->path,
                    "expected a dynamic symbol table with its strings, found none");
    return true;
}
