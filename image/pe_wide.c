#include "image/pe_wide.h"

#include <string.h>

size_t pe_optional_size(uint16_t magic)
{
    return magic == PE_MAGIC_64   ? sizeof(struct pe_optional_header)
           : magic == PE_MAGIC_32 ? sizeof(struct pe_optional_header_32)
                                  : 0;
}

bool pe_machine_is_known(uint16_t machine)
{
    return machine == PE_MACHINE_X86_64 || machine == PE_MACHINE_I386;
}

uint16_t pe_magic_of(uint16_t machine)
{
    return machine == PE_MACHINE_I386 ? PE_MAGIC_32 : PE_MAGIC_64;
}

/* From section_alignment to dll_characteristics both have the same fields at the same places. */
#define ALIKE offsetof(struct pe_optional_header, section_alignment)
#define ALIKE_SIZE                                                                                 \
    (offsetof(struct pe_optional_header, stack_reserve) -                                          \
     offsetof(struct pe_optional_header, section_alignment))

_Static_assert(offsetof(struct pe_optional_header_32, section_alignment) == ALIKE, "PE32");

void pe_optional_read(struct pe_optional_header *header, const uint8_t *bytes)
{
    struct pe_optional_header_32 narrow;
    uint16_t magic;

    memcpy(&magic, bytes, sizeof(magic));
    if (magic != PE_MAGIC_32) {
        memcpy(header, bytes, sizeof(*header));
        return;
    }
    memcpy(&narrow, bytes, sizeof(narrow));
    memcpy(header, bytes, offsetof(struct pe_optional_header, image_base));
    memcpy((uint8_t *)header + ALIKE, bytes + ALIKE, ALIKE_SIZE);
    header->image_base = narrow.image_base;
    header->stack_reserve = narrow.stack_reserve;
    header->stack_commit = narrow.stack_commit;
    header->heap_reserve = narrow.heap_reserve;
    header->heap_commit = narrow.heap_commit;
    header->loader_flags = narrow.loader_flags;
    header->number_of_directories = narrow.number_of_directories;
}

void pe_optional_write(uint8_t *bytes, const struct pe_optional_header *header)
{
    struct pe_optional_header_32 narrow;

    if (header->magic != PE_MAGIC_32) {
        memcpy(bytes, header, sizeof(*header));
        return;
    }
    memcpy(bytes, header, offsetof(struct pe_optional_header, image_base));
    memcpy(bytes + ALIKE, (const uint8_t *)header + ALIKE, ALIKE_SIZE);
    memcpy(&narrow, bytes, sizeof(narrow));
    narrow.image_base = (uint32_t)header->image_base;
    narrow.stack_reserve = (uint32_t)header->stack_reserve;
    narrow.stack_commit = (uint32_t)header->stack_commit;
    narrow.heap_reserve = (uint32_t)header->heap_reserve;
    narrow.heap_commit = (uint32_t)header->heap_commit;
    narrow.loader_flags = header->loader_flags;
    narrow.number_of_directories = header->number_of_directories;
    memcpy(bytes, &narrow, sizeof(narrow));
}

struct pe_tls pe_tls_widen(const struct pe_tls_32 *tls)
{
    return (struct pe_tls){
        .data = tls->data,
        .data_end = tls->data_end,
        .index = tls->index,
        .callbacks = tls->callbacks,
        .zero_fill = tls->zero_fill,
        .flags = tls->flags,
    };
}

struct pe_load_config pe_load_config_widen(const struct pe_load_config_32 *config)
{
    return (struct pe_load_config){
        .size = config->size,
        .guard_check = config->guard_check,
        .guard_dispatch = config->guard_dispatch,
        .guard_functions = config->guard_functions,
        .guard_function_count = config->guard_function_count,
        .guard_flags = config->guard_flags,
        .guard_long_jumps = config->guard_long_jumps,
        .guard_long_jump_count = config->guard_long_jump_count,
        .guard_continuations = config->guard_continuations,
        .guard_continuation_count = config->guard_continuation_count,
    };
}
