#include "rewriter/pe/pe_relocations.h"

#include <stdlib.h>
#include <string.h>

#include "rewriter/code/decode.h"
#include "support/memory.h"
#include "support/sorted.h"

#define WORD 4
#define PAGE 0x1000u

/* Words by their RVAs. */
struct words {
    uint32_t *items;
    size_t count, room;
};

struct draft {
    const struct pe_layout *layout;
    const struct pe_code *pe;
    struct words old; /* ascending */
    bool *is_dropped; /* of these */
    struct words moved;
};

static int by_rva(const void *left, const void *right)
{
    const uint32_t *a = left, *b = right;

    return *a < *b ? -1 : *a > *b;
}

static void settle(struct words *words)
{
    if (words->count)
        qsort(words->items, words->count, sizeof(*words->items), by_rva);
}

static void add(struct words *words, uint32_t rva)
{
    words->items = memory_grow(words->items, words->count, &words->room, sizeof(rva));
    words->items[words->count++] = rva;
}

/* The first that ends behind an RVA. */
static size_t first_from(const struct words *words, uint32_t rva)
{
    return partition_point(i, words->count, words->items[i] + (uint64_t)WORD <= rva);
}

/* Those that have bytes in what is overwritten. */
static void drop(struct draft *draft, uint64_t address, uint32_t size)
{
    uint32_t rva = (uint32_t)(address - draft->pe->image->base);

    for (size_t i = first_from(&draft->old, rva);
         i < draft->old.count && draft->old.items[i] < rva + size; i++)
        draft->is_dropped[i] = true;
}

/* Where the body has what was `at` bytes behind the first one displaced, in the instruction that is
   `instruction` bytes behind it. */
static uint32_t moved_to(const struct draft *draft, const struct function *function,
                         const struct stub_moves *moves, uint32_t instruction, uint32_t at)
{
    uint32_t call = moves->has_call && moves->call == instruction
                        ? stub_kind_of(draft->pe->code.processor)->call_leaving
                        : 0;

    return draft->layout->stubs_rva + function->body + moves->to[instruction] + call + at -
           instruction;
}

static void move(struct draft *draft, const struct function *function,
                 const struct stub_moves *moves)
{
    uint64_t start = function->address + function->patch_offset;
    uint32_t rva = (uint32_t)(start - draft->pe->image->base);
    size_t next = first_from(&draft->old, rva), size;
    const uint8_t *bytes = code_at(&draft->pe->code, start, &size);
    struct instruction at;
    ZydisDecoder decoder;

    if (next == draft->old.count || draft->old.items[next] >= rva + function->displaced)
        return;
    decoder_init(&decoder, draft->pe->code.processor);
    for (uint32_t offset = 0;
         offset < function->displaced &&
         instruction_decode(&decoder, start + offset, bytes + offset, size - offset, &at);
         offset += at.length)
        for (; next < draft->old.count && draft->old.items[next] < rva + offset + at.length; next++)
            add(&draft->moved,
                moved_to(draft, function, moves, offset, draft->old.items[next] - rva));
}

static void take_functions(struct draft *draft, const struct stub_moves *moves)
{
    const struct function_list *functions = &draft->pe->functions;

    for (size_t i = 0; i < functions->count; i++) {
        const struct function *function = &functions->items[i];

        if (!patch_reason_is_hooked(function->reason) || function->is_import ||
            function->patch_size == 0)
            continue;
        move(draft, function, &moves[i]);
        drop(draft, function->address + function->patch_offset, function->patch_size);
    }
}

/* Those that are left and those that moved, which lie behind all others. */
static struct words merged(struct draft *draft)
{
    struct words all = {0};

    for (size_t i = 0; i < draft->old.count; i++)
        if (!draft->is_dropped[i])
            add(&all, draft->old.items[i]);
    for (size_t i = 0; i < draft->moved.count; i++)
        add(&all, draft->moved.items[i]);
    settle(&all);
    return all;
}

/* A block for each page, of an even number of entries. */
static void put_blocks(struct buffer *tables, const struct words *words)
{
    for (size_t i = 0; i < words->count;) {
        uint32_t head[2] = {words->items[i] / PAGE * PAGE, 0};
        size_t at = buffer_append(tables, head, sizeof(head));

        for (; i < words->count && words->items[i] - head[0] < PAGE; i++) {
            uint16_t entry = (uint16_t)(PE_RELOCATION_32 << 12 | (words->items[i] - head[0]));

            buffer_append(tables, &entry, sizeof(entry));
        }
        buffer_align(tables, 4, 0); /* 0: PE_RELOCATION_ABSOLUTE, which says nothing */
        head[1] = (uint32_t)(tables->size - at);
        memcpy(tables->bytes + at, head, sizeof(head));
    }
}

void pe_relocations_build(struct pe_layout *layout, const struct pe_code *pe,
                          const struct patch_plan *plan, const struct stub_moves *moves)
{
    struct draft draft = {.layout = layout, .pe = pe};
    struct words all;

    if (!pe->code.moves_relocated || pe->relocated_count == 0)
        return;
    for (size_t i = 0; i < pe->relocated_count; i++)
        add(&draft.old, pe->relocated[i]);
    settle(&draft.old);
    draft.is_dropped = memory_zeroed(draft.old.count, sizeof(*draft.is_dropped));
    take_functions(&draft, moves);
    for (size_t i = 0; i < plan->hole_count; i++)
        drop(&draft, plan->holes[i], PATCH_JUMP_SIZE);
    all = merged(&draft);
    layout->relocations.offset = buffer_align(&layout->tables, 4, 0);
    put_blocks(&layout->tables, &all);
    layout->relocations.size = layout->tables.size - layout->relocations.offset;
    free(all.items);
    free(draft.is_dropped);
    free(draft.moved.items);
    free(draft.old.items);
}
