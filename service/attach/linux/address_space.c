#include "service/attach/linux/address_space.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAGE 4096u

/* "START-END rwxp OFFSET MAJOR:MINOR INODE   PATH" */
static bool parse(struct address_range *range, char *line)
{
    char protection[5];
    unsigned major, minor;
    int path = 0;

    line[strcspn(line, "\n")] = 0;
    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64 " %n", &range->start,
               &range->end, protection, &range->offset, &major, &minor, &range->inode, &path) != 7)
        return false;
    range->is_readable = protection[0] == 'r';
    range->is_writable = protection[1] == 'w';
    range->is_executable = protection[2] == 'x';
    range->is_shared = protection[3] == 's';
    range->device = (uint64_t)major << 32 | minor;
    range->path = strdup(path ? line + path : "");
    return range->path != NULL;
}

static bool has_room(struct address_space *space)
{
    size_t room = space->room ? 2 * space->room : 256;
    struct address_range *grown;

    if (space->count < space->room)
        return true;
    grown = realloc(space->ranges, room * sizeof(*grown));
    if (!grown)
        return false;
    space->ranges = grown;
    space->room = room;
    return true;
}

static bool add(struct address_space *space, char *line)
{
    if (!has_room(space) || !parse(&space->ranges[space->count], line))
        return false;
    space->count++;
    return true;
}

bool address_space_read(struct address_space *space, pid_t pid, struct failure *failure)
{
    char path[64], *line = NULL;
    size_t size = 0;
    bool is_read = true;
    FILE *file;

    *space = (struct address_space){0};
    snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
    file = fopen(path, "re");
    if (!file)
        return fail(failure, path, "cannot read it: %s", strerror(errno));
    while (is_read && getline(&line, &size, file) > 0)
        is_read = add(space, line);
    free(line);
    fclose(file);
    if (is_read && space->count)
        return true;
    address_space_free(space);
    return fail(failure, path,
                is_read ? "expected what the process has mapped, found nothing: it has ended"
                        : "cannot read it: out of memory, or a line of another form");
}

void address_space_free(struct address_space *space)
{
    for (size_t i = 0; i < space->count; i++)
        free(space->ranges[i].path);
    free(space->ranges);
    *space = (struct address_space){0};
}

const struct address_range *address_space_at(const struct address_space *space, uint64_t address)
{
    size_t low = 0, high = space->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (space->ranges[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low < space->count && space->ranges[low].start <= address ? &space->ranges[low] : NULL;
}

uint64_t address_space_gap(const struct address_space *space, uint64_t from, uint64_t to,
                           uint64_t size)
{
    uint64_t at = (from + PAGE - 1) & ~(uint64_t)(PAGE - 1);

    for (size_t i = 0; i < space->count; i++) {
        const struct address_range *range = &space->ranges[i];

        if (range->end + PAGE <= at)
            continue;
        if (range->start >= at + size + PAGE)
            break;
        at = ((range->end + PAGE - 1) & ~(uint64_t)(PAGE - 1)) + PAGE;
    }
    return at + size <= to ? at : 0;
}

bool address_space_take(struct address_space *space, uint64_t start, uint64_t end)
{
    char *path = strdup("");
    size_t at = 0;

    if (!path || !has_room(space)) {
        free(path);
        return false;
    }
    while (at < space->count && space->ranges[at].start < start)
        at++;
    memmove(&space->ranges[at + 1], &space->ranges[at],
            (space->count - at) * sizeof(*space->ranges));
    space->ranges[at] = (struct address_range){.start = start, .end = end, .path = path};
    space->count++;
    return true;
}
