/* The tables of an ELF image: dynamic entries, symbols, strings, relocations, notes. */
#include "rewriter/elf/image/elf_image.h"

#include <string.h>

/* Longer strings are ignored: thousands of names that share a tail would take endless time. */
#define STRING_LIMIT (64u << 10)

const Elf64_Dyn *elf_dynamic(const struct elf_image *image, int64_t tag)
{
    for (size_t i = 0; i < image->dynamic_count; i++)
        if (image->dynamic[i].d_tag == tag)
            return &image->dynamic[i];
    return NULL;
}

uint64_t elf_dynamic_value(const struct elf_image *image, int64_t tag, uint64_t otherwise)
{
    const Elf64_Dyn *entry = elf_dynamic(image, tag);

    return entry ? entry->d_un.d_val : otherwise;
}

const char *elf_string(struct elf_table strings, uint64_t offset)
{
    size_t room;

    if (offset >= strings.count)
        return NULL;
    room = strings.count - offset;
    if (!memchr(strings.bytes + offset, 0, room < STRING_LIMIT ? room : STRING_LIMIT))
        return NULL;
    return (const char *)strings.bytes + offset;
}

const char *elf_dynamic_string(const struct elf_image *image, uint64_t offset)
{
    uint64_t size = elf_dynamic_value(image, DT_STRSZ, 0);
    const uint8_t *bytes = elf_at(image, elf_dynamic_value(image, DT_STRTAB, 0), size);

    return bytes ? elf_string((struct elf_table){.bytes = bytes, .count = size}, offset) : NULL;
}

static struct elf_table table_at(const struct elf_image *image, uint64_t address, uint64_t size,
                                 enum elf_record kind)
{
    const uint8_t *bytes = size ? elf_at(image, address, size) : NULL;

    return (struct elf_table){bytes, bytes ? size / elf_record_size(image->class, kind) : 0, image};
}

struct elf_table elf_dynamic_symbols(const struct elf_image *image)
{
    return table_at(image, elf_dynamic_value(image, DT_SYMTAB, 0),
                    image->symbol_count * elf_record_size(image->class, ELF_SYMBOL), ELF_SYMBOL);
}

static struct elf_table section_table(const struct elf_image *image, const Elf64_Shdr *section,
                                      size_t entry_size)
{
    if (section->sh_type == SHT_NOBITS || section->sh_offset > image->size ||
        section->sh_size > image->size - section->sh_offset)
        return (struct elf_table){0};
    return (struct elf_table){image->bytes + section->sh_offset, section->sh_size / entry_size,
                              image};
}

struct elf_table elf_static_symbols(const struct elf_image *image, struct elf_table *strings)
{
    for (size_t i = 0; i < image->section_count; i++) {
        const Elf64_Shdr *section = &image->sections[i];

        if (section->sh_type != SHT_SYMTAB || section->sh_link >= image->section_count)
            continue;
        *strings = section_table(image, &image->sections[section->sh_link], 1);
        return section_table(image, section, elf_record_size(image->class, ELF_SYMBOL));
    }
    *strings = (struct elf_table){0};
    return *strings;
}

Elf64_Sym elf_symbol(struct elf_table symbols, size_t index)
{
    const struct elf_class *class = symbols.image->class;
    Elf64_Sym symbol;

    elf_record_read(class, ELF_SYMBOL, &symbol,
                    symbols.bytes + index * elf_record_size(class, ELF_SYMBOL));
    return symbol;
}

struct elf_table elf_relocations(const struct elf_image *image)
{
    uint64_t address = elf_dynamic_value(image, image->class->relocations.table, 0);
    uint64_t size = elf_dynamic_value(image, image->class->relocations.size, 0);
    uint64_t plt = elf_dynamic_value(image, DT_JMPREL, 0);
    uint64_t plt_size = elf_dynamic_value(image, DT_PLTRELSZ, 0);

    if (plt_size && plt_size <= size && plt - address == size - plt_size)
        size -= plt_size;
    return table_at(image, address, size, ELF_RELOCATION);
}

struct elf_table elf_plt_relocations(const struct elf_image *image)
{
    return table_at(image, elf_dynamic_value(image, DT_JMPREL, 0),
                    elf_dynamic_value(image, DT_PLTRELSZ, 0), ELF_RELOCATION);
}

/* What is in the word. A slot's is not added to anything: it is the address of a PLT entry. */
static int64_t addend_in_place(const struct elf_image *image, const Elf64_Rela *relocation)
{
    const struct elf_class *class = image->class;
    unsigned type = ELF64_R_TYPE(relocation->r_info);
    const uint8_t *bytes = elf_at(image, relocation->r_offset, class->word);

    if (!bytes || type == class->relocations.slot || type == class->relocations.jump_slot ||
        type == class->relocations.copy)
        return 0;
    return (int64_t)elf_word_read(class, bytes);
}

Elf64_Rela elf_relocation(struct elf_table relocations, size_t index)
{
    const struct elf_class *class = relocations.image->class;
    Elf64_Rela relocation;

    elf_record_read(class, ELF_RELOCATION, &relocation,
                    relocations.bytes + index * elf_record_size(class, ELF_RELOCATION));
    if (!class->has_addends)
        relocation.r_addend = addend_in_place(relocations.image, &relocation);
    return relocation;
}

/* An even word is the address of a pointer; an odd one has a bit for each of those behind it, 63 or
   31. */
bool elf_packed_visit(const struct elf_image *image, bool (*visit)(void *, uint64_t), void *context)
{
    uint64_t size = elf_dynamic_value(image, DT_RELRSZ, 0), where = 0, step = image->class->word;
    const uint8_t *words = elf_at(image, elf_dynamic_value(image, DT_RELR, 0), size);

    for (uint64_t i = 0; words && i + step <= size; i += step) {
        uint64_t word = elf_word_read(image->class, words + i);

        if (!(word & 1)) {
            if (!visit(context, word))
                return false;
            where = word + step;
            continue;
        }
        for (uint64_t bits = word >> 1, at = where; bits; bits >>= 1, at += step)
            if (bits & 1 && !visit(context, at))
                return false;
        where += (8 * step - 1) * step;
    }
    return true;
}

struct note {
    const uint8_t *owner; /* not terminated */
    uint64_t owner_size;
    struct elf_table content;
    uint32_t type;
};

/*
 * Notes in a segment: name size, content size, type, then name and content padded to 4 bytes.
 * Advances *at; false at the end.
 */
static bool note_next(const uint8_t *notes, uint64_t size, uint64_t *at, struct note *note)
{
    uint64_t name, content;
    uint32_t words[3];

    if (*at > size || size - *at < sizeof(words))
        return false;
    memcpy(words, notes + *at, sizeof(words));
    name = *at + sizeof(words);
    content = name + ((words[0] + 3ull) & ~3ull);
    *at = content + ((words[1] + 3ull) & ~3ull);
    if (content > size || words[1] > size - content)
        return false;
    *note = (struct note){
        notes + name, words[0], {.bytes = notes + content, .count = words[1]}, words[2]};
    return true;
}

/* First note by that owner; content.bytes is null if there is none. type 0: of any type. */
static struct note note_find(const struct elf_image *image, const char *owner, uint32_t type)
{
    struct note note;

    for (size_t i = 0; i < image->segment_count; i++) {
        const Elf64_Phdr *segment = &image->segments[i];
        uint64_t at = 0;

        if (segment->p_type != PT_NOTE || !segment->p_filesz)
            continue;
        while (note_next(image->bytes + segment->p_offset, segment->p_filesz, &at, &note))
            if ((note.type == type || !type) && note.owner_size == strlen(owner) + 1 &&
                memcmp(note.owner, owner, note.owner_size) == 0)
                return note;
    }
    return (struct note){0};
}

bool elf_has_note(const struct elf_image *image, const char *owner)
{
    return note_find(image, owner, 0).content.bytes;
}

struct elf_table elf_build_id(const struct elf_image *image)
{
    return note_find(image, "GNU", NT_GNU_BUILD_ID).content;
}
