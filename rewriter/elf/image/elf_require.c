/* What an image must be to be instrumented, beyond being well-formed. */
#include <string.h>

#include "image/manifest.h"
#include "rewriter/elf/image/elf_image.h"
#include "rewriter/elf/image/elf_marks.h"
#include "rewriter/format/go_table.h"

bool elf_image_is_static(const struct elf_image *image)
{
    if (!elf_segment(image, PT_DYNAMIC))
        return true;
    /* A static PIE relocates itself: dynamic section, but no interpreter and no libraries. */
    return !elf_segment(image, PT_INTERP) && !elf_dynamic(image, DT_NEEDED) &&
           elf_dynamic_value(image, DT_FLAGS_1, 0) & DF_1_PIE;
}

static bool is_musl_library(const char *name)
{
    return name && (!strcmp(name, "libc.so") || !strncmp(name, "libc.musl", strlen("libc.musl")));
}

bool elf_image_is_of_musl(const struct elf_image *image)
{
    const Elf64_Phdr *segment = elf_segment(image, PT_INTERP);
    const uint8_t *interpreter =
        segment ? elf_at(image, segment->p_vaddr, segment->p_filesz) : NULL;

    if (interpreter && memmem(interpreter, segment->p_filesz, "ld-musl", strlen("ld-musl")))
        return true;
    for (size_t i = 0; i < image->dynamic_count; i++)
        if (image->dynamic[i].d_tag == DT_NEEDED &&
            is_musl_library(elf_dynamic_string(image, image->dynamic[i].d_un.d_val)))
            return true;
    return false;
}

/* By a word, or by a relocation, which may leave zeros in the word itself. */
static bool is_pointed_to(const struct elf_image *image, uint64_t address)
{
    struct elf_table relocations = elf_relocations(image);

    for (size_t i = 0; i < relocations.count; i++)
        if ((uint64_t)elf_relocation(relocations, i).r_addend == address)
            return true;
    for (size_t i = 0; i < image->segment_count; i++) {
        const Elf64_Phdr *segment = &image->segments[i];
        const uint8_t *bytes = elf_at(image, segment->p_vaddr, segment->p_filesz);

        if (segment->p_type == PT_LOAD && bytes &&
            go_table_is_pointed_to(bytes, segment->p_filesz, segment->p_vaddr, address))
            return true;
    }
    return false;
}

static bool has_go_table_in(const struct elf_image *image, const Elf64_Phdr *segment)
{
    const uint8_t *bytes = elf_at(image, segment->p_vaddr, segment->p_filesz);
    size_t at = bytes ? go_table_next(bytes, segment->p_filesz, 0) : SIZE_MAX;

    for (int i = 0; i < GO_TABLES && at != SIZE_MAX; i++) {
        uint64_t address = segment->p_vaddr + at;

        if (address % GO_TABLE_ALIGNMENT == 0 && is_pointed_to(image, address))
            return true;
        at = go_table_next(bytes, segment->p_filesz, at + 1);
    }
    return false;
}

static bool has_go_table(const struct elf_image *image)
{
    for (size_t i = 0; i < image->segment_count; i++)
        if (image->segments[i].p_type == PT_LOAD && has_go_table_in(image, &image->segments[i]))
            return true;
    return false;
}

/* Any of these says that Go's linker made it; strip leaves the note and the sections. */
bool elf_image_is_go(const struct elf_image *image)
{
    static const char *const marks[] = {".note.go.buildid", ".gopclntab", ".go.buildinfo"};

    for (size_t i = 0; i < sizeof(marks) / sizeof(*marks); i++)
        if (elf_section(image, marks[i]))
            return true;
    return elf_has_note(image, "Go") || has_go_table(image);
}

bool elf_image_require_supported(const struct elf_image *image, struct failure *failure)
{
    uint64_t strings_size = elf_dynamic_value(image, DT_STRSZ, 0);
    struct bounded_file file = bounded_file_of(image->bytes, image->size);
    const char *mark = elf_marks_find(image);

    if (manifest_is_in(&file))
        return fail(failure, image->path,
                    "expected an original image, found one that is already instrumented");
    if (elf_image_is_go(image))
        return fail(failure, image->path,
                    "expected code that returns to where it was called from, found a Go program, "
                    "which moves its stacks and reads return addresses; use Go's own profiler");
    if (mark)
        return fail(failure, image->path, "expected code that only the program relies on, found %s",
                    mark);
    if (elf_image_is_static(image))
        return true;
    if (image->symbol_count == 0 ||
        !elf_at(image, elf_dynamic_value(image, DT_STRTAB, 0), strings_size) || !strings_size ||
        !elf_dynamic_symbols(image).bytes)
        return fail(failure, image->path,
                    "expected a dynamic symbol table with its strings, found none");
    return true;
}
