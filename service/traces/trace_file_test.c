#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "service/base/file.h"
#include "service/traces/memory_file.h"
#include "service/traces/trace_file.h"

#include <cmocka.h>

#define MIB (1ull << 20)

struct place {
    char path[64];
    int directory;
};

static int make_place(void **state)
{
    struct place *place = calloc(1, sizeof(*place));

    strcpy(place->path, "/tmp/umbra-trace-file-XXXXXX");
    if (!mkdtemp(place->path))
        return -1;
    place->directory = open(place->path, O_RDONLY | O_DIRECTORY);
    *state = place;
    return place->directory < 0;
}

static int remove_place(void **state)
{
    struct place *place = *state;
    char command[96];
    int status;

    snprintf(command, sizeof(command), "rm -r '%s'", place->path);
    status = system(command);
    close(place->directory);
    free(place);
    return status;
}

static struct trace_header template(void)
{
    struct trace_header header = {.pid = 42, .session = 1, .capacity = MIB, .node_limit = 7};

    strcpy(header.exe, "/usr/bin/some program");
    return header;
}

static off_t length_of(const struct place *place, const char *name)
{
    struct stat stat = {0};

    assert_int_equal(fstatat(place->directory, name, &stat, AT_SYMLINK_NOFOLLOW), 0);
    return stat.st_size;
}

static struct trace_header read_header(const struct place *place, const char *name)
{
    struct trace_header header;
    int fd = openat(place->directory, name, O_RDONLY);

    assert_int_equal(read(fd, &header, sizeof(header)), sizeof(header));
    close(fd);
    return header;
}

static void set_used(const struct trace_file *file, uint64_t used)
{
    assert_int_equal(pwrite(file->fd, &used, sizeof(used), offsetof(struct trace_header, used)), 8);
}

static const struct trace_file_end gone = {
    .kind = TRACE_END_GONE,
    .seen_ticks = 99,
    .ticks_per_second = 1000,
    .how = TRACE_END_KILLED,
    .code = 9,
};

static uint64_t end_trace(struct place *place, struct trace_file *file,
                          const struct trace_file_end *end)
{
    const struct trace_dir directory = {.fd = place->directory, .path = place->path};
    char elsewhere[256];

    return trace_file_end(file, &directory, end, elsewhere, sizeof(elsewhere));
}

static void test_new_trace(void **state)
{
    struct place *place = *state;
    struct trace_header header = template();
    struct trace_file file;
    struct stat stat;

    assert_true(trace_file_create(&file, place->directory, &header, false));
    assert_string_equal(file.name, "some_program-42-1.bin");
    assert_int_equal(fstat(file.fd, &stat), 0);
    assert_int_equal(stat.st_size, MIB);
    assert_int_equal(stat.st_mode & 07777, 0600);
    assert_int_equal(trace_file_used(&file), TRACE_HEADER_SIZE);
    header = read_header(place, file.name);
    assert_memory_equal(header.magic, TRACE_MAGIC, 8);
    assert_int_equal(header.version, TRACE_VERSION);
    assert_int_equal(header.state, TRACE_PREPARED);
    assert_int_equal(header.node_limit, 7);
    trace_file_leave(&file);
}

/* In memory: the file is a snapshot of the beginning until the end. */
static void test_in_memory(void **state)
{
    struct place *place = *state;
    struct trace_header header = template();
    const uint64_t ticks[2] = {5, 6};
    struct trace_file file, again;
    char block[TRACE_BLOCK_SIZE];

    assert_true(trace_file_create(&file, place->directory, &header, true));
    assert_int_equal(length_of(place, file.name), TRACE_HEADER_SIZE);
    assert_int_equal(read_header(place, file.name).end, TRACE_END_SNAPSHOT);
    assert_int_equal(file.header->end, TRACE_END_UNKNOWN);
    assert_int_equal(ftruncate(file.fd, 0), -1);
    assert_int_equal(ftruncate(file.fd, 2 * MIB), -1);

    assert_true(trace_file_adopt(&again, dup(file.fd), file.name));
    assert_int_equal(again.capacity, MIB);
    memset(block, 'u', sizeof(block));
    assert_int_equal(pwrite(again.fd, block, sizeof(block), TRACE_HEADER_SIZE), sizeof(block));
    set_used(&again, 2 * TRACE_BLOCK_SIZE);
    trace_file_leave(&again);

    trace_file_write_ticks(&file, ticks);
    assert_true(trace_file_pause(&file, true));
    assert_int_equal(trace_file_used(&file), 2 * TRACE_BLOCK_SIZE);
    assert_int_equal(end_trace(place, &file, &gone), 2 * TRACE_BLOCK_SIZE);
    assert_int_equal(length_of(place, "some_program-42-1.bin"), 2 * TRACE_BLOCK_SIZE);
    header = read_header(place, "some_program-42-1.bin");
    assert_int_equal(header.end, TRACE_END_GONE);
    assert_int_equal(header.end_code, 9);
    assert_int_equal(header.tick, 6);
    assert_int_equal(header.pauses, 1);
}

static ino_t inode_of(const struct place *place, const char *name)
{
    struct stat stat = {0};

    assert_int_equal(fstatat(place->directory, name, &stat, AT_SYMLINK_NOFOLLOW), 0);
    return stat.st_ino;
}

static void test_the_first_snapshot_is_completed_in_its_place(void **state)
{
    struct place *place = *state;
    struct trace_header header = template();
    struct trace_file file;
    ino_t inode;

    assert_true(trace_file_create(&file, place->directory, &header, true));
    inode = inode_of(place, file.name);
    set_used(&file, 5 * TRACE_BLOCK_SIZE);
    end_trace(place, &file, &gone);
    assert_int_equal(inode_of(place, file.name), inode);
    assert_int_equal(length_of(place, file.name), 5 * TRACE_BLOCK_SIZE);
    header = read_header(place, file.name);
    assert_int_equal(header.end, TRACE_END_GONE);
    assert_int_equal(header.used, 5 * TRACE_BLOCK_SIZE);
}

static void set_cover(const struct trace_file *file, uint64_t cover)
{
    assert_int_equal(pwrite(file->fd, &cover, sizeof(cover), offsetof(struct trace_header, cover)),
                     8);
}

static void set_capacity(const struct trace_file *file, uint64_t capacity)
{
    assert_int_equal(
        pwrite(file->fd, &capacity, sizeof(capacity), offsetof(struct trace_header, capacity)), 8);
}

/* Two blocks of cover at the end of what the agent has of the trace. */
static void expect_cover_behind_others(struct place *place, uint64_t capacity)
{
    struct trace_header header = template();
    struct trace_file file;
    char found[2] = {0};
    int trace;

    assert_true(trace_file_create(&file, place->directory, &header, true));
    set_capacity(&file, capacity);
    set_used(&file, 3 * TRACE_BLOCK_SIZE);
    set_cover(&file, 2 * TRACE_BLOCK_SIZE);
    assert_int_equal(pwrite(file.fd, "a", 1, (off_t)(capacity - 2 * TRACE_BLOCK_SIZE)), 1);
    assert_int_equal(pwrite(file.fd, "b", 1, (off_t)(capacity - TRACE_BLOCK_SIZE)), 1);
    end_trace(place, &file, &gone);
    assert_int_equal(length_of(place, file.name), 5 * TRACE_BLOCK_SIZE);
    assert_int_equal(read_header(place, file.name).used, 5 * TRACE_BLOCK_SIZE);
    trace = openat(place->directory, file.name, O_RDONLY | O_CLOEXEC);
    assert_int_equal(pread(trace, &found[0], 1, 3 * TRACE_BLOCK_SIZE), 1);
    assert_int_equal(pread(trace, &found[1], 1, 4 * TRACE_BLOCK_SIZE), 1);
    assert_memory_equal(found, "ab", 2);
    close(trace);
}

static void test_cover_is_put_behind_the_other_blocks(void **state)
{
    expect_cover_behind_others(*state, template().capacity);
}

/* As its address space is limited. */
static void test_cover_of_an_agent_that_has_less_of_the_trace(void **state)
{
    expect_cover_behind_others(*state, template().capacity / 4);
}

/* What a process may say. */
static void test_a_capacity_out_of_bounds_has_no_cover(void **state)
{
    const uint64_t capacities[] = {0, 2 * TRACE_BLOCK_SIZE, template().capacity + TRACE_BLOCK_SIZE,
                                   UINT64_MAX};
    struct place *place = *state;

    for (size_t i = 0; i < sizeof(capacities) / sizeof(*capacities); i++) {
        struct trace_header header = template();
        struct trace_file file;

        assert_true(trace_file_create(&file, place->directory, &header, true));
        set_capacity(&file, capacities[i]);
        set_used(&file, 3 * TRACE_BLOCK_SIZE);
        set_cover(&file, TRACE_BLOCK_SIZE);
        end_trace(place, &file, &gone);
        assert_int_equal(length_of(place, file.name), 3 * TRACE_BLOCK_SIZE);
    }
}

static void test_cover_out_of_bounds_is_none(void **state)
{
    const uint64_t covers[] = {UINT64_MAX, UINT64_MAX - TRACE_BLOCK_SIZE + 1, 100,
                               template().capacity};
    struct place *place = *state;

    for (size_t i = 0; i < sizeof(covers) / sizeof(*covers); i++) {
        struct trace_header header = template();
        struct trace_file file;

        assert_true(trace_file_create(&file, place->directory, &header, true));
        set_used(&file, 3 * TRACE_BLOCK_SIZE);
        set_cover(&file, covers[i]);
        end_trace(place, &file, &gone);
        assert_int_equal(length_of(place, file.name), 3 * TRACE_BLOCK_SIZE);
        assert_int_equal(read_header(place, file.name).used, 3 * TRACE_BLOCK_SIZE);
    }
}

/* Somebody's copy by link, the keeper's later snapshot, anybody's file. */
static void test_what_is_not_the_first_snapshot_alone_is_replaced(void **state)
{
    struct place *place = *state;
    struct trace_header header = template();
    struct trace_file file;
    ino_t inode;

    assert_true(trace_file_create(&file, place->directory, &header, true));
    inode = inode_of(place, file.name);
    assert_int_equal(linkat(place->directory, file.name, place->directory, "kept", 0), 0);
    set_used(&file, 2 * TRACE_BLOCK_SIZE);
    end_trace(place, &file, &gone);
    assert_int_not_equal(inode_of(place, file.name), inode);
    assert_int_equal(length_of(place, "kept"), TRACE_HEADER_SIZE);
    assert_int_equal(read_header(place, "kept").end, TRACE_END_SNAPSHOT);

    header = template();
    assert_true(trace_file_create(&file, place->directory, &header, true));
    assert_int_equal(renameat(place->directory, "kept", place->directory, file.name), 0);
    inode = inode_of(place, file.name);
    set_used(&file, 2 * TRACE_BLOCK_SIZE);
    end_trace(place, &file, &gone);
    assert_int_not_equal(inode_of(place, file.name), inode);
    assert_int_equal(read_header(place, file.name).end, TRACE_END_GONE);
}

static void test_what_is_no_trace_is_not_adopted(void **state)
{
    struct trace_file file;
    int memory = memory_file_create("test");

    (void)state;
    assert_false(trace_file_adopt(&file, memory, "x-1-1.bin"));
    assert_int_equal(ftruncate(memory, MIB), 0);
    assert_false(trace_file_adopt(&file, memory, "x-1-1.bin"));
    close(memory);
}

static void test_a_name_in_use_is_left_alone(void **state)
{
    struct place *place = *state;
    struct trace_header header = template();
    struct trace_file file;

    assert_int_equal(symlinkat("elsewhere", place->directory, "some_program-42-1.bin"), 0);
    assert_int_equal(mkdirat(place->directory, "some_program-42-2.bin", 0700), 0);
    assert_true(trace_file_create(&file, place->directory, &header, false));
    assert_string_equal(file.name, "some_program-42-3.bin");
    assert_int_equal(header.session, 3);
    assert_int_equal(faccessat(place->directory, "elsewhere", F_OK, 0), -1);
    trace_file_leave(&file);
}

static void test_end_cuts_to_what_is_in_use(void **state)
{
    struct place *place = *state;
    struct trace_header header = template();
    struct trace_file file;

    assert_true(trace_file_create(&file, place->directory, &header, false));
    set_used(&file, 5 * TRACE_BLOCK_SIZE);
    assert_int_equal(end_trace(place, &file, &gone), 5 * TRACE_BLOCK_SIZE);
    assert_int_equal(length_of(place, file.name), 5 * TRACE_BLOCK_SIZE);
    header = read_header(place, file.name);
    assert_int_equal(header.end, TRACE_END_GONE);
    assert_int_equal(header.end_seen_ticks, 99);
    assert_int_equal(header.ticks_per_second, 1000);
}

static void test_use_out_of_bounds_is_put_right(void **state)
{
    static const struct {
        uint64_t written, taken;
    } cases[] = {
        {0, TRACE_HEADER_SIZE}, {TRACE_HEADER_SIZE + 1, TRACE_HEADER_SIZE + TRACE_BLOCK_SIZE},
        {MIB - 1, MIB},         {MIB + TRACE_BLOCK_SIZE, MIB},
        {UINT64_MAX, MIB},      {1ull << 63, MIB},
    };
    struct place *place = *state;

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct trace_header header = template();
        struct trace_file file;

        assert_true(trace_file_create(&file, place->directory, &header, false));
        set_used(&file, cases[i].written);
        assert_int_equal(end_trace(place, &file, &gone), cases[i].taken);
        assert_int_equal(length_of(place, file.name), cases[i].taken);
        assert_int_equal(read_header(place, file.name).used, cases[i].taken);
    }
}

static void test_smaller_where_files_are_limited(void **state)
{
    struct place *place = *state;
    struct trace_header header = template();
    struct trace_file file;
    struct rlimit before;

    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){300000, before.rlim_max});
    assert_true(trace_file_create(&file, place->directory, &header, false));
    assert_int_equal(header.capacity, MIB / 4);
    assert_int_equal(file.capacity, MIB / 4);
    trace_file_discard(&file, place->directory);

    setrlimit(RLIMIT_FSIZE, &(struct rlimit){1000, before.rlim_max});
    assert_false(trace_file_create(&file, place->directory, &header, false));
    assert_int_equal(errno, EFBIG);
    setrlimit(RLIMIT_FSIZE, &before);
    assert_int_equal(rmdir(place->path), 0); /* nothing was left behind */
    assert_int_equal(mkdir(place->path, 0700), 0);
}

static void test_names_without_a_usable_character(void **state)
{
    static const char *const cases[][2] = {
        {"", "unknown-42-1.bin"},           {"/bin/", "unknown-42-1.bin"},
        {"/x/..", "_.-42-1.bin"},           {"/x/-rf *", "_rf__-42-1.bin"},
        {"/x/\033[2J\n", "__2J_-42-1.bin"},
    };
    struct place *place = *state;

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct trace_header header = template();
        struct trace_file file;

        strcpy(header.exe, cases[i][0]);
        assert_true(trace_file_create(&file, place->directory, &header, false));
        assert_string_equal(file.name, cases[i][1]);
        trace_file_discard(&file, place->directory);
    }
}

static void test_names_of_windows_programs(void **state)
{
    static const char *const cases[][2] = {
        {"C:\\x\\a b.exe", "a_b.exe-42-1.bin"},
        {"C:\\x/y.exe", "y.exe-42-1.bin"},
        {"C:..", "_.-42-1.bin"},
        {"..\\..\\etc\\", "unknown-42-1.bin"},
    };
    struct place *place = *state;

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct trace_header header = template();
        struct trace_file file;

        header.system = TRACE_SYSTEM_WINDOWS;
        strcpy(header.exe, cases[i][0]);
        assert_true(trace_file_create(&file, place->directory, &header, false));
        assert_string_equal(file.name, cases[i][1]);
        trace_file_discard(&file, place->directory);
    }
}

static void test_a_file_that_another_process_maps_is_in_use(void **state)
{
    struct place *place = *state;
    struct trace_header header = template();
    struct trace_file file;
    int ready[2];
    char byte;
    pid_t pid;

    assert_true(trace_file_create(&file, place->directory, &header, false));
    assert_int_equal(pipe(ready), 0);
    pid = fork();
    if (!pid) {
        int own = openat(place->directory, file.name, O_RDWR);
        void *mapping = mmap(NULL, MIB, PROT_READ | PROT_WRITE, MAP_SHARED, own, 0);

        close(own);
        close(file.fd);
        if (mapping != MAP_FAILED && write(ready[1], "", 1) == 1)
            pause();
        _exit(1);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_false(trace_file_cut_if_unused(&file));
    assert_int_equal(length_of(place, file.name), MIB);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    assert_true(trace_file_cut_if_unused(&file));
    assert_int_equal(end_trace(place, &file, &gone), TRACE_HEADER_SIZE);
    close(ready[0]);
    close(ready[1]);
}

/* `hook` of the header, after a pause or its end. */
static uint64_t hook_when(struct trace_file *file, bool paused)
{
    uint64_t hook;

    assert_true(trace_file_pause(file, paused));
    assert_true(file_read_at(file->fd, &hook, sizeof(hook), offsetof(struct trace_header, hook)));
    return hook;
}

static void test_a_pause_takes_the_hook_away_and_gives_it_back(void **state)
{
    uint64_t entry = 0x7f0102030405;
    struct place *place = *state;
    struct trace_header header = template();
    struct trace_file file;

    assert_true(trace_file_create(&file, place->directory, &header, false));
    assert_int_equal(hook_when(&file, true), 0);
    assert_int_equal(hook_when(&file, false), 0); /* the agent has yet to begin */
    assert_true(
        file_write_at(file.fd, &entry, sizeof(entry), offsetof(struct trace_header, entry)));
    assert_int_equal(hook_when(&file, true), 0);
    assert_int_equal(hook_when(&file, false), entry);
    assert_true(file_read_at(file.fd, &header, sizeof(header), 0));
    assert_int_equal(header.pauses, 2);
    assert_int_equal(header.paused, 0);
    trace_file_discard(&file, place->directory);
}

static void test_a_pause_of_children_ends_with_their_parent(void **state)
{
    uint64_t entry = 0x7f0102030405;
    struct place *place = *state;
    struct trace_header header = template();
    struct trace_file file;
    int again;

    assert_true(trace_file_create(&file, place->directory, &header, false));
    assert_true(
        file_write_at(file.fd, &entry, sizeof(entry), offsetof(struct trace_header, entry)));
    assert_int_equal(hook_when(&file, true), 0);
    assert_int_equal(end_trace(place, &file, &gone), TRACE_HEADER_SIZE);
    again = openat(place->directory, file.name, O_RDONLY);
    assert_true(file_read_at(again, &header, sizeof(header), 0));
    assert_int_equal(header.hook, entry);
    assert_int_equal(header.paused, 1);
    close(again);
}

static void test_a_trace_that_somebody_cut_is_not_touched(void **state)
{
    struct place *place = *state;
    struct trace_header header = template();
    struct trace_file file;

    assert_true(trace_file_create(&file, place->directory, &header, false));
    assert_true(file_cut(file.fd, 0, false));
    assert_false(trace_file_pause(&file, true));
    trace_file_discard(&file, place->directory);
}

int main(void)
{
#define IN_A_PLACE(test) cmocka_unit_test_setup_teardown(test, make_place, remove_place)
    const struct CMUnitTest tests[] = {
        IN_A_PLACE(test_new_trace),
        IN_A_PLACE(test_in_memory),
        IN_A_PLACE(test_the_first_snapshot_is_completed_in_its_place),
        IN_A_PLACE(test_cover_is_put_behind_the_other_blocks),
        IN_A_PLACE(test_cover_of_an_agent_that_has_less_of_the_trace),
        IN_A_PLACE(test_cover_out_of_bounds_is_none),
        IN_A_PLACE(test_a_capacity_out_of_bounds_has_no_cover),
        IN_A_PLACE(test_what_is_not_the_first_snapshot_alone_is_replaced),
        cmocka_unit_test(test_what_is_no_trace_is_not_adopted),
        IN_A_PLACE(test_a_name_in_use_is_left_alone),
        IN_A_PLACE(test_end_cuts_to_what_is_in_use),
        IN_A_PLACE(test_use_out_of_bounds_is_put_right),
        IN_A_PLACE(test_smaller_where_files_are_limited),
        IN_A_PLACE(test_names_without_a_usable_character),
        IN_A_PLACE(test_names_of_windows_programs),
        IN_A_PLACE(test_a_file_that_another_process_maps_is_in_use),
        IN_A_PLACE(test_a_pause_takes_the_hook_away_and_gives_it_back),
        IN_A_PLACE(test_a_pause_of_children_ends_with_their_parent),
        IN_A_PLACE(test_a_trace_that_somebody_cut_is_not_touched),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
