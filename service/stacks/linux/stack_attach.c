#include "service/stacks/linux/stack_attach.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "service/base/system_clock.h"

#define MOST_LOOKS 100 /* for threads that began while the others got their events */

struct threads {
    pid_t *tids;
    size_t count, room;
};

static bool has(const struct threads *threads, pid_t tid)
{
    for (size_t i = 0; i < threads->count; i++)
        if (threads->tids[i] == tid)
            return true;
    return false;
}

static bool keep(struct threads *threads, pid_t tid)
{
    if (threads->count == threads->room) {
        size_t room = threads->room ? 2 * threads->room : 64;
        pid_t *grown = realloc(threads->tids, room * sizeof(*grown));

        if (!grown)
            return false;
        threads->tids = grown;
        threads->room = room;
    }
    threads->tids[threads->count++] = tid;
    return true;
}

/* Those that have no events yet. A thread that is gone meanwhile is passed over. Returns how many
   got some; -1, errno set. */
static int add_threads(struct stack_events *events, pid_t pid, struct threads *threads)
{
    char path[64];
    struct dirent *entry;
    DIR *directory;
    int added = 0;

    snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
    directory = opendir(path);
    if (!directory)
        return -1;
    while (added >= 0 && (entry = readdir(directory))) {
        pid_t tid = atoi(entry->d_name);

        if (entry->d_name[0] == '.' || has(threads, tid))
            continue;
        if (stack_events_add_thread(events, tid) && keep(threads, tid))
            added++;
        else if (errno != ESRCH)
            added = -1;
    }
    closedir(directory);
    return added;
}

/* One that has events tells of those it begins. */
static bool add_all_threads(struct stack_events *events, pid_t pid, struct threads *threads)
{
    int added = 1;

    for (int i = 0; i < MOST_LOOKS && added > 0; i++)
        added = add_threads(events, pid, threads);
    return added >= 0;
}

/* A line of a file of /proc, without its end; empty if it cannot be read. */
static void read_line(const char *path, char *line, size_t size)
{
    FILE *file = fopen(path, "re");

    line[0] = 0;
    if (file && !fgets(line, (int)size, file))
        line[0] = 0;
    line[strcspn(line, "\n")] = 0;
    if (file)
        fclose(file);
}

static void name_of_thread(pid_t pid, pid_t tid, char name[32])
{
    char path[96];

    snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", (int)pid, (int)tid);
    read_line(path, name, 32);
}

static uint32_t parent_of(pid_t pid)
{
    char path[64], stat[1024];
    const char *behind;
    unsigned parent = 0;

    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    read_line(path, stat, sizeof(stat));
    behind = strrchr(stat, ')');
    if (behind && sscanf(behind, ") %*c %u", &parent) != 1)
        parent = 0;
    return parent;
}

static void tell_program(pid_t pid, const struct stack_events_receiver *receiver)
{
    char name[32], *command = stack_events_command((uint32_t)pid);
    struct stack_event event = {
        .kind = STACK_EVENT_EXEC,
        .pid = (uint32_t)pid,
        .tid = (uint32_t)pid,
        .parent = parent_of(pid),
        .time = system_clock_steady_ns(),
        .name = name,
        .command = command,
    };

    name_of_thread(pid, pid, name);
    receiver->happened(receiver->owner, &event);
    free(command);
}

/* "START-END r-xp OFFSET DEVICE INODE    PATH": of what can be executed. */
static bool read_map(struct stack_event *event, char *line)
{
    char protection[8];
    uint64_t end;
    int at = 0;

    line[strcspn(line, "\n")] = 0;
    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %*s %n", &event->address, &end,
               protection, &event->offset, &at) != 4 ||
        !at || protection[2] != 'x')
        return false;
    event->length = end - event->address;
    event->name = line[at] ? line + at : "//anon";
    return true;
}

static FILE *open_maps(pid_t pid)
{
    char path[64];

    snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
    return fopen(path, "re");
}

static void tell_maps(FILE *maps, pid_t pid, const struct stack_events_receiver *receiver)
{
    struct stack_event event = {
        .kind = STACK_EVENT_MAP,
        .pid = (uint32_t)pid,
        .tid = (uint32_t)pid,
        .time = system_clock_steady_ns(),
    };
    char *line = NULL;
    size_t size = 0;

    while (getline(&line, &size, maps) > 0)
        if (read_map(&event, line))
            receiver->happened(receiver->owner, &event);
    free(line);
}

static void tell_threads(pid_t pid, const struct threads *threads,
                         const struct stack_events_receiver *receiver)
{
    char name[32];
    struct stack_event event = {
        .pid = (uint32_t)pid,
        .parent = (uint32_t)pid,
        .parent_tid = (uint32_t)pid,
        .time = system_clock_steady_ns(),
        .name = name,
    };

    for (size_t i = 0; i < threads->count; i++) {
        event.tid = (uint32_t)threads->tids[i];
        name_of_thread(pid, threads->tids[i], name);
        event.kind = STACK_EVENT_BEGIN;
        receiver->happened(receiver->owner, &event);
        event.kind = STACK_EVENT_NAME;
        receiver->happened(receiver->owner, &event);
    }
}

bool stack_attach(struct stack_events *events, pid_t pid,
                  const struct stack_events_receiver *receiver, struct failure *failure)
{
    struct threads threads = {0};
    FILE *maps = open_maps(pid);
    bool ok = maps && add_all_threads(events, pid, &threads);

    if (ok) {
        tell_program(pid, receiver);
        tell_maps(maps, pid, receiver);
        tell_threads(pid, &threads, receiver);
    } else {
        fail_because(failure, "%s%s",
                     errno == ENOENT || errno == ESRCH ? "there is no such process"
                                                       : strerror(errno),
                     errno == EACCES || errno == EPERM
                         ? ": it is another user's, or has rights that this one has not"
                         : "");
    }
    if (maps)
        fclose(maps);
    free(threads.tids);
    return ok;
}
