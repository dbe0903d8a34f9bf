#include "rewriter/tree_keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define OPEN_DIRECTORIES 16

/* What the child leaves for its parent. */
struct shared {
    struct failure failure;
    char result[];
};

static const int signals[] = {SIGHUP, SIGINT, SIGTERM, SIGQUIT, SIGPIPE};
#define SIGNAL_COUNT (sizeof signals / sizeof *signals)

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

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)status;
    (void)kind;
    (void)place;
    remove(path);
    return 0;
}

/* A directory that may not be searched cannot be emptied: give oneself the right first. */
static int open_one(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)place;
    if (kind == FTW_D || kind == FTW_DNR)
        chmod(path, status->st_mode | 0700);
    return 0;
}

static void tree_remove(const char *path)
{
    nftw(path, open_one, OPEN_DIRECTORIES, FTW_PHYS);
    nftw(path, remove_one, OPEN_DIRECTORIES, FTW_PHYS | FTW_DEPTH);
}

static bool exists_fail(const char *path, struct failure *failure)
{
    return fail(
        failure, path,
        "expected a new directory, found something there; --overwrite replaces a directory");
}

static bool directory_begin(const struct tree_work *work, char temporary[PATH_MAX],
                            struct failure *failure)
{
    size_t length = strlen(work->path), start;
    struct stat status;

    while (length > 1 && work->path[length - 1] == '/')
        length--;
    for (start = length; start && work->path[start - 1] != '/';)
        start--;
    if (lstat(work->path, &status) == 0 && (!work->overwrite || !S_ISDIR(status.st_mode)))
        return exists_fail(work->path, failure);
    if (snprintf(temporary, PATH_MAX, "%.*s.%.*s.XXXXXX", (int)start, work->path,
                 (int)(length - start), work->path + start) >= PATH_MAX)
        return fail(failure, work->path, "cannot write it: %s", strerror(ENAMETOOLONG));
    if (!mkdtemp(temporary))
        return fail(failure, work->path, "cannot write there: %s", strerror(errno));
    return true;
}

/* Puts the directory in its place; one that was there is then at `temporary`. */
static bool directory_commit(const struct tree_work *work, const char *temporary,
                             struct failure *failure)
{
    if (renameat2(AT_FDCWD, temporary, AT_FDCWD, work->path, RENAME_NOREPLACE) == 0 ||
        (errno == EEXIST && work->overwrite &&
         renameat2(AT_FDCWD, temporary, AT_FDCWD, work->path, RENAME_EXCHANGE) == 0))
        return true;
    if (errno == EEXIST)
        return exists_fail(work->path, failure);
    if (errno == EINVAL && rename(temporary, work->path) == 0) /* a file system without flags */
        return true;
    return fail(failure, work->path, "cannot put it there: %s", strerror(errno));
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

static bool fill(const struct tree_work *work, const char *temporary, struct shared *shared,
                 struct failure *failure)
{
    fflush(NULL);
    worker = fork();
    if (worker < 0)
        return fail(failure, work->path, "cannot start its writer: %s", strerror(errno));
    if (worker == 0) {
        bool is_filled;

        for (size_t i = 0; i < SIGNAL_COUNT; i++)
            signal(signals[i], SIG_DFL);
        is_filled = work->fill(temporary, work->context, shared->result, &shared->failure);
        exit(is_filled ? 0 : 1);
    }
    return child_wait(work, shared, failure);
}

bool tree_keep(const struct tree_work *work, void *result, struct failure *failure)
{
    char temporary[PATH_MAX];
    struct sigaction old[SIGNAL_COUNT];
    size_t size = sizeof(struct shared) + work->result_size;
    struct shared *shared =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    bool is_kept = false;

    if (shared == MAP_FAILED)
        return fail(failure, work->path, "cannot start its writer: %s", strerror(errno));
    signals_watch(old);
    if (!directory_begin(work, temporary, failure))
        goto err;
    is_kept = fill(work, temporary, shared, failure) && !asked_to_end &&
              directory_commit(work, temporary, failure);
    memcpy(result, shared->result, work->result_size);
    tree_remove(temporary);

err:
    signals_restore(old);
    munmap(shared, size);
    if (asked_to_end)
        raise(asked_to_end);
    return is_kept;
}
