#include "rewriter/elf/elf_changes.h"

#include <stddef.h>

/* What changes in the ELF header; e_phnum is followed by e_shentsize, e_shnum and e_shstrndx. */
static const struct {
    size_t offset, size;
} header_spans[] = {
    {offsetof(Elf64_Ehdr, e_phoff), sizeof(Elf64_Off)},
    {offsetof(Elf64_Ehdr, e_shoff), sizeof(Elf64_Off)},
    {offsetof(Elf64_Ehdr, e_phnum), 4 * sizeof(Elf64_Half)},
};

static bool note_code(struct change_list *list, const struct elf_image *image, uint64_t address,
                      size_t size, struct failure *failure)
{
    const uint8_t *bytes = elf_at(image, address, size);

    if (bytes && change_list_add(list, (uint64_t)(bytes - image->bytes), bytes, size))
        return true;
    return fail(failure, image->path,
                "expected its code in the first 4 GB of the file, found %#llx elsewhere",
                (unsigned long long)address);
}

bool elf_changes_collect(struct change_list *list, const struct elf_image *image,
                         const struct patch_plan *plan, struct failure *failure)
{
    for (size_t i = 0; i < sizeof header_spans / sizeof *header_spans; i++)
        change_list_add(list, header_spans[i].offset, image->bytes + header_spans[i].offset,
                        header_spans[i].size);
    if (elf_image_is_static(image))
        change_list_add(list, offsetof(Elf64_Ehdr, e_entry),
                        image->bytes + offsetof(Elf64_Ehdr, e_entry), sizeof(Elf64_Addr));
    for (size_t i = 0; i < plan->retarget_count; i++)
        if (!note_code(list, image, plan->retargets[i].field,
                       plan->retargets[i].hole ? sizeof(uint8_t) : sizeof(uint32_t), failure))
            return false;
    for (size_t i = 0; i < plan->hole_count; i++)
        if (!note_code(list, image, plan->holes[i], PATCH_JUMP_SIZE, failure))
            return false;
    return true;
}
