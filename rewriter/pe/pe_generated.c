#include "rewriter/pe/pe_generated.h"

#define FEWEST 8 /* entries in a row */

#define PUSH_END      1 /* of the instructions, in the prologue */
#define SET_FRAME_END 4

static bool is_frame_of_v8(const struct unwind_info *info)
{
    struct unwind_code set, push, more;
    size_t at = 0;

    return info->version == 1 && info->flags & UNWIND_EXCEPTION_HANDLER &&
           !(info->flags & UNWIND_CHAINED) && info->prologue == SET_FRAME_END &&
           info->frame_register == UNWIND_RBP && info->frame_offset == 0 &&
           unwind_code_next(info, &at, &set) && set.operation == UNWIND_SET_FRAME &&
           set.offset == SET_FRAME_END && unwind_code_next(info, &at, &push) &&
           push.operation == UNWIND_PUSH && push.information == UNWIND_RBP &&
           push.offset == PUSH_END && !unwind_code_next(info, &at, &more);
}

/* One past the last entry in a row that shares the unwind information of the first. */
static size_t row_end(const struct pe_code *pe, size_t first)
{
    size_t i = first + 1;

    while (i < pe->entry_count && pe->entries[i].unwind == pe->entries[first].unwind)
        i++;
    return i;
}

static struct pe_span find(const struct pe_code *pe)
{
    size_t longest = FEWEST - 1, next;
    struct pe_span span = {0};
    struct unwind_info info;

    for (size_t i = 0; i < pe->entry_count; i = next) {
        next = row_end(pe, i);
        if (next - i <= longest || !unwind_info_read(&info, pe->image, pe->entries[i].unwind) ||
            !is_frame_of_v8(&info))
            continue;
        longest = next - i;
        span = (struct pe_span){pe->entries[i].start,
                                pe->entries[next - 1].end - pe->entries[i].start};
    }
    return span;
}

void pe_generated_mark(struct pe_code *pe)
{
    uint64_t start;

    pe->generated = find(pe);
    start = pe->image->base + pe->generated.rva;
    for (size_t i = 0; i < pe->functions.count; i++) {
        struct function *function = &pe->functions.items[i];

        if (function->address - start < pe->generated.size && function->reason != PATCH_PLT)
            function->reason = PATCH_GENERATED;
    }
}
