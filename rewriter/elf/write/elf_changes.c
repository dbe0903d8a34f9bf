#include "rewriter/elf/write/elf_changes.h"

#include <stddef.h>

/* What changes in the ELF header; e_phnum is followed by e_shentsize, e_shnum and e_shstrndx. */
static const struct {
    size_t offset, size;
} header_spans[] = {
    {offsetof(Elf64_Ehdr, e_phoff), sizeof(Elf64_Off)},
    {offsetof(Elf64_Ehdr, e_shoff), sizeof(Elf64_Off)},
    {offsetof(Elf64_Ehdr, e_phnum), 4 * sizeof(Elf64_Half)},
};

bool elf_changes_collect(struct change_list *list, const struct elf_image *image,
                         const struct patch_plan *plan, struct failure *failure)
{
    for (size_t i = 0; i < sizeof(header_spans) / sizeof(*header_spans); i++)
        change_list_add(list, header_spans[i].offset, image->bytes + header_spans[i].offset,
                        header_spans[i].size);
    if (elf_image_is_static(image))
        change_list_add(list, offsetof(Elf64_Ehdr, e_entry),
                        image->bytes + offsetof(Elf64_Ehdr, e_entry), sizeof(Elf64_Addr));
    return patch_note_all(list, plan, &(struct patched_file){image->path, image->bytes}, failure);
}
