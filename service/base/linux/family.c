#include "service/base/family.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "service/base/process.h"
#include "trace/agent_name.h"
#include "trace/attached_agent.h"

#define MOST_PROCESSES 65536

void family_begin(void)
{
    prctl(PR_SET_CHILD_SUBREAPER, 1);
}

void family_collect(pid_t command)
{
    siginfo_t ended = {0};

    while (waitid(P_ALL, 0, &ended, WEXITED | WNOHANG | WNOWAIT) == 0 && ended.si_pid &&
           ended.si_pid != command) {
        waitpid(ended.si_pid, NULL, WNOHANG);
        ended.si_pid = 0;
    }
}

/* A process, as /proc/PID/stat tells: "PID (NAME) STATE PPID PGRP SESSION …", proc(5). */
struct entry {
    pid_t pid, parent, session;
    bool is_ours, is_asked; /* asked: its children are ours */
    bool is_gone;           /* a zombie, whose children may yet be handed on */
    char name[32];
};

static bool read_entry(struct entry *entry, const char *number)
{
    char path[64], stat[512], state;
    FILE *file;
    char *name, *end;
    int parent, session;
    size_t length;

    snprintf(path, sizeof(path), "/proc/%.16s/stat", number);
    file = fopen(path, "re");
    length = file ? fread(stat, 1, sizeof(stat) - 1, file) : 0; /* a name may have line feeds */
    stat[length] = 0;
    if (file)
        fclose(file);
    name = strchr(stat, '(');
    end = name ? strrchr(name, ')') : NULL;
    if (!end || sscanf(end + 1, " %c %d %*d %d", &state, &parent, &session) != 3)
        return false;
    *end = 0;
    *entry = (struct entry){
        .pid = atoi(number), .parent = parent, .session = session, .is_gone = state == 'Z'};
    snprintf(entry->name, sizeof(entry->name), "%s", name + 1);
    return true;
}

/* To be freed. */
static struct entry *read_all(size_t *count)
{
    DIR *proc = opendir("/proc");
    const struct dirent *found;
    struct entry *entries = NULL;
    size_t room = 0;

    *count = 0;
    while (proc && (found = readdir(proc)) && *count < MOST_PROCESSES) {
        if (found->d_name[0] < '1' || found->d_name[0] > '9')
            continue;
        if (*count == room) {
            struct entry *more = reallocarray(entries, room ? 2 * room : 256, sizeof(*entries));

            if (!more)
                break;
            entries = more;
            room = room ? 2 * room : 256;
        }
        *count += read_entry(&entries[*count], found->d_name);
    }
    if (proc)
        closedir(proc);
    return entries;
}

static bool mark_children(struct entry *entries, size_t count, pid_t parent)
{
    bool found = false;

    for (size_t i = 0; i < count; i++) {
        if (entries[i].parent == parent)
            found = entries[i].is_ours = true;
    }
    return found;
}

/* Children may have lower numbers than their parents: until there is no more to be found. Each of
   ours is compared with all once, and nobody else. */
static void mark_ours(struct entry *entries, size_t count, pid_t ancestor)
{
    bool found = mark_children(entries, count, ancestor);

    while (found) {
        found = false;
        for (size_t i = 0; i < count; i++) {
            if (!entries[i].is_ours || entries[i].is_asked)
                continue;
            entries[i].is_asked = true;
            found |= mark_children(entries, count, entries[i].pid);
        }
    }
}

static void look_for_agent(void *owner, const struct process_code *code)
{
    struct relative *relative = owner;
    const char *base = strrchr(code->path, '/');

    relative->has_agent |= base && agent_name_is(base + 1);
    relative->is_attached_to |= base && !strcmp(base + 1, ATTACHED_AGENT_NAME);
}

/* None of its own: that is quickly asked. */
static bool has_children(void)
{
    return waitid(P_ALL, 0, &(siginfo_t){0}, WEXITED | WNOHANG | WNOWAIT) == 0 || errno != ECHILD;
}

bool family_each(void (*each)(void *owner, const struct relative *relative), void *owner)
{
    return !has_children() || family_each_of(getpid(), each, owner);
}

bool family_each_of(pid_t ancestor, void (*each)(void *owner, const struct relative *relative),
                    void *owner)
{
    struct entry *entries;
    size_t count;
    bool is_none_gone = true, is_one_there = false;

    entries = read_all(&count);
    mark_ours(entries, count, ancestor);
    for (size_t i = 0; i < count; i++) {
        struct relative relative = {.pid = entries[i].pid,
                                    .is_daemon = entries[i].session != getsid(0)};

        if (!entries[i].is_ours)
            continue;
        is_none_gone &= !entries[i].is_gone;
        if (entries[i].is_gone)
            continue;
        is_one_there = true;
        memcpy(relative.name, entries[i].name, sizeof(relative.name));
        process_each_code(relative.pid, look_for_agent, &relative);
        each(owner, &relative);
    }
    free(entries);
    return is_none_gone && is_one_there;
}
