#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "grinder/unwind/stacks_file.h"

#include <cmocka.h>

#define STACK 0x7ffe00000000u
#define RSP   STACKS_RSP

/* A file as it is made. */
struct made {
    unsigned char *bytes;
    size_t size, room;
};

static void put(struct made *made, const void *bytes, size_t size)
{
    while (made->size + size > made->room) {
        made->room = made->room ? 2 * made->room : 4096;
        made->bytes = realloc(made->bytes, made->room);
        assert_non_null(made->bytes);
    }
    if (size)
        memcpy(made->bytes + made->size, bytes, size);
    made->size += size;
}

static struct made begin(void)
{
    const struct stacks_header header = {
        .magic = STACKS_MAGIC, .version = STACKS_VERSION, .pid = 42, .period_ns = 1000};
    struct made made = {0};

    put(&made, &header, sizeof(header));
    return made;
}

/* lies: what is added to the size of the record. */
static void put_sample(struct made *made, uint32_t tid, uint64_t stack_pointer, uint32_t low,
                       uint32_t kept, uint32_t high, const void *bytes, int lies)
{
    struct stacks_sample sample = {
        .head = {STACKS_SAMPLE, (uint32_t)((int)(sizeof(sample) + low + high) + lies)},
        .tid = tid,
        .registers[RSP] = stack_pointer,
        .low = low,
        .kept = kept,
        .high = high,
    };

    put(made, &sample, sizeof(sample));
    put(made, bytes, low + high);
}

static void put_map(struct made *made, const char *path, size_t path_size, uint32_t build_id_size)
{
    size_t size = (sizeof(struct stacks_map) + path_size + 7) / 8 * 8;
    const struct stacks_map map = {.head = {STACKS_MAP, (uint32_t)size},
                                   .address = 0x400000,
                                   .length = 0x1000,
                                   .offset = 0x2000,
                                   .build_id_size = build_id_size,
                                   .build_id = {1, 2, 3}};

    put(made, &map, sizeof(map));
    put(made, path, path_size);
    put(made, "\0\0\0\0\0\0\0", size - sizeof(map) - path_size);
}

static bool open_made(struct stacks_file *file, const struct made *made)
{
    int memory = memfd_create("stacks", MFD_CLOEXEC);
    struct failure failure = {""};
    char path[64];
    bool ok;

    assert_int_equal(write(memory, made->bytes, made->size), made->size);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", memory);
    ok = stacks_file_open(file, path, &failure);
    assert_true(ok || *failure.text);
    close(memory);
    return ok;
}

/* What is read of it, as letters: m, s; then what the last sample's stack was. */
struct seen {
    char kinds[64];
    uint64_t address, kept;
    size_t size;
    unsigned char stack[STACKS_MOST_STACK];
};

static void read_made(struct made *made, struct seen *seen)
{
    struct stacks_file file;
    struct stacks_mapping mapping;
    struct stacks_sample sample;
    const struct stacks_dump *dump;
    size_t count = 0;
    int kind;

    *seen = (struct seen){0};
    assert_true(open_made(&file, made));
    while ((kind = stacks_file_next(&file, &mapping, &sample, &dump))) {
        seen->kinds[count++] = kind == STACKS_MAP ? 'm' : 's';
        if (kind == STACKS_MAP)
            continue;
        seen->address = dump->address;
        seen->kept = dump->kept;
        seen->size = dump->size;
        memcpy(seen->stack, dump->bytes, dump->size);
    }
    stacks_file_close(&file);
    free(made->bytes);
}

static void maps_are_read(void **state)
{
    struct made made = begin();
    struct stacks_file file;
    struct stacks_mapping mapping;
    struct stacks_sample sample;
    const struct stacks_dump *dump;

    (void)state;
    put_map(&made, "/lib/x.so", sizeof("/lib/x.so"), 3);
    assert_true(open_made(&file, &made));
    for (int i = 0; i < 2; i++, stacks_file_rewind(&file)) {
        assert_int_equal(stacks_file_next(&file, &mapping, &sample, &dump), STACKS_MAP);
        assert_int_equal(mapping.address, 0x400000);
        assert_int_equal(mapping.length, 0x1000);
        assert_int_equal(mapping.offset, 0x2000);
        assert_int_equal(mapping.build_id_size, 3);
        assert_memory_equal(mapping.build_id, "\1\2\3", 3);
        assert_string_equal(mapping.path, "/lib/x.so");
        assert_int_equal(stacks_file_next(&file, &mapping, &sample, &dump), 0);
    }
    stacks_file_close(&file);
    free(made.bytes);
}

/* A thread, and what its stack has been: what a sample has of it is from at on. */
struct model {
    uint64_t at, size;
    unsigned char stack[STACKS_MOST_STACK + 4096];
};

static uint64_t words_below(uint64_t most)
{
    return most < 8 ? 0 : (uint64_t)random() % (most / 8) * 8;
}

/* Anything of what the last sample and this one have may be kept; the rest changes. */
static void sample_model(struct made *made, struct model *model, uint32_t tid)
{
    uint64_t from = words_below(4096), end = from + words_below(STACKS_MOST_STACK);
    uint64_t last_end = model->at + model->size;
    uint64_t kept_from = from > model->at ? from : model->at;
    uint64_t kept_end = end < last_end ? end : last_end;
    unsigned char new[STACKS_MOST_STACK];

    if (kept_end <= kept_from) {
        kept_from = kept_end = end;
    } else {
        kept_from += words_below(kept_end - kept_from);
        kept_end -= words_below(kept_end - kept_from);
    }
    for (uint64_t i = from; i < end; i++)
        if (i < kept_from || i >= kept_end)
            model->stack[i] = (unsigned char)random();
    memcpy(new, model->stack + from, kept_from - from);
    memcpy(new + (kept_from - from), model->stack + kept_end, end - kept_end);
    put_sample(made, tid, STACK + from, (uint32_t)(kept_from - from),
               (uint32_t)(kept_end - kept_from), (uint32_t)(end - kept_end), new, 0);
    model->at = from;
    model->size = end - from;
}

/* Two threads' stacks grow, shrink and change at random places. */
static void kept_parts_are_put_together(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 40; seed++) {
        struct model models[2] = {{0}}, *model = NULL;
        struct made made = begin();
        struct seen seen;
        srandom(seed);
        for (int i = 0; i < 60; i++) {
            model = &models[random() % 2];
            sample_model(&made, model, model == models ? 7 : 8);
        }
        read_made(&made, &seen);
        assert_int_equal(strlen(seen.kinds), 60);
        assert_int_equal(seen.address, STACK + model->at);
        assert_int_equal(seen.size, model->size);
        assert_memory_equal(seen.stack, model->stack + model->at, model->size);
    }
}

static const unsigned char bytes[STACKS_MOST_STACK + 64] = {1, 2, 3};

/* One sample that is right, what is to be looked at, and one more that is right. */
#define LIE(...)                                                                                   \
    do {                                                                                           \
        struct made made = begin();                                                                \
        struct seen seen;                                                                          \
        put_sample(&made, 1, STACK, 64, 0, 0, bytes, 0);                                           \
        put_sample(&made, 1, __VA_ARGS__);                                                         \
        put_sample(&made, 2, STACK, 8, 0, 0, bytes, 0);                                            \
        read_made(&made, &seen);                                                                   \
        assert_string_equal(seen.kinds, "ss");                                                     \
    } while (0)

static void samples_that_lie_are_left_out(void **state)
{
    (void)state;
    LIE(STACK, 0, 72, 0, bytes, 0);                      /* more than there was */
    LIE(STACK + 8, 0, 64, 0, bytes, 0);                  /* beyond it */
    LIE(STACK - 8, 0, 64, 0, bytes, 0);                  /* before it */
    LIE(STACK, 64, 8, 0, bytes, 0);                      /* just behind it */
    LIE(0, 0, 64, 0, bytes, 0);                          /* far away */
    LIE((uint64_t)-8, 0, 64, 0, bytes, 0);               /* at the end of memory */
    LIE(STACK, 0, (uint32_t)-8, 16, bytes, 0);           /* sums that overflow */
    LIE(STACK, STACKS_MOST_STACK + 8, 0, 0, bytes, 0);   /* too much */
    LIE(STACK, STACKS_MOST_STACK - 32, 64, 0, bytes, 0); /* too much together */
    LIE(STACK, 4, 0, 4, bytes, 0);                       /* not of words */
    LIE(STACK + 4, 0, 4, 8, bytes, 0);
}

/* What follows a thread's sample that lies cannot be of it. */
static void nothing_is_kept_of_a_lie(void **state)
{
    struct made made = begin();
    struct seen seen;

    (void)state;
    put_sample(&made, 1, STACK, 64, 0, 0, bytes, 0);
    put_sample(&made, 1, STACK, 0, 72, 0, bytes, 0);
    put_sample(&made, 1, STACK, 0, 64, 0, bytes, 0);
    read_made(&made, &seen);
    assert_string_equal(seen.kinds, "s");
}

static void sizes_that_are_wrong_end_it(void **state)
{
    static const int lies[] = {4, -1, -8 - (int)sizeof(struct stacks_sample), 1 << 30};

    (void)state;
    for (size_t i = 0; i < sizeof(lies) / sizeof(*lies); i++) {
        struct made made = begin();
        struct seen seen;
        put_sample(&made, 1, STACK, 8, 0, 0, bytes, 0);
        put_sample(&made, 1, STACK, 8, 0, 0, bytes, lies[i]);
        put_sample(&made, 1, STACK, 8, 0, 0, bytes, 0);
        read_made(&made, &seen);
        assert_string_equal(seen.kinds, "s");
    }
}

static void what_is_not_known_is_passed_over(void **state)
{
    const struct stacks_record unknown = {99, 16}, little = {STACKS_SAMPLE, 16};
    struct made made = begin();
    struct seen seen;

    (void)state;
    put(&made, &unknown, sizeof(unknown));
    put(&made, "unknown", 8);
    put(&made, &little, sizeof(little));
    put(&made, "little\0", 8);
    put_map(&made, "/path without end", strlen("/path without en"), 0); /* a multiple of 8 */
    put_map(&made, "/x", 3, 21);
    put_map(&made, "", 0, 0);
    put_map(&made, "", 1, 20);
    put_sample(&made, 1, STACK, 8, 0, 0, bytes,
               8); /* more than it says, as later versions may have */
    put(&made, "behind\0", 8);
    read_made(&made, &seen);
    assert_string_equal(seen.kinds, "ms");
}

static void a_cut_file_is_read_up_to_there(void **state)
{
    struct made whole = begin();

    (void)state;
    put_map(&whole, "/x", 3, 0);
    put_sample(&whole, 1, STACK, 64, 0, 0, bytes, 0);
    put_sample(&whole, 1, STACK, 8, 56, 0, bytes, 0);
    for (size_t size = 0; size <= whole.size; size++) {
        struct made made = {0};
        struct stacks_file file;
        struct seen seen;
        put(&made, whole.bytes, size);
        if (size < sizeof(struct stacks_header)) {
            assert_false(open_made(&file, &made));
            free(made.bytes);
            continue;
        }
        read_made(&made, &seen);
        assert_int_equal(strlen(seen.kinds), (size >= 64 + 64) + (size >= 128 + 176 + 64) +
                                                 (size >= 128 + 240 + 176 + 8));
    }
    free(whole.bytes);
}

static void other_files_are_refused(void **state)
{
    struct stacks_header header = {.magic = STACKS_MAGIC, .version = STACKS_VERSION};
    struct stacks_file file;
    struct made made = {0};

    (void)state;
    put(&made, &header, sizeof(header)); /* no period */
    assert_false(open_made(&file, &made));
    ((struct stacks_header *)made.bytes)->period_ns = 1;
    assert_true(open_made(&file, &made));
    stacks_file_close(&file);
    ((struct stacks_header *)made.bytes)->version++;
    assert_false(open_made(&file, &made));
    ((struct stacks_header *)made.bytes)->version--;
    made.bytes[0]++;
    assert_false(open_made(&file, &made));
    free(made.bytes);
}

/* 50,000 threads of a sample each: 12 MB, which were 2.4 GB of dumps, and a search from one to the
 * next. */
static void many_threads_take_little(void **state)
{
    struct made made = begin();
    struct stacks_file file;
    struct stacks_mapping mapping;
    struct stacks_sample sample;
    const struct stacks_dump *dump;
    size_t count = 0, room = 0;

    (void)state;
    for (uint32_t tid = 0; tid < 50000; tid++)
        put_sample(&made, tid, STACK, 64, 0, 0, bytes, 0);
    assert_true(open_made(&file, &made));
    while (stacks_file_next(&file, &mapping, &sample, &dump))
        count++;
    for (size_t i = 0; i < file.dump_count; i++)
        room += file.dumps[i]->room;
    assert_int_equal(count, 50000);
    assert_int_equal(file.dump_count, 50000);
    assert_true(room <= made.size);
    stacks_file_close(&file);
    free(made.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(maps_are_read),
        cmocka_unit_test(kept_parts_are_put_together),
        cmocka_unit_test(samples_that_lie_are_left_out),
        cmocka_unit_test(nothing_is_kept_of_a_lie),
        cmocka_unit_test(sizes_that_are_wrong_end_it),
        cmocka_unit_test(what_is_not_known_is_passed_over),
        cmocka_unit_test(a_cut_file_is_read_up_to_there),
        cmocka_unit_test(other_files_are_refused),
        cmocka_unit_test(many_threads_take_little),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
