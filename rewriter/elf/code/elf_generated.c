#include "rewriter/elf/code/elf_generated.h"

#include <string.h>

#include "rewriter/code/find_bytes.h"

#define PAGE       4096u
#define WIDEST_GAP (64u << 10) /* bytes from one to the next in a stretch */
#define FEWEST     8           /* in a stretch: four bytes may turn up by chance */

static const uint8_t frame_begin[] = {0x55, 0x48}; /* push rbp, and half a mov */

struct stretch {
    uint64_t first, last; /* addresses of the first and last frame set up that way */
    size_t count;
};

static void keep_longer(struct stretch *longest, const struct stretch *stretch)
{
    if (stretch->count > longest->count)
        *longest = *stretch;
}

static bool is_frame_set_up(const uint8_t *code, const uint8_t *end)
{
    static const uint8_t loads[] = {0x55, 0x48, 0x8b, 0xec}, stores[] = {0x55, 0x48, 0x89, 0xe5},
                         function[] = {0x56, 0x57, 0x50};
    const uint8_t *next = code + sizeof(stores);

    if ((size_t)(end - code) < sizeof(stores) + sizeof(function))
        return false;
    if (memcmp(code, loads, sizeof(loads)) == 0)
        return true;
    return memcmp(code, stores, sizeof(stores)) == 0 &&
           (memcmp(next, function, sizeof(function)) == 0 ||
            (next[0] == 0x6a && next[1] % 2 == 0 && next[1] < 0x80));
}

static void look_through(const struct eh_frame *frame, const struct code_range *range,
                         struct stretch *longest)
{
    const uint8_t *at = range->bytes, *end = range->bytes + range->size;
    struct stretch stretch = {0};

    while ((at = find_bytes(at, end, frame_begin, sizeof(frame_begin))) != NULL) {
        uint64_t address = range->address + (uint64_t)(at - range->bytes);
        bool is_set_up = is_frame_set_up(at, end);

        at += sizeof(frame_begin);
        if (!is_set_up || eh_frame_find(frame, address))
            continue;
        if (stretch.count && address - stretch.last > WIDEST_GAP) {
            keep_longer(longest, &stretch);
            stretch.count = 0;
        }
        if (stretch.count++ == 0)
            stretch.first = address;
        stretch.last = address;
    }
    keep_longer(longest, &stretch);
}

/* HotSpot and Mono have no generated code in the image. That they have a generator is expressed by
   a span to which no call returns: the second byte of a function. */
static bool is_of_generator(const char *name)
{
    return name && (strcmp(name, "JNI_CreateJavaVM") == 0 || strcmp(name, "mono_jit_init") == 0);
}

static struct elf_span find_elsewhere(const struct function_list *functions)
{
    struct elf_span elsewhere = {0};

    for (size_t i = 0; i < functions->count; i++) {
        const struct function *function = &functions->items[i];

        if (is_of_generator(function->name))
            elsewhere = (struct elf_span){function->address + 1, GENERATED_ELSEWHERE};
    }
    return elsewhere;
}

struct elf_span elf_generated_find(const struct code *code, const struct function_list *functions,
                                   const struct eh_frame *frame)
{
    struct stretch longest = {0};
    uint64_t start, end;

    for (size_t i = 0; i < code->range_count; i++)
        look_through(frame, &code->ranges[i], &longest);
    if (longest.count < FEWEST)
        return find_elsewhere(functions);
    start = longest.first / PAGE * PAGE;
    end = (longest.last + PAGE) / PAGE * PAGE;
    return (struct elf_span){start, end - start};
}

void elf_generated_mark(const struct elf_span *generated, struct function_list *functions)
{
    for (size_t i = 0; i < functions->count; i++) {
        struct function *function = &functions->items[i];

        if (function->address - generated->address < generated->size && !function->unwind &&
            function->reason != PATCH_PLT)
            function->reason = PATCH_GENERATED;
    }
}
