#include "rewriter/elf/code/elf_info_tables.h"

#include <string.h>

#include "rewriter/code/find_bytes.h"

#define FEWEST_RETURNS 16          /* in an image of Haskell's, */
#define WIDEST_GAP     (64u << 10) /* and bytes of code for each of them, at most */

static bool is_table_of_runtime(const char *name)
{
    static const char begin[] = "stg_", end[] = "_info";
    size_t length = name ? strlen(name) : 0;

    return length >= sizeof(begin) + sizeof(end) - 2 &&
           memcmp(name, begin, sizeof(begin) - 1) == 0 &&
           strcmp(name + length - (sizeof(end) - 1), end) == 0;
}

static bool has_name(struct elf_table symbols, struct elf_table strings)
{
    for (size_t i = 0; i < symbols.count; i++)
        if (is_table_of_runtime(elf_string(strings, elf_symbol(symbols, i).st_name)))
            return true;
    return false;
}

static bool has_names(const struct elf_image *image)
{
    struct elf_table strings, symbols = elf_static_symbols(image, &strings);
    uint64_t size = elf_dynamic_value(image, DT_STRSZ, 0);

    if (has_name(symbols, strings))
        return true;
    strings.bytes = elf_at(image, elf_dynamic_value(image, DT_STRTAB, 0), size);
    strings.count = strings.bytes ? size : 0;
    return has_name(elf_dynamic_symbols(image), strings);
}

static size_t count_returns(const struct code_range *range, const struct eh_frame *frame)
{
    static const uint8_t jump[] = {0xff, 0x65, 0x00}; /* jmp [rbp] */
    const uint8_t *at = range->bytes, *end = range->bytes + range->size;
    size_t count = 0;

    while ((at = find_bytes(at, end, jump, sizeof(jump))) != NULL) {
        count += !eh_frame_find(frame, range->address + (uint64_t)(at - range->bytes));
        at += sizeof(jump);
    }
    return count;
}

static bool has_returns(const struct code *code, const struct eh_frame *frame)
{
    uint64_t size = 0;
    size_t count = 0;

    for (size_t i = 0; i < code->range_count; i++) {
        size += code->ranges[i].size;
        count += count_returns(&code->ranges[i], frame);
    }
    return count >= FEWEST_RETURNS && size / count <= WIDEST_GAP;
}

void elf_info_tables_mark(const struct elf_image *image, const struct code *code,
                          const struct eh_frame *frame, struct function_list *functions)
{
    if (!has_names(image) && !has_returns(code, frame))
        return;
    for (size_t i = 0; i < functions->count; i++) {
        struct function *function = &functions->items[i];

        if ((!function->reason || function->reason == PATCH_FRAGMENT) &&
            !eh_frame_find(frame, function->address))
            function->reason = PATCH_INFO_TABLE;
    }
}
