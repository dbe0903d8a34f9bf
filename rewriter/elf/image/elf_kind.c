#include "rewriter/elf/image/elf_kind.h"

#include <string.h>

#include "image/manifest.h"
#include "rewriter/elf/image/elf_image.h"
#include "rewriter/elf/image/elf_machine.h"
#include "trace/image_manifest.h"

/* e_type and e_machine are at the same place in files of 32 and 64 bits. */
static uint16_t header_half(const uint8_t *bytes, size_t offset)
{
    const uint8_t *at = bytes + offset;

    return bytes[EI_DATA] == ELFDATA2MSB ? (uint16_t)(at[0] << 8 | at[1])
                                         : (uint16_t)(at[1] << 8 | at[0]);
}

static bool is_agent(const struct elf_image *image)
{
    const Elf64_Dyn *entry = elf_dynamic(image, DT_SONAME);
    const char *name = entry ? elf_dynamic_string(image, entry->d_un.d_val) : NULL;

    return name &&
           (strcmp(name, IMAGE_AGENT_NAME) == 0 || strcmp(name, IMAGE_AGENT_NAME_I386) == 0);
}

/* Also of a file that is cut off. */
static bool is_ours(uint16_t machine, uint8_t identity)
{
    return (machine == elf_class_x86_64.machine && identity == elf_class_x86_64.identity) ||
           (machine == elf_class_i386.machine && identity == elf_class_i386.identity);
}

enum image_kind elf_kind(uint8_t *bytes, size_t size)
{
    struct bounded_file file = bounded_file_of(bytes, size);
    enum image_kind kind = IMAGE_KIND_ORIGINAL;
    struct elf_image image;
    struct failure ignored;
    uint16_t type;

    if (size < sizeof(Elf32_Ehdr) || memcmp(bytes, ELFMAG, SELFMAG) != 0)
        return IMAGE_KIND_OTHER;
    type = header_half(bytes, offsetof(Elf64_Ehdr, e_type));
    if (type != ET_EXEC && type != ET_DYN)
        return IMAGE_KIND_OTHER;
    if (!is_ours(header_half(bytes, offsetof(Elf64_Ehdr, e_machine)), bytes[EI_CLASS]))
        return IMAGE_KIND_MACHINE;
    if (!elf_image_read(&image, "", bytes, size, &ignored))
        return IMAGE_KIND_MALFORMED;
    if (manifest_is_in(&file))
        kind = IMAGE_KIND_INSTRUMENTED;
    else if (is_agent(&image))
        kind = IMAGE_KIND_AGENT;
    else if (elf_image_is_go(&image))
        kind = IMAGE_KIND_GO;
    elf_image_free(&image);
    return kind;
}
