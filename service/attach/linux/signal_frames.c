#include "service/attach/linux/signal_frames.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RED_ZONE     128
#define RIP          22 /* its place in a frame */
#define RSP          21
#define SEGMENTS     24
#define SEGMENT_MASK 0x0000ffffffffffffull
#define USER_CODE    0x33 /* cs, and 0 for gs and fs */
#define MOST_STACKS  8
#define MOST_BYTES   (1ull << 30) /* of one stack */

/* What a handler returns to: mov rax, SYS_rt_sigreturn; syscall. */
static const uint8_t restorer[] = {0x48, 0xc7, 0xc0, 0x0f, 0x00, 0x00, 0x00, 0x0f, 0x05};

static bool is_restorer(int memory, uint64_t address)
{
    uint8_t bytes[sizeof(restorer)];

    return pread(memory, bytes, sizeof(bytes), (off_t)address) == sizeof(bytes) &&
           !memcmp(bytes, restorer, sizeof(bytes));
}

/* words: of a stack; at: the place of what may be a frame's rip. */
static bool is_frame(int memory, const uint64_t *words, uint64_t count, uint64_t at)
{
    return at >= RIP && at + SEGMENTS - RIP < count &&
           (words[at + SEGMENTS - RIP] & SEGMENT_MASK) == USER_CODE &&
           is_restorer(memory, words[at - RIP]);
}

struct walk {
    int memory;
    const struct address_space *space;
    void (*see)(void *with, const struct signal_frame_word *word);
    void *with;
    uint64_t stacks[MOST_STACKS]; /* stack pointers yet to be looked at */
    unsigned count, done;
};

static void follow(struct walk *walk, uint64_t stack_pointer, uint64_t low, uint64_t high)
{
    if (stack_pointer - low >= high - low && walk->count < MOST_STACKS)
        walk->stacks[walk->count++] = stack_pointer;
}

static bool look_at(struct walk *walk, uint64_t stack_pointer)
{
    uint64_t low = (stack_pointer & ~7ull) - RED_ZONE, size, count;
    const struct address_range *range = address_space_at(walk->space, stack_pointer);
    uint64_t *words;
    bool is_read;

    if (!range)
        return true; /* it has none: nothing lies there */
    if (low < range->start)
        low = range->start;
    size = range->end - low;
    if (size > MOST_BYTES)
        return false;
    count = size / sizeof(*words);
    words = malloc(size + 1);
    is_read = words && pread(walk->memory, words, size, (off_t)low) == (ssize_t)size;
    for (uint64_t i = 0; is_read && i < count; i++) {
        bool is_pointer = is_frame(walk->memory, words, count, i);

        walk->see(walk->with,
                  &(struct signal_frame_word){low + i * sizeof(*words), words[i], is_pointer});
        if (is_pointer)
            follow(walk, words[i - RIP + RSP], low, range->end);
    }
    free(words);
    return is_read;
}

bool signal_frames_each_word(int memory, const struct address_space *space, uint64_t stack_pointer,
                             void (*see)(void *with, const struct signal_frame_word *word),
                             void *with)
{
    struct walk walk = {.memory = memory,
                        .space = space,
                        .see = see,
                        .with = with,
                        .stacks = {stack_pointer},
                        .count = 1};
    bool is_seen = true;

    while (is_seen && walk.done < walk.count)
        is_seen = look_at(&walk, walk.stacks[walk.done++]);
    return is_seen;
}
