#include "rewriter/pe/pe_image.h"

#include <stdlib.h>
#include <string.h>

#include "image/pe_headers.h"
#include "image/pe_wide.h"
#include "support/memory.h"

typedef unsigned long long ull;

#define WANTED      "a PE program or library for x86-64 or i386"
#define BASE_LIMIT  (1ull << 47) /* of user space */
#define IMAGE_LIMIT 0x7f000000u

static const struct {
    uint16_t machine;
    const char *name;
} machines[] = {
    {0x1c0, "arm"},    {0x1c4, "arm"},      {0x200, "ia64"},
    {0xaa64, "arm64"}, {0xa641, "arm64ec"}, {0x5064, "riscv64"},
};

bool pe_is_pe(const uint8_t *bytes, size_t size)
{
    return size >= 2 && memcmp(bytes, "MZ", 2) == 0;
}

/* Offset of the signature; 0 if there is none. */
static uint32_t nt_offset(const uint8_t *bytes, size_t size)
{
    uint32_t offset, signature;

    if (!pe_is_pe(bytes, size) || size < PE_DOS_SIZE)
        return 0;
    memcpy(&offset, bytes + PE_DOS_LFANEW, sizeof(offset));
    if (offset > size || size - offset < sizeof(signature) + sizeof(struct pe_file_header))
        return 0;
    memcpy(&signature, bytes + offset, sizeof(signature));
    return signature == PE_SIGNATURE ? offset : 0;
}

uint16_t pe_machine(const uint8_t *bytes, size_t size)
{
    uint32_t offset = nt_offset(bytes, size);
    uint16_t machine = 0;

    if (offset)
        memcpy(&machine, bytes + offset + 4, sizeof(machine));
    return machine;
}

/* A CLR header in the data directory, whose place depends on the magic number. */
bool pe_has_clr_header(const uint8_t *bytes, size_t size)
{
    size_t optional = nt_offset(bytes, size) + 4 + sizeof(struct pe_file_header), at;
    struct pe_file_header file;
    uint16_t magic = 0;
    uint32_t rva = 0;

    if (!nt_offset(bytes, size))
        return false;
    memcpy(&file, bytes + optional - sizeof(file), sizeof(file));
    if (file.optional_header_size < sizeof(magic) || size - optional < sizeof(magic))
        return false;
    memcpy(&magic, bytes + optional, sizeof(magic));
    at = pe_optional_size(magic) + PE_CLR * sizeof(struct pe_directory);
    if (!pe_optional_size(magic) || at + sizeof(rva) > file.optional_header_size ||
        at + sizeof(rva) > size - optional)
        return false;
    memcpy(&rva, bytes + optional + at, sizeof(rva));
    return rva;
}

static bool refuse_machine(const struct pe_image *image, uint16_t machine, struct failure *failure)
{
    for (size_t i = 0; i < sizeof(machines) / sizeof(*machines); i++)
        if (machines[i].machine == machine)
            return fail(failure, image->path,
                        "expected " WANTED ", found one for %s; build it for "
                        "x86-64",
                        machines[i].name);
    return fail(failure, image->path, "expected " WANTED ", found one for machine number %#x",
                machine);
}

static bool read_headers(struct pe_image *image, struct failure *failure)
{
    size_t room, optional_size;

    image->nt = nt_offset(image->bytes, image->size);
    if (!image->nt)
        return fail(failure, image->path,
                    "expected " WANTED ", found an MS-DOS program, or one that is truncated");
    memcpy(&image->file, image->bytes + image->nt + 4, sizeof(image->file));
    if (image->file.machine != PE_MACHINE_X86_64 && pe_has_clr_header(image->bytes, image->size))
        return fail(failure, image->path, PE_FOUND_CLR);
    if (!pe_machine_is_known(image->file.machine))
        return refuse_machine(image, image->file.machine, failure);
    if (!(image->file.characteristics & PE_FILE_EXECUTABLE))
        return fail(failure, image->path, "expected " WANTED ", found an object; link it first");
    image->optional = image->nt + 4 + sizeof(image->file);
    image->processor = image->file.machine == PE_MACHINE_I386 ? &processor_i386 : &processor_x86_64;
    optional_size = pe_optional_size(pe_magic_of(image->file.machine));
    image->directories = image->optional + optional_size;
    image->section_table = image->optional + image->file.optional_header_size;
    room = image->file.section_count * sizeof(struct pe_section);
    if (image->file.optional_header_size < optional_size || image->section_table > image->size ||
        image->size - image->section_table < room)
        return fail(failure, image->path, "truncated: the file ends in its headers");
    pe_optional_read(&image->header, image->bytes + image->optional);
    return true;
}

static bool is_power_of_two(uint32_t number)
{
    return number && !(number & (number - 1));
}

static bool check_headers(struct pe_image *image, struct failure *failure)
{
    const struct pe_optional_header *header = &image->header;
    size_t room = image->section_table - image->directories;

    if (header->magic != pe_magic_of(image->file.machine))
        return fail(failure, image->path, "expected %s (magic %#x), found %#x",
                    pe_is_32(image) ? "PE32" : "PE32+", pe_magic_of(image->file.machine),
                    header->magic);
    if (header->section_alignment < 4096 || !is_power_of_two(header->section_alignment) ||
        header->section_alignment > 1u << 24 || !is_power_of_two(header->file_alignment) ||
        header->file_alignment < PE_MIN_RAW_ALIGNMENT || header->file_alignment > 65536)
        return fail(failure, image->path,
                    "expected sections aligned to pages and 512 bytes of the file, found %#x and "
                    "%#x",
                    header->section_alignment, header->file_alignment);
    if (header->image_base % 65536 || header->image_base >= BASE_LIMIT ||
        header->size_of_image > IMAGE_LIMIT ||
        (pe_is_32(image) && header->image_base + header->size_of_image > UINT32_MAX))
        return fail(failure, image->path, "malformed: image base %#llx, size %#x",
                    (ull)header->image_base, header->size_of_image);
    if (header->size_of_headers > image->size ||
        header->size_of_headers <
            image->section_table + image->file.section_count * sizeof(struct pe_section))
        return fail(failure, image->path, "malformed: headers of %#x bytes",
                    header->size_of_headers);
    if (image->file.section_count == 0 || image->file.section_count > PE_MAX_SECTIONS)
        return fail(failure, image->path, "expected 1 to %d sections, found %u", PE_MAX_SECTIONS,
                    image->file.section_count);
    if (header->number_of_directories < PE_DIRECTORIES || room < sizeof(image->directory))
        return fail(failure, image->path, "expected %d data directories, found %u", PE_DIRECTORIES,
                    header->number_of_directories);
    memcpy(image->directory, image->bytes + image->directories, sizeof(image->directory));
    return true;
}

static uint32_t memory_size(const struct pe_section *section)
{
    return section->virtual_size ? section->virtual_size : section->raw_size;
}

static bool is_section_sound(const struct pe_image *image, const struct pe_section *section,
                             uint64_t end)
{
    uint64_t raw_end = (uint64_t)section->raw + section->raw_size;

    return section->rva >= end && section->rva % image->header.section_alignment == 0 &&
           (uint64_t)section->rva + memory_size(section) <= IMAGE_LIMIT &&
           (section->raw_size == 0 || (section->raw % PE_MIN_RAW_ALIGNMENT == 0 &&
                                       raw_end <= image->size && section->raw >= PE_DOS_SIZE));
}

/* Whether two sections take the same bytes of the file, and one of them executes them. */
static bool has_shared_code(const struct pe_section *a, const struct pe_section *b)
{
    return (a->flags | b->flags) & PE_SECTION_EXECUTE &&
           a->raw < (uint64_t)b->raw + pe_section_bytes(b) &&
           b->raw < (uint64_t)a->raw + pe_section_bytes(a) && pe_section_bytes(a) &&
           pe_section_bytes(b);
}

/* A patch in the one would be one in the other. */
static bool check_apart(const struct pe_image *image, size_t index, struct failure *failure)
{
    for (size_t i = 0; i < index; i++)
        if (has_shared_code(&image->sections[i], &image->sections[index]))
            return fail(failure, image->path,
                        "expected code in one section only, found sections %zu and %zu, at RVA %#x "
                        "and %#x, over the same bytes of the file; link or unpack it anew",
                        i + 1, index + 1, image->sections[i].rva, image->sections[index].rva);
    return true;
}

static bool read_sections(struct pe_image *image, struct failure *failure)
{
    uint64_t end = image->header.size_of_headers, page = image->header.section_alignment;

    image->section_count = image->file.section_count;
    image->sections = memory_zeroed(image->section_count, sizeof(*image->sections));
    memcpy(image->sections, image->bytes + image->section_table,
           image->section_count * sizeof(*image->sections));
    for (size_t i = 0; i < image->section_count; i++) {
        const struct pe_section *section = &image->sections[i];

        if (!is_section_sound(image, section, end))
            return fail(failure, image->path,
                        "malformed: section %zu at RVA %#x, byte %#x, lies outside the file or "
                        "over another",
                        i + 1, section->rva, section->raw);
        if (!check_apart(image, i, failure))
            return false;
        end = (uint64_t)section->rva + memory_size(section);
    }
    image->base = image->header.image_base;
    image->end = image->base + (end + page - 1) / page * page;
    return true;
}

bool pe_image_read(struct pe_image *image, const char *path, uint8_t *bytes, size_t size,
                   struct failure *failure)
{
    *image = (struct pe_image){.path = path, .bytes = bytes, .size = size};
    if (read_headers(image, failure) && check_headers(image, failure) &&
        read_sections(image, failure))
        return true;
    pe_image_free(image);
    return false;
}

void pe_image_free(struct pe_image *image)
{
    free(image->sections);
    image->sections = NULL;
    image->section_count = 0;
}

const struct pe_section *pe_section_at(const struct pe_image *image, uint32_t rva)
{
    for (size_t i = 0; i < image->section_count; i++)
        if (rva - image->sections[i].rva < memory_size(&image->sections[i]) &&
            rva >= image->sections[i].rva)
            return &image->sections[i];
    return NULL;
}

uint64_t pe_available(const struct pe_image *image, uint32_t rva)
{
    const struct pe_section *section = pe_section_at(image, rva);
    uint32_t offset = section ? rva - section->rva : 0;

    return section && offset < pe_section_bytes(section) ? pe_section_bytes(section) - offset : 0;
}

uint8_t *pe_at_rva(const struct pe_image *image, uint32_t rva, uint64_t size)
{
    const struct pe_section *section = pe_section_at(image, rva);

    if (!section || size > pe_available(image, rva) || size == 0)
        return NULL;
    return image->bytes + section->raw + (rva - section->rva);
}

uint8_t *pe_at(const struct pe_image *image, uint64_t address, uint64_t size)
{
    uint64_t rva = address - image->base;

    return rva <= UINT32_MAX ? pe_at_rva(image, (uint32_t)rva, size) : NULL;
}

bool pe_is_executable(const struct pe_image *image, uint64_t address)
{
    uint64_t rva = address - image->base;
    const struct pe_section *section =
        rva <= UINT32_MAX ? pe_section_at(image, (uint32_t)rva) : NULL;

    return section && section->flags & PE_SECTION_EXECUTE;
}

bool pe_is_32(const struct pe_image *image)
{
    return image->processor->pointer_size == sizeof(uint32_t);
}

uint64_t pe_word(const struct pe_image *image, const uint8_t *bytes)
{
    uint64_t word = 0;

    memcpy(&word, bytes, image->processor->pointer_size);
    return word;
}

uint64_t pe_import_by_ordinal(const struct pe_image *image)
{
    return pe_is_32(image) ? PE_IMPORT_BY_ORDINAL_32 : PE_IMPORT_BY_ORDINAL;
}

const char *pe_string(const struct pe_image *image, uint32_t rva)
{
    uint64_t room = pe_available(image, rva);
    const uint8_t *bytes = pe_at_rva(image, rva, room);

    return bytes && memchr(bytes, 0, room) ? (const char *)bytes : NULL;
}

struct pe_table pe_directory_table(const struct pe_image *image, enum pe_directory_index index,
                                   size_t entry_size)
{
    const struct pe_directory *directory = &image->directory[index];
    struct pe_table table = {pe_at_rva(image, directory->rva, directory->size),
                             directory->size / entry_size};

    return table.bytes && directory->rva ? table : (struct pe_table){0};
}

uint64_t pe_raw_end(const struct pe_image *image)
{
    uint64_t end = image->header.size_of_headers;

    for (size_t i = 0; i < image->section_count; i++) {
        uint64_t raw_end = (uint64_t)image->sections[i].raw + image->sections[i].raw_size;

        if (image->sections[i].raw_size && raw_end > end)
            end = raw_end;
    }
    return end;
}

struct pe_table pe_symbols(const struct pe_image *image)
{
    uint64_t size = (uint64_t)image->file.symbol_count * sizeof(struct pe_symbol);
    uint64_t offset = image->file.symbols;

    if (!offset || !size || offset > image->size || size > image->size - offset)
        return (struct pe_table){0};
    return (struct pe_table){image->bytes + offset, image->file.symbol_count};
}

struct pe_table pe_symbol_strings(const struct pe_image *image)
{
    struct pe_table symbols = pe_symbols(image), strings;
    uint32_t size;

    if (!symbols.bytes)
        return symbols;
    strings.bytes = symbols.bytes + symbols.count * sizeof(struct pe_symbol);
    strings.count = image->size - (size_t)(strings.bytes - image->bytes);
    if (strings.count < sizeof(size))
        return (struct pe_table){0};
    memcpy(&size, strings.bytes, sizeof(size));
    if (size < strings.count)
        strings.count = size;
    return strings;
}

bool pe_debug_find(const struct pe_image *image, uint32_t type, struct pe_debug *entry)
{
    struct pe_table table = pe_directory_table(image, PE_DEBUG, sizeof(*entry));

    for (size_t i = 0; i < table.count; i++) {
        memcpy(entry, table.bytes + i * sizeof(*entry), sizeof(*entry));
        if (entry->type == type)
            return true;
    }
    return false;
}

uint8_t *pe_shadow_stack_word(const struct pe_image *image)
{
    struct pe_debug entry;
    uint8_t *bytes;
    uint32_t word;

    if (!pe_debug_find(image, PE_DEBUG_CHARACTERISTICS, &entry) ||
        !(bytes = pe_at_rva(image, entry.rva, sizeof(word))))
        return NULL;
    memcpy(&word, bytes, sizeof(word));
    return word & PE_CET_COMPAT ? bytes : NULL;
}

struct pe_table pe_build_id(const struct pe_image *image)
{
    struct pe_debug entry;
    const uint8_t *bytes;
    uint32_t magic;

    if (!pe_debug_find(image, PE_DEBUG_CODEVIEW, &entry) || entry.size < 4 + PE_BUILD_ID_SIZE)
        return (struct pe_table){0};
    bytes = pe_at_rva(image, entry.rva, 4 + PE_BUILD_ID_SIZE);
    if (!bytes)
        return (struct pe_table){0};
    memcpy(&magic, bytes, sizeof(magic));
    if (magic != PE_CODEVIEW_PDB70)
        return (struct pe_table){0};
    return (struct pe_table){bytes + 4, PE_BUILD_ID_SIZE};
}
