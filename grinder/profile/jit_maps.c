#include "grinder/profile/jit_maps.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "grinder/base/message.h"
#include "support/memory.h"

#define SECOND 1000000000ull
#define SLACK  (2 * SECOND) /* clocks of files tick coarsely; what a program buffers comes late */
#define FOLDER "/tmp"

struct found {
    const struct tree *tree;
    struct images *images;
    uint32_t *numbers;
    size_t count, room;
};

static void add(struct found *found, uint32_t image)
{
    for (size_t i = 0; i < found->count; i++)
        if (found->numbers[i] == image)
            return;
    found->numbers =
        memory_grow(found->numbers, found->count, &found->room, sizeof(*found->numbers));
    found->numbers[found->count++] = image;
}

/* A pid of 0 is anybody's. name: see images_add_jit. */
static void add_map(struct found *found, const char *path, int name, uint32_t pid)
{
    uint32_t image = images_add_jit(found->images, path, name);
    const struct jit_map *map = found->images->images[image].jit;

    if (!map)
        return;
    if (map->pid)
        pid = map->pid;
    if (!pid || pid == found->tree->header.pid)
        add(found, image);
}

/* Nanoseconds of wall clock at which the process was gone; no end if that is not known. */
static uint64_t end_of_process(const struct trace_header *header)
{
    uint64_t end = header->end_seen_ticks ? header->end_seen_ticks : header->end_ticks;
    unsigned __int128 ticks;

    if (!end || end < header->start_ticks || !header->ticks_per_second)
        return UINT64_MAX - SLACK;
    ticks = end - header->start_ticks;
    return header->created_ns + (uint64_t)(ticks * SECOND / header->ticks_per_second);
}

/* Whose it may be: the reader's, the recording's, root's. */
static bool is_trusted(const struct tree *tree, uid_t owner)
{
    struct stat trace;

    return owner == geteuid() || owner == 0 ||
           (stat(tree->path, &trace) == 0 && trace.st_uid == owner);
}

/* Null if the file will do. Anybody may have put it there: /tmp is everybody's, and a trace names
   what it likes. */
static const char *objection(const struct tree *tree, const struct stat *map)
{
    if (!S_ISREG(map->st_mode))
        return "is not a regular file";
    if (!is_trusted(tree, map->st_uid))
        return "belongs to another user than the trace";
    return NULL;
}

/* Process numbers come again. */
static const char *objection_to_time(const struct tree *tree, const struct stat *map)
{
    uint64_t written = (uint64_t)map->st_mtim.tv_sec * SECOND + (uint64_t)map->st_mtim.tv_nsec;

    if (written + SLACK < tree->header.created_ns)
        return "is older than the recording";
    if (written > end_of_process(&tree->header) + SLACK)
        return "was written after the recorded process had ended";
    return NULL;
}

/* A file that nobody asked for: no link is followed to it. */
static void add_found(struct found *found, const char *path, uint32_t pid, bool is_timed)
{
    int name = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    struct stat status;
    const char *why;

    if (name < 0)
        return;
    why = fstat(name, &status) < 0 ? strerror(errno) : objection(found->tree, &status);
    if (!why && is_timed)
        why = objection_to_time(found->tree, &status);
    if (why)
        message("%s: %s, so it is left out; --jit-map=%s takes it all the same", path, why, path);
    else
        add_map(found, path, name, pid);
    close(name);
}

static void add_default(struct found *found)
{
    char path[64];

    snprintf(path, sizeof(path), FOLDER "/perf-%" PRIu32 ".map", found->tree->header.pid);
    add_found(found, path, found->tree->header.pid, true);
}

/* "…/PREFIX123SUFFIX": 123, else 0. */
static uint32_t number_in_name(const char *path, const char *prefix, const char *suffix)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    char *end;
    unsigned long number;

    if (strncmp(name, prefix, strlen(prefix)) != 0)
        return 0;
    name += strlen(prefix);
    if (*name < '0' || *name > '9')
        return 0;
    number = strtoul(name, &end, 10);
    return !strcmp(end, suffix) && number <= UINT32_MAX ? (uint32_t)number : 0;
}

/* A program maps its jitdump once, executable, so that it shows. */
static void add_mapped(struct found *found)
{
    for (size_t i = 1; i < found->tree->module_count; i++) {
        const struct tree_module *module = &found->tree->modules[i];
        uint32_t pid = number_in_name(module->path, "jit-", ".dump");
        if (pid && !module->image)
            add_found(found, module->path, pid, false);
    }
}

uint32_t *jit_maps_of(const struct tree *tree, struct images *images, size_t *count)
{
    struct found found = {.tree = tree, .images = images};

    for (const char *const *path = images->jit_maps; path && *path; path++)
        add_map(&found, *path, -1, number_in_name(*path, "perf-", ".map"));
    if (tree->header.system == TRACE_SYSTEM_LINUX) {
        add_mapped(&found);
        if (!found.count)
            add_default(&found);
    }
    *count = found.count;
    return found.numbers;
}
