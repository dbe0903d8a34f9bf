#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "service/stacks/linux/stack_file.h"

#include <cmocka.h>

#define TOP 0x7ffe00010000u /* of the stack that is played */

struct place {
    char path[64];
    struct trace_dir directory;
    struct trace_header header;
    struct stack_file file;
    struct stack_dump last;
    unsigned char stack[STACKS_MOST_STACK];
};

static int make_place(void **state)
{
    struct place *place = calloc(1, sizeof(*place));

    if (!place)
        return -1;
    strcpy(place->path, "/tmp/umbra-stack-XXXXXX");
    if (!mkdtemp(place->path))
        return -1;
    place->directory.fd = open(place->path, O_RDONLY | O_DIRECTORY);
    place->header =
        (struct trace_header){.exe = "/bin/program", .pid = 42, .session = 3, .created_ns = 7};
    for (size_t i = 0; i < sizeof(place->stack); i++)
        place->stack[i] = (unsigned char)(i * 7);
    *state = place;
    return place->directory.fd < 0;
}

static int remove_place(void **state)
{
    struct place *place = *state;
    char command[96];
    int status;

    snprintf(command, sizeof(command), "rm -r '%s'", place->path);
    status = system(command);
    close(place->directory.fd);
    free(place->last.bytes);
    free(place);
    return status;
}

static void begin(struct place *place)
{
    assert_true(stack_file_begin(&place->file, &place->directory, &place->header, 1000000, false));
}

static bool end(struct place *place)
{
    const struct trace_thread thread = {.tid = 42, .ordinal = 1};

    return stack_file_end(&place->file, &place->directory, &place->header, &thread, 1);
}

static void sample(struct place *place, uint64_t stack_pointer, const unsigned char *stack,
                   size_t size)
{
    uint64_t registers[STACKS_REGISTERS] = {[STACKS_RSP] = stack_pointer};
    const struct stack_event event = {.kind = STACK_EVENT_SAMPLE,
                                      .tid = 42,
                                      .registers = registers,
                                      .stack = stack,
                                      .stack_size = size};

    stack_file_sample(&place->file, &event, &place->last);
}

/* The sample that is the file's last record, which has nothing behind it. */
static struct stacks_sample last_sample(const struct place *place, size_t before)
{
    char path[128];
    struct stacks_sample record = {0};
    FILE *file;

    fflush(place->file.stream);
    snprintf(path, sizeof(path), "%s/program-42-3.stacks", place->path);
    file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, (long)before, SEEK_SET), 0);
    assert_int_equal(fread(&record, sizeof(record), 1, file), 1);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    assert_int_equal(before + record.head.size, ftell(file));
    fclose(file);
    return record;
}

static size_t size_of(const struct place *place)
{
    fflush(place->file.stream);
    return (size_t)ftell(place->file.stream);
}

static int count_files(const struct place *place)
{
    DIR *directory = opendir(place->path);
    const struct dirent *entry;
    int count = 0;

    while ((entry = readdir(directory)))
        count += entry->d_name[0] != '.' || strlen(entry->d_name) > 2;
    closedir(directory);
    return count;
}

static void what_is_the_same_is_written_once(void **state)
{
    struct place *place = *state;
    struct stacks_sample record;
    size_t before;

    begin(place);
    before = size_of(place);
    sample(place, TOP - 4096, place->stack, 4096);
    record = last_sample(place, before);
    assert_int_equal(record.low, 4096);
    assert_int_equal(record.kept + record.high, 0);

    before = size_of(place);
    sample(place, TOP - 4096 + 512, place->stack + 512, 4096 - 512);
    record = last_sample(place, before);
    assert_int_equal(record.kept, 4096 - 512);
    assert_int_equal(record.low + record.high, 0);

    before = size_of(place); /* less than 64 bytes are the same */
    sample(place, TOP - 56, place->stack + 4096 - 56, 56);
    record = last_sample(place, before);
    assert_int_equal(record.kept, 0);
    assert_int_equal(record.low, 56);
    assert_true(end(place));
    assert_int_equal(count_files(place), 2);
}

/* A program may use its stack pointer for anything. */
static void stack_pointers_lead_anywhere(void **state)
{
    static const uint64_t pointers[] = {(uint64_t)-8, (uint64_t)-16, 0,        8,
                                        TOP - 8,      TOP + 8,       1u << 31, 1ull << 63};
    struct place *place = *state;
    struct stacks_sample record;
    size_t before;

    begin(place);
    for (size_t i = 0; i < sizeof(pointers) / sizeof(*pointers); i++) {
        sample(place, TOP - 4096, place->stack, 4096);
        before = size_of(place);
        sample(place, pointers[i], place->stack, 0);
        record = last_sample(place, before);
        assert_int_equal(record.low + record.kept + record.high, 0);
    }
    assert_true(end(place));
}

static void a_full_disk_leaves_nothing(void **state)
{
    struct place *place = *state;
    struct rlimit before, little;

    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    little = before;
    little.rlim_cur = 20000;
    begin(place);
    setrlimit(RLIMIT_FSIZE, &little);
    for (unsigned i = 0; i < 8; i++)
        sample(place, TOP - 4096 - 4 * i, place->stack, 4096);
    errno = 0;
    assert_false(end(place));
    assert_int_equal(errno, EFBIG);
    setrlimit(RLIMIT_FSIZE, &before);
    assert_int_equal(count_files(place), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_the_same_is_written_once, make_place, remove_place),
        cmocka_unit_test_setup_teardown(stack_pointers_lead_anywhere, make_place, remove_place),
        cmocka_unit_test_setup_teardown(a_full_disk_leaves_nothing, make_place, remove_place),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
