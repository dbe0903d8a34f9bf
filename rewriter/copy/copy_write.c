#include "rewriter/copy/copy_write.h"

#include <string.h>

#include "rewriter/copy/copy_resolve.h"

#define INT3 0xcc

/* Calls visit with each run of bytes of copied originals that is overwritten with int3, until it
   returns false. What is redirected (patch/patch_redirect.h) may be entered all the same. */
static bool visit_poisoned(const struct copy_plan *plan, const struct function_list *functions,
                           bool (*visit)(void *context, uint64_t address, uint64_t size),
                           void *context)
{
    for (size_t i = 0; plan->is_poisoned && i < functions->count; i++) {
        const struct function *function = &functions->items[i];
        uint64_t at = function->address, next;

        if (!copy_plan_has(plan, i) || function->reason == PATCH_REDIRECTED)
            continue;
        for (; at < function->end; at = next) {
            next = address_set_next(&plan->occupied, at, function->end);
            if (next > at && !visit(context, at, next - at))
                return false;
            while (next < function->end && address_set_has(&plan->occupied, next))
                next++;
        }
    }
    return true;
}

struct note {
    struct change_list *changes;
    const struct code *code;
    const struct patched_file *file;
    struct failure *failure;
};

static bool note_poisoned(void *context, uint64_t address, uint64_t size)
{
    struct note *note = context;

    return patch_note(note->changes, note->code, note->file, address, size, note->failure);
}

static bool note_data(const struct note *note, uint64_t address, uint64_t size)
{
    size_t room;
    const uint8_t *bytes = code_data_at(note->code, address, &room);

    if (bytes && size <= room &&
        change_list_add(note->changes, (uint64_t)(bytes - note->file->bytes), bytes, size))
        return true;
    return fail(note->failure, note->file->path,
                "expected its jump tables in the first 4 GB of the file, found %#llx elsewhere",
                (unsigned long long)address);
}

/* Entries side by side are one change. */
static bool note_words(const struct note *note, const struct copy_plan *plan)
{
    uint64_t start = 0, end = 0;

    for (size_t i = 0; i < plan->word_count; i++) {
        const struct copy_word *word = &plan->words[i];

        if (word->size != sizeof(uint32_t))
            continue;
        if (word->slot != end) {
            if (end > start && !note_data(note, start, end - start))
                return false;
            start = word->slot;
        }
        end = word->slot + sizeof(uint32_t);
    }
    return end == start || note_data(note, start, end - start);
}

bool copies_note(struct change_list *changes, const struct copy_plan *plan,
                 const struct patch_plan *patches, const struct patched_file *file,
                 struct failure *failure)
{
    struct note note = {changes, patches->code, file, failure};

    for (size_t i = 0; i < plan->trampoline_count; i++) {
        const struct copy_trampoline *trampoline = &plan->trampolines[i];

        if (!patch_note(changes, patches->code, file, trampoline->address,
                        copy_trampoline_size(trampoline), failure) ||
            (trampoline->hole &&
             !patch_note(changes, patches->code, file, trampoline->hole, PATCH_JUMP_SIZE, failure)))
            return false;
    }
    return note_words(&note, plan) &&
           visit_poisoned(plan, patches->functions, note_poisoned, &note);
}

static void store_words(const struct copy_writer *writer, const struct copy_plan *plan,
                        const struct patch_plan *patches)
{
    for (size_t i = 0; i < plan->word_count; i++) {
        const struct copy_word *word = &plan->words[i];
        uint32_t distance =
            (uint32_t)(copy_address(writer->set, patches->functions, word->target) - word->origin);
        size_t room;
        uint8_t *bytes = (uint8_t *)code_data_at(patches->code, word->slot, &room);

        if (word->size == sizeof(distance))
            memcpy(bytes, &distance, sizeof(distance));
    }
}

static void store_jump(const struct code *code, uint64_t address, uint64_t target)
{
    uint8_t *bytes = code_bytes(code, address, PATCH_JUMP_SIZE);
    uint32_t distance = (uint32_t)(target - (address + PATCH_JUMP_SIZE));

    bytes[0] = 0xe9;
    memcpy(bytes + 1, &distance, sizeof(distance));
}

static void store_trampolines(const struct copy_writer *writer, const struct copy_plan *plan,
                              const struct patch_plan *patches)
{
    for (size_t i = 0; i < plan->trampoline_count; i++) {
        const struct copy_trampoline *trampoline = &plan->trampolines[i];
        uint64_t next = trampoline->address + PATCH_SHORT_JUMP_SIZE;
        uint8_t *bytes = code_bytes(patches->code, trampoline->address, PATCH_SHORT_JUMP_SIZE);

        store_jump(patches->code, trampoline->hole ? trampoline->hole : trampoline->address,
                   copy_address(writer->set, patches->functions, trampoline->address));
        if (!trampoline->hole)
            continue;
        bytes[0] = 0xeb;
        bytes[1] = (uint8_t)(trampoline->hole - next);
    }
}

static bool poison(void *context, uint64_t address, uint64_t size)
{
    memset(code_bytes(context, address, size), INT3, size);
    return true;
}

void copies_store(const struct copy_writer *writer, const struct copy_plan *plan,
                  const struct patch_plan *patches, const struct stub_targets *targets)
{
    copy_fields_bind(&writer->fields, writer->stubs, targets);
    store_words(writer, plan, patches);
    store_trampolines(writer, plan, patches);
    visit_poisoned(plan, patches->functions, poison, (void *)patches->code);
}
