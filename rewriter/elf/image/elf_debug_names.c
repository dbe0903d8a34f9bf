#include "rewriter/elf/image/elf_debug_names.h"

#include <stdlib.h>

#include "image/debug_file.h"
#include "image/elf_file.h"

/* A section's content within the image; null if it has none. */
static void *content_of(const struct elf_image *image, const char *name, uint64_t *size)
{
    const Elf64_Shdr *section = elf_section(image, name);

    if (!section || section->sh_type == SHT_NOBITS || section->sh_offset > image->size ||
        section->sh_size > image->size - section->sh_offset)
        return NULL;
    *size = section->sh_size;
    return image->bytes + section->sh_offset;
}

static char *find_file(const struct elf_image *image)
{
    const char *const no_dirs[] = {NULL};
    struct debug_marks marks = {0};
    char *absolute = realpath(image->path, NULL), *path;

    marks.note = content_of(image, DEBUG_NOTE_SECTION, &marks.note_size);
    marks.link = content_of(image, DEBUG_LINK_SECTION, &marks.link_size);
    path = absolute ? debug_file_find(no_dirs, absolute, &marks) : NULL;
    free(absolute);
    return path;
}

static void read_symbols(struct elf_debug_names *names, const struct elf_file *file)
{
    const Elf64_Shdr *symbols = elf_section_of_type(file, SHT_SYMTAB);

    if (!symbols || symbols->sh_link >= file->section_count ||
        file->header.e_ident[EI_CLASS] != names->symbols.image->class->identity)
        return;
    names->symbols.bytes = elf_section_read(file, symbols);
    names->strings.bytes = elf_section_read(file, &file->sections[symbols->sh_link]);
    if (!names->symbols.bytes || !names->strings.bytes)
        return;
    names->symbols.count =
        symbols->sh_size / elf_record_size(names->symbols.image->class, ELF_SYMBOL);
    names->strings.count = file->sections[symbols->sh_link].sh_size;
}

void elf_debug_names_read(struct elf_debug_names *names, const struct elf_image *image)
{
    struct bounded_file file;
    struct elf_file elf;
    struct failure failure;
    char *path;

    if (names->is_read)
        return;
    names->is_read = true;
    names->symbols.image = image;
    path = find_file(image);
    if (path && bounded_file_open(&file, path, &failure) && elf_open(&elf, file, &failure)) {
        read_symbols(names, &elf);
        elf_close(&elf);
    }
    free(path);
}

void elf_debug_names_free(struct elf_debug_names *names)
{
    free((void *)(uintptr_t)names->symbols.bytes);
    free((void *)(uintptr_t)names->strings.bytes);
    *names = (struct elf_debug_names){0};
}

static bool is_function(const Elf64_Sym *symbol)
{
    int type = ELF64_ST_TYPE(symbol->st_info);

    return (type == STT_FUNC || type == STT_GNU_IFUNC) && symbol->st_shndx != SHN_UNDEF;
}

void elf_debug_names_give(const struct elf_debug_names *names, struct function_list *functions,
                          bool may_add)
{
    size_t known = functions->count;

    for (size_t i = 0; i < names->symbols.count; i++) {
        Elf64_Sym symbol = elf_symbol(names->symbols, i);
        const char *name = elf_string(names->strings, symbol.st_name);
        struct function_list settled = {.items = functions->items, .count = known};
        struct function *function;

        if (!is_function(&symbol) || !name || !*name)
            continue;
        function = function_list_at(&settled, symbol.st_value);
        if (function && !function->name)
            function->name = name;
        else if (!function && may_add)
            function_list_add(functions, (struct function){.address = symbol.st_value,
                                                           .end = symbol.st_value + symbol.st_size,
                                                           .name = name});
    }
    if (functions->count > known)
        function_list_settle(functions);
}
