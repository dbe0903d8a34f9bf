#include "grinder/base/output.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/memory.h"

/* What a signal must remove if it has a name; null if there is nothing. */
static const struct whole_file *volatile unfinished;

static void remove_unfinished(int signal)
{
    if (unfinished && unfinished->has_name)
        unlinkat(unfinished->directory, unfinished->temporary, 0);
    raise(signal); /* the default action, as soon as this returns */
}

/* From now on an interrupted grinder takes the file with it; null ends that. */
static void guard(const struct whole_file *file)
{
    static const int signals[] = {SIGHUP, SIGINT, SIGTERM, SIGXCPU, SIGXFSZ};
    struct sigaction action = {.sa_handler = remove_unfinished, .sa_flags = (int)SA_RESETHAND};
    struct sigaction before;

    unfinished = file;
    for (size_t i = 0; file && i < sizeof(signals) / sizeof(*signals); i++)
        if (sigaction(signals[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL)
            sigaction(signals[i], &action, NULL);
}

/* target: see struct output; taken over. */
static int open_whole(struct output *output, char *target, mode_t mode)
{
    int fd, error;

    output->target = target;
    if (whole_file_begin(&output->file, output->target, mode) < 0)
        return -1;
    guard(&output->file);
    fd = fcntl(output->file.fd, F_DUPFD_CLOEXEC, 0);
    output->stream = fd < 0 ? NULL : fdopen(fd, "w");
    if (output->stream)
        return 0;
    error = errno;
    if (fd >= 0)
        close(fd);
    whole_file_abandon(&output->file);
    close(output->file.fd);
    errno = error;
    return -1;
}

static int open_in_place(struct output *output)
{
    output->stream = fopen(output->path, "we");
    return output->stream ? 0 : -1;
}

/* The kernel says whether a link may be followed: not, in /tmp, one that is somebody else's. One to
   nothing is replaced. */
static int open_link(struct output *output, bool follow, mode_t mode)
{
    struct stat status;
    char *target;

    if (stat(output->path, &status) < 0 && errno != ENOENT)
        return -1;
    target = follow ? realpath(output->path, NULL) : NULL;
    return open_whole(output, target ? target : memory_copy_string(output->path), mode);
}

static int open_file(struct output *output, bool follow, mode_t mode)
{
    struct stat status;

    if (stat(output->path, &status) == 0 && !S_ISREG(status.st_mode))
        return open_in_place(output);
    if (lstat(output->path, &status) == 0 && S_ISLNK(status.st_mode))
        return open_link(output, follow, mode);
    return open_whole(output, memory_copy_string(output->path), mode);
}

static bool open_output(struct output *output, const char *path, bool follow, mode_t mode,
                        struct failure *failure)
{
    *output = (struct output){.path = path};
    if (!strcmp(path, "-")) {
        output->stream = stdout;
        return true;
    }
    if (open_file(output, follow, mode) == 0)
        return true;
    fail(failure, path, "cannot be written: %s",
         errno == EISDIR ? "it is a folder; name a file in it" : strerror(errno));
    guard(NULL);
    free(output->target);
    return false;
}

bool output_open(struct output *output, const char *path, struct failure *failure)
{
    return open_output(output, path, true, 0666, failure);
}

bool output_open_private(struct output *output, const char *path, struct failure *failure)
{
    return open_output(output, path, false, 0600, failure);
}

/* stdio has not kept why an earlier write failed, and that of another byte fails for the same
   reason. The file is not kept. */
static void find_cause(FILE *stream)
{
    if (write(fileno(stream), "", 1) >= 0)
        errno = 0;
}

bool output_commit(struct output *output, struct failure *failure)
{
    bool is_written;

    errno = 0;
    is_written = !fflush(output->stream) && !ferror(output->stream);
    if (!is_written && !errno && output->target)
        find_cause(output->stream);
    if (output->stream != stdout && fclose(output->stream))
        is_written = false;
    if (is_written && output->target)
        is_written = whole_file_commit(&output->file) == 0;
    if (!is_written)
        fail(failure, output->path, "cannot be written: %s",
             errno ? strerror(errno) : "an earlier write failed");
    if (!is_written && output->target)
        whole_file_abandon(&output->file);
    guard(NULL);
    if (output->target)
        close(output->file.fd);
    free(output->target);
    return is_written;
}
