#include "rewriter/pe/pe_apart.h"

#include "rewriter/patch/patch_write.h"

typedef unsigned long long ull;

/* Bytes of the file that a patch will take. */
struct patched {
    uint64_t offset, size;
};

static bool check_patched(const struct pe_image *image, const struct change_list *changes,
                          size_t others, struct patched patched, struct failure *failure)
{
    for (size_t i = 0; i < others; i++) {
        const struct manifest_change *other = &changes->items[i];

        if (patched.offset < (uint64_t)other->file_offset + other->size &&
            other->file_offset < patched.offset + patched.size)
            return fail(failure, image->path,
                        "expected code apart from headers and debug entries, found code to be "
                        "patched among them, at byte %#llx; link it anew",
                        (ull)patched.offset);
    }
    return true;
}

/* Decided by .pdata, which tells code from data that stands in the same section. */
static bool check_shadow_stack(const struct pe_code *pe, struct failure *failure)
{
    struct pe_debug entry;

    if (!pe_shadow_stack_word(pe->image) ||
        !pe_debug_find(pe->image, PE_DEBUG_CHARACTERISTICS, &entry) ||
        (!pe_entry_at(pe, entry.rva) && !pe_entry_at(pe, entry.rva + 3)))
        return true;
    return fail(failure, pe->image->path,
                "expected data where the debug directory leads for the CET-compatible bit, found "
                "a function at RVA %#x; link it anew",
                entry.rva);
}

bool pe_changes_check_apart(const struct pe_code *pe, const struct change_list *changes,
                            size_t others, struct failure *failure)
{
    for (size_t i = 0; i < pe->functions.count; i++) {
        const struct function *function = &pe->functions.items[i];
        uint64_t start = function->address + function->patch_offset;
        const uint8_t *bytes;

        if (!patch_reason_is_hooked(function->reason) || function->patch_size == 0)
            continue;
        bytes = code_bytes(&pe->code, start, function->patch_size);
        if (bytes && !check_patched(pe->image, changes, others,
                                    (struct patched){(uint64_t)(bytes - pe->image->bytes),
                                                     function->patch_size},
                                    failure))
            return false;
    }
    for (size_t i = others; i < changes->count; i++) {
        struct patched patched = {changes->items[i].file_offset, changes->items[i].size};

        if (!check_patched(pe->image, changes, others, patched, failure))
            return false;
    }
    return check_shadow_stack(pe, failure);
}
