#include "rewriter/elf/image/elf_image.h"

#include <stdlib.h>
#include <string.h>

#include "rewriter/elf/image/elf_machine.h"
#include "support/memory.h"
#include "support/sorted.h"

#define PAGE 4096u

/* The kernel loads no program with more than 64 KB of program headers; some are to be added. */
#define MAX_SEGMENTS 1024u

/* Segments may share bytes of the file, but not make more of it than this many times its size. */
#define MAX_SHARING 4

#define ADDED_SECTIONS 8 /* room for those that instrumenting adds */

static bool is_in_file(const struct elf_image *image, uint64_t offset, uint64_t size)
{
    return offset <= image->size && size <= image->size - offset;
}

static bool header_read(struct elf_image *image, struct failure *failure)
{
    const Elf64_Ehdr *header = &image->header;
    size_t segment_size;

    if (!elf_machine_accept(image->path, image->bytes, image->size, failure))
        return false;
    image->class = elf_class_of(image->bytes, image->size);
    elf_record_read(image->class, ELF_HEADER, &image->header, image->bytes);
    segment_size = elf_record_size(image->class, ELF_SEGMENT);
    if (header->e_phentsize != segment_size || header->e_phnum == PN_XNUM || header->e_phnum == 0)
        return fail(failure, image->path,
                    "expected program headers of %zu bytes, found %u of %u bytes", segment_size,
                    header->e_phnum, header->e_phentsize);
    if (header->e_phnum > MAX_SEGMENTS)
        return fail(failure, image->path, "expected up to %u program headers, found %u",
                    MAX_SEGMENTS, header->e_phnum);
    return true;
}

static bool segment_check(const struct elf_image *image, size_t index, struct failure *failure)
{
    const Elf64_Phdr *segment = &image->segments[index];

    if (segment->p_type == PT_NULL || segment->p_filesz == 0)
        return true;
    if (!is_in_file(image, segment->p_offset, segment->p_filesz))
        return fail(failure, image->path,
                    "truncated: program header %zu ends at byte %#llx, the file has %#zx", index,
                    (unsigned long long)segment->p_offset + segment->p_filesz, image->size);
    return true;
}

static bool load_check(struct elf_image *image, size_t index, struct failure *failure)
{
    const Elf64_Phdr *segment = &image->segments[index];
    uint64_t highest = image->class->highest_address;

    if (segment->p_vaddr > highest || segment->p_memsz > highest - segment->p_vaddr ||
        segment->p_filesz > segment->p_memsz || segment->p_vaddr < image->end)
        return fail(failure, image->path,
                    "expected ascending load segments, found program header %zu at %#llx", index,
                    (unsigned long long)segment->p_vaddr);
    if ((segment->p_vaddr ^ segment->p_offset) % PAGE && segment->p_filesz)
        return fail(failure, image->path,
                    "expected pages of %u bytes, found program header %zu with offset %#llx at "
                    "address %#llx",
                    PAGE, index, (unsigned long long)segment->p_offset,
                    (unsigned long long)segment->p_vaddr);
    image->end = segment->p_vaddr + segment->p_memsz;
    return true;
}

/* So many records from an offset on, which are in the file. */
static void records_read(const struct elf_image *image, enum elf_record kind, uint64_t offset,
                         void *to, size_t wide_size, size_t count)
{
    size_t size = elf_record_size(image->class, kind);

    for (size_t i = 0; i < count; i++)
        elf_record_read(image->class, kind, (uint8_t *)to + i * wide_size,
                        image->bytes + offset + i * size);
}

static bool segments_read(struct elf_image *image, struct failure *failure)
{
    size_t size = image->header.e_phnum * elf_record_size(image->class, ELF_SEGMENT);
    bool loaded = false;
    uint64_t loaded_bytes = 0;

    if (!is_in_file(image, image->header.e_phoff, size))
        return fail(failure, image->path,
                    "truncated: program headers end at byte %#llx, the file has %#zx",
                    (unsigned long long)image->header.e_phoff + size, image->size);
    image->segment_count = image->header.e_phnum;
    image->segments = memory_zeroed(image->segment_count, sizeof(*image->segments));
    image->loads = memory_zeroed(image->segment_count, sizeof(*image->loads));
    records_read(image, ELF_SEGMENT, image->header.e_phoff, image->segments,
                 sizeof(*image->segments), image->segment_count);
    for (size_t i = 0; i < image->segment_count; i++) {
        const Elf64_Phdr *segment = &image->segments[i];

        if (!segment_check(image, i, failure))
            return false;
        if (segment->p_type != PT_LOAD)
            continue;
        if (!load_check(image, i, failure))
            return false;
        loaded_bytes += segment->p_filesz;
        if (segment->p_filesz)
            image->loads[image->load_count++] = (uint32_t)i;
        if (!loaded)
            image->base = segment->p_vaddr / PAGE * PAGE;
        loaded = true;
    }
    if (!loaded)
        return fail(failure, image->path, "expected load segments, found none");
    if (loaded_bytes / MAX_SHARING > image->size)
        return fail(failure, image->path,
                    "expected load segments of its %#zx bytes, found %#llx in all", image->size,
                    (unsigned long long)loaded_bytes);
    if (image->end - image->base > INT32_MAX)
        return fail(failure, image->path, "expected less than 2 GB of address space, found %#llx",
                    (unsigned long long)(image->end - image->base));
    return true;
}

/* Nothing at run time needs a section table: there may be none. But one that should be there and
   is not tells that the file was cut off. */
static bool sections_read(struct elf_image *image, struct failure *failure)
{
    const Elf64_Ehdr *header = &image->header;
    size_t size = elf_record_size(image->class, ELF_SECTION);
    const Elf64_Shdr *names;

    if (header->e_shoff == 0 || header->e_shnum == 0 || header->e_shentsize != size)
        return true;
    if (!is_in_file(image, header->e_shoff, header->e_shnum * size))
        return fail(
            failure, image->path,
            "truncated: section headers end at byte %#llx, the file has %#zx; copy it again",
            (unsigned long long)header->e_shoff + header->e_shnum * size, image->size);
    if (header->e_shnum >= SHN_LORESERVE - ADDED_SECTIONS)
        return fail(failure, image->path, "expected fewer than %u sections, found %u",
                    SHN_LORESERVE - ADDED_SECTIONS, header->e_shnum);
    image->section_count = header->e_shnum;
    image->sections = memory_zeroed(image->section_count, sizeof(*image->sections));
    records_read(image, ELF_SECTION, header->e_shoff, image->sections, sizeof(*image->sections),
                 image->section_count);
    if (header->e_shstrndx >= image->section_count)
        return true;
    names = &image->sections[header->e_shstrndx];
    if (names->sh_type == SHT_STRTAB && is_in_file(image, names->sh_offset, names->sh_size)) {
        image->section_names = (const char *)image->bytes + names->sh_offset;
        image->section_names_size = names->sh_size;
    }
    return true;
}

static bool dynamic_read(struct elf_image *image, struct failure *failure)
{
    const Elf64_Phdr *segment = elf_segment(image, PT_DYNAMIC);
    size_t count;

    if (!segment)
        return true;
    image->dynamic_segment = (size_t)(segment - image->segments);
    count = segment->p_filesz / elf_record_size(image->class, ELF_DYNAMIC);
    image->dynamic = memory_zeroed(count, sizeof(*image->dynamic));
    records_read(image, ELF_DYNAMIC, segment->p_offset, image->dynamic, sizeof(*image->dynamic),
                 count); /* an empty segment may have any offset */
    while (image->dynamic_count < count && image->dynamic[image->dynamic_count].d_tag != DT_NULL)
        image->dynamic_count++;
    if (image->dynamic_count == count)
        return fail(failure, image->path, "truncated: its dynamic section has no end");
    return true;
}

/* Highest index in the chains of DT_GNU_HASH, plus one. */
static size_t gnu_hash_count(const struct elf_image *image, uint64_t address)
{
    const uint8_t *table = elf_at(image, address, 16);
    uint32_t words[4], last = 0, bucket, chain;
    uint64_t buckets, chains;

    if (!table)
        return 0;
    memcpy(words, table, sizeof(words));
    buckets = address + 16 + (uint64_t)words[2] * image->class->word;
    chains = buckets + (uint64_t)words[0] * 4;
    table = elf_at(image, buckets, (uint64_t)words[0] * 4);
    if (!table)
        return 0;
    for (uint32_t i = 0; i < words[0]; i++) {
        memcpy(&bucket, table + i * 4ull, sizeof(bucket));
        last = bucket > last ? bucket : last;
    }
    if (last < words[1])
        return words[1];
    for (;; last++) {
        const uint8_t *entry = elf_at(image, chains + (uint64_t)(last - words[1]) * 4, 4);

        if (!entry)
            return 0;
        memcpy(&chain, entry, sizeof(chain));
        if (chain & 1)
            return (size_t)last + 1;
    }
}

static size_t highest_symbol(struct elf_table relocations)
{
    size_t highest = 0;

    for (size_t i = 0; i < relocations.count; i++) {
        size_t symbol = ELF64_R_SYM(elf_relocation(relocations, i).r_info);

        highest = symbol > highest ? symbol : highest;
    }
    return highest;
}

/*
 * Nothing says how long the dynamic symbol table is. A section header does; without one, it holds
 * what the hash tables and the relocations refer to.
 */
static size_t symbol_count(const struct elf_image *image)
{
    uint64_t address = elf_dynamic_value(image, DT_SYMTAB, 0);
    const Elf64_Dyn *hash;
    const uint8_t *words;
    size_t count = 0, used, room, size = elf_record_size(image->class, ELF_SYMBOL);
    uint32_t chains;

    if (!address)
        return 0;
    room = elf_available(image, address) / size;
    for (size_t i = 0; i < image->section_count; i++)
        if (image->sections[i].sh_type == SHT_DYNSYM && image->sections[i].sh_addr == address)
            count = image->sections[i].sh_size / size;
    if (count && count <= room)
        return count;
    count = 1;
    if ((hash = elf_dynamic(image, DT_HASH)) && (words = elf_at(image, hash->d_un.d_ptr, 8))) {
        memcpy(&chains, words + 4, sizeof(chains));
        count = chains;
    }
    if ((hash = elf_dynamic(image, DT_GNU_HASH))) {
        used = gnu_hash_count(image, hash->d_un.d_ptr);
        count = used > count ? used : count;
    }
    used = highest_symbol(elf_relocations(image)) + 1;
    count = used > count ? used : count;
    used = highest_symbol(elf_plt_relocations(image)) + 1;
    count = used > count ? used : count;
    return count < room ? count : room;
}

bool elf_image_read(struct elf_image *image, const char *path, uint8_t *bytes, size_t size,
                    struct failure *failure)
{
    *image = (struct elf_image){.path = path, .bytes = bytes, .size = size};
    if (!header_read(image, failure) || !segments_read(image, failure) ||
        !sections_read(image, failure) || !dynamic_read(image, failure))
        goto err;
    image->symbol_count = symbol_count(image);
    return true;

err:
    elf_image_free(image);
    return false;
}

void elf_image_free(struct elf_image *image)
{
    free(image->segments);
    free(image->loads);
    free(image->sections);
    free(image->dynamic);
    *image = (struct elf_image){0};
}

static const Elf64_Phdr *load_at(const struct elf_image *image, uint64_t address)
{
    size_t behind =
        partition_point(i, image->load_count, image->segments[image->loads[i]].p_vaddr <= address);
    const Elf64_Phdr *segment;

    if (behind == 0)
        return NULL;
    segment = &image->segments[image->loads[behind - 1]];
    return address - segment->p_vaddr < segment->p_filesz ? segment : NULL;
}

uint64_t elf_available(const struct elf_image *image, uint64_t address)
{
    const Elf64_Phdr *segment = load_at(image, address);

    return segment ? segment->p_filesz - (address - segment->p_vaddr) : 0;
}

uint8_t *elf_at(const struct elf_image *image, uint64_t address, uint64_t size)
{
    const Elf64_Phdr *segment = load_at(image, address);

    if (!segment || size > segment->p_filesz - (address - segment->p_vaddr))
        return NULL;
    return image->bytes + segment->p_offset + (address - segment->p_vaddr);
}

bool elf_is_executable(const struct elf_image *image, uint64_t address)
{
    const Elf64_Phdr *segment = load_at(image, address);

    return segment && segment->p_flags & PF_X;
}

const Elf64_Phdr *elf_segment(const struct elf_image *image, uint32_t type)
{
    for (size_t i = 0; i < image->segment_count; i++)
        if (image->segments[i].p_type == type)
            return &image->segments[i];
    return NULL;
}

const char *elf_section_name(const struct elf_image *image, const Elf64_Shdr *section)
{
    struct elf_table names = {.bytes = (const uint8_t *)image->section_names,
                              .count = image->section_names_size};
    const char *name = elf_string(names, section->sh_name);

    return name ? name : "";
}

const Elf64_Shdr *elf_section(const struct elf_image *image, const char *name)
{
    for (size_t i = 0; i < image->section_count; i++)
        if (strcmp(elf_section_name(image, &image->sections[i]), name) == 0)
            return &image->sections[i];
    return NULL;
}
