#include "grinder/symbols/lines.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "support/memory.h"
#include "support/sorted.h"

#define CHILD_SECONDS 30
#define CHILD_MEMORY  (2ull << 30) /* on top of what it inherits */

static int compare_addresses(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

    return (a > b) - (a < b);
}

void line_table_begin(struct line_table *table, uint64_t *addresses, size_t count)
{
    size_t kept = 0;

    if (count)
        qsort(addresses, count, sizeof(*addresses), compare_addresses);
    for (size_t i = 0; i < count; i++)
        if (!kept || addresses[i] != addresses[kept - 1])
            addresses[kept++] = addresses[i];
    *table = (struct line_table){.addresses = addresses, .count = kept};
    table->lines = memory_zeroed(kept, sizeof(*table->lines));
}

void line_table_free(struct line_table *table)
{
    for (size_t i = 0; i < table->file_count; i++)
        free(table->files[i]);
    free(table->files);
    free(table->addresses);
    free(table->lines);
    *table = (struct line_table){0};
}

size_t line_table_first(const struct line_table *table, uint64_t address)
{
    return partition_point(i, table->count, table->addresses[i] < address);
}

struct line line_table_find(const struct line_table *table, uint64_t address)
{
    size_t found = line_table_first(table, address);

    return found < table->count && table->addresses[found] == address ? table->lines[found]
                                                                      : (struct line){0};
}

/* A pipe's reading end with a deadline. */
struct source {
    int pipe;
    struct timespec deadline;
    unsigned char bytes[1 << 16];
    size_t next, filled;
};

static int milliseconds_left(const struct source *source)
{
    struct timespec now;
    long long left;

    clock_gettime(CLOCK_MONOTONIC, &now);
    left = (long long)(source->deadline.tv_sec - now.tv_sec) * 1000 +
           (source->deadline.tv_nsec - now.tv_nsec) / 1000000;
    return left > 0 ? (int)left : 0;
}

/* 1 if there are bytes, 0 at the end, -1 if the time is up or the pipe failed. */
static int refill(struct source *source)
{
    struct pollfd poll_pipe = {.fd = source->pipe, .events = POLLIN};
    ssize_t count;
    int ready;

    do
        ready = poll(&poll_pipe, 1, milliseconds_left(source));
    while (ready < 0 && errno == EINTR);
    if (ready <= 0)
        return -1;
    do
        count = read(source->pipe, source->bytes, sizeof(source->bytes));
    while (count < 0 && errno == EINTR);
    source->next = 0;
    source->filled = count > 0 ? (size_t)count : 0;
    return count < 0 ? -1 : count > 0;
}

/* 1 if size bytes were read, 0 if the pipe ended before the first, -1 otherwise. */
static int take(struct source *source, void *bytes, size_t size)
{
    size_t done = 0;

    while (done < size) {
        size_t part = source->filled - source->next;
        int status = part ? 1 : refill(source);
        if (status <= 0)
            return done ? -1 : status;
        part = source->filled - source->next;
        if (part > size - done)
            part = size - done;
        memcpy((char *)bytes + done, source->bytes + source->next, part);
        source->next += part;
        done += part;
    }
    return 1;
}

static int take_file(struct source *source, struct line_table *table, size_t *room)
{
    uint32_t length;
    char *name;

    if (take(source, &length, sizeof(length)) <= 0 || !length || length > LINES_MAX_NAME)
        return -1;
    name = memory_zeroed(length + 1, 1);
    if (take(source, name, length) <= 0) {
        free(name);
        return -1;
    }
    table->files = memory_grow(table->files, table->file_count, room, sizeof(*table->files));
    table->files[table->file_count++] = name;
    return 0;
}

static int take_line(struct source *source, struct line_table *table)
{
    uint32_t words[3];

    if (take(source, words, sizeof(words)) <= 0 || words[0] >= table->count ||
        words[1] >= table->file_count)
        return -1;
    table->lines[words[0]] = (struct line){words[1], words[2]};
    return 0;
}

/* 0 if the child's report came to its end. */
static int take_report(struct source *source, struct line_table *table)
{
    size_t room = 0;
    unsigned char kind;
    int status;

    table->files = memory_grow(NULL, 0, &room, sizeof(*table->files));
    table->files[0] = NULL;
    table->file_count = 1;
    while ((status = take(source, &kind, 1)) > 0) {
        if (kind == LINES_FILE)
            status = take_file(source, table, &room);
        else if (kind == LINES_LINE)
            status = take_line(source, table);
        else
            status = -1;
        if (status < 0)
            break;
    }
    return status;
}

/* Address space is limited relative to what was inherited, which may be a lot. */
static void limit_child(void)
{
    unsigned long long pages = 0;
    FILE *statm = fopen("/proc/self/statm", "re");
    struct rlimit limit;

    if (statm) {
        if (fscanf(statm, "%llu", &pages) != 1)
            pages = 0;
        fclose(statm);
    }
    limit.rlim_cur = pages * (unsigned long long)sysconf(_SC_PAGESIZE) + CHILD_MEMORY;
    limit.rlim_max = limit.rlim_cur;
    if (pages)
        setrlimit(RLIMIT_AS, &limit);
    limit.rlim_cur = limit.rlim_max = CHILD_SECONDS;
    setrlimit(RLIMIT_CPU, &limit);
    limit.rlim_cur = limit.rlim_max = 0;
    setrlimit(RLIMIT_CORE, &limit);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
}

/* What libdwarf or its crash prints is no business of the user's terminal. */
static void silence_child(void)
{
    int null = open("/dev/null", O_RDWR);

    if (null < 0)
        return;
    dup2(null, STDIN_FILENO);
    dup2(null, STDOUT_FILENO);
    dup2(null, STDERR_FILENO);
}

static pid_t start_child(const struct line_table *table, const char *path, int *pipe_end)
{
    int ends[2];
    pid_t pid;

    if (pipe2(ends, O_CLOEXEC) < 0)
        return -1;
    fflush(NULL);
    pid = fork();
    if (pid == 0) {
        close(ends[0]);
        silence_child();
        limit_child();
        _exit(lines_dwarf_write(table, path, ends[1]));
    }
    close(ends[1]);
    *pipe_end = ends[0];
    if (pid < 0)
        close(ends[0]);
    return pid;
}

int line_table_read(struct line_table *table, const char *path, const char **why)
{
    struct source *source = memory_zeroed(1, sizeof(*source));
    int result = -1;
    int status = 0;
    pid_t child = start_child(table, path, &source->pipe);

    if (child < 0) {
        *why = strerror(errno);
        goto err;
    }
    clock_gettime(CLOCK_MONOTONIC, &source->deadline);
    source->deadline.tv_sec += CHILD_SECONDS;
    result = take_report(source, table);
    if (result < 0)
        kill(child, SIGKILL);
    close(source->pipe);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    *why = "its line tables cannot be read to the end";
    if (!WIFEXITED(status) || WEXITSTATUS(status))
        result = -1;
err:
    free(source);
    return result;
}
