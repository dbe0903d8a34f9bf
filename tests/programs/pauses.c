/*
 * Has itself paused and resumed by the tool named SERVICE in the environment, and calls functions
 * in between, ten times each; their names say when.
 *
 *      pauses begin                  paused from the start, and resumed before the first call
 *      pauses fork                   a parent and its child, of which one is paused, or both
 *      pauses orphan                 a child whose first call comes when its parent has ended
 *      pauses paused-orphan          a child whose first call comes when its paused parent ended
 *      pauses alone                  the service ends, then a child begins
 *      pauses plugins ONE TWO        libraries that come and go in a pause and out of it
 */
#define _GNU_SOURCE
#include "program.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* What is no function is no hook either: the first one in a child is that which is meant. */
#define ALWAYS static inline __attribute__((always_inline))

#define FUNCTION(name)                                                                             \
    COUNTED static long name(long n)                                                               \
    {                                                                                              \
        OPAQUE(n);                                                                                 \
        return n;                                                                                  \
    }
#define TEN(name)                                                                                  \
    for (long i = 0; i < 10; i++)                                                                  \
    name(i)

FUNCTION(before)
FUNCTION(in_pause)
FUNCTION(behind_pause)
FUNCTION(in_childs_pause)
FUNCTION(child_begins)
FUNCTION(child_in_parents_pause)
FUNCTION(child_in_pause)
FUNCTION(child_behind_pause)
FUNCTION(orphan)
FUNCTION(child_alone)
FUNCTION(parent_alone)
FUNCTION(first)
extern char **environ;

/* SERVICE COMMAND, of one process or, with 0, of all there are. */
ALWAYS void service(const char *command, pid_t pid)
{
    char option[32], *arguments[] = {getenv("SERVICE"), (char *)command, pid ? option : 0, 0};
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC), status;
    posix_spawn_file_actions_t actions;
    pid_t tool;

    snprintf(option, sizeof option, "--pid=%d", (int)pid);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, null, 1);
    REQUIRE(posix_spawn(&tool, arguments[0], &actions, 0, arguments, environ) == 0);
    REQUIRE(waitpid(tool, &status, 0) == tool && status == 0);
    close(null);
}

/* Two processes take turns. */
static int to_parent[2], to_child[2];

ALWAYS void turns_begin(void)
{
    REQUIRE(pipe(to_parent) == 0 && pipe(to_child) == 0);
}

ALWAYS void pass_turn(int pipe[2])
{
    REQUIRE(write(pipe[1], "", 1) == 1);
}

ALWAYS void await_turn(int pipe[2])
{
    char byte;

    REQUIRE(read(pipe[0], &byte, 1) == 1);
}

ALWAYS void await_child(pid_t child)
{
    int status;

    REQUIRE(waitpid(child, &status, 0) == child && status == 0);
}

/* How often a trace is mapped, and the first place of these behind an address. */
ALWAYS int count_traces(uintptr_t behind, uintptr_t *first)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    char line[4096];
    int count = 0;

    REQUIRE(maps);
    *first = 0;
    while (fgets(line, sizeof line, maps)) {
        uintptr_t place = strtoul(line, 0, 16);

        if (!strstr(line, ".bin (deleted)\n"))
            continue;
        count++;
        if (!*first && place > behind)
            *first = place;
    }
    fclose(maps);
    return count;
}

/* Is a trace whose name has that in it mapped? */
ALWAYS bool is_mapped(const char *part)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    char line[4096];
    bool found = false;

    REQUIRE(maps);
    while (fgets(line, sizeof line, maps))
        found = found || (strstr(line, ".bin (deleted)\n") && strstr(line, part));
    fclose(maps);
    return found;
}

ALWAYS void child_of_fork(void)
{
    await_turn(to_child);
    TEN(child_begins);
    pass_turn(to_parent);
    await_turn(to_child); /* the parent is paused */
    TEN(child_in_parents_pause);
    service("pause", getpid());
    TEN(child_in_pause);
    pass_turn(to_parent);
    await_turn(to_child);
    TEN(child_in_pause);
    service("resume", getpid());
    TEN(child_behind_pause);
}

ALWAYS void fork_in_a_pause(void)
{
    pid_t child;

    turns_begin();
    TEN(before);
    service("pause", getpid());
    TEN(in_pause);
    child = fork();
    if (child == 0) {
        child_of_fork();
        exit(0);
    }
    TEN(in_pause);
    service("resume", getpid());
    TEN(behind_pause);
    pass_turn(to_child);
    await_turn(to_parent);
    service("pause", getpid());
    TEN(in_pause);
    pass_turn(to_child);
    await_turn(to_parent); /* the child is paused */
    TEN(in_pause);
    service("resume", getpid());
    TEN(in_childs_pause);
    pass_turn(to_child);
    await_child(child);
}

/* The pipe ends with the parent, its end within the agent included. */
ALWAYS void leave_an_orphan(void)
{
    char byte;

    turns_begin();
    TEN(before);
    if (fork() != 0)
        exit(0);
    close(to_child[1]);
    REQUIRE(read(to_child[0], &byte, 1) == 0);
    TEN(orphan);
}

/* Until it is recorded by itself, which is when the service knows that the parent is gone. */
ALWAYS void await_own_trace(void)
{
    char name[32];

    snprintf(name, sizeof name, "-%d-", (int)getpid());
    for (int i = 0; i < 1000 && !is_mapped(name); i++) {
        TEN(orphan);
        usleep(10000);
    }
}

/* The parent is paused when it forks, and when it ends. */
ALWAYS void leave_a_paused_orphan(void)
{
    char byte;

    turns_begin();
    TEN(before);
    service("pause", getpid());
    if (fork() != 0)
        exit(0);
    close(to_child[1]);
    REQUIRE(read(to_child[0], &byte, 1) == 0);
    await_own_trace();
    TEN(child_behind_pause);
}

ALWAYS void lose_the_service(void)
{
    uintptr_t place;
    pid_t child;

    TEN(before);
    service("stop", 0);
    child = fork();
    if (child == 0) {
        TEN(child_alone);
        REQUIRE(count_traces(0, &place) == 0);
        exit(0);
    }
    await_child(child);
    TEN(parent_alone);
}

#ifndef WITHOUT_PLUGINS
FUNCTION(to_in_pause)
FUNCTION(to_behind_pause)
FUNCTION(to_limited)
FUNCTION(to_limited_child)

typedef long plugin_function(long value, long (*back)(long));

ALWAYS plugin_function *plugin_of(void *library)
{
    plugin_function *run;

    REQUIRE(library);
    *(void **)&run = dlsym(library, "plugin_run");
    REQUIRE(run);
    return run;
}

/* All from one place, so that a pause finds what it is to stop well known. */
COUNTED static void ten_to_plugin(plugin_function *run, long (*name)(long))
{
    for (long i = 0; i < 10; i++)
        run(i, name);
}

/* Something else is where a library had the trace. A child that begins must not touch it. */
ALWAYS void fork_above_its_place(uintptr_t at)
{
    enum { SIZE = 4096 };
    char *place = mmap((void *)at, SIZE, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    pid_t child;

    REQUIRE(place != MAP_FAILED);
    memset(place, 0x55, SIZE);
    child = fork();
    if (child == 0) {
        TEN(child_begins);
        for (int i = 0; i < SIZE; i++)
            REQUIRE(place[i] == 0x55);
        exit(0);
    }
    await_child(child);
    munmap(place, SIZE);
}

/* The address space may not grow when the library is first called. */
ALWAYS void call_with_no_room(const char *path)
{
    plugin_function *run = plugin_of(dlopen(path, RTLD_NOW));
    struct rlimit all, none;
    uintptr_t place;
    int traces = count_traces(0, &place);
    pid_t child;

    REQUIRE(getrlimit(RLIMIT_AS, &all) == 0);
    none = (struct rlimit){1 << 20, all.rlim_max};
    REQUIRE(setrlimit(RLIMIT_AS, &none) == 0);
    ten_to_plugin(run, to_limited);
    REQUIRE(setrlimit(RLIMIT_AS, &all) == 0);
    REQUIRE(count_traces(0, &place) == traces);
    service("pause", getpid());
    ten_to_plugin(run, to_in_pause);
    service("resume", getpid());
    ten_to_plugin(run, to_behind_pause);
    child = fork();
    if (child == 0) {
        ten_to_plugin(run, to_limited_child);
        service("pause", getpid());
        ten_to_plugin(run, to_in_pause);
        exit(0);
    }
    await_child(child);
}

ALWAYS void load_in_a_pause(const char *one, const char *two)
{
    plugin_function *run;
    struct link_map *map;
    void *library;
    uintptr_t place;

    TEN(before);
    service("pause", getpid());
    library = dlopen(one, RTLD_NOW);
    run = plugin_of(library);
    ten_to_plugin(run, to_in_pause);
    service("resume", getpid());
    ten_to_plugin(run, to_behind_pause);
    service("pause", getpid());
    REQUIRE(dlclose(library) == 0);
    library = dlopen(one, RTLD_NOW);
    run = plugin_of(library);
    ten_to_plugin(run, to_in_pause);
    service("resume", getpid());
    ten_to_plugin(run, to_behind_pause);
    REQUIRE(dlinfo(library, RTLD_DI_LINKMAP, &map) == 0);
    REQUIRE(count_traces(map->l_addr, &place) > 0 && place);
    REQUIRE(dlclose(library) == 0);
    fork_above_its_place(place);
    call_with_no_room(two);
}

#endif

int main(int count, char **arguments)
{
    REQUIRE(count >= 2);
    if (!strcmp(arguments[1], "begin")) {
        service("resume", 0);
        TEN(first);
    }
    if (!strcmp(arguments[1], "fork"))
        fork_in_a_pause();
    if (!strcmp(arguments[1], "orphan"))
        leave_an_orphan();
    if (!strcmp(arguments[1], "paused-orphan"))
        leave_a_paused_orphan();
    if (!strcmp(arguments[1], "alone"))
        lose_the_service();
#ifndef WITHOUT_PLUGINS
    if (!strcmp(arguments[1], "plugins") && count == 4)
        load_in_a_pause(arguments[2], arguments[3]);
#endif
    return 0;
}
