#include "image/pe_headers.h"

#include <stddef.h>

#include "image/pe_wide.h"

bool pe_headers_read(struct pe_headers *headers, const struct bounded_file *file,
                     struct failure *failure)
{
    uint8_t bytes[sizeof(headers->optional)] = {0};
    uint32_t at, signature;
    uint64_t optional;
    size_t size;

    if (bounded_file_read(file, &at, sizeof(at), PE_DOS_LFANEW) < 0 ||
        bounded_file_read(file, &signature, sizeof(signature), at) < 0 ||
        signature != PE_SIGNATURE ||
        bounded_file_read(file, &headers->file, sizeof(headers->file), at + 4ull) < 0)
        return fail_because(failure, "is not a PE file");
    if (!pe_machine_is_known(headers->file.machine))
        return fail_because(failure, "is a PE file, but not for x86-64 or i386");
    size = pe_optional_size(pe_magic_of(headers->file.machine));
    optional = at + 4ull + sizeof(headers->file);
    headers->directories = optional + size;
    headers->sections = optional + headers->file.optional_header_size;
    if (headers->file.optional_header_size < size ||
        bounded_file_read(file, bytes, size, optional) < 0)
        return fail_because(failure, "is a PE file with a malformed header");
    pe_optional_read(&headers->optional, bytes);
    if (headers->optional.magic != pe_magic_of(headers->file.machine))
        return fail_because(failure, "is a PE file with a malformed header");
    return true;
}

struct pe_section *pe_sections_copy(const struct pe_headers *headers,
                                    const struct bounded_file *file)
{
    return bounded_file_copy(file, headers->sections,
                             headers->file.section_count * sizeof(struct pe_section));
}

uint32_t pe_section_bytes(const struct pe_section *section)
{
    if (section->virtual_size && section->virtual_size < section->raw_size)
        return section->virtual_size;
    return section->raw_size;
}
