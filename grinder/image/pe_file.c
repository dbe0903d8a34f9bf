#include "grinder/image/pe_file.h"

#include <stdlib.h>
#include <string.h>

#include "image/pe_headers.h"
#include "support/memory.h"

#define MAX_SECTIONS 1024u /* they are searched one by one */
#define MAX_ENTRIES  64u   /* of the debug directory */
#define MAX_PATH     4096u

static bool read_headers(struct pe_file *pe, struct pe_headers *headers, struct failure *failure)
{
    uint32_t count;

    if (!pe_headers_read(headers, &pe->file, failure))
        return false;
    pe->header = headers->file;
    pe->image_base = headers->optional.image_base;
    pe->word = pe->header.machine == PE_MACHINE_I386 ? 4 : 8;
    count = (uint32_t)((headers->sections - headers->directories) / sizeof(struct pe_directory));
    if (count > headers->optional.number_of_directories)
        count = headers->optional.number_of_directories;
    if (count > PE_DIRECTORIES)
        count = PE_DIRECTORIES;
    if (bounded_file_read(&pe->file, pe->directories, count * sizeof(struct pe_directory),
                          headers->directories) < 0)
        return fail_because(failure, "is a PE file with a malformed header");
    return true;
}

static void read_strings(struct pe_file *pe)
{
    uint64_t at = pe->header.symbols + (uint64_t)pe->header.symbol_count * sizeof(struct pe_symbol);
    uint32_t size;

    if (!pe->header.symbols || bounded_file_read(&pe->file, &size, sizeof(size), at) < 0)
        return;
    pe->strings = bounded_file_copy(&pe->file, at, size);
    pe->strings_size = pe->strings ? size : 0;
}

static const char *section_name(const struct pe_file *pe, const struct pe_section *header,
                                char short_name[9])
{
    unsigned long at;

    memcpy(short_name, header->name, sizeof(header->name));
    if (*short_name != '/')
        return short_name;
    at = strtoul(short_name + 1, NULL, 10);
    return at < pe->strings_size ? pe->strings + at : short_name;
}

static bool read_sections(struct pe_file *pe, const struct pe_headers *all, struct failure *failure)
{
    size_t count = pe->header.section_count;
    struct pe_section *headers = pe_sections_copy(all, &pe->file);

    if (!headers || count > MAX_SECTIONS) {
        free(headers);
        return fail_because(failure, "is a PE file with malformed sections");
    }
    pe->sections = memory_zeroed(count, sizeof(*pe->sections));
    pe->short_names = memory_zeroed(count, sizeof(*pe->short_names));
    pe->section_count = count;
    for (size_t i = 0; i < count; i++) {
        const struct pe_section *header = &headers[i];
        pe->sections[i] = (struct pe_file_section){
            .name = section_name(pe, header, pe->short_names[i]),
            .rva = header->rva,
            .size = header->raw ? pe_section_bytes(header) : 0,
            .offset = header->raw,
            .is_code = (header->flags & PE_SECTION_EXECUTE) != 0,
        };
    }
    free(headers);
    return true;
}

bool pe_open(struct pe_file *pe, struct bounded_file file, struct failure *failure)
{
    struct pe_headers headers;

    *pe = (struct pe_file){.file = file};
    if (!read_headers(pe, &headers, failure))
        goto err;
    read_strings(pe);
    if (!read_sections(pe, &headers, failure))
        goto err;
    return true;

err:
    pe_close(pe);
    return false;
}

void pe_close(struct pe_file *pe)
{
    bounded_file_close(&pe->file);
    free(pe->sections);
    free(pe->short_names);
    free(pe->strings);
    *pe = (struct pe_file){.file.fd = -1};
}

const struct pe_file_section *pe_section_named(const struct pe_file *pe, const char *name)
{
    for (size_t i = 0; i < pe->section_count; i++)
        if (pe->sections[i].size && !strcmp(pe->sections[i].name, name))
            return &pe->sections[i];
    return NULL;
}

const struct pe_file_section *pe_section_at(const struct pe_file *pe, uint32_t rva)
{
    for (size_t i = 0; i < pe->section_count; i++)
        if (rva >= pe->sections[i].rva && rva - pe->sections[i].rva < pe->sections[i].size)
            return &pe->sections[i];
    return NULL;
}

void *pe_section_read(const struct pe_file *pe, const struct pe_file_section *section)
{
    return bounded_file_copy(&pe->file, section->offset, section->size);
}

void *pe_read(const struct pe_file *pe, uint32_t rva, uint32_t size)
{
    const struct pe_file_section *section = pe_section_at(pe, rva);

    if (!section || size > section->size - (rva - section->rva))
        return NULL;
    return bounded_file_copy(&pe->file, (uint64_t)section->offset + (rva - section->rva), size);
}

/* --- the debug directory's CodeView entry --- */

static int read_entry(const struct pe_file *pe, const struct pe_debug *entry,
                      struct pe_codeview *codeview, char **path)
{
    uint32_t size = entry->size;
    char *bytes;

    if (entry->type != PE_DEBUG_CODEVIEW || size < sizeof(*codeview))
        return -1;
    if (size > sizeof(*codeview) + MAX_PATH)
        size = sizeof(*codeview) + MAX_PATH;
    bytes = bounded_file_copy(&pe->file, entry->raw, size);
    if (!bytes)
        return -1;
    memcpy(codeview, bytes, sizeof(*codeview));
    if (codeview->signature == PE_CODEVIEW_PDB70 && size > sizeof(*codeview))
        *path = memory_copy_string(bytes + sizeof(*codeview));
    free(bytes);
    return *path ? 0 : -1;
}

int pe_codeview_read(const struct pe_file *pe, struct pe_codeview *codeview, char **path)
{
    const struct pe_directory *directory = &pe->directories[PE_DEBUG];
    uint32_t count = directory->size / (uint32_t)sizeof(struct pe_debug);
    struct pe_debug *entries;
    int result = -1;

    *path = NULL;
    if (count > MAX_ENTRIES)
        count = MAX_ENTRIES;
    entries = pe_read(pe, directory->rva, count * (uint32_t)sizeof(*entries));
    for (uint32_t i = 0; entries && result < 0 && i < count; i++)
        result = read_entry(pe, &entries[i], codeview, path);
    free(entries);
    return result;
}
