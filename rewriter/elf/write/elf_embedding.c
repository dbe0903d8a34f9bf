#include "rewriter/elf/write/elf_embedding.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "trace/embedded_agent.h"
#include "trace/image_manifest.h"

static uint64_t round_up(uint64_t number, uint64_t multiple)
{
    return (number + multiple - 1) / multiple * multiple;
}

/* The agent's load segments, unbound, in `bytes` at their addresses. */
static bool agent_load(struct elf_embedding *embedding, struct failure *failure)
{
    const struct elf_image *agent = &embedding->image;
    size_t loads = 0;

    for (size_t i = 0; i < agent->segment_count; i++) {
        const Elf64_Phdr *segment = &agent->segments[i];

        if (segment->p_type != PT_LOAD)
            continue;
        if (loads < EMBEDDING_LOADS)
            embedding->loads[loads] = *segment;
        loads++;
        if (segment->p_filesz == 0)
            continue;
        buffer_append_zeros(&embedding->bytes, segment->p_vaddr - embedding->bytes.size);
        buffer_append(&embedding->bytes, agent->bytes + segment->p_offset, segment->p_filesz);
    }
    return loads == EMBEDDING_LOADS ||
           fail(failure, agent->path, "expected an agent of %d load segments, found %zu",
                EMBEDDING_LOADS, loads);
}

bool elf_embedding_open(struct elf_embedding *embedding, const char *path, struct failure *failure)
{
    *embedding = (struct elf_embedding){0};
    if (!input_file_open(&embedding->file, path, failure))
        return false;
    if (!elf_image_read(&embedding->image, path, embedding->file.bytes, embedding->file.size,
                        failure)) {
        input_file_close(&embedding->file);
        return false;
    }
    eh_frame_read(&embedding->frame, &embedding->image);
    if (agent_load(embedding, failure))
        return true;
    elf_embedding_close(embedding);
    return false;
}

void elf_embedding_close(struct elf_embedding *embedding)
{
    eh_frame_free(&embedding->frame);
    elf_image_free(&embedding->image);
    input_file_close(&embedding->file);
    free(embedding->bytes.bytes);
    free(embedding->pointers.bytes);
}

size_t elf_embedding_segments(const struct elf_embedding *embedding, const struct elf_image *image)
{
    (void)embedding;
    return EMBEDDING_LOADS + !elf_segment(image, PT_TLS) + !elf_segment(image, PT_GNU_EH_FRAME);
}

static void put_pointer(struct elf_embedding *embedding, uint64_t address)
{
    buffer_append(&embedding->pointers, &address, sizeof(address));
}

/* Pointers in the initial thread-local storage of a position-independent program. */
static bool tls_relocate(struct elf_embedding *embedding, const struct elf_image *image,
                         const Elf64_Phdr *old, uint8_t *to, uint64_t address,
                         struct failure *failure)
{
    struct elf_table relocations = elf_relocations(image);

    if (old->p_filesz && elf_dynamic(image, DT_RELR))
        return fail(failure, image->path,
                    "expected no packed relocations beside thread-local data, found DT_RELR; link "
                    "it with -z nopack-relative-relocs");
    for (size_t i = 0; i < relocations.count; i++) {
        Elf64_Rela relocation = elf_relocation(relocations, i);
        uint64_t at = relocation.r_offset - old->p_vaddr;

        if (at >= old->p_filesz)
            continue;
        if (ELF64_R_TYPE(relocation.r_info) != R_X86_64_RELATIVE || old->p_filesz - at < 8)
            return fail(
                failure, image->path,
                "expected relative relocations in thread-local data, found type %u at %#llx",
                (unsigned)ELF64_R_TYPE(relocation.r_info), (unsigned long long)relocation.r_offset);
        memcpy(to + at, &relocation.r_addend, sizeof(relocation.r_addend));
        put_pointer(embedding, address + at);
    }
    return true;
}

/*
 * What precedes the program's own storage is a multiple of its alignment, so nothing of it moves
 * against the thread pointer, and makes the distance of the slot a multiple of 8.
 */
static bool append_tls(struct elf_embedding *embedding, const struct elf_image *image,
                       struct buffer *data, uint64_t data_address, struct failure *failure)
{
    static const Elf64_Phdr none = {.p_align = 1};
    const Elf64_Phdr *found = elf_segment(image, PT_TLS), *old = found ? found : &none;
    uint64_t alignment = old->p_align ? old->p_align : 1, slot_alignment, own, before;
    uint64_t mark = EMBEDDED_TLS_MARK;
    size_t start;

    if (alignment & (alignment - 1) || alignment > (1 << 20) || old->p_filesz > old->p_memsz ||
        old->p_memsz > INT32_MAX || old->p_vaddr % alignment)
        return fail(failure, image->path,
                    "expected aligned thread-local storage, found %#llx bytes at %#llx, alignment "
                    "%#llx",
                    (unsigned long long)old->p_memsz, (unsigned long long)old->p_vaddr,
                    (unsigned long long)alignment);
    slot_alignment = alignment < 8 ? 8 : alignment;
    own = round_up(old->p_memsz, alignment);
    before = round_up(own + sizeof(struct thread_words), slot_alignment) - own;
    buffer_append_zeros(data, round_up(data_address + data->size, slot_alignment) -
                                  (data_address + data->size));
    start = data->size;
    buffer_append_zeros(data, before);
    memcpy(data->bytes + start + offsetof(struct thread_words, mark), &mark, sizeof(mark));
    if (old->p_filesz)
        buffer_append(data, image->bytes + old->p_offset, old->p_filesz);
    embedding->tls_address = data_address + start;
    embedding->tls_file_size = before + old->p_filesz;
    embedding->tls_memory_size = before + old->p_memsz;
    embedding->tls_slot = own + before;
    return tls_relocate(embedding, image, old, data->bytes + start + before,
                        embedding->tls_address + before, failure);
}

void elf_embedding_tls(const struct elf_embedding *embedding, uint64_t delta, Elf64_Phdr *header)
{
    header->p_vaddr = header->p_paddr = embedding->tls_address;
    header->p_offset = embedding->tls_address - delta;
    header->p_filesz = embedding->tls_file_size;
    header->p_memsz = embedding->tls_memory_size;
}

bool elf_embedding_append(struct elf_embedding *embedding, const struct elf_image *image,
                          struct buffer *data, uint64_t data_address, struct failure *failure)
{
    size_t most;

    if (!append_tls(embedding, image, data, data_address, failure))
        return false;
    /* A pointer at most for each of the agent's relocations. */
    most = embedding->pointers.size + elf_relocations(&embedding->image).count * sizeof(uint64_t);
    embedding->pointers_offset = buffer_align(data, 8, 0);
    embedding->pointers_address = data_address + embedding->pointers_offset;
    buffer_append_zeros(data, most);
    return true;
}

/* A symbol's value in the agent; UINT64_MAX if it is not defined there. */
static uint64_t agent_symbol(const struct elf_image *agent, const char *name)
{
    struct elf_table symbols = elf_dynamic_symbols(agent);

    for (size_t i = 0; i < symbols.count; i++) {
        Elf64_Sym symbol = elf_symbol(symbols, i);
        const char *found = elf_dynamic_string(agent, symbol.st_name);

        if (symbol.st_shndx != SHN_UNDEF && found && strcmp(found, name) == 0)
            return symbol.st_value;
    }
    return UINT64_MAX;
}

static bool agent_relocate(struct elf_embedding *embedding, const Elf64_Rela *relocation,
                           struct failure *failure)
{
    struct elf_table symbols = elf_dynamic_symbols(&embedding->image);
    size_t index = ELF64_R_SYM(relocation->r_info);
    Elf64_Sym symbol = index < symbols.count ? elf_symbol(symbols, index) : (Elf64_Sym){0};
    uint64_t value = 0;

    if (relocation->r_offset > embedding->bytes.size ||
        embedding->bytes.size - relocation->r_offset < sizeof(value))
        return fail(failure, embedding->image.path, "expected relocations within its data");
    switch (ELF64_R_TYPE(relocation->r_info)) {
    case R_X86_64_RELATIVE:
        value = embedding->address + (uint64_t)relocation->r_addend;
        break;
    case R_X86_64_GLOB_DAT:
        if (symbol.st_shndx != SHN_UNDEF)
            value = embedding->address + symbol.st_value;
        break; /* what is not there is 0: it is weak */
    case R_X86_64_TPOFF64:
        value = (uint64_t)relocation->r_addend - embedding->tls_slot;
        break;
    default:
        return fail(failure, embedding->image.path, "expected relocations an agent has, found %u",
                    (unsigned)ELF64_R_TYPE(relocation->r_info));
    }
    memcpy(embedding->bytes.bytes + relocation->r_offset, &value, sizeof(value));
    if (value && ELF64_R_TYPE(relocation->r_info) != R_X86_64_TPOFF64)
        put_pointer(embedding, embedding->address + relocation->r_offset);
    return true;
}

static void place_loads(struct elf_embedding *embedding, uint64_t delta)
{
    for (size_t i = 0; i < EMBEDDING_LOADS; i++) {
        Elf64_Phdr *load = &embedding->loads[i];

        load->p_vaddr += embedding->address;
        load->p_paddr = load->p_vaddr;
        load->p_offset = load->p_filesz ? load->p_vaddr - delta : 0;
    }
}

bool elf_embedding_bind(struct elf_embedding *embedding, const struct elf_embedding_place *place,
                        struct buffer *data, struct failure *failure)
{
    const struct elf_image *agent = &embedding->image;
    struct elf_table relocations = elf_relocations(agent);
    uint64_t own = agent_symbol(agent, EMBEDDING_SYMBOL);
    uint64_t hook = agent_symbol(agent, IMAGE_HOOK_SYMBOL);
    struct embedding filled;

    if (own >= embedding->bytes.size || embedding->bytes.size - own < sizeof(filled) ||
        hook == UINT64_MAX || agent_symbol(agent, EMBEDDED_START_SYMBOL) == UINT64_MAX ||
        agent_symbol(agent, EMBEDDED_LOCK_SYMBOL) == UINT64_MAX)
        return fail(failure, agent->path,
                    "expected an agent for static executables, found one without %s",
                    EMBEDDED_START_SYMBOL);
    embedding->address = place->address;
    for (size_t i = 0; i < relocations.count; i++) {
        Elf64_Rela relocation = elf_relocation(relocations, i);

        if (!agent_relocate(embedding, &relocation, failure))
            return false;
    }
    memcpy(data->bytes + embedding->pointers_offset, embedding->pointers.bytes,
           embedding->pointers.size);
    filled = (struct embedding){
        .address = embedding->address + own,
        .entry = place->entry,
        .pointers = embedding->pointers_address,
        .pointer_count = embedding->pointers.size / sizeof(uint64_t),
        .hook_word = place->hook_word,
        .hook = embedding->address + hook,
    };
    memcpy(embedding->bytes.bytes + own, &filled, sizeof(filled));
    place_loads(embedding, place->delta);
    return true;
}

uint64_t elf_embedding_start(const struct elf_embedding *embedding)
{
    return embedding->address + agent_symbol(&embedding->image, EMBEDDED_START_SYMBOL);
}

uint64_t elf_embedding_lock(const struct elf_embedding *embedding)
{
    return embedding->address + agent_symbol(&embedding->image, EMBEDDED_LOCK_SYMBOL);
}
