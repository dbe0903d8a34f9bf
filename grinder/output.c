#include "grinder/output.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "grinder/memory.h"
#include "grinder/message.h"

/* What a signal must remove; null if there is nothing. */
static char *volatile unfinished;

static void remove_unfinished(int signal)
{
    if (unfinished)
        unlink(unfinished);
    raise(signal); /* the default action, as soon as this returns */
}

/* From now on an interrupted grinder takes the file at path with it; null ends that. */
static void guard(char *path)
{
    static const int signals[] = {SIGHUP, SIGINT, SIGTERM, SIGXCPU, SIGXFSZ};
    struct sigaction action = {.sa_handler = remove_unfinished, .sa_flags = (int)SA_RESETHAND};
    struct sigaction before;

    unfinished = path;
    for (size_t i = 0; path && i < sizeof(signals) / sizeof(*signals); i++)
        if (sigaction(signals[i], NULL, &before) == 0 && before.sa_handler == SIG_DFL)
            sigaction(signals[i], &action, NULL);
}

static char *temporary_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    size_t size = strlen(path) + sizeof("/.-XXXXXX");
    char *temporary = memory_zeroed(size, 1);

    snprintf(temporary, size, "%.*s.%s-XXXXXX", (int)(name - path), path, name);
    return temporary;
}

static int open_temporary(struct output *output)
{
    mode_t mask = umask(0);
    int fd;

    umask(mask);
    output->temporary = temporary_name(output->path);
    fd = mkstemp(output->temporary);
    if (fd < 0)
        return -1;
    guard(output->temporary);
    fchmod(fd, 0666 & ~mask);
    output->stream = fdopen(fd, "w");
    return output->stream ? 0 : -1;
}

int output_open(struct output *output, const char *path)
{
    struct stat status;
    int result = 0;

    *output = (struct output){.path = path};
    if (!strcmp(path, "-")) {
        output->stream = stdout;
        return 0;
    }
    if (lstat(path, &status) == 0 && !S_ISREG(status.st_mode)) {
        output->stream = fopen(path, "we");
        result = output->stream ? 0 : -1;
    } else {
        result = open_temporary(output);
    }
    if (result < 0) {
        message("%s: cannot be written: %s", path, strerror(errno));
        free(output->temporary);
    }
    return result;
}

int output_commit(struct output *output)
{
    int result = 0;

    errno = 0;
    if (fflush(output->stream) || ferror(output->stream))
        result = -1;
    if (output->stream != stdout && fclose(output->stream))
        result = -1;
    if (!result && output->temporary)
        result = rename(output->temporary, output->path);
    if (result < 0) {
        message("%s: cannot be written: %s", output->path,
                errno ? strerror(errno) : "an earlier write failed");
        if (output->temporary)
            unlink(output->temporary);
    }
    guard(NULL);
    free(output->temporary);
    return result;
}
