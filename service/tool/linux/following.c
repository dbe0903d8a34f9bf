#include "service/tool/linux/following.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "service/base/family.h"
#include "service/base/message.h"

#define LOOK_MS       100
#define MOST_FOLLOWED 4096

/* A program that a process executes: the same process may execute another. */
struct followed {
    pid_t pid;
    dev_t device;
    ino_t inode;
    pid_t service; /* 0: it was seen once; -1: its service has ended */
};

struct follower {
    const struct options *options;
    follow_fn *follow;
    struct followed items[MOST_FOLLOWED];
    size_t count;
    bool is_left; /* by the process: until all services have ended */
};

static bool identify(struct followed *followed, pid_t pid)
{
    char path[64];
    struct stat status;

    snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
    if (stat(path, &status))
        return false;
    *followed = (struct followed){.pid = pid, .device = status.st_dev, .inode = status.st_ino};
    return true;
}

static struct followed *find(struct follower *follower, const struct followed *sought)
{
    for (size_t i = 0; i < follower->count; i++)
        if (follower->items[i].pid == sought->pid && follower->items[i].inode == sought->inode &&
            follower->items[i].device == sought->device)
            return &follower->items[i];
    return NULL;
}

/* In a process of its own. */
static void run_service(const struct follower *follower, pid_t pid)
{
    struct options options = *follower->options;

    signal(SIGINT, SIG_DFL);
    options.attached = pid;
    options.follows = false;
    snprintf(options.instance, sizeof(options.instance), "attach-%d", (int)pid);
    exit(follower->follow(&options));
}

static void begin_service(const struct follower *follower, struct followed *followed)
{
    pid_t service = fork();

    if (!service)
        run_service(follower, followed->pid);
    followed->service = service;
}

static void look_at(void *owner, const struct relative *relative)
{
    struct follower *follower = owner;
    struct followed seen, *followed;

    if (relative->has_agent || relative->is_attached_to || !identify(&seen, relative->pid))
        return;
    followed = find(follower, &seen);
    if (followed && !followed->service)
        begin_service(follower, followed);
    else if (!followed && follower->count < MOST_FOLLOWED)
        follower->items[follower->count++] = seen;
}

/* Those that have lost their parents are found by what was followed. */
static void look(struct follower *follower)
{
    size_t count = follower->count;

    family_each_of(follower->options->attached, look_at, follower);
    for (size_t i = 0; i < count; i++)
        if (follower->items[i].service > 0)
            family_each_of(follower->items[i].pid, look_at, follower);
}

/* Whether services are left. */
static bool collect(struct follower *follower, bool is_waiting)
{
    pid_t ended;
    bool is_left = false;

    while ((ended = waitpid(-1, NULL, is_waiting ? 0 : WNOHANG)) > 0)
        for (size_t i = 0; i < follower->count; i++)
            if (follower->items[i].service == ended)
                follower->items[i].service = -1;
    for (size_t i = 0; i < follower->count; i++)
        is_left |= follower->items[i].service > 0;
    return is_left;
}

/* Processes that have ended make room for others. */
static void forget_gone(struct follower *follower)
{
    size_t kept = 0;

    for (size_t i = 0; i < follower->count; i++)
        if (follower->items[i].service > 0 || kill(follower->items[i].pid, 0) == 0 ||
            errno != ESRCH)
            follower->items[kept++] = follower->items[i];
    follower->count = kept;
}

/* False: the end was said. */
static bool listen_to_service(struct follower *follower, int service)
{
    struct pollfd wait = {.fd = service, .events = POLLIN};
    char word;

    if (poll(&wait, 1, LOOK_MS) <= 0)
        return true;
    if (read(service, &word, 1) != 1)
        return false;
    follower->is_left = true;
    return true;
}

static void run_follower(const struct options *options, follow_fn *follow, int service)
{
    static struct follower follower;

    follower.options = options;
    follower.follow = follow;
    signal(SIGINT, SIG_IGN); /* the terminal's goes to the services, too */
    while (listen_to_service(&follower, service)) {
        look(&follower);
        if (!collect(&follower, false) && follower.is_left)
            exit(0);
        forget_gone(&follower);
    }
    for (size_t i = 0; i < follower.count; i++)
        if (follower.items[i].service > 0)
            kill(follower.items[i].service, SIGTERM);
    collect(&follower, true);
    exit(0);
}

bool following_begin(struct following *following, const struct options *options, follow_fn *follow)
{
    int ends[2] = {-1, -1};

    if (pipe2(ends, O_CLOEXEC) == 0)
        following->follower = fork();
    if (ends[0] < 0 || following->follower < 0) {
        message("cannot begin to follow: %s", strerror(errno));
        return false;
    }
    if (!following->follower) {
        close(ends[1]);
        run_follower(options, follow, ends[0]);
    }
    close(ends[0]);
    following->ends = ends[1];
    return true;
}

void following_wait(const struct following *following)
{
    if (write(following->ends, "", 1) != 1)
        message("what is followed cannot be waited for: %s", strerror(errno));
}

void following_end(const struct following *following)
{
    close(following->ends);
    waitpid(following->follower, NULL, 0);
}
