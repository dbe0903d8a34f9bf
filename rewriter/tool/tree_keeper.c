#include "rewriter/tool/tree_keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rewriter/base/place.h"
#include "support/temporary.h"

/* What the child leaves for its parent. */
struct shared {
    struct failure failure;
    char result[];
};

static const int signals[] = {SIGHUP, SIGINT, SIGTERM, SIGQUIT, SIGPIPE};
#define SIGNAL_COUNT (sizeof(signals) / sizeof(*signals))

static volatile sig_atomic_t asked_to_end; /* number of the signal */
static volatile pid_t worker;

static void on_signal(int number)
{
    asked_to_end = number;
    if (worker > 0)
        kill(worker, number);
}

static void signals_watch(struct sigaction old[SIGNAL_COUNT])
{
    struct sigaction action = {.sa_handler = on_signal};

    for (size_t i = 0; i < SIGNAL_COUNT; i++)
        if (sigaction(signals[i], NULL, &old[i]) == 0 && old[i].sa_handler != SIG_IGN)
            sigaction(signals[i], &action, NULL);
}

static void signals_restore(const struct sigaction old[SIGNAL_COUNT])
{
    for (size_t i = 0; i < SIGNAL_COUNT; i++)
        sigaction(signals[i], &old[i], NULL);
}

/* The tree that grows. */
struct growth {
    struct place place; /* that it is for */
    char temporary[TEMPORARY_NAME_SIZE];
    int directory;
    char path[PATH_MAX]; /* it ends in a dot: what is done to it is not done to a link to it */
};

static bool fail_existing(const char *path, mode_t mode, struct failure *failure)
{
    return fail(failure, path, "expected a new directory, found %s%s", kind_text(mode),
                S_ISDIR(mode) ? "; --overwrite replaces it" : "");
}

static bool growth_begin(struct growth *growth, const struct tree_work *work,
                         struct failure *failure)
{
    char path[PATH_MAX];
    struct stat status;

    *growth = (struct growth){.directory = -1};
    if (!place_open(&growth->place, work->path, failure))
        return false;
    if (place_status(&growth->place, &status) && (!work->overwrite || !S_ISDIR(status.st_mode)))
        return fail_existing(work->path, status.st_mode, failure);
    temporary_sweep(growth->place.directory, growth->place.name);
    growth->directory =
        temporary_directory(growth->place.directory, growth->place.name, growth->temporary);
    if (growth->directory < 0)
        return fail(failure, work->path, "cannot write there: %s", strerror(errno));
    /* By its descriptor, what is written gets into it and nowhere else, whoever renames it. */
    if ((descriptor_path(path, growth->directory) ||
         path_beside(path, work->path, growth->temporary)) &&
        snprintf(growth->path, sizeof(growth->path), "%s/.", path) < (int)sizeof(growth->path))
        return true;
    return fail(failure, work->path, "cannot write it: %s", strerror(ENAMETOOLONG));
}

/* Puts the tree in its place; a directory that was there is then at its temporary name. */
static bool growth_commit(const struct growth *growth, const struct tree_work *work,
                          struct failure *failure)
{
    int directory = growth->place.directory;
    const char *from = growth->temporary, *to = growth->place.name;
    struct stat status = {0};

    if (!temporary_is(growth->directory, directory, from))
        return fail(failure, work->path,
                    "expected the tree that was written at %s, found something else put in its "
                    "place meanwhile",
                    from);
    if (renameat2(directory, from, directory, to, RENAME_NOREPLACE) == 0 ||
        (errno == EEXIST && work->overwrite &&
         renameat2(directory, from, directory, to, RENAME_EXCHANGE) == 0))
        return true;
    if (errno == EEXIST && place_status(&growth->place, &status))
        return fail_existing(work->path, status.st_mode, failure);
    if (errno == EINVAL && renameat(directory, from, directory, to) == 0)
        return true; /* a file system without flags */
    return fail(failure, work->path, "cannot put it there: %s", strerror(errno));
}

static void growth_end(struct growth *growth)
{
    if (growth->directory >= 0) {
        temporary_remove(growth->place.directory, growth->temporary);
        close(growth->directory);
    }
    place_close(&growth->place);
}

static bool child_wait(const struct tree_work *work, struct shared *shared, struct failure *failure)
{
    int status = 0;

    while (waitpid(worker, &status, 0) < 0)
        if (errno != EINTR)
            return fail(failure, work->path, "cannot wait for its writer: %s", strerror(errno));
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return true;
    if (WIFSIGNALED(status))
        return fail(failure, work->path, "writing it ended by signal %d (%s); nothing was left",
                    WTERMSIG(status), strsignal(WTERMSIG(status)));
    if (!*shared->failure.text)
        return fail(failure, work->path, "writing it failed; nothing was left");
    *failure = shared->failure;
    return false;
}

/* In the child, which ends with its parent: nobody else would look after what it writes. */
static void work_begin(pid_t parent)
{
    for (size_t i = 0; i < SIGNAL_COUNT; i++)
        signal(signals[i], SIG_DFL);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
        _exit(1);
}

static bool fill(const struct tree_work *work, const struct growth *growth, struct shared *shared,
                 struct failure *failure)
{
    pid_t parent = getpid();
    bool is_filled;

    fflush(NULL);
    worker = fork();
    if (worker < 0)
        return fail(failure, work->path, "cannot start its writer: %s", strerror(errno));
    if (worker == 0) {
        work_begin(parent);
        exit(work->fill(growth->path, work->context, shared->result, &shared->failure) ? 0 : 1);
    }
    is_filled = child_wait(work, shared, failure);
    worker = 0; /* the number may be another process's from now on */
    return is_filled;
}

bool tree_keep(const struct tree_work *work, void *result, struct failure *failure)
{
    struct growth growth;
    struct sigaction old[SIGNAL_COUNT];
    size_t size = sizeof(struct shared) + work->result_size;
    struct shared *shared =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    bool is_kept;

    if (shared == MAP_FAILED)
        return fail(failure, work->path, "cannot start its writer: %s", strerror(errno));
    signals_watch(old);
    is_kept = growth_begin(&growth, work, failure) && fill(work, &growth, shared, failure) &&
              !asked_to_end && growth_commit(&growth, work, failure);
    memcpy(result, shared->result, work->result_size);
    growth_end(&growth);
    signals_restore(old);
    munmap(shared, size);
    if (asked_to_end)
        raise(asked_to_end);
    return is_kept;
}
