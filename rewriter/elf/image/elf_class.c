#include "rewriter/elf/image/elf_class.h"

#include <string.h>

/* A field in the file's form and in the wide one; both are little endian. */
struct field {
    uint8_t at, size, wide_at, wide_size;
};

struct elf_record_layout {
    size_t size, wide_size;
    const struct field *fields; /* null: the file's form is the wide one */
    size_t field_count;
};

#define SIZE_OF(type, name) sizeof(((type *)0)->name)
#define FIELD(type, name)                                                                          \
    {                                                                                              \
        offsetof(Elf32_##type, name), SIZE_OF(Elf32_##type, name), offsetof(Elf64_##type, name),   \
            SIZE_OF(Elf64_##type, name)                                                            \
    }

static const struct field header_fields[] = {
    FIELD(Ehdr, e_ident),     FIELD(Ehdr, e_type),     FIELD(Ehdr, e_machine),
    FIELD(Ehdr, e_version),   FIELD(Ehdr, e_entry),    FIELD(Ehdr, e_phoff),
    FIELD(Ehdr, e_shoff),     FIELD(Ehdr, e_flags),    FIELD(Ehdr, e_ehsize),
    FIELD(Ehdr, e_phentsize), FIELD(Ehdr, e_phnum),    FIELD(Ehdr, e_shentsize),
    FIELD(Ehdr, e_shnum),     FIELD(Ehdr, e_shstrndx),
};

static const struct field segment_fields[] = {
    FIELD(Phdr, p_type),  FIELD(Phdr, p_flags),  FIELD(Phdr, p_offset), FIELD(Phdr, p_vaddr),
    FIELD(Phdr, p_paddr), FIELD(Phdr, p_filesz), FIELD(Phdr, p_memsz),  FIELD(Phdr, p_align),
};

static const struct field section_fields[] = {
    FIELD(Shdr, sh_name),      FIELD(Shdr, sh_type),    FIELD(Shdr, sh_flags), FIELD(Shdr, sh_addr),
    FIELD(Shdr, sh_offset),    FIELD(Shdr, sh_size),    FIELD(Shdr, sh_link),  FIELD(Shdr, sh_info),
    FIELD(Shdr, sh_addralign), FIELD(Shdr, sh_entsize),
};

static const struct field dynamic_fields[] = {
    FIELD(Dyn, d_tag),
    FIELD(Dyn, d_un.d_val),
};

static const struct field symbol_fields[] = {
    FIELD(Sym, st_name),  FIELD(Sym, st_info),  FIELD(Sym, st_other),
    FIELD(Sym, st_shndx), FIELD(Sym, st_value), FIELD(Sym, st_size),
};

/* r_info is split at another bit: widen_info. */
static const struct field relocation_fields[] = {
    FIELD(Rel, r_offset),
    FIELD(Rel, r_info),
};

_Static_assert(offsetof(Elf64_Rel, r_info) == offsetof(Elf64_Rela, r_info),
               "an Elf64_Rel is the beginning of an Elf64_Rela");

#define NARROW(type, wide, fields)                                                                 \
    {                                                                                              \
        sizeof(Elf32_##type), sizeof(Elf64_##wide), fields, sizeof(fields) / sizeof(*(fields))     \
    }
#define WIDE(type)                                                                                 \
    {                                                                                              \
        sizeof(Elf64_##type), sizeof(Elf64_##type), NULL, 0                                        \
    }

static const struct elf_record_layout records_32[ELF_RECORDS] = {
    [ELF_HEADER] = NARROW(Ehdr, Ehdr, header_fields),
    [ELF_SEGMENT] = NARROW(Phdr, Phdr, segment_fields),
    [ELF_SECTION] = NARROW(Shdr, Shdr, section_fields),
    [ELF_DYNAMIC] = NARROW(Dyn, Dyn, dynamic_fields),
    [ELF_SYMBOL] = NARROW(Sym, Sym, symbol_fields),
    [ELF_RELOCATION] = NARROW(Rel, Rela, relocation_fields),
};

static const struct elf_record_layout records_64[ELF_RECORDS] = {
    [ELF_HEADER] = WIDE(Ehdr), [ELF_SEGMENT] = WIDE(Phdr), [ELF_SECTION] = WIDE(Shdr),
    [ELF_DYNAMIC] = WIDE(Dyn), [ELF_SYMBOL] = WIDE(Sym),   [ELF_RELOCATION] = WIDE(Rela),
};

const struct elf_class elf_class_x86_64 = {
    .processor = &processor_x86_64,
    .machine = EM_X86_64,
    .identity = ELFCLASS64,
    .word = 8,
    .highest_address = INT64_MAX,
    .records = records_64,
    .has_addends = true,
    .relocations = {DT_RELA, DT_RELASZ, DT_RELAENT, DT_RELACOUNT, SHT_RELA, R_X86_64_RELATIVE,
                    R_X86_64_IRELATIVE, R_X86_64_GLOB_DAT, R_X86_64_JUMP_SLOT, R_X86_64_COPY},
    .unwind = {.stack_pointer = 7, .frame_pointer = 6, .return_address = 16},
};

const struct elf_class elf_class_i386 = {
    .processor = &processor_i386,
    .machine = EM_386,
    .identity = ELFCLASS32,
    .word = 4,
    .highest_address = UINT32_MAX,
    .records = records_32,
    .has_addends = false,
    .counts_from_got = true,
    .relocations = {DT_REL, DT_RELSZ, DT_RELENT, DT_RELCOUNT, SHT_REL, R_386_RELATIVE,
                    R_386_IRELATIVE, R_386_GLOB_DAT, R_386_JMP_SLOT, R_386_COPY},
    .unwind = {.stack_pointer = 4, .frame_pointer = 5, .return_address = 8},
};

const struct elf_class *elf_class_of(const uint8_t *bytes, size_t size)
{
    static const struct elf_class *const classes[] = {&elf_class_x86_64, &elf_class_i386};
    uint16_t machine;

    if (size < EI_NIDENT || memcmp(bytes, ELFMAG, SELFMAG) != 0 || bytes[EI_DATA] != ELFDATA2LSB)
        return NULL;
    for (size_t i = 0; i < sizeof(classes) / sizeof(*classes); i++) {
        if (bytes[EI_CLASS] != classes[i]->identity ||
            size < elf_record_size(classes[i], ELF_HEADER))
            continue;
        memcpy(&machine, bytes + offsetof(Elf32_Ehdr, e_machine), sizeof(machine));
        if (machine == classes[i]->machine)
            return classes[i];
    }
    return NULL;
}

size_t elf_record_size(const struct elf_class *class, enum elf_record kind)
{
    return class->records[kind].size;
}

size_t elf_record_field(const struct elf_class *class, enum elf_record kind, size_t wide)
{
    const struct elf_record_layout *layout = &class->records[kind];

    for (size_t i = 0; i < layout->field_count; i++)
        if (layout->fields[i].wide_at == wide)
            return layout->fields[i].at;
    return wide;
}

static void widen_info(Elf64_Rela *relocation)
{
    uint32_t info = (uint32_t)relocation->r_info;

    relocation->r_info = ELF64_R_INFO((uint64_t)ELF32_R_SYM(info), ELF32_R_TYPE(info));
}

static uint64_t narrow_info(const Elf64_Rela *relocation)
{
    return ELF32_R_INFO(ELF64_R_SYM(relocation->r_info), ELF64_R_TYPE(relocation->r_info));
}

void elf_record_read(const struct elf_class *class, enum elf_record kind, void *wide,
                     const uint8_t *bytes)
{
    const struct elf_record_layout *layout = &class->records[kind];
    uint8_t *to = wide;

    if (!layout->fields) {
        memcpy(wide, bytes, layout->size);
        return;
    }
    memset(wide, 0, layout->wide_size);
    for (size_t i = 0; i < layout->field_count; i++)
        memcpy(to + layout->fields[i].wide_at, bytes + layout->fields[i].at,
               layout->fields[i].size);
    if (kind == ELF_RELOCATION)
        widen_info(wide);
}

void elf_record_write(const struct elf_class *class, enum elf_record kind, const void *wide,
                      uint8_t *bytes)
{
    const struct elf_record_layout *layout = &class->records[kind];
    const uint8_t *from = wide;
    Elf64_Rela relocation;

    if (!layout->fields) {
        memcpy(bytes, wide, layout->size);
        return;
    }
    if (kind == ELF_RELOCATION) {
        memcpy(&relocation, wide, sizeof(relocation));
        relocation.r_info = narrow_info(&relocation);
        from = (const uint8_t *)&relocation;
    }
    for (size_t i = 0; i < layout->field_count; i++)
        memcpy(bytes + layout->fields[i].at, from + layout->fields[i].wide_at,
               layout->fields[i].size);
}

uint64_t elf_word_read(const struct elf_class *class, const uint8_t *bytes)
{
    uint64_t word = 0;

    memcpy(&word, bytes, class->word);
    return word;
}

void elf_word_write(const struct elf_class *class, uint64_t word, uint8_t *bytes)
{
    memcpy(bytes, &word, class->word);
}
