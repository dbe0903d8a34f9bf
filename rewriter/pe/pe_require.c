/* What an image must be to be instrumented, beyond being well-formed. */
#include <string.h>
#include <strings.h>

#include "image/manifest.h"
#include "image/pe_headers.h"
#include "rewriter/format/go_table.h"
#include "rewriter/format/ocaml_code.h"
#include "rewriter/pe/pe_image.h"
#include "trace/image_manifest.h"

static bool is_pointed_to(const struct pe_image *image, uint64_t address)
{
    for (size_t i = 0; i < image->section_count; i++) {
        const struct pe_section *section = &image->sections[i];

        if (go_table_is_pointed_to(image->bytes + section->raw, pe_section_bytes(section),
                                   image->base + section->rva, address))
            return true;
    }
    return false;
}

static bool has_go_table(const struct pe_image *image, const struct pe_section *section)
{
    const uint8_t *bytes = image->bytes + section->raw;
    size_t size = pe_section_bytes(section), at = go_table_next(bytes, size, 0);

    for (int i = 0; i < GO_TABLES && at != SIZE_MAX; i++) {
        uint64_t address = image->base + section->rva + at;

        if (address % GO_TABLE_ALIGNMENT == 0 && is_pointed_to(image, address))
            return true;
        at = go_table_next(bytes, size, at + 1);
    }
    return false;
}

/* Go's linker puts the one at the start of the code, the other in the data, unless it is told not
   to. */
bool pe_image_is_go(const struct pe_image *image)
{
    static const char *const marks[] = {"\xff Go build ID: \"", "\xff Go buildinf:"};

    for (size_t i = 0; i < image->section_count; i++) {
        const struct pe_section *section = &image->sections[i];

        for (size_t j = 0; j < sizeof(marks) / sizeof(*marks); j++)
            if (memmem(image->bytes + section->raw, pe_section_bytes(section), marks[j],
                       strlen(marks[j])))
                return true;
        if (has_go_table(image, section))
            return true;
    }
    return false;
}

bool pe_image_is_clr(const struct pe_image *image)
{
    return image->directory[PE_CLR].rva;
}

bool pe_image_is_agent(const struct pe_image *image)
{
    struct pe_table directory = pe_directory_table(image, PE_EXPORTS, sizeof(struct pe_exports));
    struct pe_exports exports;
    const uint8_t *names;

    if (directory.count == 0)
        return false;
    memcpy(&exports, directory.bytes, sizeof(exports));
    names = pe_at_rva(image, exports.names, (uint64_t)exports.name_count * 4);
    for (size_t i = 0; names && i < exports.name_count; i++) {
        const char *name;
        uint32_t rva;

        memcpy(&rva, names + i * 4, sizeof(rva));
        name = pe_string(image, rva);
        if (name && strcmp(name, IMAGE_HOOK_SYMBOL) == 0)
            return true;
    }
    return false;
}

static bool is_ocaml(const struct pe_image *image)
{
    size_t count = 0;

    for (size_t i = 0; i < image->section_count; i++)
        if (image->sections[i].flags & PE_SECTION_EXECUTE)
            count += ocaml_code_count(image->bytes + image->sections[i].raw,
                                      pe_section_bytes(&image->sections[i]));
    return count >= OCAML_FEWEST;
}

/* Whether it imports from a library whose name begins so. */
static bool imports_from(const struct pe_image *image, const char *begin)
{
    struct pe_table directory = pe_directory_table(image, PE_IMPORTS, sizeof(struct pe_import));

    for (size_t i = 0; i < directory.count; i++) {
        struct pe_import import;
        const char *name;

        memcpy(&import, directory.bytes + i * sizeof(import), sizeof(import));
        name = import.name ? pe_string(image, import.name) : NULL;
        if (name && strncasecmp(name, begin, strlen(begin)) == 0)
            return true;
    }
    return false;
}

static bool code_has(const struct pe_image *image, const char bytes[4])
{
    for (size_t i = 0; i < image->section_count; i++) {
        const struct pe_section *section = &image->sections[i];

        if (section->flags & PE_SECTION_EXECUTE &&
            memmem(image->bytes + section->raw, pe_section_bytes(section), bytes, 4))
            return true;
    }
    return false;
}

/*
 * On i386 GNU C++ and Rust unwind by libgcc. The agent tells libgcc_s_dw2-1.dll of its thunks. One
 * that is linked in cannot be reached: an exception would not get past a recorded call. Their
 * personality functions compare the exception's class with a number of 8 bytes, in two halves:
 * GNUCC++\0, MOZ\0RUST.
 */
static bool has_own_libgcc(const struct pe_image *image)
{
    static const char classes[][2][4] = {{{'C', 'U', 'N', 'G'}, {'\0', '+', '+', 'C'}},
                                         {{'T', 'S', 'U', 'R'}, {'\0', 'Z', 'O', 'M'}}};

    if (image->processor != &processor_i386 || imports_from(image, "libgcc_s"))
        return false;
    for (size_t i = 0; i < sizeof(classes) / sizeof(*classes); i++)
        if (code_has(image, classes[i][0]) && code_has(image, classes[i][1]))
            return true;
    return false;
}

bool pe_image_require_supported(const struct pe_image *image, struct failure *failure)
{
    struct bounded_file file = bounded_file_of(image->bytes, image->size);

    if (manifest_is_in(&file))
        return fail(failure, image->path,
                    "expected an original image, found one that is already instrumented");
    if (image->header.subsystem != PE_SUBSYSTEM_GUI && image->header.subsystem != PE_SUBSYSTEM_CUI)
        return fail(failure, image->path,
                    "expected a program or library for Windows, found subsystem %u, such as "
                    "drivers and boot loaders have, which cannot load the agent",
                    image->header.subsystem);
    if (pe_image_is_clr(image))
        return fail(failure, image->path, PE_FOUND_CLR);
    if (pe_image_is_go(image))
        return fail(failure, image->path,
                    "expected code that returns to where it was called from, found a Go program, "
                    "which moves its stacks and reads return addresses; use Go's own profiler");
    if (is_ocaml(image))
        return fail(failure, image->path, OCAML_FOUND);
    if (has_own_libgcc(image))
        return fail(
            failure, image->path,
            "expected exceptions by libgcc_s_dw2-1.dll, which the agent can tell of recorded "
            "calls, found those of GNU C++ or Rust with a libgcc of the image's own; "
            "link it with -shared-libgcc");
    return true;
}
