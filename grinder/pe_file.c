#include "grinder/pe_file.h"

#include <stdlib.h>
#include <string.h>

#include "grinder/memory.h"

#define MAX_DIRECTORIES 16u
#define MAX_SECTIONS    1024u /* they are searched one by one */

static int read_headers(struct pe_file *pe, uint32_t *sections_at, const char **why)
{
    struct pe_optional_header optional;
    uint32_t at, signature, count;

    *why = "is not a PE file";
    if (bounded_file_read(&pe->file, &at, sizeof(at), PE_OFFSET_AT) < 0 ||
        bounded_file_read(&pe->file, &signature, sizeof(signature), at) < 0 ||
        signature != PE_SIGNATURE ||
        bounded_file_read(&pe->file, &pe->header, sizeof(pe->header), at + 4ull) < 0)
        return -1;
    at += 4 + (uint32_t)sizeof(pe->header);
    *why = "is a PE file, but not for x86-64";
    if (pe->header.machine != PE_MACHINE_AMD64)
        return -1;
    *why = "is a PE file with a malformed header";
    if (pe->header.optional_size < sizeof(optional) ||
        bounded_file_read(&pe->file, &optional, sizeof(optional), at) < 0 ||
        optional.magic != PE_MAGIC_PLUS)
        return -1;
    count = (pe->header.optional_size - (uint32_t)sizeof(optional)) / sizeof(struct pe_directory);
    if (count > optional.directory_count)
        count = optional.directory_count;
    if (count > MAX_DIRECTORIES)
        count = MAX_DIRECTORIES;
    if (bounded_file_read(&pe->file, pe->directories, count * sizeof(struct pe_directory),
                          at + sizeof(optional)) < 0)
        return -1;
    pe->image_base = optional.image_base;
    *sections_at = at + pe->header.optional_size;
    return 0;
}

static void read_strings(struct pe_file *pe)
{
    uint64_t at =
        pe->header.symbols + (uint64_t)pe->header.symbol_count * sizeof(struct coff_symbol);
    uint32_t size;

    if (!pe->header.symbols || bounded_file_read(&pe->file, &size, sizeof(size), at) < 0)
        return;
    pe->strings = bounded_file_copy(&pe->file, at, size);
    pe->strings_size = pe->strings ? size : 0;
}

static const char *section_name(const struct pe_file *pe, const struct pe_section_header *header,
                                char short_name[9])
{
    unsigned long at;

    memcpy(short_name, header->name, sizeof(header->name));
    if (*short_name != '/')
        return short_name;
    at = strtoul(short_name + 1, NULL, 10);
    return at < pe->strings_size ? pe->strings + at : short_name;
}

static int read_sections(struct pe_file *pe, uint32_t at, const char **why)
{
    size_t count = pe->header.section_count;
    struct pe_section_header *headers = bounded_file_copy(&pe->file, at, count * sizeof(*headers));

    *why = "is a PE file with malformed sections";
    if (!headers || count > MAX_SECTIONS) {
        free(headers);
        return -1;
    }
    pe->sections = memory_zeroed(count, sizeof(*pe->sections));
    pe->short_names = memory_zeroed(count, sizeof(*pe->short_names));
    pe->section_count = count;
    for (size_t i = 0; i < count; i++) {
        const struct pe_section_header *header = &headers[i];
        uint32_t size = header->raw_size;
        if (header->virtual_size && header->virtual_size < size)
            size = header->virtual_size;
        pe->sections[i] = (struct pe_section){
            .name = section_name(pe, header, pe->short_names[i]),
            .rva = header->rva,
            .size = header->raw ? size : 0,
            .offset = header->raw,
            .is_code = (header->flags & PE_SECTION_CODE) != 0,
        };
    }
    free(headers);
    return 0;
}

int pe_open(struct pe_file *pe, struct bounded_file file, const char **why)
{
    uint32_t sections_at = 0;

    *pe = (struct pe_file){.file = file};
    if (read_headers(pe, &sections_at, why) < 0)
        goto err;
    read_strings(pe);
    if (read_sections(pe, sections_at, why) < 0)
        goto err;
    return 0;

err:
    pe_close(pe);
    return -1;
}

void pe_close(struct pe_file *pe)
{
    bounded_file_close(&pe->file);
    free(pe->sections);
    free(pe->short_names);
    free(pe->strings);
    *pe = (struct pe_file){.file.fd = -1};
}

const struct pe_section *pe_section_named(const struct pe_file *pe, const char *name)
{
    for (size_t i = 0; i < pe->section_count; i++)
        if (pe->sections[i].size && !strcmp(pe->sections[i].name, name))
            return &pe->sections[i];
    return NULL;
}

const struct pe_section *pe_section_at(const struct pe_file *pe, uint32_t rva)
{
    for (size_t i = 0; i < pe->section_count; i++)
        if (rva >= pe->sections[i].rva && rva - pe->sections[i].rva < pe->sections[i].size)
            return &pe->sections[i];
    return NULL;
}

void *pe_section_read(const struct pe_file *pe, const struct pe_section *section)
{
    return bounded_file_copy(&pe->file, section->offset, section->size);
}

void *pe_read(const struct pe_file *pe, uint32_t rva, uint32_t size)
{
    const struct pe_section *section = pe_section_at(pe, rva);

    if (!section || size > section->size - (rva - section->rva))
        return NULL;
    return bounded_file_copy(&pe->file, (uint64_t)section->offset + (rva - section->rva), size);
}
