#include "rewriter/elf/write/elf_changes.h"

#include <stddef.h>

static void add_header_field(struct change_list *list, const struct elf_image *image, size_t field,
                             size_t size)
{
    size_t offset = elf_record_field(image->class, ELF_HEADER, field);

    change_list_add(list, offset, image->bytes + offset, size);
}

bool elf_changes_collect(struct change_list *list, const struct elf_image *image,
                         const struct patch_plan *plan, struct failure *failure)
{
    add_header_field(list, image, offsetof(Elf64_Ehdr, e_phoff), image->class->word);
    add_header_field(list, image, offsetof(Elf64_Ehdr, e_shoff), image->class->word);
    /* and e_shentsize, e_shnum, e_shstrndx */
    add_header_field(list, image, offsetof(Elf64_Ehdr, e_phnum), 4 * sizeof(Elf64_Half));
    if (elf_image_is_static(image))
        add_header_field(list, image, offsetof(Elf64_Ehdr, e_entry), image->class->word);
    return patch_note_all(list, plan, &(struct patched_file){image->path, image->bytes}, failure);
}
