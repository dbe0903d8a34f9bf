#include "rewriter/pe/pe_headers.h"

#include <string.h>

#include "image/pe_wide.h"
#include "rewriter/pe/pe_room.h"
#include "trace/image_manifest.h"

static uint32_t align_up(uint64_t number, uint32_t alignment)
{
    return (uint32_t)((number + alignment - 1) / alignment * alignment);
}

struct pe_files pe_headers_place(const struct pe_layout *layout)
{
    uint32_t alignment = layout->image->header.file_alignment;
    struct pe_files files = {.stubs = align_up(layout->image->size, alignment)};

    files.tables = align_up((uint64_t)files.stubs + layout->stubs.code.size, alignment);
    files.header = align_up((uint64_t)files.tables + layout->tables.size, alignment);
    files.end = align_up((uint64_t)files.header + sizeof(struct image_header), alignment);
    return files;
}

static void write_sections(const struct pe_layout *layout, const struct pe_files *files)
{
    const struct pe_image *image = layout->image;
    struct pe_section sections[PE_NEW_SECTIONS] = {
        {.name = IMAGE_PE_STUBS,
         .virtual_size = (uint32_t)layout->stubs.code.size,
         .rva = layout->stubs_rva,
         .raw_size = files->tables - files->stubs,
         .raw = files->stubs,
         .flags = PE_SECTION_CODE | PE_SECTION_EXECUTE | PE_SECTION_READ},
        {.name = IMAGE_PE_MANIFEST,
         .virtual_size = (uint32_t)layout->tables.size,
         .rva = layout->tables_rva,
         .raw_size = files->header - files->tables,
         .raw = files->tables,
         .flags = PE_SECTION_DATA | PE_SECTION_READ},
        {.name = IMAGE_PE_HEADER,
         .virtual_size = sizeof(struct image_header),
         .rva = layout->header_rva,
         .raw_size = files->end - files->header,
         .raw = files->header,
         .flags = PE_SECTION_DATA | PE_SECTION_READ | PE_SECTION_WRITE},
    };

    memcpy(image->bytes + image->section_table + image->section_count * sizeof(*sections), sections,
           sizeof(sections));
}

static void set_directory(struct pe_directory *directories, enum pe_directory_index index,
                          const struct pe_layout *layout, const struct pe_part *part)
{
    directories[index] = (struct pe_directory){0};
    if (part && part->size)
        directories[index] = (struct pe_directory){layout->tables_rva + (uint32_t)part->offset,
                                                   (uint32_t)part->size};
}

void pe_shadow_stack_clear(const struct pe_image *image)
{
    uint8_t *bytes = pe_shadow_stack_word(image);
    uint32_t word;

    if (!bytes)
        return;
    memcpy(&word, bytes, sizeof(word));
    word &= ~PE_CET_COMPAT;
    memcpy(bytes, &word, sizeof(word));
}

void pe_headers_write(const struct pe_layout *layout, const struct pe_files *files)
{
    const struct pe_image *image = layout->image;
    struct pe_file_header file = image->file;
    struct pe_optional_header header = image->header;
    struct pe_directory directories[PE_DIRECTORIES];

    write_sections(layout, files);
    file.section_count += PE_NEW_SECTIONS;
    header.size_of_code += files->tables - files->stubs;
    header.size_of_initialized_data += files->end - files->tables;
    header.size_of_image = layout->header_rva + header.section_alignment;
    header.checksum = 0;
    memcpy(directories, image->directory, sizeof(directories));
    set_directory(directories, PE_IMPORTS, layout, &layout->imports);
    if (!pe_is_32(image))
        set_directory(directories, PE_EXCEPTIONS, layout, &layout->exceptions);
    if (layout->relocations.size)
        set_directory(directories, PE_RELOCATIONS, layout, &layout->relocations);
    set_directory(directories, PE_CERTIFICATES, layout, NULL);
    set_directory(directories, PE_BOUND_IMPORTS, layout, NULL);
    memcpy(image->bytes + image->nt + 4, &file, sizeof(file));
    pe_optional_write(image->bytes + image->optional, &header);
    memcpy(image->bytes + image->directories, directories, sizeof(directories));
}
