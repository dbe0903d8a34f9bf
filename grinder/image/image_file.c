#include "grinder/image/image_file.h"

#include <stdlib.h>
#include <string.h>

#include "grinder/image/debug_server.h"
#include "grinder/image/elf_symbols.h"
#include "image/debug_file.h"

bool image_file_open(struct image_file *image, const char *path, struct failure *failure)
{
    struct bounded_file file;
    unsigned char magic[4];
    bool is_open;

    *image = (struct image_file){0};
    if (!bounded_file_open(&file, path, failure))
        return false;
    if (bounded_file_read(&file, magic, sizeof(magic), 0) == 0 && !memcmp(magic, ELFMAG, SELFMAG)) {
        image->format = IMAGE_ELF;
        is_open = elf_open(&image->elf, file, failure);
    } else if (bounded_file_read(&file, magic, 2, 0) == 0 && !memcmp(magic, "MZ", 2)) {
        image->format = IMAGE_PE;
        is_open = pe_open(&image->pe, file, failure);
    } else {
        bounded_file_close(&file);
        is_open = fail_because(failure, "is neither an ELF nor a PE file");
    }
    if (!is_open)
        image->format = IMAGE_NONE;
    return is_open;
}

void image_file_close(struct image_file *image)
{
    switch (image->format) {
    case IMAGE_NONE:
        break;
    case IMAGE_ELF:
        elf_close(&image->elf);
        break;
    case IMAGE_PE:
        pe_close(&image->pe);
        break;
    }
    image->format = IMAGE_NONE;
}

static void *elf_section(const struct elf_file *elf, const char *name, uint64_t *size)
{
    const Elf64_Shdr *section = elf_section_named(elf, name);

    if (!section)
        return NULL;
    *size = section->sh_size;
    return elf_section_read(elf, section);
}

static void *pe_section(const struct pe_file *pe, const char *name, uint64_t *size)
{
    const struct pe_file_section *section = pe_section_named(pe, name);

    if (!section)
        return NULL;
    *size = section->size;
    return pe_section_read(pe, section);
}

void *image_file_section(const struct image_file *image, const char *name, uint64_t *size)
{
    switch (image->format) {
    case IMAGE_NONE:
        break;
    case IMAGE_ELF:
        return elf_section(&image->elf, name, size);
    case IMAGE_PE:
        return pe_section(&image->pe, name, size);
    }
    return NULL;
}

char *image_file_debug_path(const struct image_file *image, const char *const *debug_dirs,
                            const char *image_path)
{
    struct debug_marks marks = {0};
    char *path;

    marks.note = image_file_section(image, DEBUG_NOTE_SECTION, &marks.note_size);
    marks.link = image_file_section(image, DEBUG_LINK_SECTION, &marks.link_size);
    path = debug_file_find(debug_dirs, image_path, &marks);
    free(marks.note);
    free(marks.link);
    return path;
}

char *image_file_fetch_debug(const struct image_file *image, const char *name)
{
    uint64_t size = 0;
    unsigned char *note = image_file_section(image, DEBUG_NOTE_SECTION, &size);
    struct build_id id = build_id_read(note, size);
    char *path = id.size ? debug_server_find(id.bytes, id.size, name) : NULL;

    free(note);
    if (path && !build_id_is_of(path, &id)) {
        free(path);
        path = NULL;
    }
    return path;
}

int image_file_has_section(const struct image_file *image, const char *name)
{
    switch (image->format) {
    case IMAGE_NONE:
        break;
    case IMAGE_ELF:
        return elf_section_named(&image->elf, name) != NULL;
    case IMAGE_PE:
        return pe_section_named(&image->pe, name) != NULL;
    }
    return 0;
}

static const struct bounded_file *file_of(const struct image_file *image)
{
    return image->format == IMAGE_PE ? &image->pe.file : &image->elf.file;
}

bool image_file_ranges(const struct image_file *image, struct loaded_ranges *ranges)
{
    return loaded_ranges_read(ranges, file_of(image));
}

bool image_file_manifest(const struct image_file *image, struct manifest *manifest,
                         struct failure *failure)
{
    switch (manifest_load(manifest, file_of(image))) {
    case MANIFEST_WHOLE:
        return true;
    case MANIFEST_MISSING:
        return fail_because(failure, "has no instrumentation manifest");
    case MANIFEST_OF_OTHER_VERSION:
        return fail_because(failure, "was instrumented by another version");
    case MANIFEST_MALFORMED:
        break;
    }
    return fail_because(failure, "has a malformed instrumentation manifest");
}

void image_file_symbols(const struct image_file *image, const char *module,
                        struct symbol_table *table)
{
    switch (image->format) {
    case IMAGE_NONE:
        break;
    case IMAGE_ELF:
        elf_symbols_add(table, &image->elf);
        break;
    case IMAGE_PE:
        coff_symbols_add(table, &image->pe);
        pe_exports_add(table, &image->pe, module);
        pe_imports_add(table, &image->pe);
        break;
    }
}
