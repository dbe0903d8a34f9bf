#include "rewriter/elf/code/elf_memory_lock.h"

#include <string.h>

#include "rewriter/code/decode.h"
#include "rewriter/code/find_bytes.h"
#include "rewriter/patch/patch_window.h"

static const uint8_t system_call[] = {0xb8, 0x97, 0x00, 0x00, 0x00, 0x0f, 0x05};

/* Whether one of the function's instructions begins there. */
static bool is_instruction(const struct code *code, const struct function *function,
                           uint64_t address)
{
    struct instruction at = {.length = 0};
    uint64_t here = function->address;
    ZydisDecoder decoder;
    size_t size;
    const uint8_t *bytes = code_at(code, here, &size);

    decoder_init(&decoder, code->processor);
    for (; bytes && here < address; here += at.length, bytes += at.length, size -= at.length)
        if (!instruction_decode(&decoder, here, bytes, size, &at))
            return false;
    return here == address;
}

/* The function that makes the system call there; null if it is none, or not to be patched. */
static struct function *function_of(uint64_t address, const struct code *code,
                                    const struct code_map *map, struct function_list *functions)
{
    struct function *function = function_list_owner(functions, address);

    if (!function || address >= function->end || function->end - address < sizeof(system_call) ||
        !is_instruction(code, function, address) ||
        patch_is_target(map, address + 1, address + sizeof(system_call)))
        return NULL;
    return function;
}

static void look_through(struct elf_memory_locks *locks, const struct code_range *range,
                         const struct code *code, const struct code_map *map,
                         struct function_list *functions)
{
    const uint8_t *at = range->bytes, *end = at + range->size;

    while (locks->count < ELF_MEMORY_LOCKS &&
           (at = find_bytes(at, end, system_call, sizeof(system_call)))) {
        uint64_t address = range->address + (uint64_t)(at - range->bytes);
        struct function *function = function_of(address, code, map, functions);

        at += sizeof(system_call);
        if (!function)
            continue;
        locks->items[locks->count++] = address;
        if (!function->reason && address - function->address < PATCH_MAX_DISPLACED)
            function->reason = PATCH_MEMORY_LOCK;
    }
}

void elf_memory_locks_find(struct elf_memory_locks *locks, const struct code *code,
                           const struct code_map *map, struct function_list *functions,
                           bool is_static)
{
    for (size_t i = 0; i < code->range_count; i++)
        look_through(locks, &code->ranges[i], code, map, functions);
    if (!is_static)
        locks->count = 0;
}
