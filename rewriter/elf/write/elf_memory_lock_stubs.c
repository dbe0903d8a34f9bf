#include "rewriter/elf/write/elf_memory_lock_stubs.h"

#include <string.h>

static const uint8_t patch[] = {0xe9, 0, 0, 0, 0, 0x66, 0x90};
static const uint8_t stub[ELF_MEMORY_LOCK_STUB_SIZE] = {0x48, 0x8d, 0x0d, 0, 0, 0,
                                                        0,    0xe9, 0,    0, 0, 0};

#define PATCH_TARGET 1 /* distances: where they are */
#define STUB_NEXT    3
#define STUB_TARGET  8

bool elf_memory_locks_note(struct change_list *changes, const struct elf_memory_locks *locks,
                           const struct code *code, const struct patched_file *file,
                           struct failure *failure)
{
    for (size_t i = 0; i < locks->count; i++)
        if (!patch_note(changes, code, file, locks->items[i], sizeof(patch), failure))
            return false;
    return true;
}

size_t elf_memory_locks_append(struct stub_segment *stubs, const struct elf_memory_locks *locks)
{
    size_t first = stubs->code.size;

    for (size_t i = 0; i < locks->count; i++)
        buffer_append(&stubs->code, stub, sizeof(stub));
    return first;
}

/* The distance at bytes[field] of what will lie at `address`. */
static void set_distance(uint8_t *bytes, uint64_t address, size_t field, uint64_t target)
{
    uint32_t distance = (uint32_t)(target - (address + field + sizeof(distance)));

    memcpy(bytes + field, &distance, sizeof(distance));
}

void elf_memory_locks_store(struct stub_segment *stubs, size_t first,
                            const struct elf_memory_locks *locks, const struct code *code,
                            uint64_t target)
{
    for (size_t i = 0; i < locks->count; i++) {
        uint8_t *site = code_bytes(code, locks->items[i], sizeof(patch));
        size_t offset = first + i * sizeof(stub);
        uint64_t at = stubs->address + offset;

        memcpy(site, patch, sizeof(patch));
        set_distance(site, locks->items[i], PATCH_TARGET, at);
        set_distance(stubs->code.bytes + offset, at, STUB_NEXT, locks->items[i] + sizeof(patch));
        set_distance(stubs->code.bytes + offset, at, STUB_TARGET, target);
    }
}
