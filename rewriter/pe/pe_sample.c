#include "rewriter/pe/pe_sample.h"

#include <string.h>

#include "image/pe_wide.h"

#define NT          0x80
#define HEADERS     0x400u
#define TEXT_SIZE   0x600u
#define DATA_SIZE   0x800u
#define UNWIND      0x2200u
#define IMPORTS     0x2400u
#define LOOKUP      0x2440u
#define NAMES       0x24a0u
#define RELOCATIONS 0x2500u
#define DEBUG       0x2600u

static uint8_t *optional_of(struct pe_sample *sample)
{
    return sample->bytes + NT + 4 + sizeof(struct pe_file_header);
}

struct pe_file_header *pe_sample_file(struct pe_sample *sample)
{
    return (struct pe_file_header *)(sample->bytes + NT + 4);
}

struct pe_optional_header *pe_sample_header(struct pe_sample *sample)
{
    return (struct pe_optional_header *)optional_of(sample);
}

struct pe_directory *pe_sample_directory(struct pe_sample *sample, enum pe_directory_index index)
{
    uint8_t *directories = optional_of(sample) + pe_optional_size(pe_magic_of(sample->machine));

    return (struct pe_directory *)directories + index;
}

uint8_t *pe_sample_at(struct pe_sample *sample, uint32_t rva)
{
    if (rva >= PE_SAMPLE_DATA)
        return sample->bytes + HEADERS + TEXT_SIZE + (rva - PE_SAMPLE_DATA);
    return sample->bytes + HEADERS + (rva - PE_SAMPLE_TEXT);
}

static void put_headers(struct pe_sample *sample)
{
    uint32_t signature = PE_SIGNATURE;
    size_t size = pe_optional_size(pe_magic_of(sample->machine));
    const struct pe_file_header file = {
        .machine = sample->machine,
        .section_count = 2,
        .optional_header_size = (uint16_t)(size + PE_DIRECTORIES * sizeof(struct pe_directory)),
        .characteristics = PE_FILE_EXECUTABLE | 0x20};
    const struct pe_optional_header optional = {.magic = pe_magic_of(sample->machine),
                                                .size_of_code = TEXT_SIZE,
                                                .size_of_initialized_data = DATA_SIZE,
                                                .base_of_code = PE_SAMPLE_TEXT,
                                                .image_base = pe_sample_base(sample),
                                                .section_alignment = 0x1000,
                                                .file_alignment = 0x200,
                                                .size_of_image = 0x3000,
                                                .size_of_headers = HEADERS,
                                                .checksum = 1,
                                                .subsystem = PE_SUBSYSTEM_CUI,
                                                .dll_characteristics = PE_DYNAMIC_BASE,
                                                .number_of_directories = PE_DIRECTORIES};
    const struct pe_section sections[] = {
        {.name = ".text",
         .virtual_size = TEXT_SIZE,
         .rva = PE_SAMPLE_TEXT,
         .raw_size = TEXT_SIZE,
         .raw = HEADERS,
         .flags = PE_SECTION_CODE | PE_SECTION_EXECUTE | PE_SECTION_READ},
        {.name = ".rdata",
         .virtual_size = DATA_SIZE,
         .rva = PE_SAMPLE_DATA,
         .raw_size = DATA_SIZE,
         .raw = HEADERS + TEXT_SIZE,
         .flags = PE_SECTION_DATA | PE_SECTION_READ}};

    memcpy(sample->bytes + NT, &signature, sizeof(signature));
    *pe_sample_file(sample) = file;
    memcpy(optional_of(sample), &optional.magic, sizeof(optional.magic));
    pe_optional_write(optional_of(sample), &optional);
    memcpy(pe_sample_directory(sample, PE_DIRECTORIES), sections, sizeof(sections));
}

static void put_imports(struct pe_sample *sample)
{
    struct pe_import import = {.lookup = LOOKUP, .name = NAMES, .slots = PE_SAMPLE_SLOT};
    uint64_t lookup[] = {NAMES + 16, PE_IMPORT_BY_ORDINAL | 7, 0};
    uint32_t lookup_32[] = {NAMES + 16, PE_IMPORT_BY_ORDINAL_32 | 7, 0};
    bool is_32 = sample->machine == PE_MACHINE_I386;
    const void *entries = is_32 ? (void *)lookup_32 : lookup;
    size_t size = is_32 ? sizeof(lookup_32) : sizeof(lookup);

    memcpy(pe_sample_at(sample, IMPORTS), &import, sizeof(import));
    memcpy(pe_sample_at(sample, LOOKUP), entries, size);
    memcpy(pe_sample_at(sample, PE_SAMPLE_SLOT), entries, size);
    memcpy(pe_sample_at(sample, NAMES), "KERNEL32.dll", 13);
    memcpy(pe_sample_at(sample, NAMES + 18), "Sleep", 6);
    *pe_sample_directory(sample, PE_IMPORTS) =
        (struct pe_directory){IMPORTS, 2 * sizeof(struct pe_import)};
}

static void put_debug(struct pe_sample *sample)
{
    struct pe_debug entries[] = {
        {.type = PE_DEBUG_CODEVIEW, .size = 40, .rva = DEBUG + 64, .raw = 0x1040},
        {.type = PE_DEBUG_CHARACTERISTICS, .size = 4, .rva = DEBUG + 128, .raw = 0x1080},
    };
    uint32_t magic = PE_CODEVIEW_PDB70, characteristics = PE_CET_COMPAT | 0x40;

    memcpy(pe_sample_at(sample, DEBUG), entries, sizeof(entries));
    memcpy(pe_sample_at(sample, DEBUG + 64), &magic, sizeof(magic));
    memcpy(pe_sample_at(sample, DEBUG + 68), "0123456789abcdef\1\0\0\0a.pdb", 26);
    memcpy(pe_sample_at(sample, DEBUG + 128), &characteristics, sizeof(characteristics));
    *pe_sample_directory(sample, PE_DEBUG) = (struct pe_directory){DEBUG, sizeof(entries)};
}

uint64_t pe_sample_base(const struct pe_sample *sample)
{
    return sample->machine == PE_MACHINE_I386 ? PE_SAMPLE_BASE_32 : PE_SAMPLE_BASE;
}

static void init(struct pe_sample *sample, uint16_t machine)
{
    uint32_t nt = NT;

    *sample = (struct pe_sample){.size = PE_SAMPLE_BYTES, .unwind = UNWIND, .machine = machine};
    memcpy(sample->bytes, "MZ", 2);
    memcpy(sample->bytes + PE_DOS_LFANEW, &nt, sizeof(nt));
    put_headers(sample);
    memset(pe_sample_at(sample, PE_SAMPLE_TEXT), 0xcc, TEXT_SIZE);
    put_imports(sample);
    put_debug(sample);
}

void pe_sample_init(struct pe_sample *sample)
{
    init(sample, PE_MACHINE_X86_64);
}

void pe_sample_init_32(struct pe_sample *sample)
{
    init(sample, PE_MACHINE_I386);
}

void pe_sample_code(struct pe_sample *sample, uint32_t rva, const void *bytes, size_t size)
{
    memcpy(pe_sample_at(sample, rva), bytes, size);
}

void pe_sample_unwind(struct pe_sample *sample, uint32_t start, uint32_t end, const void *info,
                      size_t size)
{
    struct pe_directory *directory = pe_sample_directory(sample, PE_EXCEPTIONS);
    struct pe_runtime_function entry = {start, end, sample->unwind};

    directory->rva = PE_SAMPLE_DATA;
    memcpy(pe_sample_at(sample, PE_SAMPLE_DATA + directory->size), &entry, sizeof(entry));
    directory->size += sizeof(entry);
    memcpy(pe_sample_at(sample, sample->unwind), info, size);
    sample->unwind += (uint32_t)(size + 3) / 4 * 4;
}

void pe_sample_relocate(struct pe_sample *sample, uint32_t rva)
{
    struct pe_directory *directory = pe_sample_directory(sample, PE_RELOCATIONS);
    uint32_t head[2] = {rva & ~0xfffu, 0};
    unsigned type = sample->machine == PE_MACHINE_I386 ? PE_RELOCATION_32 : PE_RELOCATION_64;
    uint16_t entry = (uint16_t)(type << 12 | (rva & 0xfff));

    if (directory->size == 0)
        *directory = (struct pe_directory){RELOCATIONS, sizeof(head)};
    memcpy(pe_sample_at(sample, RELOCATIONS + directory->size), &entry, sizeof(entry));
    directory->size += sizeof(entry);
    head[1] = directory->size;
    memcpy(pe_sample_at(sample, RELOCATIONS), head, sizeof(head));
}
